"""`--service`, `--folder`, `--success`, `--failure`: what becomes of them, what is refused."""

import json
from pathlib import Path

import pytest

from rutter.events.workflow import Criteria, Indicator
from rutter.pipeline.cli.options import read_request
from rutter.pipeline.cli.parser import parser
from rutter.pipeline.config.reader import Config
from rutter.pipeline.demo_sites import chandlery
from rutter.pipeline.sessions.request import read_given
from rutter.pipeline.sessions.session_started import Given
from tests.support import command_fixtures
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter, refused

rutter = command_fixtures.with_orders

HARBOUR = Path(chandlery.__file__).with_name("harbour.toml")
SHOP = """name = "shop"
[criteria]
success = [{where = "heading", says = "Thank you"}]
"""


def given(*flags: str | Path) -> Given:
    options = parser().parse_args(["run", *map(str, flags)])
    return read_given(read_request(options, Config()))


def test_without_flags_nothing_is_given() -> None:
    assert given() == Given()


def test_signs_that_are_typed_stand_beside_those_of_the_service(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_text(SHOP)
    told = given("--service", file, "--success", "alert=saved", "--failure", "text=try = again")

    assert told.service is not None
    assert told.service.name == "shop"
    assert told.criteria == Criteria(
        (Indicator("alert", "saved"), Indicator("heading", "Thank you")),
        (Indicator("text", "try = again"),),
    )


def test_the_service_of_the_bundled_site_can_be_given() -> None:
    told = given("--service", HARBOUR)
    assert told.service is not None
    assert told.service.name == "chandlery"


def test_a_folder_is_absolute_and_its_links_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    monkeypatch.chdir(tmp_path)

    told = given("--folder", "out/", "--folder", "out/../link")
    assert told.folders == (str(tmp_path / "out"), str(tmp_path / "link"))


@for_each(
    "flags, what",
    [
        (("--service", "nowhere.toml"), "nowhere.toml cannot be read"),
        (("--folder", "nowhere"), "nowhere is no directory"),
        (("--success", "colour=red"), "--success colour=red: there is no such place on a page"),
        (("--failure", "alert="), "--failure alert= has no text"),
        (("--success", "state=UNKNOWN"), "no page is 'UNKNOWN'"),
        (("--failure", "state=complete"), "no page is 'complete' -> it is one of START"),
    ],
)
def test_what_cannot_be_given_to_a_run_is_bad_input(
    rutter: Rutter, flags: tuple[str, ...], what: str
) -> None:
    refused(rutter("run", "order", "--set", "customer=Ann", *flags), what)


def test_a_service_with_a_mistake_is_named_with_its_place(rutter: Rutter, tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_text(SHOP.replace("says", "sayz"))
    script = tmp_path / "order.json"
    script.write_text(
        json.dumps({"title": "t", "steps": [{"type": "navigate", "url": "http://x/"}]})
    )

    place = f"{file}: Object contains unknown field `sayz` - at `$.criteria.success[0]`"
    run = ("run", "order", "--set", "customer=Ann")
    for command in (run, ("record", "x", "--script", str(script)), ("tools", "call")):
        refused(rutter(*command, "--service", str(file)), place)


def test_a_file_that_a_step_looks_at_needs_its_folder(rutter: Rutter, tmp_path: Path) -> None:
    stated = rutter("workflows", "edit", "order", "--expect", f"6=file_exists:{tmp_path}/a.pdf")
    assert stated.code == 0

    run = ("run", "order", "--set", "customer=Ann")
    refused(rutter(*run), f"no folder given -> add --folder {tmp_path}")
    (tmp_path / "b").mkdir()
    elsewhere = rutter(*run, "--folder", str(tmp_path / "b"))
    refused(elsewhere, f"in none of the folders given -> add --folder {tmp_path}")


def test_a_script_that_states_what_cannot_be_checked_is_bad_input(
    rutter: Rutter, tmp_path: Path
) -> None:
    script = tmp_path / "order.json"
    verify = {"type": "customStep", "name": "verify", "parameters": {"type": "looks", "value": "x"}}
    script.write_text(json.dumps({"title": "t", "steps": [verify]}))
    refused(
        rutter("record", "x", "--script", str(script)),
        "step 1 (customStep): there is no check 'looks' -> a check is one of text_visible",
    )
