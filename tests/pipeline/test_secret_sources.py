"""Secrets come from the environment, a file or a prompt, and never from the command line."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from events.errors import BadInput
from pipeline.secret_sources import read_pairs, read_secrets

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


@pytest.mark.parametrize(
    "source", [PASSWORD, "", "env:", "file:", "prompt:", "vault:shop", "ENV:SHOP", "Prompt"]
)
def test_anything_else_is_refused_and_not_repeated(source: str) -> None:
    with pytest.raises(BadInput) as refused:
        secrets(f"password={source}", env={"SHOP": "x"})

    assert refused.value.what.endswith("a value does not belong on the command line")
    assert "--secret password=env:VARIABLE, file:PATH or prompt" in refused.value.fix
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


@pytest.mark.parametrize("flag", ["--set", "--param", "--secret"])
@pytest.mark.parametrize("pair", ["customer", "=Ann", "two words=x", "1st=x", ""])
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


@pytest.mark.parametrize("pair", [PASSWORD, f"my-password={PASSWORD}"])
def test_a_misspelt_secret_is_not_repeated(pair: str) -> None:
    with pytest.raises(BadInput) as refused:
        secrets(pair)

    assert PASSWORD not in str(refused.value)


def test_a_home_directory_of_nobody_is_bad_input() -> None:
    with pytest.raises(BadInput):
        secrets("password=file:~nobody-of-this-name/secret")
