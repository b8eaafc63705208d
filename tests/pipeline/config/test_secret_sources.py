"""Secrets come from the environment, a file, the keyring or a prompt; never the command line."""

import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from rutter.events.errors import BadInput
from rutter.pipeline.config.secret_sources import read_origins, read_pairs, read_secrets
from tests.support.case_table import for_each

PASSWORD = "sheet bend & 9 fathoms"


def secrets(
    *pairs: str, env: Mapping[str, str] | None = None, typed: str = "typed"
) -> dict[str, str]:
    return read_secrets(pairs, env or {}, lambda question: f"{typed} at {question!r}")


def test_from_the_environment() -> None:
    found = secrets("password=env:SHOP", "pin=env:PIN", env={"SHOP": PASSWORD, "PIN": "="})

    assert found == {"password": PASSWORD, "pin": "="}


def test_from_a_file_without_its_last_line_break(tmp_path: Path) -> None:
    for number, body in enumerate((PASSWORD, PASSWORD + "\n", PASSWORD + "\r\n", f" {PASSWORD} ")):
        (tmp_path / str(number)).write_bytes(body.encode())

    found = [secrets(f"password=file:{tmp_path / str(number)}") for number in range(4)]
    assert [each["password"] for each in found] == [PASSWORD] * 3 + [f" {PASSWORD} "]


def test_from_a_prompt_that_names_it() -> None:
    assert secrets("password=prompt") == {"password": "typed at 'password: '"}


@for_each(
    "source",
    [PASSWORD, "", "env:", "file:", "keyring:", "prompt:", "vault:shop", "ENV:SHOP", "Prompt"],
)
def test_anything_else_is_refused_and_not_repeated(source: str) -> None:
    with pytest.raises(BadInput) as refused:
        secrets(f"password={source}", env={"SHOP": "x"})

    assert refused.value.what.endswith("a value does not belong on the command line")
    assert refused.value.fix == (
        "write --secret password=env:VARIABLE, file:PATH, keyring:SERVICE/USER or prompt"
    )
    assert PASSWORD not in str(refused.value)


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(BadInput) as refused:
        secrets("password=env:SHOP_PASSWORD")

    assert "SHOP_PASSWORD is not set" in refused.value.what
    assert refused.value.fix == "export SHOP_PASSWORD=..."


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for place in (tmp_path / "nothing", tmp_path, tmp_path / "binary"):
        with pytest.raises(BadInput) as refused:
            secrets(f"password=file:{place}")
        assert str(place) in refused.value.what


@for_each("flag", ["--set", "--param", "--secret"])
@for_each("pair", ["customer", "=Ann", "two words=x", "1st=x", ""])
def test_a_pair_is_a_name_and_a_value(flag: str, pair: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_pairs([pair], flag)

    assert refused.value.fix == f"write {flag} name=value"


def test_a_value_may_be_empty_or_hold_anything() -> None:
    assert read_pairs(["a=", "b=x=y", "c= spaced "], "--set") == {
        "a": "",
        "b": "x=y",
        "c": " spaced ",
    }


def test_a_name_is_given_once() -> None:
    with pytest.raises(BadInput) as refused:
        read_pairs(["a=1", "b=2", "a=3"], "--set")

    assert refused.value.what == "--set a is given twice"


@for_each("pair", [PASSWORD, f"my-password={PASSWORD}"])
def test_a_misspelt_secret_is_not_repeated(pair: str) -> None:
    with pytest.raises(BadInput) as refused:
        secrets(pair)

    assert PASSWORD not in str(refused.value)


def test_a_home_directory_of_nobody_is_bad_input() -> None:
    with pytest.raises(BadInput):
        secrets("password=file:~nobody-of-this-name/secret")


# -- the keyring -----------------------------------------------------------------------------------


class InMemory(KeyringBackend):
    """A keyring for one test."""

    priority = 1
    locked = False

    @cached_property
    def entries(self) -> dict[tuple[str, str], str]:
        return {}

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise KeyringLocked("it is locked")
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password


@pytest.fixture
def ring() -> Iterator[InMemory]:
    before = keyring.get_keyring()
    ring = InMemory()  # type: ignore[no-untyped-call]
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.mark.parametrize("service", ["shop", "https://shop.example/login"])
def test_from_the_keyring_by_service_and_user(ring: InMemory, service: str) -> None:
    keyring.set_password(service, "mate", PASSWORD)

    assert secrets(f"password=keyring:{service}/mate") == {"password": PASSWORD}


def test_an_entry_that_the_keyring_lacks_is_named(ring: InMemory) -> None:
    with pytest.raises(BadInput) as refused:
        secrets("password=keyring:shop/mate")

    assert "nothing for mate at shop" in refused.value.what
    assert refused.value.fix == "keyring set shop mate"


def test_a_keyring_that_is_locked_says_so(ring: InMemory) -> None:
    ring.locked = True
    with pytest.raises(BadInput, match=r"the keyring does not answer \(it is locked\)"):
        secrets("password=keyring:shop/mate")


@for_each("entry", ["shop", "/mate", "shop/"])
def test_an_entry_is_a_service_and_a_user(entry: str) -> None:
    with pytest.raises(BadInput) as refused:
        secrets(f"password=keyring:{entry}")

    assert refused.value.fix == "write --secret password=keyring:SERVICE/USER"


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(BadInput) as refused:
        secrets("password=keyring:shop/mate")

    assert "the keyring package is not installed" in refused.value.what
    assert refused.value.fix == "pip install 'rutter-agent[keyring]'"


@for_each("name", ["password", "pin", "card_number"])
def test_what_sounds_like_a_secret_is_no_parameter(name: str) -> None:
    with pytest.raises(BadInput, match="sounds like a secret") as refused:
        read_pairs([f"{name}=bowline"], "--param")
    assert "bowline" not in str(refused.value)
    assert f"--secret {name}=" in (refused.value.fix or "")


# -- where a secret belongs ------------------------------------------------------------------------


@for_each(
    "source, origins",
    [
        ("env:SHOP@https://shop.example", ("https://shop.example",)),
        ("env:SHOP@https://SHOP.example:443/", ("https://shop.example",)),
        (
            "prompt@https://a.example:8443,https://b.example",
            ("https://a.example:8443", "https://b.example"),
        ),
        ("env:SHOP@http://localhost:8000", ("http://localhost:8000",)),
        ("env:SHOP@http://127.0.0.1:80", ("http://127.0.0.1",)),
        ("env:SHOP@http://[::1]:81,http://nas.local", ("http://[::1]:81", "http://nas.local")),
        ("keyring:shop/ann@shop.example@https://shop.example", ("https://shop.example",)),
        ("env:SHOP@https://b\u00fccher.example", ("https://xn--bcher-kva.example",)),
    ],
)
def test_an_origin_is_written_as_browsers_do(source: str, origins: tuple[str, ...]) -> None:
    assert read_origins([f"password={source}"]) == {"password": origins}


@for_each(
    "source", ["env:SHOP", "file:/home/ann@sea/key", "keyring:shop/ann@shop.example", "prompt"]
)
def test_an_at_of_its_own_is_no_origin(source: str) -> None:
    assert read_origins([f"password={source}"]) == {}


@for_each(
    "origin",
    [
        *("http://shop.example", "http://8.8.8.8", "https://shop.example/login"),
        *("https://shop.example/?a", "https://ann@shop.example@https://", "https://*.shop.example"),
        *("https://", "https://a.example,", "https://a.example,ftp://b.example", "https://sh op"),
    ],
)
def test_what_is_no_origin_of_its_own_is_refused(origin: str) -> None:
    with pytest.raises(BadInput, match="is no origin") as refused:
        read_origins([f"password=env:SHOP@{origin}"])
    assert origin not in refused.value.what


def test_the_value_is_read_without_its_origins(tmp_path: Path) -> None:
    place = tmp_path / "ann@sea"
    place.write_text(PASSWORD)
    found = secrets(
        f"a=file:{place}@https://shop.example",
        f"b=file:{place}",
        "c=env:SHOP@https://a.example,https://b.example",
        "d=prompt@https://shop.example",
        env={"SHOP": "x"},
    )
    assert found == {"a": PASSWORD, "b": PASSWORD, "c": "x", "d": "typed at 'd: '"}
