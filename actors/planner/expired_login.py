"""A kept login that a session took along may have expired: this tells which.

A page that asks to sign in, on an origin whose login was used, or in the place of a page of that
origin: the site knows it no more. Pure.
"""

import msgspec

from rutter.actors.rules.pages.address import origin_of
from rutter.events.causes import Cause
from rutter.events.critic import PageAssessed
from rutter.events.logins import LoginUsed
from rutter.events.observer import PageObserved
from rutter.events.planner import RunStopped
from rutter.events.vocabulary import AnyEvent


class LoginsInUse(msgspec.Struct, frozen=True):
    """A session uses logins of these `origins`; `here` is that of the page in front, which `asks`
    to sign in or not. Without any login nothing is followed."""

    origins: tuple[str, ...] = ()
    here: str = ""
    asks: bool = False


def evolve_aboard(aboard: LoginsInUse, event: AnyEvent) -> LoginsInUse:
    change = msgspec.structs.replace
    match event:
        case LoginUsed(origin=origin):
            return change(aboard, origins=(*aboard.origins, origin))
        case PageObserved(page=page) if aboard.origins:
            return change(aboard, here=origin_of(page.url))
        case PageAssessed(state=state) if aboard.origins:
            return change(aboard, asks=state == "LOGIN_REQUIRED")
        case _:
            return aboard


def signed_out(aboard: LoginsInUse, *wanted: str) -> Cause:
    """Why nobody is known here. `wanted` are addresses in whose place the page is: many sites ask
    on a host of their own."""
    origin = expired(aboard, *wanted)
    return Cause("login_expired", origin=origin) if origin else Cause("signed_out")


def sign_in_words(cause: Cause) -> str:
    if cause.kind == "login_expired":
        return f"the login for {cause.origin} has expired"
    return "the site asks to sign in"


def expired_instead(aboard: LoginsInUse, decided: AnyEvent) -> AnyEvent:
    """A run that is lost on a page that asks to sign in is not lost where its login was known: it
    needs a new one."""
    match decided:
        case RunStopped(failure="lost", detail=detail) if aboard.asks and expired(aboard):
            cause = signed_out(aboard)
            why = f"{sign_in_words(cause)}: {detail}"
            return msgspec.structs.replace(
                decided, reason="policy_denied", failure="needs_person", detail=why, cause=cause
            )
        case _:
            return decided


def expired(aboard: LoginsInUse, *wanted: str) -> str:
    """Whose login the site knows no more; empty, where that cannot be told."""
    places = (aboard.here, *map(origin_of, wanted))
    return next((each for each in places if each in aboard.origins), "")
