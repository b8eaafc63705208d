"""A cron expression on the clock of a zone says when a schedule is due, as instants.

An instant is told once, whatever that clock does. Where it jumps ahead, what names an hour and a
minute in the gap is due at its end; where it is set back, at the first of the two. What has a star
there is due by the clock as it shows: not in a gap, and in both of two hours that are called the
same. Debian's cron does all of that too.
"""

import heapq
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from rutter.events.errors import BadInput

SECOND_NS = 1_000_000_000
FIELDS = 5  # cronsim knows seconds too: a run each second is no schedule
LONGEST = 200  # characters of an expression
DAY_NS = 86_400 * SECOND_NS
# How far back the last tick is looked for, a little further each time: a year of minutes would be
# half a million of them. The longest is twice what 29 February can take.
BACK_NS = (DAY_NS // 12, *(days * DAY_NS for days in (1, 8, 62, 733, 17 * 366)))
KEPT = 5_000  # ticks of one schedule: half a week of minutes


class Ticks:
    """Ticks are an expression in a zone; one that is none raises `BadInput`."""

    def __init__(self, cron: str, zone: str) -> None:
        self._zone = zone_of(zone)
        self._cron = " ".join(cron.split())
        if len(cron) > LONGEST or len(cron.split()) != FIELDS:
            raise _unreadable(cron, "it has five fields")
        try:
            CronSim(self._cron, datetime.fromtimestamp(0, UTC))
        except CronSimError as error:
            raise _unreadable(cron, str(error).lower()) from error
        except (AssertionError, ValueError) as error:  # what its reader did not think of
            raise _unreadable(cron, "a field is none") from error

    def after(self, ns: int) -> int | None:
        """The first that is later; none within fifty years is none."""
        at = datetime.fromtimestamp(ns // SECOND_NS, UTC).astimezone(self._zone)
        for tick in CronSim(self._cron, at):
            # An hour that comes twice is one to cronsim: in the second it tells those of the first.
            if (found := round(tick.timestamp()) * SECOND_NS) > ns:
                return found
        return None

    def last(self, since: int, until: int) -> int | None:
        """The last that is later than `since`, and not later than `until`."""
        for back in BACK_NS:
            begin = max(since, until - back)
            found, following = None, self.after(begin)
            while following is not None and following <= until:
                found, following = following, self.after(following)
            if found is not None or begin == since:
                return found
        return None


def machine_zone(env: Mapping[str, str], link: Path = Path("/etc/localtime")) -> str:
    """The name of the zone that this machine's clock shows; UTC where it has none, or many."""
    _, _, linked = str(link.resolve()).partition("/zoneinfo/")
    for name in (env.get("TZ", "").removeprefix(":"), linked):
        if name and zone_is(name):
            return "UTC" if name.endswith("UTC") else name
    return "UTC"


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:  # it is looked for as a file
        fix = "write one as Europe/Berlin, or UTC"
        raise BadInput(f"there is no time zone {name[:LONGEST]!r}", fix) from error


def zone_is(name: str) -> bool:
    try:
        return bool(zone_of(name))
    except BadInput:
        return False


def _unreadable(cron: str, why: str) -> BadInput:
    return BadInput(
        f"{cron[:LONGEST]!r} is no time to run at: {why}",
        "write minute, hour, day, month and weekday: 0 7 * * 1-5 is each weekday at seven",
    )


class Ran:
    """These ticks were run. Of the earliest it is known only that all of them were.

    Not one mark that only rises: a clock that was once wrong by years would stop a schedule for as
    long.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._all_until = 0
        self._ticks: list[int] = []  # a heap
        self._known: set[int] = set()

    def add(self, tick: int) -> None:
        if self.has(tick):
            return
        heapq.heappush(self._ticks, tick)
        self._known.add(tick)
        if len(self._ticks) > self._kept:
            self._all_until = heapq.heappop(self._ticks)
            self._known.discard(self._all_until)

    def has(self, tick: int) -> bool:
        return tick <= self._all_until or tick in self._known
