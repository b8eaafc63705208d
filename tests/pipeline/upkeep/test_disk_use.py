"""What is kept and what it takes: by kind, by session, by age; nothing is counted twice."""

import pytest

from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.disk_use import DiskUse, measure
from rutter.pipeline.upkeep.expiry import DAY_NS, ExpiryRules
from tests.support.timed_log import BEGIN_NS


def at(directory: DataDirectory, days: int, rules: ExpiryRules | None = None) -> DiskUse:
    return measure(directory, rules, BEGIN_NS + days * DAY_NS)


def test_every_file_is_in_one_part(directory: DataDirectory) -> None:
    (directory.root / "logins").mkdir()
    (directory.root / "logins" / "shop").write_bytes(b"x" * 100)
    (directory.root / "person.token").write_bytes(b"x" * 43)
    (directory.root / "notes.txt").write_bytes(b"x" * 5)
    found = at(directory, 1)
    files = [path for path in directory.root.rglob("*") if path.is_file()]
    assert sum(part.files for part in found.parts) == len(files)
    assert sum(part.bytes for part in found.parts) == sum(path.stat().st_size for path in files)
    sizes = {part.what: part.bytes for part in found.parts}
    assert (sizes["logins"], sizes["settings"], sizes["other"]) == (100, 43, 5)
    assert sizes["screenshots"] == found.artifact_bytes


def test_sessions_are_listed_largest_first_with_the_artifacts_they_brought(
    directory: DataDirectory,
) -> None:
    found = at(directory, 1)
    assert [use.bytes for use in found.by_session] == sorted(
        (use.bytes for use in found.by_session), reverse=True
    )
    assert {use.session for use in found.by_session} >= {"record", "run-1", "run-2"}
    assert sum(use.artifacts for use in found.by_session) == found.artifacts


@pytest.mark.parametrize(
    ("days", "age"),
    [(0, "today"), (3, "this week"), (20, "this month"), (300, "this year"), (900, "older")],
)
def test_how_old_it_is(directory: DataDirectory, days: int, age: str) -> None:
    assert [use.age for use in at(directory, days).by_age] == [age]


def test_what_could_go_and_the_command_for_it(directory: DataDirectory) -> None:
    expired, largest = at(directory, 60).freeable
    assert (expired.what, expired.command) == ("3 artifacts that have expired", "log tidy")
    assert expired.bytes == 7_600
    assert largest.command == "log erase run-1 --why TEXT", "not a recording that is needed"


def test_before_anything_has_expired_there_is_nothing_to_tidy(directory: DataDirectory) -> None:
    assert [could.command for could in at(directory, 1).freeable] == ["log erase run-1 --why TEXT"]


def test_it_goes_by_the_rules_of_the_configuration(directory: DataDirectory) -> None:
    assert len(at(directory, 60, ExpiryRules(screenshots_days=0)).freeable) == 1


def test_a_log_with_no_artifacts_at_all(directory: DataDirectory) -> None:
    for path in directory.artifacts.root.glob("*/*"):
        path.unlink()
    found = at(directory, 60)
    assert (found.artifacts, found.artifact_bytes) == (0, 0)
