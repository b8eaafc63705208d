"""The snapshots that are shipped: each is one by the schema, and all that a page type needs."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from rutter.actors.rules.pages.page_state import detect, phrases_for
from rutter.events.run_settings import RunSettings
from rutter.pipeline.rehearsal import fixtures
from rutter.pipeline.rehearsal.sheets import page_of, sheet_of
from rutter.pipeline.tools.snapshot import Snapshot, snapshot_of, snapshot_schema
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter

SCHEMA = json.loads((fixtures.FOLDER / "snapshot.schema.json").read_text())
TYPES = ("login", "form", "list", "search_results", "dialog", "error")
FLOW = ("login", "account", "offer", "survey", "confirm", "done")
OTHERS = ("third_party", "already_cancelled", "failed")


def test_there_is_one_of_every_kind() -> None:
    wanted = {*TYPES, *(f"cancel_{name}" for name in (*FLOW, *OTHERS))}
    assert wanted == set(fixtures.names())
    assert len({fixtures.snapshot(name) for name in wanted}) == len(wanted)


def test_the_schema_file_is_the_schema_of_the_product() -> None:
    assert snapshot_schema() == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@for_each("name", fixtures.names())
def test_a_fixture_is_a_snapshot_by_its_type_and_by_the_schema(name: str) -> None:
    raw = (fixtures.FOLDER / "snapshots" / f"{name}.json").read_bytes()
    jsonschema.validate(json.loads(raw), SCHEMA)
    snapshot = fixtures.snapshot(name)
    assert fixtures.written(snapshot) == raw
    assert [element.ref for element in snapshot.elements] == [
        f"@e{number}" for number in range(len(snapshot.elements))
    ]
    assert fixtures.words(name)


def test_what_is_no_snapshot_is_refused_by_both() -> None:
    plain = msgspec.to_builtins(fixtures.snapshot("login"))
    del plain["page"]["url"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain, SCHEMA)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(plain, Snapshot)


@for_each("name", fixtures.names())
def test_an_observation_gives_the_snapshot_that_it_was_made_of(name: str) -> None:
    """Nothing of it is lost on the way to a scripted page."""
    snapshot = fixtures.snapshot(name)
    again = snapshot_of(page_of(snapshot), session="again", n=1, at_ns=0)
    for field in ("elements", "focused", "page", "viewport", "dropped", "truncated"):
        assert getattr(again, field) == getattr(snapshot, field), field
    assert len(sheet_of(snapshot).things) == len(snapshot.elements)


@for_each(
    "name, state",
    [
        ("cancel_login", "LOGIN_REQUIRED"),
        ("cancel_account", "ACCOUNT_ACTIVE"),
        ("cancel_already_cancelled", "ACCOUNT_CANCELLED"),
        ("cancel_third_party", "THIRD_PARTY_BILLING"),
        ("cancel_offer", "RETENTION_OFFER"),
        ("cancel_survey", "EXIT_SURVEY"),
        ("cancel_confirm", "FINAL_CONFIRMATION"),
        ("cancel_done", "COMPLETE"),
        ("login", "LOGIN_REQUIRED"),
        ("list", "UNKNOWN"),
        ("form", "UNKNOWN"),
    ],
)
def test_a_scripted_page_is_in_the_state_of_the_real_one(name: str, state: str) -> None:
    said = fixtures.words(name).casefold()
    phrases = [phrase for phrase in phrases_for(RunSettings()) if phrase in said]
    assert detect(page_of(fixtures.snapshot(name)), phrases) == state


def test_one_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="there is no snapshot 'logout': there are cancel_account"):
        fixtures.snapshot("logout")
    with pytest.raises(ValueError, match="shows no 'Leave'"):
        sheet_of(fixtures.snapshot("cancel_account"), {"Leave": "/"})


def test_the_schemas_are_printed_for_whoever_validates(tmp_path: Path) -> None:
    ended = Rutter(tmp_path / "data")("tools", "schema")
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    assert told["snapshot"] == SCHEMA
    for given in told["tools"].values():
        jsonschema.Draft202012Validator.check_schema(given)
    jsonschema.validate({"ref": "@e3"}, told["tools"]["browser_click"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"ref": 3}, told["tools"]["browser_click"])
