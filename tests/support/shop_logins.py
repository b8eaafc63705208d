"""Logins are kept of a made-up shop, with what a browser would know of it."""

from pathlib import Path

from rutter.actors.world.browser.login_state import BrowserState
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.logins.login_store import KeptLogin, LoginStore
from rutter.pipeline.logins.sealed_file import KeyLock, SealingKey, key_of, new_lock

SHOP, OTHER = "https://shop.example", "https://other.example"
TOKEN = "4f9a0c77b1e2d3a4c5b6978812345678"
PASSPHRASE = "six fathoms of rope"


def state_with(token: str = TOKEN, origin: str = SHOP) -> BrowserState:
    host = origin.removeprefix("https://")
    cookie = {"name": "sid", "value": token, "domain": host, "path": "/", "httpOnly": True}
    stored = {"origin": origin, "localStorage": [{"name": "theme", "value": "dark"}]}
    return BrowserState(({**cookie, "secure": True},), (stored,))


def key(passphrase: str = PASSPHRASE, lock: KeyLock | None = None) -> SealingKey:
    """Behind a lock that costs next to nothing to try."""
    cheap = KeyLock("passphrase", new_lock("passphrase").salt, 16, 8, 1)
    return key_of(lock or cheap, passphrase.encode())


def shelf(root: Path) -> LoginStore:
    return LoginStore(root / "logins", CountingClock())


def keep(on: LoginStore, origin: str = SHOP, passphrase: str = PASSPHRASE) -> KeptLogin:
    kept = on.keep(origin, state_with(origin=origin), key(passphrase))
    assert kept is not None
    return kept
