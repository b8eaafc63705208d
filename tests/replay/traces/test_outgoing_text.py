"""What may leave of free text."""

from rutter.replay.traces.outgoing_text import TEXT, said
from tests.support.case_table import for_each


def test_text_is_bounded() -> None:
    assert said("x" * 1_000) == "x" * TEXT


@for_each(
    "text, left",
    [
        ("https://shop.example/a?token=s3cret", "https://shop.example/a"),
        ("https://shop.example/a#access_token=s3cret", "https://shop.example/a"),
        ("https://ann:s3cret@shop.example/a", "https://shop.example/a"),
        (
            "net::ERR at https://shop.example/a?key=s3cret now",
            "net::ERR at https://shop.example/a now",
        ),
        ("a?b is no address", "a?b is no address"),
        ("", ""),
    ],
)
def test_addresses_lose_their_query_and_their_user(text: str, left: str) -> None:
    assert said(text) == left


def test_what_is_cut_off_cannot_show_what_would_have_been_taken_out() -> None:
    for length in range(150, 450):
        shown = said("x" * length + " https://ann:s3cret@shop.example/a?key=s3cret")
        assert "s3cret" not in shown
        assert "ann" not in shown


def test_hostile_text_takes_no_time() -> None:
    assert len(said("://" * 1_000_000)) == TEXT
