"""A session's use of kept logins is told in words."""

from datetime import UTC, datetime

from rutter.events.logins import LoginKept, LoginNotKept, LoginUsed
from rutter.replay.story.wording import ascii_only


def login_in_words(said: LoginUsed | LoginKept | LoginNotKept) -> str:
    match said:
        case LoginUsed(origin=origin, kept_at_ns=kept_at_ns):
            at = datetime.fromtimestamp(kept_at_ns // 1_000_000_000, UTC)
            return ascii_only(f"signed in by the login for {origin}, kept {at:%Y-%m-%d %H:%M} UTC")
        case LoginKept(origin=origin):
            return ascii_only(f"kept the login for {origin} as it was at the end")
        case LoginNotKept(origin=origin, why=why):
            return ascii_only(f"the login for {origin} was not kept again: {why}")
