"""The files of kept logins: private, whole or not there, and each of its own origin alone."""

import errno
import os
import stat
from pathlib import Path

import pytest

from rutter.events.errors import BadInput, LoginCorrupt, WorldBroken
from rutter.pipeline.logins.login_store import KeptLogin, LoginStore, UnreadableLogin, site_of
from tests.support.case_table import for_each
from tests.support.shop_logins import OTHER, SHOP, keep, key, shelf, state_with


@pytest.fixture
def here(tmp_path: Path) -> LoginStore:
    return shelf(tmp_path)


def names(here: LoginStore) -> list[str]:
    return sorted(path.name for path in here.path(SHOP).parent.iterdir())


def test_what_is_kept_is_found_and_opened(here: LoginStore) -> None:
    locked = key()
    here.keep(SHOP, state_with(), locked)

    kept = here.find(SHOP)
    assert kept is not None
    assert kept.origin == SHOP
    assert here.open(kept, locked) == state_with()
    assert here.find(OTHER) is None


def test_it_is_its_owners_alone(here: LoginStore) -> None:
    path = keep(here).path

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_every_origin_has_a_file_that_people_can_tell(here: LoginStore) -> None:
    origins = (SHOP, f"{SHOP}:8443", "http://[::1]:80", "https://xn--bcher-kva.example", OTHER)
    paths = {here.path(origin) for origin in (*origins, SHOP.replace("https", "http"))}

    assert len(paths) == 6
    assert here.path(SHOP).name.startswith("shop.example-")
    assert all(path.parent == here.path(SHOP).parent for path in paths)


def test_the_newer_one_takes_the_place_of_the_old(here: LoginStore) -> None:
    first = keep(here)
    second = keep(here)

    found = here.find(SHOP)
    assert found is not None
    assert found.digest == second.digest != first.digest
    assert names(here) == [".lock", second.path.name]


def test_what_was_kept_or_forgotten_meanwhile_is_not_undone(here: LoginStore) -> None:
    began_with = keep(here).digest
    newer = keep(here).digest

    assert here.keep(SHOP, state_with("old"), key(), instead_of=began_with) is None
    found = here.find(SHOP)
    assert found is not None
    assert found.digest == newer
    assert here.keep(SHOP, state_with("new"), key(), instead_of=newer) is not None

    assert here.forget(SHOP)
    assert here.keep(SHOP, state_with("old"), key(), instead_of=newer) is None
    assert here.find(SHOP) is None


def test_what_is_forgotten_is_gone(here: LoginStore) -> None:
    assert not here.forget(SHOP)
    keep(here)
    keep(here, OTHER)

    assert here.forget(SHOP)
    assert not here.forget(SHOP)
    assert [each.origin for each in here.all() if isinstance(each, KeptLogin)] == [OTHER]


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "no space left"), (errno.EDQUOT, "no space left"), (errno.EIO, "cannot be")],
)
@pytest.mark.parametrize("fails", ["fsync", "rename"])
def test_a_disk_that_takes_no_more_leaves_what_was_kept(
    here: LoginStore, number: int, said: str, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keep(here)

    def broken(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    if fails == "fsync":
        monkeypatch.setattr(os, "fsync", broken)
    else:
        monkeypatch.setattr(os, "rename", broken)
    with pytest.raises(WorldBroken, match=said) as refused:
        here.keep(SHOP, state_with("newer"), key())
    monkeypatch.undo()

    assert refused.value.fix
    found = here.find(SHOP)
    assert found is not None
    assert found.digest == before.digest
    assert names(here) == [".lock", before.path.name]  # and no half of another


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_can_read_or_change_is_refused(here: LoginStore, mode: int) -> None:
    path = keep(here).path
    path.chmod(mode)

    with pytest.raises(WorldBroken, match="others can read or change") as refused:
        here.find(SHOP)
    assert f"chmod 600 {path}" in refused.value.fix


def test_what_cannot_be_read_is_told(here: LoginStore, tmp_path: Path) -> None:
    path = keep(here).path
    elsewhere = path.rename(tmp_path / "elsewhere")
    path.symlink_to(elsewhere)
    with pytest.raises(WorldBroken, match="cannot be read"):
        here.find(SHOP)
    path.unlink()
    path.mkdir()
    with pytest.raises(WorldBroken, match="cannot be read"):
        here.find(SHOP)
    path.rmdir()
    os.mkfifo(path, 0o600)
    with pytest.raises(WorldBroken, match="no file of yours"):
        here.find(SHOP)


def test_a_file_in_the_place_of_anothers_is_refused(here: LoginStore) -> None:
    keep(here, OTHER).path.rename(here.path(SHOP))

    with pytest.raises(LoginCorrupt, match=f"is the login for {OTHER}, and not for {SHOP}"):
        here.find(SHOP)


@pytest.mark.parametrize("size", [0, 5, 40, 300])
def test_a_file_that_was_cut_short_is_told(here: LoginStore, size: int) -> None:
    locked = key()
    kept = here.keep(SHOP, state_with(), locked)
    assert kept is not None
    kept.path.write_bytes(kept.body[:size])

    def read() -> None:
        found = here.find(SHOP)
        assert found is not None
        here.open(found, locked)

    with pytest.raises(LoginCorrupt) as refused:
        read()
    assert str(kept.path) in refused.value.what
    assert "sign in again" in refused.value.fix


def test_one_that_cannot_be_read_does_not_hide_the_others(here: LoginStore) -> None:
    keep(here)
    bad = keep(here, OTHER).path
    bad.write_bytes(b"nonsense")

    found = here.all()

    assert {type(each) for each in found} == {KeptLogin, UnreadableLogin}
    assert [each.path for each in found if isinstance(each, UnreadableLogin)] == [bad]


@for_each(
    "text, origin",
    [
        ("https://shop.example", SHOP),
        ("https://SHOP.example:443/login?to=/desk#top", SHOP),
        ("shop.example", SHOP),
        ("shop.example/login", SHOP),
        ("http://127.0.0.1:8000/login", "http://127.0.0.1:8000"),
        ("http://localhost", "http://localhost"),
    ],
)
def test_a_site_is_named_by_any_address_of_it(text: str, origin: str) -> None:
    assert site_of(text) == origin


@for_each(
    "text",
    ["", "ftp://shop.example", "https://", "https://ann:pw@shop.example", "about:blank", "a b"],
)
def test_what_is_no_site_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(BadInput) as refused:
        site_of(text)
    assert "pw" not in str(refused.value)


def test_a_login_is_not_kept_for_a_place_where_others_can_listen() -> None:
    with pytest.raises(BadInput, match="whoever listens") as refused:
        site_of("http://shop.example")
    assert refused.value.fix == f"write {SHOP}"
