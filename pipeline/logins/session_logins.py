"""A session takes logins along: those of the origins that it was named, opened before it begins,
and kept again when it ended well."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from rutter.actors.rules.pages.address import origin_of
from rutter.actors.rules.policy.hosts import EVERYWHERE, host_and_port, host_refused
from rutter.actors.world.browser.login_state import BrowserState, is_signed_out, of_origin, together
from rutter.events.errors import BadInput, LoginCorrupt, RutterError, WorldBroken
from rutter.events.logins import LoginKept, LoginNotKept, LoginUsed
from rutter.events.policy import Policy
from rutter.events.runtime import SessionStarted
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.logins.login_store import KeptLogin, LoginStore, UnreadableLogin
from rutter.pipeline.logins.sealed_file import SealingKey
from rutter.pipeline.logins.sealing_key import Ask, SealingKeys

SCHEMES = ("https", "http")


class OpenedLogin(NamedTuple):
    kept: KeptLogin
    key: SealingKey
    state: BrowserState


class SessionLogins:
    """A session's logins are `rutter.actors.world.browser.login_state.CarriesLogins`. `fresh` is
    one that is not there yet: it is kept if the session signs in."""

    def __init__(
        self,
        shelf: LoginStore,
        opened: Sequence[OpenedLogin] = (),
        *,
        refresh: bool = True,
        fresh: tuple[str, SealingKey] | None = None,
    ) -> None:
        self._shelf = shelf
        self._opened = sorted(opened, key=lambda each: each.kept.head.kept_at_ns)
        self._refresh = refresh
        self._fresh = fresh
        self.said: tuple[LoginKept | LoginNotKept, ...] = ()
        self.left = False  # nothing was tried: there was nothing to keep

    @property
    def used(self) -> tuple[LoginUsed, ...]:
        return tuple(
            LoginUsed(kept.origin, kept.digest, kept.head.kept_at_ns) for kept, _, _ in self._opened
        )

    @property
    def state(self) -> BrowserState:
        return together(each.state for each in self._opened)

    @property
    def keeps(self) -> bool:
        return self._fresh is not None or (self._refresh and bool(self._opened))

    def keep(self, state: BrowserState) -> tuple[LoginKept | LoginNotKept, ...]:
        if self._fresh is not None:
            origin, key = self._fresh
            self.said = (self._kept(origin, of_origin(state, origin), key, None),)
        else:
            self.said = tuple(self._again(state))
        return self.said

    def leave(self, why: str) -> tuple[LoginKept | LoginNotKept, ...]:
        origins = [self._fresh[0]] if self._fresh else [each.kept.origin for each in self._opened]
        self.left, self.said = True, tuple(LoginNotKept(origin, why) for origin in origins)
        return self.said

    def _again(self, state: BrowserState) -> Iterable[LoginKept | LoginNotKept]:
        for kept, key, before in self._opened:
            now = of_origin(state, kept.origin)
            if is_signed_out(before, now):
                yield LoginNotKept(kept.origin, "nothing is left by which the site knew who it was")
            elif now != before:
                yield self._kept(kept.origin, now, key, kept.digest)

    def _kept(
        self, origin: str, state: BrowserState, key: SealingKey, instead_of: str | None
    ) -> LoginKept | LoginNotKept:
        """What was kept before stays where this cannot be."""
        if not state:
            return LoginNotKept(origin, "the browser knows nothing of it")
        try:
            kept = self._shelf.keep(origin, state, key, instead_of=instead_of)
        except RutterError as error:
            # Where it lies is for the terminal: the log is read elsewhere, too.
            return LoginNotKept(origin, error.what.replace(f" in {self._shelf.path(origin)}", ""))
        if kept is None:
            return LoginNotKept(origin, "another login was kept meanwhile, or it was forgotten")
        return LoginKept(origin, kept.digest)


def shelf_of(settings: Settings) -> LoginStore:
    return LoginStore(settings.directory.logins, command=settings.command)


def keys_of(settings: Settings, ask: Ask | None) -> SealingKeys:
    """`ask` is who can type a passphrase, where somebody is there."""
    return SealingKeys(settings.config.text("logins.key"), environment(), ask)


def carry(
    started: SessionStarted, settings: Settings, ask: Ask | None = None
) -> SessionLogins | None:
    """The kept logins of every origin that this session was named; nothing, where there are none.
    Raises what is wrong with one of them: a run that was to be signed in is not begun without."""
    shelf, keys = shelf_of(settings), keys_of(settings, ask)
    opened = []
    for kept in named_logins(started, shelf):
        key = keys.of(kept, shelf.anew(kept.origin))
        opened.append(OpenedLogin(kept, key, shelf.open(kept, key)))
    if not opened:
        return None
    return SessionLogins(shelf, opened, refresh=settings.config.flag("logins.refresh"))


def check_carried(started: SessionStarted, settings: Settings) -> None:
    """Whether there is a key for each of them where nobody can be asked. None is opened."""
    keys = keys_of(settings, None)
    for kept in named_logins(started, shelf_of(settings)):
        keys.check(kept)


@contextmanager
def without_paths(settings: Settings) -> Iterator[None]:
    """What is wrong with a login, as whoever asks a daemon may read it: where the files lie is for
    the terminal. A file keeps its name, which says whose login it is."""
    try:
        yield
    except (BadInput, WorldBroken) as error:
        what, fix = _unplaced(error.what, settings), _unplaced(error.fix, settings)
        if (what, fix) == (error.what, error.fix):
            raise
        raise type(error)(what, fix) from None


def _unplaced(text: str, settings: Settings) -> str:
    text = text.replace(f"{settings.directory.logins}{os.sep}", "")
    text = text.replace(settings.command("login "), "rutter login ")
    source = settings.config.text("logins.key")
    return text.replace(source, "logins.key") if source.startswith("file:") else text


def named_logins(started: SessionStarted, shelf: LoginStore) -> list[KeptLogin]:
    """Those of hosts that somebody named: the workflow, its addresses, `--allow` or the list in the
    configuration. That a recording may go to every public host is no reason to be signed in on all
    of them. A file of one of them that cannot be used is raised."""
    hosts = tuple(each for each in started.policy.hosts if each != EVERYWHERE)
    named = msgspec.structs.replace(started.policy, hosts=hosts, public_hosts=False)
    meant = {shelf.path(origin): origin for origin in _origins(started, hosts)}
    found = []
    for each in shelf.all():
        if isinstance(each, UnreadableLogin):
            if each.path in meant:
                raise each.error
        elif each.path != shelf.path(each.origin):
            if each.path in meant:
                raise LoginCorrupt(
                    f"{each.path} is the login for {each.origin}", shelf.anew(meant[each.path])
                )
        elif each.path in meant or _may_go_to(named, each.origin):
            found.append(each)
    return found


def _origins(started: SessionStarted, hosts: Iterable[str]) -> Iterator[str]:
    """Origins that are named as such; a host may be meant by either scheme."""
    named = (f"{scheme}://{host}" for host in hosts if "*" not in host for scheme in SCHEMES)
    went = (step.action.url or "" for step in started.script)
    for url in (started.url, *went, *named):
        if origin := origin_of(url):
            yield origin


def _may_go_to(policy: Policy, origin: str) -> bool:
    at = host_and_port(origin)
    scheme = origin.partition(":")[0]
    return at is not None and host_refused(policy, scheme, *at, top_level=True) is None
