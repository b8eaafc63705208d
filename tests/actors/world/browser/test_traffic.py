"""What a page has open would end with the connection that it goes by."""

import pytest

from rutter.actors.world.browser.traffic import Traffic


def announce(traffic: Traffic, *said: str) -> None:
    for each in said:
        kind, _, name = each.partition(" ")
        event = {
            "requestId": name,
            "type": kind,
            "request": {"url": "https://shop.example/", "method": "GET"},
            "response": {"status": 200, "mimeType": "text/event-stream"},
        }
        tell = {
            "streams": traffic.on_response,
            "over": traffic.on_finished,
            "socket": traffic.on_lasting,
            "closed": traffic.on_over,
        }
        tell.get(kind, traffic.on_request)(event)


@pytest.mark.parametrize(
    ("said", "open_"),
    [
        (("Fetch 1",), True),
        (("Fetch 1", "over 1"), False),
        (("Fetch 1", "streams 1"), True),
        (("Fetch 1", "streams 1", "over 1"), False),
        (("EventSource 1", "streams 1"), True),
        (("socket 1",), True),
        (("socket 1", "closed 1"), False),
        (("Document 1", "Ping 2", "Image 3"), False),
    ],
)
def test_a_request_a_stream_and_a_socket_are_open_until_they_are_over(
    said: tuple[str, ...], open_: bool
) -> None:
    traffic = Traffic(lambda url, kind: None, lambda: 1, lambda: 1)
    announce(traffic, *said)
    assert traffic.open is open_
    traffic.leave("another")
    assert not traffic.open
