"""Page words say times, outcomes and drivers as people do."""

from datetime import datetime
from typing import NamedTuple

from rutter.replay.story.told_session import StepStory

MINUTE, HOUR, DAY = 60, 3600, 86400
DRIVERS = {
    "person": "you",
    "script": "a script",
    "workflow": "its recording",
    "prediction": "what was learned",
    "model": "a language model",
    "agent": "an agent",
}
PURPOSES = {
    "record": "Recording",
    "run": "Run",
    "free": "Free run",
    "goal": "Run to a goal",
    "tools": "Calls of an agent",
}


class Outcome(NamedTuple):
    """An outcome has its colour's name, and what is said of it: no colour says it alone."""

    tone: str
    words: str


OUTCOMES = {
    "completed": Outcome("done", "Done"),
    "completed_unverified": Outcome("waits", "Done, not proven"),
    "cancelled": Outcome("quiet", "Stopped"),
    "interrupted": Outcome("quiet", "Interrupted"),
    "erased": Outcome("quiet", "Erased"),
    "running": Outcome("moves", "Running"),
}
FAILED = Outcome("failed", "Failed")
NEEDED = Outcome("waits", "Needs a person")


def outcome(reason: str | None, failure: str | None = "", paused: str | None = None) -> Outcome:
    if failure == "needs_person":
        return NEEDED
    if not reason and paused:
        return Outcome("waits", "Paused")
    return OUTCOMES.get(reason or "running", FAILED)


def moment(ns: int) -> str:
    """By the clock of this machine: `16 Mar 2026, 10:15`."""
    return datetime.fromtimestamp(ns // 10**9).astimezone().strftime("%-d %b %Y, %H:%M")


def iso(ns: int) -> str:
    """For the `datetime` of a `<time>`: browsers say from it how long ago that was."""
    return datetime.fromtimestamp(ns // 10**9).astimezone().isoformat()


def lasted(ms: float) -> str:
    """`0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`."""
    seconds = ms / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"


def percent(millionths: int) -> str:
    return f"{millionths / 10_000:.0f} %"


def number(count: int, what: str) -> str:
    """`1 step`, `14 steps`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


VERDICTS = {
    "confirmed": Outcome("done", "Done"),
    "answered": Outcome("done", "Read"),
    "passed_over": Outcome("quiet", "Not needed"),
    "rejected": Outcome("failed", "Not done"),
}
# What stands where there is no picture, by the first word of the step.
SKETCHES = {
    "go": "\u2192",
    "type": "\u2328",
    "paste": "\u2328",
    "press": "\u2328",
    "select": "\u25be",
}
SKETCHED = "\u25ce"


def came_of(step: StepStory, reason: str) -> Outcome:
    """What became of a step, in a session that ended like this or runs."""
    if step.verdict:
        return VERDICTS.get(step.verdict, FAILED)
    return Outcome("moves", "Under way") if reason == "running" else Outcome("waits", "Not known")


def sketch(words: str) -> str:
    return SKETCHES.get(words.partition(" ")[0], SKETCHED)


def size(number: int) -> str:
    for unit in ("B", "KB", "MB"):
        if number < 10_000:
            return f"{number:,} {unit}"
        number //= 1_000
    return f"{number:,} GB"
