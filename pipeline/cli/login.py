"""`rutter login SITE` signs in once, by hand or by a script, and keeps what the browser knows."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from rutter.actors.world.browser.login_state import of_origin
from rutter.events.errors import BadInput, WorldBroken
from rutter.events.logins import LoginNotKept
from rutter.events.policy import Policy
from rutter.events.workflow import Indicator
from rutter.pipeline.browser import browser_maker
from rutter.pipeline.cli.record import base_for
from rutter.pipeline.cli.session_end import report
from rutter.pipeline.cli.session_run import attendant, run_here
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings, check_display, environment
from rutter.pipeline.logins.login_store import KeptLogin, UnreadableLogin, address_of, site_of
from rutter.pipeline.logins.sealed_file import SealingKey
from rutter.pipeline.logins.session_logins import SessionLogins, keys_of, shelf_of
from rutter.pipeline.logins.sign_in_window import SignedIn, sign_in
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions import session_policy, session_started
from rutter.pipeline.sessions.attendant import bind_secrets
from rutter.pipeline.sessions.request import RunRequest, read_sign
from rutter.pipeline.sessions.start import StartedSession, configured
from rutter.pipeline.workflows.recorder_import import prepare, read_script
from rutter.replay.story.told_session import Story

BY_A_SCRIPT = "sign in by a script: rutter login SITE --script FILE"


def login(options: Options, settings: Settings, terminal: Terminal) -> int:
    if options.list:
        return _list(settings, terminal)
    if not options.site:
        raise BadInput("which site?", "rutter login https://shop.example; or rutter login --list")
    if options.forget:
        _forget(options.site, settings, terminal)
        return Exit.DONE
    origin = site_of(options.site)
    if options.script:
        return _by_script(origin, options, settings, terminal)
    return _by_hand(origin, options, settings, terminal)


# -- by hand ---------------------------------------------------------------------------------------


def _by_hand(origin: str, options: Options, settings: Settings, terminal: Terminal) -> int:
    """No session and no lock: it can be done beside a daemon, whose next run has the new login."""
    if options.secret or options.answers:
        raise BadInput("what is typed by hand needs no --secret or --answers", "leave them out")
    until = [read_sign(each, f"--until {each}") for each in options.until]
    check_display(environment(), BY_A_SCRIPT)
    url = address_of(options.site)
    policy = session_started.watching(
        "", url, {}, allow=options.allow, policy=base_for(url, settings.policy, terminal)
    ).policy
    key = _new_key(origin, settings, terminal)
    found = asyncio.run(_signed_in(url, policy, until, settings, terminal))
    state = of_origin(found.state, origin)
    if not state:
        elsewhere = found.at if found.at not in ("", origin) else ""
        command = settings.command(f"login {elsewhere}")
        fix = f"keep it for where you are: {command}" if elsewhere else "sign in before you go"
        raise WorldBroken(f"the browser knows nothing of {origin}: nothing was kept", fix)
    settings.directory.create()
    kept = shelf_of(settings).keep(origin, state, key)
    assert kept is not None
    _tell_kept(kept, settings, terminal)
    return Exit.DONE


async def _signed_in(
    url: str, policy: Policy, until: list[Indicator], settings: Settings, terminal: Terminal
) -> SignedIn:
    keyboard = sys.stdin.fileno() if terminal.interactive else None

    def invite() -> None:
        enter = "press Enter here, or " if keyboard is not None else ""
        terminal.say(f"sign in to {url} in the window; when done, {enter}close the window")

    def doubt() -> None:
        terminal.note("the page still asks to sign in; Enter again keeps it all the same")

    async with browser_maker(settings, headless=False)() as browser:
        window = await browser.open_window(policy)
        try:
            return await sign_in(
                window, url, keyboard=keyboard, until=until, invite=invite, doubt=doubt
            )
        finally:
            await window.close()


def _new_key(origin: str, settings: Settings, terminal: Terminal) -> SealingKey:
    """Asked for before anybody signs in: without one there is nothing to sign in for."""
    kept = [each for each in shelf_of(settings).all() if isinstance(each, KeptLogin)]
    others = [each for each in kept if each.origin != origin]
    return keys_of(settings, attendant(terminal).passphrase).new(others)


# -- by a script -----------------------------------------------------------------------------------


def _by_script(origin: str, options: Options, settings: Settings, terminal: Terminal) -> int:
    """A session like any other, but for its name: it has none, so it teaches no workflow."""
    if options.until:
        raise BadInput("a script knows its own end", "leave out --until")
    secrets, origins = bind_secrets(options.secret, settings, attendant(terminal))
    script = prepare(read_script(Path(options.script)), {}, secrets)
    hosts = (session_policy.host_typed(origin), *options.allow)
    started = session_started.recording(
        "", script.steps, {}, secrets, allow=hosts, policy=settings.policy, origins=origins
    )
    started = configured(started, RunRequest(), settings)
    logins = SessionLogins(shelf_of(settings), fresh=(origin, _new_key(origin, settings, terminal)))
    session = StartedSession(started, secrets, logins=logins, typed=script.typed)
    what = f"signing in to {origin}"
    with Tables(settings) as tables:
        story = run_here(session, tables, terminal, what, answers=options.answers)
    return _came_of(story, logins, origin, settings, terminal)


def _came_of(
    story: Story, logins: SessionLogins, origin: str, settings: Settings, terminal: Terminal
) -> int:
    """A script that went to its end may still not have signed in."""
    said = next(iter(logins.said), None)
    if said is None:
        return report(story, settings, terminal, done=f"signed in to {origin}")
    if isinstance(said, LoginNotKept):
        show = settings.command(f"show {story.session}")
        what = f"the login for {origin} was not kept: {said.why}"
        terminal.error(WorldBroken(what, f"see what it did: {show}"))
        return Exit.NOT_VERIFIED if logins.left else Exit.ENVIRONMENT
    kept = shelf_of(settings).find(origin)
    assert kept is not None
    _tell_kept(kept, settings, terminal)
    return Exit.DONE


# -- what is kept ----------------------------------------------------------------------------------


def _tell_kept(kept: KeptLogin, settings: Settings, terminal: Terminal) -> None:
    terminal.answer(_row(kept))
    terminal.say(f"[OK] kept the login for {kept.origin}, encrypted ({_key(kept)})")
    terminal.say_below("runs that go there are signed in from now on")
    terminal.say_below(f"forget it: {settings.command(f'login --forget {kept.origin}')}")


def _list(settings: Settings, terminal: Terminal) -> int:
    """What cannot be read is said, and does not keep the others from being told."""
    found = shelf_of(settings).all()
    kept = [each for each in found if isinstance(each, KeptLogin)]
    broken = [each for each in found if isinstance(each, UnreadableLogin)]
    unread = [{"file": str(each.path), "error": each.error.what} for each in broken]
    terminal.answer({"logins": [_row(each) for each in kept], "unreadable": unread})
    if kept or not broken:
        none = f"no logins are kept; to keep one: {settings.command('login https://...')}"
        terminal.show_rows(kept, {"site": "origin", "kept": _when, "key": _key}, none)
    for each in broken:
        terminal.error(each.error) if not terminal.as_json else terminal.note(str(each.error))
    return Exit.ENVIRONMENT if broken else Exit.DONE


def _forget(site: str, settings: Settings, terminal: Terminal) -> None:
    shelf = shelf_of(settings)
    gone = [origin for origin in _origins(site) if shelf.forget(origin)]
    if not gone:
        raise BadInput(
            f"no login is kept for {site}", f"those that are: {settings.command('login --list')}"
        )
    terminal.answer({"forgotten": gone})
    terminal.say(f"[OK] forgot the login for {', '.join(gone)}; the site may still know it")


def _origins(site: str) -> Iterator[str]:
    """A bare host may be meant by either scheme, where http is taken at all."""
    bare = "://" not in site
    yield site_of(f"https://{site}" if bare else site)
    with suppress(BadInput):
        if bare:
            yield site_of(f"http://{site}")


def _row(kept: KeptLogin) -> dict[str, object]:
    return {
        "origin": kept.origin,
        "kept_at": _when(kept),
        "key": kept.head.lock.kind,
        "digest": kept.digest,
    }


def _key(kept: KeptLogin) -> str:
    return "key in the keyring" if kept.head.lock.kind == "keyring" else "passphrase"


def _when(kept: KeptLogin) -> str:
    at = datetime.fromtimestamp(kept.head.kept_at_ns // 1_000_000_000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
