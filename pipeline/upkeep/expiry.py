"""Artifacts that expire by rule (`keep.*` in the configuration). The log keeps what they were.

That they go is a fact (`ArtifactsExpired`), on disk before any file is deleted: `rutter log verify`
tells what expired from what was lost. A process that dies in between leaves files that were said to
go; the next tidying removes them. What a session that runs names stays, and so does what a known
workflow was recorded with.
"""

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import anyio.to_thread
import msgspec

from rutter.events.durable import disk_told, sync
from rutter.events.runtime import ArtifactsExpired
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.config.reader import Config
from rutter.pipeline.upkeep.artifact_survey import ArtifactSurvey, SurveyedFile, Use, survey
from rutter.pipeline.upkeep.inspection import InspectionWatch, unwatched, watched

HOUR_NS = 3_600 * 10**9
DAY_NS = 86_400_000_000_000
MB = 1_000_000
# Of one event: some 30 KB, twice what a page of an observation may take.
AT_ONCE = 500
LEFT_BEHIND = "left behind"  # said to expire before, and still there
UNNAMED = "named by nothing"

Say = Callable[[ArtifactsExpired], Awaitable[None]]


class ExpiryRules(msgspec.Struct, frozen=True):
    """Rules keep each kind for so many days, and all of them up to a size; 0: without limit."""

    screenshots_days: int = 30
    downloads_days: int = 90
    prompts_days: int = 30
    max_mb: int = 2_000

    def days(self, use: Use) -> int:
        return int(getattr(self, f"{use}_days", 0))


class ExpiryPlan(msgspec.Struct, frozen=True):
    """A plan says what goes, by which rule. `pinned` would go too, were it not needed by a workflow
    or a session."""

    going: Mapping[str, list[SurveyedFile]] = {}
    strays: tuple[Path, ...] = ()
    pinned: int = 0
    pinned_bytes: int = 0
    until: int = 0

    @property
    def files(self) -> list[SurveyedFile]:
        return [each for going in self.going.values() for each in going]


class ExpiredKind(msgspec.Struct, frozen=True):
    rule: str
    files: int
    bytes: int


class ExpiryDone(msgspec.Struct, frozen=True):
    """The rules let this go; in a dry run, they would."""

    dry_run: bool
    files: int
    bytes: int
    rules: tuple[ExpiredKind, ...]
    pinned: int
    pinned_bytes: int


def rules_of(config: Config) -> ExpiryRules:
    fields = ExpiryRules.__struct_fields__
    return ExpiryRules(**{name: config.number(f"keep.{name}") for name in fields})


def plan(found: ArtifactSurvey, rules: ExpiryRules, now_ns: int) -> ExpiryPlan:
    """What the rules say of what is there. It decides from what it is given alone."""
    going: dict[str, list[SurveyedFile]] = {}
    staying: list[SurveyedFile] = []
    pinned: list[SurveyedFile] = []
    for each in found.files.values():
        rule = _rule_for(each, found, rules, now_ns)
        if rule and not each.pinned:
            going.setdefault(rule, []).append(each)
            continue
        staying.append(each)
        if rule:
            pinned.append(each)
    if over := list(_too_much(staying, rules, now_ns)):
        going[f"keep.max_mb = {rules.max_mb}"] = over
    return ExpiryPlan(
        going,
        tuple(each for each in found.strays if _older(each, now_ns - DAY_NS)),
        len(pinned),
        _bytes(pinned),
        found.until,
    )


async def tidy(
    directory: DataDirectory,
    say: Say,
    rules: ExpiryRules,
    clock: Clock,
    watch: InspectionWatch = unwatched,
) -> ExpiryDone:
    """Says what goes, on disk when `say` returns, and deletes it. The caller holds the lock."""
    in_thread = anyio.to_thread.run_sync
    now_ns = clock.now_ns()
    # Whoever stops need not wait for it: it only reads.
    found = await in_thread(survey, directory, watch, abandon_on_cancel=True)
    planned = plan(found, rules, now_ns)
    for event in facts(planned):
        await say(event)
    await in_thread(partial(remove, directory, planned, watch))
    await in_thread(mark, directory, now_ns)
    return summary(planned)


def facts(planned: ExpiryPlan) -> Iterator[ArtifactsExpired]:
    """What was said before need not be said again, and what nothing names is missed by nothing."""
    for rule, files in planned.going.items():
        if rule not in (LEFT_BEHIND, UNNAMED):
            digests = tuple(each.digest for each in files)
            for at in range(0, len(digests), AT_ONCE):
                yield ArtifactsExpired(rule, digests[at : at + AT_ONCE], planned.until)


def remove(
    directory: DataDirectory, planned: ExpiryPlan, watch: InspectionWatch = unwatched
) -> None:
    folders = set()
    for each in watched(watch, "deleting", planned.files):
        if directory.artifacts.drop(each.digest, each.mtime_ns):
            folders.add(directory.artifacts.root / each.digest[:2])
    with disk_told(directory.artifacts.root):
        for stray in planned.strays:
            stray.unlink(missing_ok=True)
        for folder in sorted(folders):
            sync(folder)


def summary(planned: ExpiryPlan, *, dry_run: bool = False) -> ExpiryDone:
    rules = tuple(
        ExpiredKind(rule, len(each), _bytes(each)) for rule, each in planned.going.items()
    )
    files = planned.files
    pinned = planned.pinned, planned.pinned_bytes
    return ExpiryDone(dry_run, len(files), _bytes(files), rules, *pinned)


# -- at most once a day ----------------------------------------------------------------------------


def is_due(directory: DataDirectory, now_ns: int) -> bool:
    """Whether a day has passed since somebody last looked; a clock that was set back is no
    reason to wait."""
    try:
        looked = directory.tidied.stat().st_mtime_ns
    except OSError:
        return True
    return not 0 <= now_ns - looked < DAY_NS


def mark(directory: DataDirectory, now_ns: int) -> None:
    """When it was looked. Not in the log: most days there is nothing to say."""
    with disk_told(directory.tidied):
        directory.tidied.touch(mode=0o600)
        os.utime(directory.tidied, ns=(now_ns, now_ns))


# -- what the rules say ----------------------------------------------------------------------------


def _rule_for(each: SurveyedFile, found: ArtifactSurvey, rules: ExpiryRules, now_ns: int) -> str:
    """The rule by which it goes; empty when it stays. What is used for several things stays as
    long as any of them says."""
    if _just_put(each, now_ns):
        return ""
    if each.digest in found.expired:
        return LEFT_BEHIND
    if not each.used:
        return UNNAMED if each.mtime_ns < now_ns - DAY_NS else ""
    said = ""
    for use, last_ns in each.used.items():
        days = rules.days(use)
        if not days or last_ns >= now_ns - days * DAY_NS:
            return ""
        said = f"keep.{use}_days = {days}"
    return said


def _just_put(each: SurveyedFile, now_ns: int) -> bool:
    """A file that came again, byte for byte, has the old name: what names it anew may not be in the
    log yet."""
    return now_ns - HOUR_NS < each.mtime_ns <= now_ns + HOUR_NS


def _too_much(left: list[SurveyedFile], rules: ExpiryRules, now_ns: int) -> Iterator[SurveyedFile]:
    """The oldest first, until the rest is no more than it may be. What must stay counts too."""
    if not rules.max_mb:
        return
    over = _bytes(left) - rules.max_mb * MB
    for each in sorted(left, key=lambda kept: (kept.last_ns, kept.digest)):
        if over <= 0:
            return
        if not each.pinned and each.used and not _just_put(each, now_ns):
            over -= each.size
            yield each


def _bytes(files: Iterable[SurveyedFile]) -> int:
    return sum(each.size for each in files)


def _older(stray: Path, than_ns: int) -> bool:
    try:
        return stray.stat().st_mtime_ns < than_ns
    except OSError:
        return False
