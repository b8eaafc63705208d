"""What logins are sealed with: the keyring where there is one, else one passphrase for all."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import pytest

from rutter.events.errors import BadInput
from rutter.pipeline.logins.login_store import KeptLogin, LoginStore
from rutter.pipeline.logins.sealing_key import SERVICE, USER, SealingKeys
from tests.support import keyrings
from tests.support.shop_logins import OTHER, PASSPHRASE, SHOP, keep, shelf, state_with

FIX = "sign in again"


@pytest.fixture
def here(tmp_path: Path) -> LoginStore:
    return shelf(tmp_path)


class Typist:
    """Types these, one after the other, and keeps what was asked."""

    def __init__(self, *words: str) -> None:
        self._words = list(words)
        self.asked: list[str] = []

    def __call__(self, question: str) -> str:
        self.asked.append(question)
        return self._words.pop(0)


def kept_by(keys: SealingKeys, here: LoginStore, origin: str = SHOP) -> KeptLogin:
    kept = here.keep(origin, state_with(origin=origin), keys.new([]))
    assert kept is not None
    return kept


# -- the keyring -----------------------------------------------------------------------------------


def test_where_there_is_a_keyring_it_has_the_key_and_nobody_is_asked(
    here: LoginStore, ring: keyrings.InMemory
) -> None:
    kept = kept_by(SealingKeys("", {}), here)

    assert kept.head.lock.kind == "keyring"
    assert list(ring.entries) == [(SERVICE, USER)]
    assert here.open(kept, SealingKeys("", {}).of(kept, FIX)) == state_with()


def test_one_key_of_the_keyring_is_for_all(here: LoginStore, ring: keyrings.InMemory) -> None:
    first = kept_by(SealingKeys("", {}), here)
    entry = dict(ring.entries)
    second = kept_by(SealingKeys("", {}), here, OTHER)

    assert ring.entries == entry
    assert first.head.lock.salt != second.head.lock.salt  # and yet no two keys are the same


@pytest.mark.parametrize("trouble", ["locked", "full", "foreign"])
def test_a_keyring_that_takes_no_key_is_as_none(
    here: LoginStore, ring: keyrings.InMemory, trouble: str
) -> None:
    ring.locked, ring.full = trouble == "locked", trouble == "full"
    if trouble == "foreign":
        ring.entries[SERVICE, USER] = "somebody else's word"
    typist = Typist(PASSPHRASE, PASSPHRASE)

    assert kept_by(SealingKeys("", {}, typist), here).head.lock.kind == "passphrase"
    if trouble == "foreign":
        assert ring.entries == {(SERVICE, USER): "somebody else's word"}


def test_a_login_whose_keyring_does_not_answer_says_so(
    here: LoginStore, ring: keyrings.InMemory
) -> None:
    kept = kept_by(SealingKeys("", {}), here)
    ring.locked = True

    with pytest.raises(BadInput, match=f"the key of the login for {SHOP} is in a keyring") as it:
        SealingKeys("", {}, Typist()).of(kept, FIX)
    assert FIX in it.value.fix


def test_another_key_in_the_keyring_does_not_open_it(
    here: LoginStore, ring: keyrings.InMemory
) -> None:
    kept = kept_by(SealingKeys("", {}), here)
    ring.entries.clear()
    kept_by(SealingKeys("", {}), here, OTHER)

    with pytest.raises(BadInput, match="the key in the keyring does not open"):
        SealingKeys("", {}).of(kept, FIX)


def test_without_the_package_there_is_no_keyring(
    here: LoginStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)

    assert kept_by(SealingKeys("", {}, Typist(PASSPHRASE, PASSPHRASE)), here).head.lock.n > 0


def test_who_names_a_source_means_that_and_no_keyring(
    here: LoginStore, ring: keyrings.InMemory
) -> None:
    kept = kept_by(SealingKeys("env:WORD", {"WORD": PASSPHRASE}), here)

    assert kept.head.lock.kind == "passphrase"
    assert ring.entries == {}


# -- a passphrase ----------------------------------------------------------------------------------


def from_file(folder: Path) -> SealingKeys:
    (folder / "word").write_text(PASSPHRASE + "\n")
    return SealingKeys(f"file:{folder / 'word'}", {})


def from_keyring(_: Path) -> SealingKeys:
    ring = keyrings.in_memory()
    ring.entries["logins", "mate"] = PASSPHRASE
    keyring.set_keyring(ring)
    return SealingKeys("keyring:logins/mate", {})


@pytest.mark.parametrize(
    "source",
    [lambda _: SealingKeys("env:WORD", {"WORD": PASSPHRASE}), from_file, from_keyring],
    ids=["env", "file", "keyring"],
)
def test_a_passphrase_that_the_configuration_names_needs_nobody(
    here: LoginStore, tmp_path: Path, source: Callable[[Path], SealingKeys]
) -> None:
    kept = keep(here)

    assert here.open(kept, source(tmp_path).of(kept, FIX)) == state_with()


def test_a_new_one_is_typed_twice(here: LoginStore) -> None:
    typist = Typist("short", PASSPHRASE, "another one", PASSPHRASE, PASSPHRASE)

    kept = kept_by(SealingKeys("", {}, typist), here)

    assert len(typist.asked) == 5
    assert here.open(kept, SealingKeys("", {}, Typist(PASSPHRASE)).of(kept, FIX)) == state_with()


def test_one_that_is_never_typed_alike_is_none(here: LoginStore) -> None:
    with pytest.raises(BadInput, match="typed twice alike"):
        SealingKeys("", {}, Typist(*[PASSPHRASE, "other"] * 3)).new([])


def test_it_is_asked_for_once_and_again_where_it_is_wrong(here: LoginStore) -> None:
    first, second = keep(here), keep(here, OTHER)
    typist = Typist("not this one", PASSPHRASE)
    keys = SealingKeys("prompt", {}, typist)

    assert here.open(first, keys.of(first, FIX)) == state_with()
    assert here.open(second, keys.of(second, FIX)) == state_with(origin=OTHER)
    assert len(typist.asked) == 2


def wrong(here: LoginStore) -> Iterator[tuple[str, SealingKeys]]:
    yield "what was typed", SealingKeys("", {}, Typist("one", "two", "three"))
    yield "what env:WORD holds", SealingKeys("env:WORD", {"WORD": "another passphrase"})


def test_a_wrong_one_says_what_to_do_and_is_not_repeated(here: LoginStore) -> None:
    kept = keep(here)
    for named, keys in wrong(here):
        with pytest.raises(BadInput) as refused:
            keys.of(kept, FIX)
        assert refused.value.what == f"{named} does not open the login for {SHOP}"
        assert refused.value.fix == FIX


def test_a_further_login_has_the_passphrase_of_the_others(here: LoginStore) -> None:
    others = [keep(here, OTHER)]

    with pytest.raises(BadInput, match=f"does not open the login for {OTHER}") as refused:
        SealingKeys("", {}, Typist("x" * 9, "y" * 9, "z" * 9)).new(others)
    assert "--forget" in refused.value.fix

    typist = Typist(PASSPHRASE)
    made = SealingKeys("", {}, typist).new(others)
    assert len(typist.asked) == 1
    assert made.lock.salt != others[0].head.lock.salt


@pytest.mark.parametrize("source", ["", "prompt"])
def test_with_no_keyring_and_nobody_there_it_says_what_to_configure(
    here: LoginStore, source: str
) -> None:
    kept = keep(here)
    keys = SealingKeys(source, {})
    for attempt in (lambda: keys.new([]), lambda: keys.of(kept, FIX), lambda: keys.check(kept)):
        with pytest.raises(BadInput, match="nobody is here to type the passphrase") as refused:
            attempt()
        assert "logins.key = env:VARIABLE" in refused.value.fix


@pytest.mark.parametrize("word", ["", "short"])
def test_one_that_is_too_short_is_refused(here: LoginStore, word: str) -> None:
    with pytest.raises(BadInput, match="shorter than 8 characters"):
        SealingKeys("env:WORD", {"WORD": word}).new([])
    with pytest.raises(BadInput, match="WORD is not set"):
        SealingKeys("env:WORD", {}).new([])
