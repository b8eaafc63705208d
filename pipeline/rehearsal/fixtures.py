"""Fixtures are snapshots of common pages and of a cancellation, taken from the bundled sites in a
browser."""

from functools import cache
from pathlib import Path

import msgspec

from rutter.pipeline.rehearsal.world import ScriptedWorld
from rutter.pipeline.tools.snapshot import Snapshot, snapshot_schema

__all__ = ["FOLDER", "cancellation", "names", "snapshot", "snapshot_schema", "words", "written"]

FOLDER = Path(__file__).parent
# Where each page of the cancellation is, and what leads from one to the next.
CANCELLATION = {
    "/login": "cancel_login",
    "/account": "cancel_account",
    "/cancel/offer": "cancel_offer",
    "/cancel/survey": "cancel_survey",
    "/cancel/confirm": "cancel_confirm",
    "/cancel/done": "cancel_done",
}
LEADS = {
    ("/login", "Sign in"): "/account",
    ("/account", "Cancel membership"): "/cancel/offer",
    ("/cancel/offer", "Continue to cancel"): "/cancel/survey",
    ("/cancel/offer", "Stay for half price"): "/account",
    ("/cancel/survey", "Continue"): "/cancel/confirm",
    ("/cancel/confirm", "Finish cancellation"): "/cancel/done",
    ("/cancel/confirm", "Keep my membership"): "/account",
}


def names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (FOLDER / "snapshots").glob("*.json")))


def snapshot(name: str) -> Snapshot:
    """One of them, checked: `names()` says which there are."""
    path = FOLDER / "snapshots" / f"{name}.json"
    if not path.is_file():
        raise ValueError(f"there is no snapshot {name!r}: there are {', '.join(names())}")
    return msgspec.json.decode(path.read_bytes(), type=Snapshot)


def words(name: str) -> str:
    """What that page said to a reader: a snapshot holds its controls and headings alone."""
    return _words()[name]


def cancellation(account: str = "cancel_account") -> ScriptedWorld:
    """A streaming service whose membership can be ended; with `cancel_third_party` or
    `cancel_already_cancelled` for its account, one where it cannot."""
    pages = {**CANCELLATION, "/account": account}
    leads = dict(LEADS)
    if account != "cancel_account":
        del leads["/account", "Cancel membership"]
    return ScriptedWorld.of_snapshots(
        {path: snapshot(name) for path, name in pages.items()},
        leads,
        says={path: (words(name),) for path, name in pages.items()},
    )


def written(value: object) -> bytes:
    """As the files hold it: readable, and the same each time."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


@cache
def _words() -> dict[str, str]:
    return msgspec.json.decode((FOLDER / "words.json").read_bytes(), type=dict[str, str])
