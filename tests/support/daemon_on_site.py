"""A daemon serves on the bundled site, with a workflow recorded there, for a client that asks."""

import json
import shutil
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from rutter.pipeline.cli.demo import ALONE
from rutter.pipeline.config import settings as settings_
from rutter.pipeline.daemon.daemon import Daemon
from rutter.pipeline.daemon.http.tokens import Scope
from rutter.pipeline.daemon.serve import serving
from tests.support.command_shell import Rutter, check_logs
from tests.support.recorded_site import Harbour

CONFIG = """
[policy]
allowed_domains = [{hosts}]

[secrets.password]
source = "file:{password}"
origins = ["{origin}"]

{more}
"""


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    url: str,
    method: str,
    path: str,
    body: object = None,
    *,
    token: str = "",
    headers: Mapping[str, str] | None = None,
    within_s: float = 60.0,
) -> Reply:
    """One request, by a client that adds nothing of its own but what it is given."""
    at = urlsplit(url)
    sent = None if body is None else json.dumps(body).encode()
    said = {"Content-Type": "application/json"} if sent is not None else {}
    if token:
        said["Authorization"] = f"Bearer {token}"
    connection = HTTPConnection(at.hostname or "", at.port, timeout=within_s)
    try:
        connection.request(method, path, sent, {**said, **(headers or {})})
        answer = connection.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        return Reply(answer.status, told, answer.read())
    finally:
        connection.close()


class Anchored:
    """A daemon serves in this process, on a data directory of its own."""

    def __init__(self, daemon: Daemon, url: str, harbour: Harbour) -> None:
        self.daemon = daemon
        self.url = url
        self.harbour = harbour
        self.site = harbour.site
        self.data = daemon.settings.data

    def token(self, scope: Scope = "person") -> str:
        return (self.data / f"{scope}.token").read_text().strip()

    async def ask(
        self, method: str, path: str, body: object = None, *, scope: Scope = "person", **more: Any
    ) -> Reply:
        token = more.pop("token", self.token(scope))
        asked = partial(ask, self.url, method, path, body, token=token, **more)
        return await anyio.to_thread.run_sync(asked)

    async def run(self, values: Mapping[str, str] = ALONE, key: str = "") -> dict[str, Any]:
        """The workflow handed in as a job; told when it has been taken on."""
        body = {"kind": "workflow", "workflow": "order", "values": dict(values)}
        headers = {"Idempotency-Key": key} if key else {}
        reply = await self.ask("POST", "/jobs", body, headers=headers)
        assert reply.status == 202, reply
        return dict(reply.json)

    async def ended(self, job: str) -> dict[str, Any]:
        await self.daemon.jobs.ended(job)
        return dict((await self.ask("GET", f"/jobs/{job}")).json)


def record_order(harbour: Harbour, data: Path) -> None:
    """Once for all tests of a file."""
    ended = Rutter(data)(*harbour.record(), "--answers", harbour.yes)
    assert ended.code == 0, ended


def configure(data: Path, harbour: Harbour, more: str = "", hosts: Iterable[str] = ()) -> None:
    text = CONFIG.format(
        hosts=", ".join(f'"{each}"' for each in (harbour.host, *hosts)),
        password=harbour.password,
        origin=harbour.site.base_url,
        more=more,
    )
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    place = data / "config.toml"
    place.write_text(text)
    place.chmod(0o600)


@asynccontextmanager
async def anchored(
    harbour: Harbour,
    data: Path,
    *,
    recorded: Path | None = None,
    more: str = "",
    hosts: Iterable[str] = (),
) -> AsyncIterator[Anchored]:
    """The log is derived again when it has stopped. `hosts` may be gone to beside the site."""
    harbour.site.reset()
    if recorded is not None:
        shutil.copytree(recorded, data)
    configure(data, harbour, more, hosts)
    loaded = settings_.load(str(data), env={})
    async with serving(loaded, port=0) as (daemon, url):
        yield Anchored(daemon, url, harbour)
    check_logs(data)
