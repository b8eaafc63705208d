"""Given a file about a service: what is known of it, or where the file is wrong."""

from pathlib import Path

import pytest

import pipeline.site
from events.errors import BadInput
from events.service import Checkpoint, Sign, StateRule
from events.workflow import Criteria, Indicator
from pipeline.services import Known, read_service

HARBOUR = Path(pipeline.site.__file__).with_name("harbour.toml")
WHOLE = """
name = "shop"
version = "2"
[[states]]
state = "COMPLETE"
weight = 3
signs = [{where = "heading", says = "Thank you"}, {where = "url", says = "/done"}]
unless = [{where = "alert", says = "declined"}]
[criteria]
success = [{where = "text", says = "Your order"}, {where = "state", says = "COMPLETE"}]
failure = [{where = "alert", says = "declined"}]
"""


STOPS = """
name = "stream"
[[checkpoints]]
name = "the cancellation"
signs = [{where = "title", says = "Finish cancellation"}]
always = true
[[checkpoints]]
name = "the last button"
signs = [{where = "button", says = "finish cancel"}, {where = "text", says = "No refunds"}]
"""


def read(tmp_path: Path, text: str | bytes) -> Known:
    path = tmp_path / "shop.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_service(path)


def test_a_service_has_its_states_and_its_signs_of_an_end(tmp_path: Path) -> None:
    service, criteria = read(tmp_path, WHOLE)

    assert (service.name, service.version) == ("shop", "2")
    signs = (Sign("heading", "Thank you"), Sign("url", "/done"))
    assert service.states == (StateRule("COMPLETE", signs, 3, (Sign("alert", "declined"),)),)
    assert criteria == Criteria(
        (Indicator("text", "Your order"), Indicator("state", "COMPLETE")),
        (Indicator("alert", "declined"),),
    )


def test_a_service_has_its_checkpoints(tmp_path: Path) -> None:
    service, _ = read(tmp_path, STOPS)

    assert service.checkpoints == (
        Checkpoint("the cancellation", (Sign("title", "Finish cancellation"),), always=True),
        Checkpoint(
            "the last button", (Sign("button", "finish cancel"), Sign("text", "No refunds"))
        ),
    )


def test_a_name_is_enough(tmp_path: Path) -> None:
    service, criteria = read(tmp_path, 'name = "shop"')

    assert (service.name, service.version, service.states, criteria) == ("shop", "1", (), None)


def test_the_service_of_the_bundled_site_is_one() -> None:
    service, criteria = read_service(HARBOUR)

    assert service.name == "chandlery"
    assert {rule.state for rule in service.states} >= {"LOGIN_REQUIRED", "COMPLETE"}
    assert criteria is not None
    assert criteria.success
    assert criteria.failure


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "missing required field `name`"),
        ('name = " "', "the service has no name"),
        ("name = 3", "Expected `str`, got `int` - at `$.name`"),
        ('name = "x"\nnmae = "y"', "unknown field `nmae`"),
        ('name = "x"\nversion = 2', "at `$.version`"),
        ('name = "x"\n[[states]]\nstate = "COMPLETE"', "field `signs` - at `$.states[0]`"),
        ('name = "x"\n[[states]]\nstate = "COMPLETE"\nsigns = []', "states[0] has no signs"),
        ('name = "x"\n[[states]]\nstate = "DONE"\nsigns = []', "enum value 'DONE' - at `$.states"),
        (WHOLE.replace("weight = 3", "weight = 0"), "states[0]: a weight is from 1 to"),
        (WHOLE.replace("weight = 3", "weight = 0.5"), "at `$.states[0].weight`"),
        (WHOLE.replace("weight = 3", "wieght = 3"), "unknown field `wieght` - at `$.states[0]`"),
        (WHOLE.replace('"Thank you"', '""'), "states[0].signs[0] has no text"),
        (WHOLE.replace('"/done"', '"//"'), "states[0].signs[1] has no text"),
        (WHOLE.replace('where = "url"', 'where = "footer"'), "signs[1]: there is no such place"),
        (WHOLE.replace('says = "/done"', 'sayz = "/done"'), "`sayz` - at `$.states[0].signs[1]`"),
        (WHOLE.replace('"Your order"', '" "'), "criteria.success[0] has no text"),
        (WHOLE.replace('where = "text"', 'where = "foot"'), "criteria.success[0]: there is no"),
        (WHOLE.replace('says = "COMPLETE"', 'says = "DONE"'), "success[1]: no page is 'DONE'"),
        (WHOLE.replace("failure =", "failed ="), "unknown field `failed` - at `$.criteria`"),
        ('name = "x"\n[criteria]', "criteria are empty"),
        (STOPS.replace('"the last button"', '" "'), "checkpoints[1] has no name"),
        (STOPS.replace("last button", "cancellation"), "'the cancellation' is there twice"),
        (STOPS.replace('name = "the last button"', ""), "`name` - at `$.checkpoints[1]`"),
        (STOPS.replace("always = true", "always = 1"), "at `$.checkpoints[0].always`"),
        (STOPS.replace("always = true", "allways = true"), "`allways` - at `$.checkpoints[0]`"),
        (STOPS.replace('where = "title"', 'where = "top"'), "checkpoints[0].signs[0]: there is no"),
        (STOPS.replace('"No refunds"', '"-"'), "checkpoints[1].signs[1] has no text"),
        ('name = "x"\n[[checkpoints]]\nname = "a"\nsigns = []', "checkpoints[0] has no signs"),
        ("name = ", "is not TOML"),
        (b"name = \xff", "is not TOML"),
        ('name = "x"\n#' + "x" * 300_000, "has more than 262144 bytes"),
    ],
)
def test_what_is_wrong_is_said_with_the_file_and_the_place(
    tmp_path: Path, text: str | bytes, wrong: str
) -> None:
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text)
    assert "shop.toml" in caught.value.what
    assert wrong in caught.value.what
    assert caught.value.fix


def test_a_file_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_service(tmp_path / "none.toml")
    with pytest.raises(BadInput, match="cannot be read"):
        read_service(tmp_path)
