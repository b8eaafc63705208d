"""Barrier words say to people and callers what keeps a page from being read or used."""

from rutter.events.critic import Barrier

SAYS = {
    "blocked": "the site keeps programs out here",
    "captcha": "the site asks here for a captcha, which a person must do",
    "empty_shell": "the page stayed empty: its scripts did not fill it",
    "drawn": "what the page says is drawn: there are no words in it to be read",
}
BESIDE = "a part of the page is a captcha, which a person must do"


def barrier_in_words(barrier: Barrier) -> str:
    said = BESIDE if barrier.beside else SAYS[barrier.kind]
    return f"{said} ({barrier.service})" if barrier.service else said


def barrier_told(barrier: Barrier) -> dict[str, object]:
    """As callers of tools get it."""
    return {
        "kind": barrier.kind,
        "says": barrier_in_words(barrier),
        "service": barrier.service or None,
        "beside": barrier.beside,
        "signs": list(barrier.signs),
        "detail": barrier.detail,
    }


def barrier_story(barrier: Barrier | None) -> str:
    """For whoever looks back: with what it was known by."""
    return f"{barrier_in_words(barrier)}: {barrier.detail}" if barrier is not None else ""
