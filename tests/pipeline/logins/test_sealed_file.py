"""One login as bytes: nothing of it in the clear, and nothing that can be changed or moved."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.errors import LoginCorrupt
from rutter.pipeline.logins import sealed_file
from rutter.pipeline.logins.sealed_file import (
    FORMAT,
    GuessCost,
    SealedHead,
    digest_of,
    key_of,
    new_lock,
    read_head,
    seal,
    unseal,
)
from tests.support.case_table import for_each
from tests.support.example_counts import examples
from tests.support.shop_logins import OTHER, PASSPHRASE, SHOP, TOKEN, key, state_with

LOCKED = key()
BODY = seal(SHOP, state_with(), LOCKED, 7)


def head_of(body: bytes) -> dict[str, object]:
    line = body[len(FORMAT) :].partition(b"\n")[0]
    found: dict[str, object] = msgspec.json.decode(line)
    return found


def with_head(**changes: object) -> bytes:
    head = head_of(BODY) | changes
    sealed = BODY[len(FORMAT) :].partition(b"\n")[2]
    return FORMAT + msgspec.json.encode(head) + b"\n" + sealed


def test_what_is_sealed_is_what_comes_out() -> None:
    assert unseal(BODY, SHOP, LOCKED) == state_with()
    assert unseal(BODY, SHOP, key_of(read_head(BODY).lock, PASSPHRASE.encode())) == state_with()


def test_its_head_says_whose_it_is_and_when_and_nothing_of_what_is_in_it() -> None:
    head = read_head(BODY)

    assert (head.origin, head.kept_at_ns, head.lock.kind) == (SHOP, 7, "passphrase")
    for word in (TOKEN, "sid", "theme", PASSPHRASE):
        assert word.encode() not in BODY


def test_a_guess_at_a_passphrase_is_dear() -> None:
    assert GuessCost() == (131_072, 8, 1)  # 128 MB: scrypt takes 128 * n * r bytes


def test_the_same_login_is_never_the_same_file() -> None:
    again = seal(SHOP, state_with(), LOCKED, 7)

    assert again != BODY
    assert digest_of(again) != digest_of(BODY)
    assert read_head(again).nonce != read_head(BODY).nonce
    assert new_lock("passphrase").salt != new_lock("passphrase").salt


def test_another_passphrase_is_another_key_and_is_known_to_be() -> None:
    wrong = key("six fathoms of ropes", LOCKED.lock)

    assert wrong.check != read_head(BODY).check
    with pytest.raises(LoginCorrupt):
        unseal(BODY, SHOP, wrong)


def test_a_key_is_not_printed() -> None:
    assert str(LOCKED) == f"{LOCKED!r}" == "Key(passphrase)"


def test_it_is_of_no_other_origin() -> None:
    with pytest.raises(LoginCorrupt, match=f"it is the login for {SHOP}"):
        unseal(BODY, OTHER, LOCKED)


def test_a_head_that_says_another_origin_is_found_out() -> None:
    with pytest.raises(LoginCorrupt, match="somebody changed it"):
        unseal(with_head(origin=OTHER), OTHER, LOCKED)


@for_each("at_ns", [0, -1, 1 << 63, 10**30])
def test_a_time_that_no_calendar_shows_cannot_be_when_it_was_kept(at_ns: int) -> None:
    with pytest.raises(LoginCorrupt):
        read_head(with_head(kept_at_ns=at_ns))


@given(at=st.integers(0, len(BODY) - 1), flip=st.integers(1, 255))
@examples(300)
def test_no_byte_of_it_can_be_changed(at: int, flip: int) -> None:
    changed = BODY[:at] + bytes([BODY[at] ^ flip]) + BODY[at + 1 :]

    with pytest.raises(LoginCorrupt):
        unseal(changed, SHOP, LOCKED)


@given(size=st.integers(0, len(BODY) - 1))
@examples(100)
def test_a_part_of_it_is_nothing(size: int) -> None:
    with pytest.raises(LoginCorrupt):
        unseal(BODY[:size], SHOP, LOCKED)


@given(st.binary(max_size=400))
def test_what_is_no_login_is_told(body: bytes) -> None:
    for front in (b"", FORMAT, FORMAT + b"{}\n"):
        with pytest.raises(LoginCorrupt):
            read_head(front + body)


@for_each(
    "lock",
    [
        {"n": 1 << 30},
        {"n": 100},
        {"n": 0},
        {"r": 1 << 20},
        {"p": 0},
        {"p": 99},
        {"salt": "AA=="},
        {"kind": "keyring"},
        {"kind": "open"},
        {"more": 1},
    ],
)
def test_a_head_cannot_ask_for_what_this_machine_has_not(lock: dict[str, object]) -> None:
    """It is read before anything says that it is true."""
    told = head_of(BODY)["lock"]
    assert isinstance(told, dict)

    with pytest.raises(LoginCorrupt):
        read_head(with_head(lock=told | lock))


def test_a_key_of_the_keyring_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed_file, "Scrypt", None)  # it would be missed
    lock = new_lock("keyring")
    made = key_of(lock, b"k" * 32)

    body = seal(SHOP, state_with(), made, 1)

    assert unseal(body, SHOP, key_of(lock, b"k" * 32)) == state_with()
    assert isinstance(read_head(body), SealedHead)
