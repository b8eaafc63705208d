"""Artifacts that expire by rule: the log says so first, and what was lost is still told apart."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from rutter.events.action import Untrusted
from rutter.events.advisor import AdvicePrepared
from rutter.events.artifacts import ArtifactStore
from rutter.events.envelope import kind
from rutter.events.errors import LogFull, WorldBroken
from rutter.events.observer import DownloadFinished, ScreenshotTaken
from rutter.events.page import Artifact
from rutter.events.runtime import ArtifactsExpired, SessionEnded
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.app import App
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.config.reader import Config
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.daily_expiry import DailyExpiry
from rutter.pipeline.upkeep.artifact_survey import ArtifactSurvey, SurveyedFile, survey
from rutter.pipeline.upkeep.expiry import (
    DAY_NS,
    LEFT_BEHIND,
    MB,
    UNNAMED,
    ExpiryDone,
    ExpiryPlan,
    ExpiryRules,
    facts,
    is_due,
    mark,
    plan,
    remove,
    rules_of,
    summary,
    tidy,
)
from rutter.pipeline.upkeep.inspection import inspect
from rutter.replay.verify import verify
from tests.support import shop_facts as given
from tests.support.data_directories import sailed
from tests.support.timed_log import BEGIN_NS, Ledger

ROOT = Path(__file__).parents[3]
NOW = BEGIN_NS + 1_000 * DAY_NS
RULES = ExpiryRules()


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    """A recording of a workflow that is known, and two runs of it, long ago."""
    return sailed(tmp_path / "data")


def tidied(directory: DataDirectory, rules: ExpiryRules = RULES) -> ExpiryDone:
    async def work() -> ExpiryDone:
        log = await SqliteLog.open(directory.log)
        async with App.open(log, artifacts=directory.artifacts) as app:
            return await tidy(directory, app.say_process, rules, app.clock)

    return asyncio.run(work())


def files(directory: DataDirectory) -> list[Path]:
    return sorted(path for path in directory.artifacts.root.glob("*/*"))


def said(directory: DataDirectory) -> list[ArtifactsExpired]:
    with SqliteReader(directory.log) as reader:
        events = [envelope.event for envelope in reader.read(kinds=[kind(ArtifactsExpired)])]
    return [event for event in events if isinstance(event, ArtifactsExpired)]


def divergence(directory: DataDirectory) -> object:
    with SqliteReader(directory.log) as reader:
        return verify(reader.read()).divergence


# -- what the rules say ----------------------------------------------------------------------------


def kept(name: str, *, days: int, size: int = 10, pinned: str = "", **used: int) -> SurveyedFile:
    at = {use: NOW - ago * DAY_NS for use, ago in (used or {"screenshots": days}).items()}
    return SurveyedFile(name * 64, size, 7, "image/png", at, ["run-1"], pinned)  # type: ignore[arg-type]


def going(*files: SurveyedFile, rules: ExpiryRules = RULES, expired: str = "") -> dict[str, str]:
    found = ArtifactSurvey(
        {each.digest: each for each in files}, frozenset([expired * 64]), (), 9, {}
    )
    planned = plan(found, rules, NOW).going
    return {each.digest[0]: rule for rule, files in planned.items() for each in files}


def test_what_is_older_than_its_rule_goes_and_nothing_else() -> None:
    old, young = kept("a", days=31), kept("b", days=29)
    assert going(old, young) == {"a": "keep.screenshots_days = 30"}


def test_what_came_again_just_now_stays_though_the_log_does_not_name_it_anew_yet() -> None:
    old = kept("a", days=400)
    again = msgspec.structs.replace(old, mtime_ns=NOW - 1_000_000_000)
    assert going(old) != {}
    assert going(again) == {}
    assert going(again, rules=ExpiryRules(max_mb=1)) == {}
    assert going(again, expired="a") == {}


def test_each_use_has_a_rule_of_its_own() -> None:
    files = [
        kept("a", days=0, downloads=91),
        kept("b", days=0, downloads=89),
        kept("c", days=0, prompts=31),
    ]
    assert going(*files) == {"a": "keep.downloads_days = 90", "c": "keep.prompts_days = 30"}


def test_what_is_used_for_two_things_stays_as_long_as_either_says() -> None:
    assert going(kept("a", days=0, screenshots=40, downloads=40)) == {}
    assert set(going(kept("a", days=0, screenshots=95, downloads=95))) == {"a"}


def test_nought_is_for_ever() -> None:
    ever = ExpiryRules(screenshots_days=0, max_mb=0)
    assert going(kept("a", days=9_000, size=10**12), rules=ever) == {}


def test_what_is_too_much_goes_oldest_first() -> None:
    files = [kept(name, days=age, size=MB) for name, age in (("a", 3), ("b", 9), ("c", 5))]
    assert going(*files, rules=ExpiryRules(max_mb=1)) == {
        "b": "keep.max_mb = 1",
        "c": "keep.max_mb = 1",
    }
    assert going(*files, rules=ExpiryRules(max_mb=3)) == {}


def test_what_is_needed_stays_whatever_the_rules_say() -> None:
    needed = kept("a", days=500, size=3 * MB, pinned="workflow order version 1")
    assert going(needed, rules=ExpiryRules(max_mb=1)) == {}
    found = ArtifactSurvey({needed.digest: needed}, frozenset(), (), 9, {})
    planned = plan(found, ExpiryRules(), NOW)
    assert (planned.pinned, planned.pinned_bytes) == (1, 3 * MB)


def test_what_nothing_names_goes_when_it_is_a_day_old() -> None:
    def unnamed(name: str, age_ns: int) -> SurveyedFile:
        return SurveyedFile(name * 64, 10, NOW - age_ns)

    assert going(unnamed("a", DAY_NS + 1), unnamed("b", DAY_NS - 1)) == {"a": UNNAMED}


def test_what_was_said_to_go_goes_and_is_not_said_again() -> None:
    left = kept("a", days=1)
    assert going(left, expired="a") == {"a": LEFT_BEHIND}
    found = ArtifactSurvey({left.digest: left}, frozenset([left.digest]), (), 9, {})
    assert list(facts(plan(found, ExpiryRules(), NOW))) == []


def test_no_fact_holds_more_than_some_digests() -> None:
    many = [kept("a", days=99) for _ in range(1_201)]
    named = {f"{at:064x}": each for at, each in enumerate(many)}
    for digest, each in named.items():
        each.digest = digest
    found = list(facts(plan(ArtifactSurvey(named, frozenset(), (), 9, {}), ExpiryRules(), NOW)))
    assert [len(event.digests) for event in found] == [500, 500, 201]
    assert {event.until for event in found} == {9}


def test_the_rules_are_those_of_the_configuration() -> None:
    assert rules_of(Config()) == ExpiryRules()


# -- what goes, and what is still known ------------------------------------------------------------


def test_it_goes_and_the_log_still_verifies_and_is_derived_again(directory: DataDirectory) -> None:
    before = len(files(directory))
    done = tidied(directory)
    assert done.files == before - len(files(directory)) == 3
    found = inspect(directory)
    assert (found.faults, found.expired, found.artifacts) == ((), 3, before)
    assert divergence(directory) is None


def test_what_a_known_workflow_was_recorded_with_stays(directory: DataDirectory) -> None:
    shown = {path.read_bytes()[:20] for path in files(directory)}
    done = tidied(directory)
    assert done.pinned == len(files(directory)) == 5
    assert {path.read_bytes()[:20] for path in files(directory)} < shown
    with SqliteReader(directory.log) as reader:
        recorded = [e.event for e in reader.read(session="record", kinds=["PageObserved"])]
    named = {event.screenshot.sha256 for event in recorded if event.screenshot}  # type: ignore[union-attr]
    assert {"".join(path.parts[-2:]) for path in files(directory)} == named


def test_one_that_is_lost_or_altered_is_still_told_from_one_that_expired(
    directory: DataDirectory,
) -> None:
    tidied(directory)
    lost, altered, *_ = files(directory)
    lost.unlink()
    altered.write_bytes(b"another picture")
    told = [(fault.kind, fault.what) for fault in inspect(directory).faults]
    assert {what for what, _ in told} == {"artifact"}
    assert sorted("is missing at" in what for _, what in told) == [False, True]


def test_a_log_that_does_not_say_so_has_lost_them(directory: DataDirectory) -> None:
    """The control: the same files gone, without the fact."""
    found = plan(survey(directory), ExpiryRules(), NOW)
    remove(directory, found)
    assert len(inspect(directory).faults) == 3


def test_doing_it_twice_says_nothing_more(directory: DataDirectory) -> None:
    tidied(directory)
    assert tidied(directory).files == 0
    assert len(said(directory)) == 1


def test_no_file_goes_before_it_is_said(directory: DataDirectory) -> None:
    before = files(directory)

    async def refuse(event: ArtifactsExpired) -> None:
        raise LogFull("no space left to write it")

    async def work() -> None:
        log = await SqliteLog.open(directory.log)
        async with App.open(log, artifacts=directory.artifacts) as app:
            await tidy(directory, refuse, ExpiryRules(), app.clock)

    with pytest.raises(BaseExceptionGroup):
        asyncio.run(work())
    assert files(directory) == before
    assert is_due(directory, NOW)
    assert inspect(directory).ok


def test_whoever_puts_the_same_at_that_moment_keeps_it(directory: DataDirectory) -> None:
    planned = plan(survey(directory), ExpiryRules(), NOW)
    chosen = planned.files[0]
    place = directory.artifacts.root / chosen.digest[:2] / chosen.digest[2:]
    body = place.read_bytes()
    os.utime(place, ns=(1, chosen.mtime_ns))
    directory.artifacts.put(body, "image/png")
    remove(directory, planned)
    assert place.read_bytes() == body
    assert len(files(directory)) == 8 - 2


def test_one_that_is_named_anew_is_missed_when_it_is_gone(tmp_path: Path) -> None:
    directory, picture = DataDirectory(tmp_path), Artifact("ab" * 32, 4)
    with Ledger(directory.log) as ledger:
        ends = SessionEnded("completed")
        ledger.write(given.run_of(None), ScreenshotTaken(picture), ends, session="run-1")
        ledger.write(ArtifactsExpired("by hand", (picture.sha256,), 3), session="process-1")
    assert inspect(directory).ok
    directory.log.unlink()
    with Ledger(directory.log) as ledger:
        ledger.write(given.run_of(None), ScreenshotTaken(picture), ends, session="run-1")
        ledger.write(given.run_of(None), ScreenshotTaken(picture), ends, session="run-2")
        ledger.write(ArtifactsExpired("by hand", (picture.sha256,), 3), session="process-1")
    [fault] = inspect(directory).faults
    assert fault.kind == "artifact"


def test_what_a_session_that_runs_names_stays(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    picture = directory.artifacts.put(b"a picture", "image/png")
    with Ledger(directory.log) as ledger:
        ledger.write(given.run_of(None), ScreenshotTaken(picture))
    planned = plan(survey(directory), ExpiryRules(), NOW)
    assert (planned.files, planned.pinned) == ([], 1)


def test_a_picture_that_a_model_was_shown_is_kept_with_its_prompt(tmp_path: Path) -> None:
    """No event names it: the prompt does."""
    directory = DataDirectory(tmp_path)
    picture = directory.artifacts.put(b"a picture", "image/png")
    prompt = directory.artifacts.put(f'{{"pictures":["{picture.sha256}"]}}'.encode(), "x/json")
    with Ledger(directory.log) as ledger:
        asked = AdvicePrepared("r", prompt=prompt)
        ledger.write(given.run_of(None), asked, SessionEnded("completed"))
    found = survey(directory).files
    assert {each.use for each in found.values()} == {"prompts"}
    assert found[picture.sha256].by == ["run-1"]


def test_what_a_page_sent_is_a_download_whatever_it_is(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    sent = directory.artifacts.put(b"a drawing", "image/png")
    with Ledger(directory.log) as ledger:
        ledger.write(given.run_of(None), DownloadFinished(Untrusted("plan.png"), sent))
    assert survey(directory).files[sent.sha256].use == "downloads"


def test_what_a_killed_process_left_half_written_goes_after_a_day(directory: DataDirectory) -> None:
    stray, fresh = (files(directory)[0].parent / name for name in (".half.1.1", ".half.2.2"))
    for path in (stray, fresh):
        path.write_bytes(b"half")
    os.utime(stray, ns=(1, 1))
    tidied(directory)
    assert (stray.exists(), fresh.exists()) == (False, True)


def test_a_folder_in_the_place_of_a_file_is_left_alone(directory: DataDirectory) -> None:
    odd = directory.artifacts.root / "ab" / ("cd" * 31)
    odd.mkdir(parents=True)
    tidied(directory)
    assert odd.is_dir()
    assert inspect(directory).ok


# -- at most once a day ----------------------------------------------------------------------------


def test_it_is_due_once_a_day(directory: DataDirectory) -> None:
    assert is_due(directory, NOW)
    mark(directory, NOW)
    assert not is_due(directory, NOW + DAY_NS - 1)
    assert is_due(directory, NOW + DAY_NS)


def test_a_clock_that_was_set_back_is_no_reason_to_wait(directory: DataDirectory) -> None:
    mark(directory, NOW)
    assert is_due(directory, NOW - 1)


@pytest.mark.anyio
async def test_the_daemon_does_it_and_goes_on_when_it_cannot(
    directory: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    log = await SqliteLog.open(directory.log)
    async with App.open(log, artifacts=directory.artifacts) as app:
        tidying = DailyExpiry(app, Settings(directory.root), notes.append)

        class Once(Exception):
            """The clock is asked to sleep: the day's work is done."""

        async def sleep_ms(ms: int) -> None:
            raise Once

        monkeypatch.setattr(app.clock, "sleep_ms", sleep_ms)

        def broken(*_: object) -> bool:
            raise WorldBroken("the file cannot be deleted")

        with monkeypatch.context() as patch:
            patch.setattr(ArtifactStore, "drop", broken)
            with pytest.raises(Once):
                await tidying.keep()
        with pytest.raises(Once):
            await tidying.keep()
        with pytest.raises(Once):
            await tidying.keep()
    assert notes == [
        "what has expired could not go: the file cannot be deleted",
        "3 artifacts expired by rule, 7600 bytes",
    ]
    assert inspect(directory).ok


# -- killed, and out of room -----------------------------------------------------------------------


def kill(directory: DataDirectory, point: str) -> None:
    command = [sys.executable, "-m", "tests.support.killed_expiry", str(directory.root), point]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120)
    assert done.returncode == -9, done.stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize(("point", "left"), [("said", 8), ("begun", 7), ("gone", 5)])
def test_a_kill_leaves_what_the_next_tidying_removes(
    directory: DataDirectory, point: str, left: int
) -> None:
    kill(directory, point)
    assert len(files(directory)) == left
    # The process died: its session has no seal yet, which the next start writes.
    assert inspect(directory).faults == ()
    assert len(said(directory)) == 1
    tidied(directory)
    assert len(files(directory)) == 5
    assert (len(said(directory)), inspect(directory).faults) == (1, ())
    assert divergence(directory) is None


@pytest.mark.slow
def test_the_control_that_deletes_before_it_says_so_is_caught(directory: DataDirectory) -> None:
    kill(directory, "backwards")
    assert {fault.kind for fault in inspect(directory).faults} == {"artifact"}


def test_on_a_full_disk_nothing_goes_and_it_is_told(small_disk: Path) -> None:
    directory = sailed(small_disk / "data")
    before = files(directory)
    (small_disk / "ballast").write_bytes(bytes(shutil.disk_usage(small_disk).free - 4_096))
    with pytest.raises((WorldBroken, BaseExceptionGroup)) as told:
        tidied(directory)
    assert "no space left" in _said_by(told.value)
    assert files(directory) == before
    (small_disk / "ballast").unlink()
    assert tidied(directory).files == 3
    assert inspect(directory).ok


def _said_by(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return " ".join(map(_said_by, error.exceptions))
    return str(error)


def test_a_plan_of_nothing_frees_nothing() -> None:
    assert (summary(ExpiryPlan()).files, summary(ExpiryPlan()).bytes) == (0, 0)
