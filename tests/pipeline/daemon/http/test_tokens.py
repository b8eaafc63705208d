"""Given a data directory: its tokens are private and last, and tickets do neither."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.world.secrets.redaction import forget, hushed
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.daemon.http.tokens import (
    COOKIE,
    Tickets,
    Tokens,
    TokenUnsafe,
    read_token,
    token_path,
)
from tests.support.case_table import for_each

PERSON, AGENT = "p" * 43, "a" * 43


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[DataDirectory]:
    made = DataDirectory(tmp_path / "data")
    made.create()
    yield made
    forget()


def _bearer(directory: DataDirectory, scope: str) -> str:
    return "Bearer " + (directory.root / f"{scope}.token").read_text().strip()


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_they_are_made_private_whatever_the_umask(directory: DataDirectory, umask: int) -> None:
    before = os.umask(umask)
    try:
        Tokens.open(directory)
    finally:
        os.umask(before)
    for name in ("person.token", "agent.token"):
        assert stat.S_IMODE((directory.root / name).stat().st_mode) == 0o600


def test_each_has_its_scope_and_a_restart_changes_nothing(directory: DataDirectory) -> None:
    Tokens.open(directory)
    person, agent = _bearer(directory, "person"), _bearer(directory, "agent")
    again = Tokens.open(directory)
    assert again.scope_of(person) == "person"
    assert again.scope_of(agent) == "agent"
    assert (_bearer(directory, "person"), _bearer(directory, "agent")) == (person, agent)


def test_two_directories_have_nothing_in_common(tmp_path: Path) -> None:
    first, second = DataDirectory(tmp_path / "a"), DataDirectory(tmp_path / "b")
    for each in (first, second):
        each.create()
        Tokens.open(each)
    assert Tokens.open(first).scope_of(_bearer(second, "person")) is None
    forget()


def test_one_that_others_could_read_is_refused_and_not_mended(directory: DataDirectory) -> None:
    Tokens.open(directory)
    path = token_path(directory, "agent")
    for mode in (0o640, 0o604, 0o620, 0o601):
        path.chmod(mode)
        directory.lock()  # which makes everything else private
        directory.unlock()
        with pytest.raises(TokenUnsafe, match=r"read by others.*; delete it and start again"):
            Tokens.open(directory)
        assert stat.S_IMODE(path.stat().st_mode) == mode
    before = _bearer(directory, "agent")
    path.unlink()
    assert Tokens.open(directory).scope_of(before) is None


def test_tokens_do_not_make_a_data_directory_somebody_elses(directory: DataDirectory) -> None:
    Tokens.open(directory)
    directory.root.chmod(0o755)
    directory.lock()
    directory.unlock()
    assert directory.tightened == (directory.root,)
    assert stat.S_IMODE(directory.root.stat().st_mode) == 0o700


def test_a_link_is_refused(directory: DataDirectory, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(PERSON)
    elsewhere.chmod(0o600)
    token_path(directory, "person").symlink_to(elsewhere)
    with pytest.raises(TokenUnsafe, match="is a link"):
        Tokens.open(directory)
    assert elsewhere.read_text() == PERSON


def test_a_link_to_nothing_is_not_written_through(directory: DataDirectory, tmp_path: Path) -> None:
    token_path(directory, "person").symlink_to(tmp_path / "new")
    with pytest.raises(TokenUnsafe):
        Tokens.open(directory)
    assert not (tmp_path / "new").exists()


def test_what_is_no_plain_file_is_refused(directory: DataDirectory) -> None:
    path = token_path(directory, "person")
    path.mkdir(0o700)
    with pytest.raises(TokenUnsafe, match="not a plain file"):
        Tokens.open(directory)
    path.rmdir()
    os.mkfifo(path, 0o600)
    with pytest.raises(TokenUnsafe, match="not a plain file"):
        Tokens.open(directory)


def test_somebody_elses_is_refused(
    directory: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    Tokens.open(directory)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(TokenUnsafe, match="belongs to somebody else"):
        Tokens.open(directory)


@for_each("held", ["short", PERSON + "\n" + PERSON, "ä" * 40, "x" * 2000, PERSON + ";"])
def test_what_is_no_token_is_refused_and_not_repeated(directory: DataDirectory, held: str) -> None:
    path = token_path(directory, "person")
    path.write_text(held)
    path.chmod(0o600)
    with pytest.raises(TokenUnsafe, match="does not hold a token") as raised:
        Tokens.open(directory)
    assert held not in str(raised.value)


def test_one_that_was_begun_and_not_written_is_made_again(directory: DataDirectory) -> None:
    path = token_path(directory, "person")
    path.touch(0o600)
    assert read_token(path) is None
    assert Tokens.open(directory).scope_of(_bearer(directory, "person")) == "person"


def test_one_token_for_both_is_refused(directory: DataDirectory) -> None:
    for scope in ("person", "agent"):
        path = directory.root / f"{scope}.token"
        path.write_text(PERSON)
        path.chmod(0o600)
    with pytest.raises(TokenUnsafe, match="holds the person's token"):
        Tokens.open(directory)


def test_nothing_prints_them(directory: DataDirectory) -> None:
    tokens = Tokens.open(directory)
    held = token_path(directory, "person").read_text().strip()
    assert held not in repr(tokens) + repr(vars(tokens))
    assert held not in hushed(f"the token is {held}")


# -- headers ---------------------------------------------------------------------------------------


@for_each("header", [f"Bearer {PERSON}", f"bearer {PERSON}", f"BEARER  {PERSON}"])
def test_the_scheme_is_bearer_in_any_letters(header: str) -> None:
    assert Tokens(PERSON, AGENT).scope_of(header) == "person"


@for_each(
    "header", [PERSON, f"Basic {PERSON}", f"Bearer {PERSON} x", f"Bearer {PERSON}\n", "Bearer", ""]
)
def test_anything_else_is_nobodys(header: str) -> None:
    assert Tokens(PERSON, AGENT).scope_of(header) is None


@given(header=st.one_of(st.none(), st.text(), st.text("Bearpa ", max_size=60)))
def test_no_header_that_was_made_up_has_a_scope(header: str | None) -> None:
    assert Tokens(PERSON, AGENT).scope_of(header) is None


# -- tickets ---------------------------------------------------------------------------------------


class Hands:
    """A clock that stands until it is moved."""

    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_a_ticket_opens_its_own_session_only() -> None:
    tickets = Tickets()
    first, second = tickets.issue("s1"), tickets.issue("s2")
    assert first != second
    assert tickets.admits(first, "s1")
    assert not tickets.admits(first, "s2")
    assert not tickets.admits("", "s1")
    assert not tickets.admits(first + "x", "s1")


def test_one_that_is_not_used_soon_is_none() -> None:
    clock = Hands()
    tickets = Tickets(now_s=clock, first_use_s=60)
    early, late = tickets.issue("s1"), tickets.issue("s1")
    clock.now_s += 59.9
    assert tickets.admits(early, "s1")
    clock.now_s += 0.1
    assert not tickets.admits(late, "s1")


def test_one_that_was_used_lasts_from_then_on_and_not_longer() -> None:
    clock = Hands()
    tickets = Tickets(now_s=clock, first_use_s=60, view_s=600)
    value = tickets.issue("s1")
    clock.now_s += 30
    assert tickets.admits(value, "s1")
    for _ in range(5):
        clock.now_s += 100
        assert tickets.admits(value, "s1")  # which does not make it last longer
    clock.now_s += 100
    assert not tickets.admits(value, "s1")


def test_a_wrong_session_is_no_first_use() -> None:
    clock = Hands()
    tickets = Tickets(now_s=clock, first_use_s=60)
    value = tickets.issue("s1")
    assert not tickets.admits(value, "s2")
    clock.now_s += 60
    assert not tickets.admits(value, "s1")


def test_there_are_so_many_at_most_and_the_oldest_goes() -> None:
    tickets = Tickets(at_most=3)
    issued = [tickets.issue("s1") for _ in range(5)]
    assert [tickets.admits(each, "s1") for each in issued] == [False, False, True, True, True]


def test_those_that_are_over_do_not_push_out_the_others() -> None:
    clock = Hands()
    tickets = Tickets(now_s=clock, first_use_s=60, at_most=2)
    kept = tickets.issue("s1")
    assert tickets.admits(kept, "s1")
    tickets.issue("s1")
    clock.now_s += 61
    new = tickets.issue("s1")
    assert tickets.admits(kept, "s1")
    assert tickets.admits(new, "s1")


def test_a_session_that_is_over_is_opened_by_none() -> None:
    tickets = Tickets()
    first, second = tickets.issue("s1"), tickets.issue("s2")
    tickets.void("s1")
    assert not tickets.admits(first, "s1")
    assert tickets.admits(second, "s2")


def test_the_cookie_is_for_one_path_and_out_of_reach_of_scripts() -> None:
    tickets = Tickets(first_use_s=60, view_s=600)
    value = tickets.issue("a b;c")
    assert tickets.cookie(value, "a b;c") == (
        f"{COOKIE}={value}; Path=/stream/a%20b%3Bc; Max-Age=660; HttpOnly; SameSite=Strict"
    )
