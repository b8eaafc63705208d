"""`rutter doctor` checks whether everything that is needed is here, and says what to do if not."""

import asyncio
import contextlib
import platform
import shutil
import sqlite3
import sys
from pathlib import Path

import msgspec

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.company_proxy import CompanyProxy, tunnel
from rutter.actors.world.egress.dialer import Unreachable
from rutter.actors.world.egress.gate import NOTHING, Gate
from rutter.actors.world.models.tesseract import lacking
from rutter.actors.world.ocr.word_boxes import languages
from rutter.events.advisor import TESSERACT
from rutter.events.errors import DirectoryInUse, RutterError
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.models import missing, told
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.chromium_install import (
    Installer,
    find_chromium,
    why_driver_does_not_start,
)
from rutter.pipeline.config.company_authority import company_authority
from rutter.pipeline.config.company_network import company_network
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.sessions.models import check_model, is_on, offers

ROOM_BYTES = 200 << 20  # a day of runs; below it a commit may soon fail


class Check(msgspec.Struct):
    name: str
    ok: bool
    found: str
    fix: str = ""
    warns: bool = False


def doctor(options: Options, settings: Settings, terminal: Terminal) -> int:
    if options.fix:
        _mend(settings, terminal)
    checks: list[Check] = []
    for look in LOOKS:
        try:
            check = look(settings)
        except RutterError as error:
            check = Check(look.__name__.strip("_"), False, error.what, error.fix)
        checks.append(check)
        mark = "[WARN]" if check.warns else "[OK]  " if check.ok else "[FAIL]"
        terminal.say(f"{mark} {check.name}: {check.found}")
        if check.fix and (check.warns or not check.ok):
            terminal.say(f"       {check.fix}")
    terminal.answer(checks)
    return Exit.DONE if all(check.ok for check in checks) else Exit.ENVIRONMENT


def _mend(settings: Settings, terminal: Terminal) -> None:
    """What can be put right without asking: nothing of the person's is changed or removed."""
    if find_chromium(settings.chromium) is None:
        Installer(terminal.note).install()
    root = settings.directory.root
    if root.exists() and root.stat().st_mode & 0o077:
        root.chmod(0o700)
        terminal.note(f"{root} is yours alone now")


def _python(_: Settings) -> Check:
    ok = sys.version_info >= (3, 11)
    return Check("python", ok, platform.python_version(), "use Python 3.11 or newer")


def _sqlite(_: Settings) -> Check:
    return Check("sqlite", sqlite3.sqlite_version_info >= (3, 35), sqlite3.sqlite_version)


def _driver(_: Settings) -> Check:
    why = why_driver_does_not_start(environment())
    return Check("playwright", not why, why or "its driver starts", "run: rutter doctor --fix")


def _proxy(_: Settings) -> Check:
    took_ms = asyncio.run(_proved())
    return Check("proxy", True, f"lets through and refuses as it is told, starts in {took_ms} ms")


def _network(settings: Settings) -> Check:
    """Whether the company's proxy is there and takes us. It is asked for a name that nobody has."""
    network = company_network(settings.config, environment())
    authority = company_authority(settings)
    trusted = f"; trusts {settings.config.text('network.authority')} as well" if authority else ""
    if network.proxy is None:
        said = "reached directly: no proxy of a company is named"
        return Check("network", True, f"{said}{trusted}")
    said = f"goes through {network.proxy.where} ({network.said_by})"
    names = "it looks up all names" if network.proxy.names_there else "names are looked up here"
    why = asyncio.run(_why_not_through(network.proxy))
    fix = "check network.proxy, or the variables; see docs/egress.md"
    return Check("network", not why, f"{said}, {why}" if why else f"{said}; {names}{trusted}", fix)


async def _why_not_through(proxy: CompanyProxy) -> str:
    try:
        _, writer = await tunnel(proxy, "rutter.invalid", 443)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    except Unreachable as error:
        missing = error.status in (0, 407)  # any other says that it was asked and knows us
        return str(error).partition(": ")[2] if missing else ""
    return ""


async def _proved() -> int:
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with Gate():
        return round((loop.time() - began) * 1000)


def _chromium(settings: Settings) -> Check:
    found = find_chromium(settings.chromium)
    if found is None:
        return Check("chromium", False, "not found", "run: rutter doctor --fix")
    return Check("chromium", True, f"{found}, opens a page in {asyncio.run(_open(found))} ms")


async def _open(executable: Path) -> int:
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with Chromium(executable, Gate()) as browser:
        tab = await browser.open_tab(NOTHING)
        await tab.call("observe", within_ms=5_000)
        await tab.close()
    return round((loop.time() - began) * 1000)


def _directory(settings: Settings) -> Check:
    directory = settings.directory
    try:
        directory.lock()
    except DirectoryInUse as error:
        return Check("data directory", True, f"{error.what} (reading commands work beside it)")
    directory.unlock()
    mode = directory.root.stat().st_mode & 0o777
    fix = "others can read it; run: rutter doctor --fix"
    return Check("data directory", not mode & 0o077, f"{directory.root} ({mode:o})", fix)


def _log(settings: Settings) -> Check:
    if not settings.directory.log.exists():
        return Check("log", True, "none yet")
    with SqliteReader(settings.directory.log) as reader:
        return Check("log", True, f"{settings.directory.log}, {reader.last_seq()} events")


def _room(settings: Settings) -> Check:
    free = shutil.disk_usage(settings.data if settings.data.exists() else Path.home()).free
    return Check("disk", free > ROOM_BYTES, f"{free >> 20} MB free", "free some disk space")


def _models(settings: Settings) -> Check:
    """Without its key or its package the first of them leads no run; one after it is left out."""
    config = settings.config
    if not is_on(config):
        return Check("models", True, told(config).removeprefix("language models: "))
    lacks = {each.provider: why for each in offers(config) if (why := missing(each, check_model))}
    why = "; ".join(lacks.values()) or "their keys are there"
    fix = f"then: {settings.command('models check')}"
    ok = config.providers[0] not in lacks
    return Check("models", ok, f"{told(config)}; {why}", fix, warns=ok and bool(lacks))


def _tesseract(settings: Settings) -> Check:
    """Who reads pictures on this machine. It is needed where a picture may be read and no model is
    named for it."""
    config = settings.config
    lacks = lacking(config.text("agent.ghost.language"))
    if not lacks.what:
        return Check("tesseract", True, f"reads pictures here, in: {', '.join(languages())}")
    asked = config.text("agent.ghost.vision_provider")
    here = asked == TESSERACT or not (asked or is_on(config))
    needed = here and config.flag("agent.ghost.enabled")
    found = lacks.what if needed else f"{lacks.what}; to read pictures, {lacks.fix}"
    return Check("tesseract", True, found, lacks.fix, warns=needed)


LOOKS = (
    _python,
    _sqlite,
    _driver,
    _proxy,
    _network,
    _chromium,
    _directory,
    _log,
    _room,
    _models,
    _tesseract,
)
