"""A daemon whose runs are signed in by a kept login, with nobody there, until it has expired."""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread
import pytest

from rutter.events.jobs import JobEnded
from rutter.pipeline.config import settings as settings_
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.daemon import Daemon
from rutter.pipeline.daemon.serve import serving
from rutter.pipeline.logins import sealed_file
from rutter.pipeline.logins.session_logins import keys_of, shelf_of
from tests.support import keyrings
from tests.support.command_shell import Rutter, check_logs
from tests.support.daemon_on_site import ask
from tests.support.login_site import LoginSite
from tests.support.notice_receiver import Told
from tests.support.secret_search import places_of

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

CONFIG = """
[policy]
allowed_domains = ["{host}"]

[logins]
key = "file:{word}"

[notify]
urls = ["{told}"]
"""


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sealed_file, "COST", sealed_file.GuessCost(n=128))
    with keyrings.using(keyrings.none()):
        yield


def sign_in(site: LoginSite, settings: Settings) -> None:
    """As a person beside it does: nothing of the daemon's is locked for that."""
    keys = keys_of(settings, None)
    assert shelf_of(settings).keep(site.base_url, site.a_login(), keys.new([])) is not None


class Port(NamedTuple):
    site: LoginSite
    told: Told
    settings: Settings


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Port]:
    """A site, somebody who is told, and a data directory: with a login, and with a workflow that
    was recorded by it."""
    data, word, script = tmp_path / "data", tmp_path / "word", tmp_path / "look.json"
    word.write_text("nine turns of marline")
    data.mkdir(mode=0o700)
    with LoginSite() as site, Told() as told:
        with open(data / "config.toml", "w", opener=partial(os.open, mode=0o600)) as file:
            file.write(CONFIG.format(host=site.host, word=word, told=told.url))
        settings = settings_.load(str(data), env={})
        sign_in(site, settings)
        clicks = [("nav-customers", "Customers")]
        script.write_text(json.dumps(site.script(sign_in=False, then=clicks)))
        recorded = Rutter(data)("record", "look", "--script", script)
        assert recorded.code == 0, recorded
        yield Port(site, told, settings)
    check_logs(data)
    for token in site.tokens:
        assert places_of(token, data) == []


async def run(daemon: Daemon, url: str) -> JobEnded:
    token = (daemon.settings.data / "person.token").read_text().strip()
    body = {"kind": "workflow", "workflow": "look", "values": {}}
    hand_in = partial(ask, url, "POST", "/jobs", body, token=token)
    job = (await anyio.to_thread.run_sync(hand_in)).json["job_id"]
    ended = (await daemon.jobs.ended(job)).ended
    assert ended is not None
    return ended


async def test_a_job_is_signed_in_and_one_whose_login_expired_calls_for_a_person(
    port: Port,
) -> None:
    site, told, settings = port
    async with serving(settings, port=0) as (daemon, url):
        assert (await run(daemon, url)).reason == "completed"
        site.expire_sessions()
        ended = await run(daemon, url)
        assert (ended.reason, ended.failure) == ("policy_denied", "needs_person")
        assert ended.detail.startswith(f"the login for {site.base_url} has expired: ")
        heard = await anyio.to_thread.run_sync(told.wait_for, 2)
        notices = {each.json["event"]: each.json for each in heard}
        assert set(notices) == {"person_needed", "job_failed"}
        assert notices["person_needed"]["kind"] == "login"
        assert notices["person_needed"]["text"].endswith(f": rutter login {site.base_url}")

        await anyio.to_thread.run_sync(sign_in, site, settings)
        assert (await run(daemon, url)).reason == "completed"
    assert site.signed_in == 0  # nobody typed a password anywhere
