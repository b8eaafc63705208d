"""What one guess at a passphrase costs is not what is tested here: a thousandth of it is enough."""

from collections.abc import Iterator

import pytest

from rutter.pipeline.logins import sealed_file
from tests.support import keyrings


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed_file, "COST", sealed_file.GuessCost(n=128))


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    with keyrings.using(keyrings.none()):
        yield


@pytest.fixture
def ring() -> Iterator[keyrings.InMemory]:
    backend = keyrings.in_memory()
    with keyrings.using(backend):
        yield backend
