"""Given somebody who is to be told: what reaches them, and what becomes of the rest."""

import base64
import hashlib
import hmac
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import anyio
import pytest

from rutter.events.errors import BadInput
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.daemon.notify.webhooks import Courier, Letter, RetryPace, key_of, signature
from tests.support.case_table import for_each
from tests.support.loopback import free_port
from tests.support.notice_receiver import WAIT_S, Reply, Told

pytestmark = pytest.mark.anyio

QUICK = RetryPace(attempts=3, attempt_s=5.0, first_wait_s=0.01)
SHORT = RetryPace(attempts=2, attempt_s=0.5, first_wait_s=0.01)
FIRST, SECOND = Letter("e.1", b'{"id": "e.1"}'), Letter("e.2", b'{"id": "e.2"}')


class Counted(CountingClock):
    """Each attempt looks at it once."""

    def __init__(self) -> None:
        super().__init__()
        self._looks = 0
        self._changed = threading.Condition()

    def now_ns(self) -> int:
        with self._changed:
            self._looks += 1
            self._changed.notify_all()
        return super().now_ns()

    def wait_for(self, looks: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._looks >= looks, WAIT_S)


@asynccontextmanager
async def carrying(
    url: str, pace: RetryPace = QUICK, secret: bytes = b""
) -> AsyncIterator[Courier]:
    courier = Courier(url, secret, CountingClock(), pace)
    courier.start()
    yield courier
    await courier.stop(WAIT_S)


async def heard(told: Told, count: int) -> list[str]:
    found = await anyio.to_thread.run_sync(partial(told.wait_for, count))
    return [each.headers["webhook-id"] for each in found]


async def test_what_is_put_is_posted_as_json_in_order_with_a_name_of_its_own() -> None:
    with Told() as told:
        async with carrying(told.url) as courier:
            courier.put(FIRST)
            courier.put(SECOND)
            assert await heard(told, 2) == ["e.1", "e.2"]
        assert courier.statistics().sent == 2
    first = told.heard[0]
    assert (first.path, first.body) == ("/told", FIRST.body)
    assert first.headers["content-type"] == "application/json"
    assert "webhook-signature" not in first.headers


async def test_one_who_fails_and_recovers_is_told_again_under_the_same_name() -> None:
    with Told(Reply(500), Reply(503)) as told:
        async with carrying(told.url) as courier:
            courier.put(FIRST)
            assert await heard(told, 3) == ["e.1", "e.1", "e.1"]
        assert (courier.statistics().sent, courier.statistics().failed) == (1, 0)


@for_each("reply", [Reply(500), Reply(429), Reply(drops=True)])
async def test_after_so_many_attempts_it_is_given_up_and_the_next_one_is_tried(
    reply: Reply,
) -> None:
    with Told(*[reply] * 3) as told:
        async with carrying(told.url) as courier:
            courier.put(FIRST)
            courier.put(SECOND)
            assert await heard(told, 4) == ["e.1", "e.1", "e.1", "e.2"]
        assert (courier.statistics().sent, courier.statistics().failed) == (1, 1)


@for_each("status", [400, 401, 404, 410])
async def test_one_who_does_not_want_it_is_not_asked_again(status: int) -> None:
    with Told(Reply(status)) as told:
        async with carrying(told.url) as courier:
            courier.put(FIRST)
            courier.put(SECOND)
            assert await heard(told, 2) == ["e.1", "e.2"]
        assert (courier.statistics().sent, courier.statistics().failed) == (1, 1)


@for_each("status", [301, 302, 303, 307, 308])
async def test_where_one_is_sent_on_to_is_not_gone_to(status: int) -> None:
    with Told() as elsewhere, Told(Reply(status, [("location", elsewhere.url)])) as told:
        async with carrying(told.url) as courier:
            courier.put(FIRST)
            courier.put(SECOND)
            await heard(told, 2)
        assert elsewhere.heard == []
        assert courier.statistics().failed == 1


async def test_one_who_is_down_is_told_when_they_are_up_again() -> None:
    with free_port() as port:
        url = f"http://127.0.0.1:{port}/told"
    clock = Counted()
    patient = RetryPace(attempts=5_000, first_wait_s=0.01, most_wait_s=0.02)
    courier = Courier(url, b"", clock, patient)
    courier.start()
    courier.put(FIRST)
    await anyio.to_thread.run_sync(clock.wait_for, 2)  # the first attempt is over
    assert courier.statistics().why == "it cannot be reached (NewConnectionError)"
    with Told(port=port) as told:
        assert await heard(told, 1) == ["e.1"]
        await courier.stop(WAIT_S)


@for_each("reply", [Reply(hangs=True), Reply(drips=True)])
async def test_one_who_never_answers_is_left_when_the_time_is_over(reply: Reply) -> None:
    with Told(reply, reply) as told:
        async with carrying(told.url, SHORT) as courier:
            courier.put(FIRST)
            courier.put(SECOND)
            assert await heard(told, 3) == ["e.1", "e.1", "e.2"]
        assert courier.statistics().failed == 1


async def test_no_more_attempts_hang_than_may() -> None:
    with Told(*[Reply(drips=True)] * 10) as told:
        async with carrying(
            told.url, RetryPace(attempts=6, attempt_s=0.3, first_wait_s=0.01)
        ) as it:  # a drip that came later than that would end its attempt
            it.put(FIRST)
            await heard(told, 3)
        assert it.statistics().why == "earlier attempts still hang"
        assert len(told.heard) == 3


async def test_a_full_line_lets_the_oldest_go_and_putting_never_waits() -> None:
    with Told(Reply(hangs=True)) as told:
        async with carrying(told.url, RetryPace(attempts=1, attempt_s=30.0, waiting=2)) as courier:
            courier.put(Letter("0", b"{}"))
            await heard(told, 1)
            for number in range(1, 6):
                courier.put(Letter(str(number), b"{}"))
            assert (courier.statistics().waiting, courier.statistics().dropped) == (2, 3)
            told.let_go()
            assert await heard(told, 3) == ["0", "4", "5"]


async def test_retry_after_is_heeded_and_not_for_ever() -> None:
    with Told(Reply(503, [("retry-after", "3600")])) as told:
        pace = RetryPace(attempts=2, first_wait_s=0.01, most_wait_s=0.05)
        async with carrying(told.url, pace) as courier:
            courier.put(FIRST)
            assert await heard(told, 2) == ["e.1", "e.1"]


async def test_whoever_has_the_secret_can_tell_that_it_is_from_us() -> None:
    key = b"0123456789abcdef"
    with Told(Reply(500)) as told:
        async with carrying(told.url, secret=key) as courier:
            courier.put(FIRST)
            await heard(told, 2)
    for each in told.heard:
        at = each.headers["webhook-timestamp"]
        signed = f"e.1.{at}.".encode() + each.body
        digest = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        assert each.headers["webhook-signature"] == f"v1,{digest}"


def test_the_signature_is_that_of_the_standards_own_example() -> None:
    letter = Letter("msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}')
    key = key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    assert signature(key, letter, 1614265330) == ("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")


def test_a_secret_is_a_text_or_base64() -> None:
    assert key_of("plain") == b"plain"
    with pytest.raises(BadInput, match="not base64"):
        key_of("whsec_***")


async def test_stopping_tries_what_waits_once_more_and_then_lets_go() -> None:
    with Told(Reply(500)) as told:
        courier = Courier(
            told.url, b"", CountingClock(), RetryPace(first_wait_s=3600, most_wait_s=3600)
        )
        courier.put(FIRST)
        courier.put(SECOND)
        courier.start()
        await heard(told, 1)
        await courier.stop(WAIT_S)
        assert await heard(told, 3) == ["e.1", "e.1", "e.2"]
        assert not [each for each in threading.enumerate() if each.name == "notices"]


async def test_stopping_does_not_wait_for_one_who_never_answers() -> None:
    with Told(Reply(hangs=True)) as told:
        courier = Courier(told.url, b"", CountingClock(), RetryPace(attempts=1, attempt_s=WAIT_S))
        courier.put(FIRST)
        courier.put(SECOND)
        courier.start()
        await heard(told, 1)
        await courier.stop(0.05)
        assert courier.statistics().waiting == 0


async def test_what_is_said_of_it_holds_no_more_of_the_address_than_its_host() -> None:
    with free_port() as port:
        url = f"http://127.0.0.1:{port}/services/T0SECRET?key=s3cret"
    async with carrying(url, RetryPace(attempts=1)) as courier:
        courier.put(FIRST)
    said = str(courier.statistics())
    assert f"127.0.0.1:{port}" in said
    assert "T0SECRET" not in said
    assert "s3cret" not in said
