"""Given a file about a service: what is known of it, or where the file is wrong."""

from pathlib import Path

import pytest

from rutter.events.action import Action, ByCss, ByRole, ByText, Parameter, Secret, Target, Text
from rutter.events.errors import BadInput
from rutter.events.service_pack import Checkpoint, ServiceScript, Sign, StateRule
from rutter.events.workflow import Criteria, Indicator
from rutter.pipeline.demo_sites import chandlery
from rutter.pipeline.sessions.service_file import KNOWN_STATES, KnownService, bundled, read_service
from tests.support.case_table import for_each

HARBOUR = Path(chandlery.__file__).with_name("harbour.toml")
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


WAYS = """
name = "stream"
goal = " End the plan. "
guidance = "Decline offers."
[[ways]]
state = "LOGIN_REQUIRED"
actions = [
    {type = "type", role = "textbox", name = "Email", value = "${email}"},
    {type = "type", css = "input[type=password]", secret = "password"},
    {type = "press", key = "Enter"},
]
[[ways]]
state = "EXIT_SURVEY"
signs = [{where = "field", says = "Reason"}]
actions = [
    {type = "select", role = "combobox", name = "Reason", value = "Other"},
    {type = "click", text = "Continue", find = [
        {role = "button", name = "Next"}, {css = "#go", text = "Go on"},
    ]},
]
[[ways]]
state = "ACCOUNT_CANCELLED"
why = "it is cancelled already"
"""


def read(tmp_path: Path, text: str | bytes) -> KnownService:
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


def test_a_service_has_a_goal_and_a_script_without_a_model(tmp_path: Path) -> None:
    service, _ = read(tmp_path, WAYS)

    assert (service.goal, service.guidance) == ("End the plan.", "Decline offers.")
    email = Target((ByRole("textbox", "Email"),))
    password = Target((ByCss("input[type=password]"),))
    ways = (ByText("Continue"), ByRole("button", "Next"), ByText("Go on"), ByCss("#go"))
    assert service.ways == (
        ServiceScript(
            "LOGIN_REQUIRED",
            (
                Action("type", target=email, value=Parameter("email")),
                Action("type", target=password, value=Secret("password")),
                Action("press", key="Enter"),
            ),
        ),
        ServiceScript(
            "EXIT_SURVEY",
            (
                Action(
                    "select", target=Target((ByRole("combobox", "Reason"),)), value=Text("Other")
                ),
                Action("click", target=Target(ways)),
            ),
            (Sign("field", "Reason"),),
        ),
        ServiceScript("ACCOUNT_CANCELLED", why="it is cancelled already"),
    )


def test_the_bundled_pack_is_known_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    service, criteria = read_service(Path("streaming"))

    assert bundled() == ["streaming"]
    assert {rule.state for rule in service.states} == set(KNOWN_STATES) - {"START"}
    assert [each.always for each in service.checkpoints] == [True, True, True]
    assert {way.state for way in service.ways if way.actions} >= {
        *("LOGIN_REQUIRED", "ACCOUNT_ACTIVE", "RETENTION_OFFER", "EXIT_SURVEY"),
        "FINAL_CONFIRMATION",
    }
    assert {way.state for way in service.ways if not way.actions} >= {
        *("ACCOUNT_CANCELLED", "THIRD_PARTY_BILLING")
    }
    assert service.goal
    assert service.guidance
    assert criteria is not None


def test_a_file_of_that_name_comes_before_the_bundled_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("streaming").write_text('name = "mine"')

    assert read_service(Path("streaming")).service.name == "mine"


def test_a_name_that_nobody_knows_is_told_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        read_service(tmp_path / "streming")
    assert "bundled are streaming" in caught.value.fix


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


@for_each(
    "text, wrong",
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
        (WAYS.replace('" End the plan. "', '"' + "x" * 501 + '"'), "the goal has more than 500"),
        (WAYS.replace('"Decline offers."', '"' + "x" * 1001 + '"'), "guidance has more than 1000"),
        (WAYS.replace("guidance =", "guidence ="), "unknown field `guidence`"),
        (WAYS.replace('"EXIT_SURVEY"', '"SURVEY"'), "'SURVEY' - at `$.ways[1].state`"),
        (WAYS.replace('where = "field"', 'where = "foot"'), "ways[1].signs[0]: there is no such"),
        (WAYS.replace('"it is cancelled already"', '" "'), "ways[2] has neither actions nor why"),
        ('name = "x"\n[[ways]]\nstate = "UNKNOWN"\nwhy = "y"', "ways[0] has no signs"),
        (
            WAYS.replace('type = "press"', 'type = "hold"'),
            "'hold' - at `$.ways[0].actions[2].type`",
        ),
        (WAYS.replace('key = "Enter"', 'kee = "Enter"'), "`kee` - at `$.ways[0].actions[2]`"),
        (WAYS.replace(', key = "Enter"', ""), "ways[0].actions[2]: press needs a key"),
        (WAYS.replace(', value = "${email}"', ""), "ways[0].actions[0]: type needs a value"),
        (WAYS.replace("${email}", "to ${email}"), "actions[0]: 'to ${email}' is no value"),
        (WAYS.replace('"password"}', '"a b"}'), "actions[1]: 'a b' is no name of a secret"),
        (WAYS.replace('css = "input[type=password]", ', ""), "actions[1]: type needs a target"),
        (
            WAYS.replace('secret = "password"', 'secret = "password", value = "x"'),
            "ways[0].actions[1] has a value and a secret",
        ),
        (
            WAYS.replace('role = "textbox", name = "Email"', 'role = "textbox"'),
            "ways[0].actions[0]: role and name go together",
        ),
        (WAYS.replace('{css = "#go", text = "Go on"}', "{}"), "actions[1].find[1] finds nothing"),
        (WAYS.replace('text = "Continue"', 'text = "Continue", ms = 1'), "click takes no ms"),
        (
            WAYS.replace('type = "press", key = "Enter"', 'type = "navigate", url = "/x"'),
            "ways[0].actions[2]: '/x' is no web address",
        ),
        (
            WAYS.replace('type = "press", key = "Enter"', 'type = "wait", ms = -1'),
            "ways[0].actions[2]: ms is less than nothing",
        ),
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
