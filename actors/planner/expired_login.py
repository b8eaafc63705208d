"""A kept login that a session took along may have expired: this tells which.

A page that asks to sign in, on an origin whose login was used, or in the place of a page of that
origin: the site knows it no more. Pure.
"""

import msgspec

from rutter.actors.planner.run import Run
from rutter.actors.rules.pages.address import origin_of
from rutter.events.causes import Cause
from rutter.events.planner import RunStopped
from rutter.events.vocabulary import AnyEvent


def signed_out(run: Run, *wanted: str) -> Cause:
    """Why nobody is known here. `wanted` are addresses in whose place the page is: many sites ask
    on a host of their own."""
    places = map(origin_of, (run.url, *wanted))
    origin = next((each for each in places if each in run.logins), "")
    return Cause("login_expired", origin=origin) if origin else Cause("signed_out")


def sign_in_words(cause: Cause) -> str:
    if cause.kind == "login_expired":
        return f"the login for {cause.origin} has expired"
    return "the site asks to sign in"


def expired_instead(run: Run, decided: AnyEvent) -> AnyEvent:
    """A run that is lost on a page that asks to sign in is not lost where its login was known: it
    needs a new one."""
    if run.page_state != "LOGIN_REQUIRED":
        return decided
    match decided, signed_out(run):
        case RunStopped(failure="lost", detail=detail), Cause("login_expired") as cause:
            why = f"{sign_in_words(cause)}: {detail}"
            return msgspec.structs.replace(
                decided, reason="policy_denied", failure="needs_person", detail=why, cause=cause
            )
        case _:
            return decided
