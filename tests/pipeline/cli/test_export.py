"""`rutter export` as people type it: what it writes and where, and what it refuses."""

import json
from pathlib import Path

import pytest

from tests.support import scripted_logs
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter, refused


@pytest.fixture
def rutter(rutter: Rutter) -> Rutter:
    """`order`, which takes a customer, `sign-in` with a secret, and `half` of a recording."""
    scripted_logs.keep_locked(rutter.data / "log.db")
    return rutter


def test_a_script_goes_to_the_terminal(rutter: Rutter) -> None:
    ended = rutter("export", "sign-in", "--format", "playwright")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("# The workflow 'sign-in', version 1, as it was recorded.\n")
    assert "#     SECRET_PIN=... python FILE --user VALUE\n" in ended.out
    compile(ended.out, "flow.py", "exec")


def test_or_into_a_file_and_both_are_the_same(rutter: Rutter, tmp_path: Path) -> None:
    for kind in ("recorder", "playwright"):
        file = tmp_path / kind
        ended = rutter("export", "sign-in", "--format", kind, "--out", file)

        assert ended.out == f"[OK] {file}: sign-in version 1\n"
        assert rutter("export", "sign-in", "--format", kind).out == file.read_text()


def test_the_recorders_file_holds_values_that_are_set_and_no_secret(rutter: Rutter) -> None:
    ended = rutter("export", "sign-in", "--format", "recorder", "--set", "user=Ann Bolt")
    script = json.loads(ended.out)

    assert script["title"] == "sign-in (fill in ${pin})"
    typed = [each["value"] for each in script["steps"] if "value" in each]
    assert typed == ["Ann Bolt", "${pin}"]


def test_a_value_that_is_set_is_the_default_of_the_scripts_flag(rutter: Rutter) -> None:
    ended = rutter("export", "sign-in", "--format", "playwright", "--set", "user=Ann")

    assert "run_flow(flow, {'user': 'Ann'}, {'pin': 'SECRET_PIN'})" in ended.out


def test_as_json(rutter: Rutter, tmp_path: Path) -> None:
    said = rutter.json("export", "sign-in", "--format", "recorder")
    assert (said["workflow"], said["version"], said["format"]) == ("sign-in", 1, "recorder")
    assert said["left_out"] == []
    assert json.loads(said["text"])["steps"]

    kept = rutter.json("export", "sign-in", "--format", "recorder", "--out", tmp_path / "a.json")
    assert kept["file"] == str(tmp_path / "a.json")


@for_each(
    "arguments, what",
    [
        (("refund",), "there is no workflow 'refund'"),
        (("half",), "'half' was not recorded to its end"),
        (("sign-in", "--set", "who=Ann"), "has no parameter 'who' -> it has: user"),
        (("sign-in", "--set", "user"), "one --set is not name=value"),
        (("sign-in", "--out", "/nowhere/at/all"), "cannot be written"),
    ],
)
@for_each("kind", ["recorder", "playwright"])
def test_what_cannot_be_exported_says_why(
    rutter: Rutter, arguments: tuple[str, ...], what: str, kind: str
) -> None:
    refused(rutter("export", *arguments, "--format", kind), what)


def test_a_step_that_a_format_cannot_say_is_named(rutter: Rutter) -> None:
    rutter("workflows", "edit", "sign-in", "--optional", "3")

    ended = rutter("export", "sign-in", "--format", "recorder")
    refused(ended, "step 3 (type): the Recorder has no optional steps")
    assert rutter("export", "sign-in", "--format", "playwright").code == 0
