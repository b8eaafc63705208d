"""Which logins a session takes along, what is told of them, and what is kept at its end."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.actors.world.browser.login_state import BrowserState
from rutter.events.errors import BadInput, LoginCorrupt, RutterError, WorldBroken
from rutter.events.logins import LoginKept, LoginNotKept, LoginUsed
from rutter.events.runtime import SessionStarted
from rutter.events.workflow import Workflow
from rutter.pipeline.config.reader import Config, SourcedValue
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.logins.login_store import LoginStore
from rutter.pipeline.logins.session_logins import (
    SessionLogins,
    carry,
    check_carried,
    named_logins,
    shelf_of,
    without_paths,
)
from rutter.pipeline.sessions import session_started
from tests.support import shop_facts
from tests.support.shop_logins import OTHER, PASSPHRASE, SHOP, TOKEN, keep, key, state_with

LOCAL = "http://127.0.0.1:8000"
FLOW = shop_facts.workflow(shop_facts.step(shop_facts.go_to("/desk")), hosts=("shop.example",))


def settings(data: Path, **said: object) -> Settings:
    values = {name.replace("_", ".", 1): SourcedValue(value) for name, value in said.items()}  # type: ignore[arg-type]
    return Settings(data, config=Config(values))


@pytest.fixture
def here(tmp_path: Path) -> Settings:
    word = tmp_path / "word"
    word.write_text(PASSPHRASE)
    return settings(tmp_path / "data", logins_key=f"file:{word}")


@pytest.fixture
def shelf(here: Settings) -> LoginStore:
    return shelf_of(here)


def run(flow: Workflow = FLOW, allow: Iterable[str] = ()) -> SessionStarted:
    return session_started.run_of(flow, {}, (), allow=allow)


def origins(started: SessionStarted, shelf: LoginStore) -> list[str]:
    return [each.origin for each in named_logins(started, shelf)]


# -- which -----------------------------------------------------------------------------------------


def test_a_run_takes_the_logins_of_its_own_hosts(shelf: LoginStore) -> None:
    for origin in (SHOP, OTHER, "https://www.shop.example"):
        keep(shelf, origin)

    assert origins(run(), shelf) == [SHOP]
    assert origins(run(allow=["other.example"]), shelf) == [OTHER, SHOP]
    assert origins(run(allow=["*.shop.example"]), shelf) == [SHOP, "https://www.shop.example"]


def test_that_every_public_host_may_be_gone_to_names_none_of_them(shelf: LoginStore) -> None:
    for origin in (SHOP, OTHER, LOCAL):
        keep(shelf, origin)
    script = (shop_facts.step(shop_facts.go_to("/login")),)

    recording = session_started.recording("order", script, {}, ())
    assert recording.policy.public_hosts
    assert origins(recording, shelf) == [SHOP]
    assert origins(session_started.watching("order", f"{OTHER}/x", {}), shelf) == [OTHER]
    assert origins(session_started.free_run(f"{SHOP}/", {}, (), allow=["*"]), shelf) == [SHOP]
    local = session_started.recording("order", script, {}, (), allow=["127.0.0.1:8000"])
    assert origins(local, shelf) == [LOCAL, SHOP]


def test_hosts_that_the_configuration_lists_were_named(shelf: LoginStore) -> None:
    keep(shelf)
    keep(shelf, OTHER)
    listed = msgspec.structs.replace(
        DEFAULT_POLICY, hosts=("shop.example", "other.example"), public_hosts=False
    )
    script = (shop_facts.step(shop_facts.go_to("/login")),)

    assert origins(session_started.recording("order", script, {}, (), policy=listed), shelf) == [
        OTHER,
        SHOP,
    ]


def test_one_that_cannot_be_used_stops_the_run_that_wants_it_and_no_other(
    here: Settings, shelf: LoginStore
) -> None:
    path = keep(shelf).path
    path.write_bytes(path.read_bytes()[:30])
    elsewhere = shop_facts.workflow(
        shop_facts.step(shop_facts.go_to("/")), hosts=("other.example",)
    )

    with pytest.raises(LoginCorrupt, match="only a part of one"):
        carry(run(), here)
    assert carry(run(elsewhere), here) is None


def test_one_that_others_can_read_stops_it_too(here: Settings, shelf: LoginStore) -> None:
    keep(shelf).path.chmod(0o644)

    with pytest.raises(WorldBroken, match="others can read"):
        carry(run(), here)


def test_one_in_the_place_of_another_stops_it_too(here: Settings, shelf: LoginStore) -> None:
    keep(shelf, OTHER).path.rename(shelf.path(SHOP))

    with pytest.raises(LoginCorrupt, match=f"is the login for {OTHER}"):
        carry(run(), here)


def test_a_passphrase_that_is_wrong_stops_it_with_what_to_do(
    here: Settings, shelf: LoginStore
) -> None:
    keep(shelf, passphrase="another passphrase")

    with pytest.raises(BadInput, match=f"does not open the login for {SHOP}") as refused:
        carry(run(), here)
    assert refused.value.fix == f"sign in again: rutter login {SHOP}"


def test_whether_there_is_a_key_is_known_before_anything_is_opened(
    here: Settings, shelf: LoginStore
) -> None:
    keep(shelf, passphrase="another passphrase")

    check_carried(run(), here)  # where it is, is known; whether it fits is for the run to say
    with pytest.raises(BadInput, match="nobody is here to type the passphrase"):
        check_carried(run(), settings(here.data))
    check_carried(run(shop_facts.workflow(hosts=("other.example",))), settings(here.data))


@pytest.mark.parametrize("wrong", ["others", "part", "place", "changed", "key"])
def test_what_is_wrong_with_one_can_be_told_without_where_it_lies(
    here: Settings, shelf: LoginStore, wrong: str
) -> None:
    word = "another passphrase" if wrong == "key" else PASSPHRASE
    path = keep(shelf, OTHER if wrong == "place" else SHOP, word).path
    here = msgspec.structs.replace(here, named=True)
    if wrong == "others":
        path.chmod(0o644)
    elif wrong == "part":
        path.write_bytes(path.read_bytes()[:30])
    elif wrong == "changed":
        path.write_bytes(path.read_bytes() + b"!")
    elif wrong == "place":
        path.rename(shelf.path(SHOP))

    with pytest.raises(RutterError) as told, without_paths(here):
        carry(run(), here)

    assert str(here.data.parent) not in f"{told.value} {told.value.what} {told.value.fix}"
    assert (shelf.path(SHOP).name if wrong != "key" else SHOP) in told.value.what


# -- what is told, and what is kept ----------------------------------------------------------------


def carried(here: Settings) -> SessionLogins:
    found = carry(run(), here)
    assert found is not None
    return found


def test_that_it_was_used_is_told_and_nothing_of_it(here: Settings, shelf: LoginStore) -> None:
    kept = keep(shelf)

    logins = carried(here)

    assert logins.used == (LoginUsed(SHOP, kept.digest, kept.head.kept_at_ns),)
    assert logins.state == state_with()
    assert TOKEN.encode() not in msgspec.json.encode(logins.used)


def test_what_was_renewed_is_kept_again_under_the_same_key(
    here: Settings, shelf: LoginStore
) -> None:
    before = keep(shelf)

    [said] = carried(here).keep(state_with("renewed"))

    after = shelf.find(SHOP)
    assert after is not None
    assert said == LoginKept(SHOP, after.digest)
    assert after.head.lock == before.head.lock
    assert after.head.nonce != before.head.nonce
    assert carried(here).state == state_with("renewed")


def test_only_what_is_the_origins_own_is_kept(here: Settings, shelf: LoginStore) -> None:
    keep(shelf)
    renewed, foreign = state_with("renewed"), state_with("theirs", OTHER)
    both = BrowserState((*renewed.cookies, *foreign.cookies), (*renewed.origins, *foreign.origins))

    carried(here).keep(both)

    assert carried(here).state == renewed


def test_what_is_as_it_was_is_left_alone(here: Settings, shelf: LoginStore) -> None:
    before = keep(shelf)

    assert carried(here).keep(state_with()) == ()
    assert shelf.find(SHOP) == before


@pytest.mark.parametrize("what", ["signed out", "signed in again", "forgotten", "full"])
def test_what_cannot_be_kept_is_told_and_what_was_kept_stays(
    here: Settings, shelf: LoginStore, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(shelf)
    logins = carried(here)
    state = state_with("renewed")
    if what == "signed out":
        state = BrowserState()
    elif what == "signed in again":
        keep(shelf)
    elif what == "forgotten":
        shelf.forget(SHOP)
    else:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
    before = shelf.find(SHOP)

    [said] = logins.keep(state)

    assert isinstance(said, LoginNotKept)
    assert said.origin == SHOP
    assert str(here.data) not in said.why
    assert ("no space left" in said.why) == (what == "full")
    assert shelf.find(SHOP) == before


def test_a_session_that_signed_out_does_not_undo_the_login(
    here: Settings, shelf: LoginStore
) -> None:
    before = keep(shelf)
    [sid] = state_with().cookies
    anybody = {**sid, "name": "lang", "value": "en", "httpOnly": False}

    [said] = carried(here).keep(BrowserState((anybody,), state_with().origins))

    assert said == LoginNotKept(SHOP, "nothing is left by which the site knew who it was")
    assert shelf.find(SHOP) == before


def test_who_configured_it_so_keeps_nothing_again(here: Settings, shelf: LoginStore) -> None:
    keep(shelf)
    values = {**here.config.values, "logins.refresh": SourcedValue(False)}

    assert carried(here).keeps
    assert not carried(msgspec.structs.replace(here, config=Config(values))).keeps


def test_a_login_that_is_not_there_yet_is_kept_if_somebody_signed_in(shelf: LoginStore) -> None:
    logins = SessionLogins(shelf, fresh=(SHOP, key()))
    assert (logins.used, bool(logins.state), logins.keeps) == ((), False, True)

    assert logins.leave("the last page asks to sign in") == (
        LoginNotKept(SHOP, "the last page asks to sign in"),
    )
    assert shelf.find(SHOP) is None
    [said] = logins.keep(state_with())
    assert isinstance(said, LoginKept)
    assert said == logins.said[0]
