"""A hook is an address that another program calls to have one thing run, with values for what was
declared and for nothing else.

Each has a token of its own, which opens this hook and nothing beside it. What is kept of it, here
and in the log, is its digest; it is shown once, to whoever makes the hook.
"""

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from rutter.actors.world.secrets.redaction import hide
from rutter.events.envelope import Envelope, kind
from rutter.events.errors import BadInput, PolicyDenied
from rutter.events.jobs import Overlap, Run
from rutter.events.triggers import HookDropped, HookSet
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.clock import new_token
from rutter.pipeline.daemon.http.access import AccessRule
from rutter.pipeline.daemon.jobs.jobs import Job, Jobs
from rutter.pipeline.daemon.jobs.known_triggers import KnownTriggers
from rutter.pipeline.daemon.jobs.schedules import check_name, check_values, is_text

KINDS = (kind(HookSet), kind(HookDropped))
ACCESS = AccessRule("POST", "/hooks/*", "hook")  # for the table: the hook's own token, and no other
KEY_HEADER = "Idempotency-Key"
LONGEST_VALUE = 4_096  # characters: a long note; what a form takes
LONGEST_KEY = 200
NO_DIGEST = "0" * 64  # of no token: what is compared where there is no hook


class NoSuchHook(BadInput):
    """No hook has that name."""

    code = "no_such_hook"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no hook {name!r}", "see: rutter hook list")


class HookDenied(PolicyDenied):
    """The token is not this hook's, or no such hook exists: which of them is not said."""

    code = "hook_token_needed"


class ParameterRefused(BadInput):
    """A caller sent what the hook does not take."""


class HookWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request wants this hook."""

    run: Run
    parameters: tuple[str, ...] = ()
    overlap: Overlap = "queue"


class HookTold(msgspec.Struct, frozen=True, omit_defaults=True):
    """A hook is told to others like this. `token` is said once, to whoever makes it."""

    name: str
    run: Run
    parameters: tuple[str, ...]
    overlap: Overlap
    by: str
    token: str = ""


def told(hook: HookSet, token: str = "") -> HookTold:
    return HookTold(hook.name, hook.run, hook.parameters, hook.overlap, hook.by, token)


class KnownHooks(KnownTriggers[HookSet]):
    """The fold of the log knows every hook."""

    no_such = NoSuchHook

    def hear(self, envelope: Envelope) -> None:
        match envelope.event:
            case HookSet() as hook:
                self.put(hook.name, hook)
            case HookDropped(name=name):
                self.put(name, None)
            case _:
                return


class Hooks(KnownHooks):
    """Hooks are made before the first event is heard."""

    def __init__(self, say: Callable[[AnyEvent], Awaitable[None]], jobs: Jobs) -> None:
        super().__init__()
        self._say = say
        self._jobs = jobs

    # -- for whoever makes them ----------------------------------------------------------------

    async def set(self, name: str, wish: HookWish, *, by: str) -> str:
        """A new hook, or another one in its place: what its token was is none any more. The
        answer is the token, which nobody can find out again."""
        check_name(name)
        check_values(wish.run, wish.parameters)
        token = new_token()
        hide({f"token of hook {name}": token})
        declared = tuple(dict.fromkeys(wish.parameters))
        hook = HookSet(name, wish.run, by, _digest(token), declared, wish.overlap)
        await self.until_heard(name, self._say(hook))
        return token

    async def drop(self, name: str, by: str) -> HookSet:
        dropped = self.find(name)
        await self.until_heard(name, self._say(HookDropped(name, by)))
        return dropped

    # -- for whoever calls them ----------------------------------------------------------------

    def admits(self, name: str, token: str) -> bool:
        """Whether this is the token of this hook. Takes as long whatever it is."""
        hook = self.get(name)
        same = hmac.compare_digest(_digest(token), hook.sha256 if hook else NO_DIGEST)
        return same and hook is not None

    async def fire(
        self, name: str, token: str, body: Mapping[str, object], *, key: str = ""
    ) -> Job:
        """Takes on what the hook is for. `key` is the caller's own name for this call: the same
        one again is the same job."""
        hook = self.get(name)
        if hook is None or not self.admits(name, token):
            raise HookDenied(
                "this is not the token of that hook", "see: rutter hook set, which makes a new one"
            )
        if len(key) > LONGEST_KEY or not key.isprintable():
            raise ParameterRefused(
                f"{KEY_HEADER} is no key", f"send at most {LONGEST_KEY} characters"
            )
        values = {**hook.run.values, **_checked(hook, body)}
        return await self._jobs.submit(
            msgspec.structs.replace(hook.run, values=values),
            by=f"hook {name}",
            trigger="hook",
            key=f"{name}:{key}" if key else "",
            overlap=hook.overlap,
        )


def _checked(hook: HookSet, body: Mapping[str, object]) -> dict[str, str]:
    """What may be bound, and all that must be."""
    takes = ", ".join(hook.parameters) or "nothing"
    unknown = [each for each in body if each not in hook.parameters]
    if unknown:
        raise ParameterRefused(f"there is no parameter {unknown[0][:64]!r}", f"it takes {takes}")
    values: dict[str, str] = {}
    for name, value in body.items():
        if not isinstance(value, str) or not is_text(value) or len(value) > LONGEST_VALUE:
            raise ParameterRefused(
                f"{name} is not a text of at most {LONGEST_VALUE} characters", "send it as one"
            )
        values[name] = value
    missing = [each for each in hook.parameters if each not in {*values, *hook.run.values}]
    if missing:
        raise ParameterRefused(f"{missing[0]} is missing", f"it takes {takes}")
    return values


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
