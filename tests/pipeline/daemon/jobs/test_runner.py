"""From a job to its session: whose logins it has, and what is said where one cannot be used."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from rutter.events.errors import BadInput, WorldBroken
from rutter.events.jobs import JobQueued, RunFree
from rutter.events.logins import LoginUsed
from rutter.events.runtime import SessionEnded
from rutter.pipeline.app import App
from rutter.pipeline.config.reader import Config, SourcedValue
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.jobs.approvals import Questions
from rutter.pipeline.daemon.jobs.runner import AGENT, JobRunner, check_run
from rutter.pipeline.logins import sealed_file
from rutter.pipeline.logins.session_logins import SessionLogins, shelf_of
from tests.support import keyrings
from tests.support.shop_logins import PASSPHRASE, SHOP, keep

DESK = RunFree(f"{SHOP}/desk")


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sealed_file, "COST", sealed_file.GuessCost(n=128))
    with keyrings.using(keyrings.none()):
        yield


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Where a login for the shop is kept, and where its key is."""
    word = tmp_path / "word"
    word.write_text(PASSPHRASE)
    made = Settings(tmp_path / "data", config=Config({"logins.key": SourcedValue(f"file:{word}")}))
    keep(shelf_of(made))
    return made


class Quay:
    """An app that sails nobody, and knows what it was given."""

    logins: SessionLogins | None = None

    def running(self) -> tuple[str, ...]:
        return ()

    async def run_in_browser(
        self, *_: object, logins: SessionLogins | None, **__: object
    ) -> SessionEnded:
        self.logins = logins
        return SessionEnded("completed")


async def used(settings: Settings, by: str) -> tuple[LoginUsed, ...]:
    quay = Quay()
    questions = Questions()
    begin = JobRunner(cast("App", quay), cast("Any", None), settings, questions)
    await begin(JobQueued("job-1", DESK, by), "run-1")
    return quay.logins.used if quay.logins is not None else ()


@pytest.mark.anyio
async def test_a_run_is_signed_in_where_a_person_wants_it_and_not_where_an_agent_does(
    settings: Settings,
) -> None:
    assert [each.origin for each in await used(settings, "person")] == [SHOP]
    assert await used(settings, AGENT) == ()


def test_what_an_agent_wants_does_not_depend_on_a_key_that_it_does_not_need(
    settings: Settings,
) -> None:
    keyless = Settings(settings.data)

    check_run(DESK, keyless, agent=True)
    with pytest.raises(BadInput, match="nobody is here to type the passphrase"):
        check_run(DESK, keyless, agent=False)


@pytest.mark.anyio
async def test_a_login_that_cannot_be_used_is_told_without_where_it_lies(
    settings: Settings,
) -> None:
    shelf_of(settings).path(SHOP).chmod(0o644)

    with pytest.raises(WorldBroken, match="others can read or change the login") as refused:
        check_run(DESK, settings, agent=False)
    with pytest.raises(WorldBroken, match="others can read or change the login") as ended:
        await used(settings, "person")

    assert str(settings.data) not in f"{refused.value} {ended.value}"
