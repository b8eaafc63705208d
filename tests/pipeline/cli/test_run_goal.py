"""`rutter run --goal`: what is known is sailed, what is not is looked for, and what could not come
to an end that is known is refused before a browser is opened."""

import argparse
import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from rutter.actors.answers import Answers
from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.actors.world.secrets.redaction import forget
from rutter.events.action import Action, ByCss, Secret, Target
from rutter.events.predictor import WorkflowLearned
from rutter.events.run_settings import ModelUse
from rutter.events.runtime import SessionStarted
from rutter.events.service_pack import Service, ServiceScript
from rutter.events.sqlite_log import SqliteLog
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.cli import run, session_run
from rutter.pipeline.config import settings
from rutter.pipeline.queries import workflows_and_sessions
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions import workflow_choice as goals
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.session_started import NOTHING, Given
from rutter.pipeline.sessions.start import StartedSession
from rutter.replay.projections import ProjectionStore
from rutter.replay.story.told_session import Story
from tests.pipeline.cli.test_config import configure
from tests.support.case_table import for_each
from tests.support.command_shell import Ended, Rutter

CANARY = "sk-canary-5f3a9c1e7b2d4f60"
GOAL = "Cancel my subscription"
HERE = "https://stream.example/"
TOOLS = tuple(each.name for each in SEVEN)
ON = f"[agent.internal]\nenabled = true\nallowed_tools = {json.dumps(TOOLS)}\n"
SIGN = ("--success", "text=is cancelled")
WAYS = (
    ServiceScript(
        "LOGIN_REQUIRED", (Action("type", Target((ByCss("#p"),)), value=Secret("password")),)
    ),
    ServiceScript("ACCOUNT_ACTIVE", (Action("click", Target((ByCss("#cancel"),))),)),
)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No browser either: whoever gets as far as one ends with code 8."""
    forget()
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.setenv("RUTTER_CHROMIUM", "/nowhere/chromium")
    yield
    forget()


def refused(ended: Ended, code: int, what: str, fix: str) -> None:
    assert (ended.code, ended.out) == (code, ""), ended
    said, _, todo = ended.complaint.partition(" -> ")
    assert what in said
    assert fix in todo
    assert CANARY not in ended.err


def flow(name: str, goal: str = GOAL, url: str = HERE, *, complete: bool = True) -> Workflow:
    return Workflow(
        name,
        1,
        (Step(action=Action("navigate", url=url)),),
        complete=complete,
        hosts=("stream.example",),
        goal=goal,
    )


def know(data: Path, *flows: Workflow) -> None:
    async def publish() -> None:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with App.open(await SqliteLog.open(data / "log.db")) as app:
            for each in flows:
                await app.say_process(WorkflowLearned(workflow=each))

    asyncio.run(publish())


def chosen(
    rutter: Rutter,
    name: str | None = None,
    goal: str | None = GOAL,
    url: str | None = None,
    given: Given = NOTHING,
) -> goals.Course:
    asked = RunRequest(name or "", goal=goal, url=url or "")
    with Tables(settings.load(str(rutter.data), env={})) as tables:
        return goals.chosen(asked, tables, given)


# -- what is known ---------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", [GOAL, "  cancel MY\n subscription "])
def test_a_workflow_that_comes_to_the_goal_is_sailed(rutter: Rutter, goal: str) -> None:
    know(rutter.data, flow("other", "Pause it"), flow("cancel"))
    for url in (None, f"{HERE}?x=1"):
        course = chosen(rutter, None, goal, url)
        assert (course.workflow, course.name, course.leads) == (flow("cancel"), "cancel", False)


def test_the_same_goal_elsewhere_is_another_one(rutter: Rutter) -> None:
    know(rutter.data, flow("cancel-my-subscription"))
    configure(rutter, ON)
    course = chosen(rutter, url="https://other.example/")
    assert (course.workflow, course.leads) == (None, True)
    assert (course.goal, course.name) == (GOAL, "cancel-my-subscription-2")


def test_a_workflow_of_this_name_is_sailed_and_one_with_another_goal_is_not(rutter: Rutter) -> None:
    know(rutter.data, flow("by-hand", ""), flow("pause", "Pause it"))
    assert chosen(rutter, "by-hand").workflow == flow("by-hand", "")
    refused(
        rutter("run", "pause", "--goal", GOAL),
        2,
        "'pause' comes to another goal: 'Pause it'",
        "leave out --goal",
    )


def test_the_same_goal_from_another_page_is_another_one(rutter: Rutter) -> None:
    know(rutter.data, flow("cancel", url=f"{HERE}user/7"))
    configure(rutter, ON)
    assert chosen(rutter, url=f"{HERE}user/8").name == "cancel"
    assert chosen(rutter, url=f"{HERE}account").leads


@pytest.mark.parametrize("url", ["https://other.example/", f"{HERE}account"])
@pytest.mark.parametrize("goal", [(), ("--goal", GOAL)])
def test_a_workflow_begins_where_it_was_recorded_and_nowhere_else(
    rutter: Rutter, url: str, goal: tuple[str, ...]
) -> None:
    know(rutter.data, flow("cancel"))
    ended = rutter("run", "cancel", *goal, "--url", url)
    refused(ended, 2, f"'cancel' begins at {HERE}, not at {url}", "leave out --url")


def test_a_second_name_for_the_same_goal_is_refused(rutter: Rutter) -> None:
    know(rutter.data, flow("cancel"))
    configure(rutter, ON)
    ended = rutter("run", "two", "--goal", GOAL, "--url", HERE, *SIGN)
    refused(ended, 2, "'cancel' comes to this goal already", "rutter run cancel")
    assert chosen(rutter, "two", url="https://other.example/").leads


def test_a_way_that_was_not_found_to_its_end_is_looked_for_again(rutter: Rutter) -> None:
    know(rutter.data, flow("cancel", complete=False))
    configure(rutter, ON)
    assert chosen(rutter, "cancel") == goals.Course(None, GOAL, "cancel")
    assert chosen(rutter).name == "cancel-my-subscription"


def test_what_a_service_is_come_to_for_is_its_goal(rutter: Rutter) -> None:
    given = Given(Service("streaming", goal=GOAL, ways=WAYS))
    assert chosen(rutter, goal=None, given=given).goal == GOAL
    know(rutter.data, flow("pause", "Pause it"))
    assert chosen(rutter, "pause", None, given=given).workflow == flow("pause", "Pause it")


@for_each(
    "goal, name",
    [
        (GOAL, "cancel-my-subscription"),
        ("R\u00e9silier l\u2019abonnement!", "resilier-labonnement"),
        ("\u89e3\u7d04\u3059\u308b", "goal"),
        ("x" * 60, "x" * 40),
        ("one two three four five six seven eight nine", "one-two-three-four-five-six-seven-eight"),
    ],
)
def test_a_way_is_named_after_its_goal(goal: str, name: str) -> None:
    assert goals.name_for(goal, ()) == name
    assert goals.name_for(goal, (name, f"{name}-2")) == f"{name}-3"


def test_the_secrets_that_a_service_types_are_known() -> None:
    assert goals.secrets_in(Service("streaming", ways=WAYS)) == ("password",)
    assert goals.secrets_in(None) == ()


# -- what is refused -------------------------------------------------------------------------------


def test_nobody_looks_for_a_way_unless_it_was_turned_on(rutter: Rutter) -> None:
    ended = rutter("run", "--goal", GOAL, "--url", HERE, *SIGN)
    refused(ended, 4, "policy_denied: no workflow comes to this goal yet", "turn it on")
    assert "agent.internal.enabled = true" in ended.err
    line = ended.complaint.partition("agent.internal.allowed_tools = ")[2].partition(";")[0]
    assert json.loads(line) == list(TOOLS)
    assert not (rutter.data / "log.db").exists()
    said = rutter("--json", "run", "--goal", GOAL, "--url", HERE, *SIGN)
    assert (said.code, said.json["error"]) == (4, "PolicyDenied")


@pytest.mark.parametrize(
    ("text", "arguments", "fix"),
    [
        (ON, ("--no-model",), "leave out --no-model"),
        (ON + "[planner]\nuse_llm = false\n", (), "set it to true"),
    ],
)
def test_nor_where_it_was_turned_off_again(
    rutter: Rutter, text: str, arguments: tuple[str, ...], fix: str
) -> None:
    configure(rutter, text)
    refused(rutter("run", "--goal", GOAL, "--url", HERE, *SIGN, *arguments), 4, "policy_den", fix)


@for_each(
    "arguments, what, fix",
    [
        (("--goal", GOAL, *SIGN), "nobody knows yet where", "--url URL"),
        (("--goal", GOAL, "--url", HERE), "by what the page shows", "--success WHERE=TEXT"),
        (("--goal", GOAL, "--url", HERE, "--failure", "text=oops"), "by what", "--success"),
        (("--goal", GOAL, "--url", "stream.example", *SIGN), "not a web address", "--url https"),
        (("--goal", "  ", "--url", HERE, *SIGN), "the goal says nothing", "--goal TEXT"),
        (("--goal", GOAL, "--url", HERE, *SIGN, "--from", "last"), "continues nothing", "--from"),
        (("--goal", GOAL, "--url", HERE, "--success", "smell=bad"), "no such place", "url, title"),
    ],
)
def test_a_goal_that_could_not_be_come_to_is_refused_before_anything_is_opened(
    rutter: Rutter, arguments: tuple[str, ...], what: str, fix: str
) -> None:
    configure(rutter, ON)
    refused(rutter("run", *arguments), 2, what, fix)
    assert not (rutter.data / "log.db").exists()


def test_a_model_that_may_not_say_that_it_is_done_could_not_end(rutter: Rutter) -> None:
    configure(rutter, "[agent.internal]\nenabled = true\nallowed_tools = ['browser_click']\n")
    ended = rutter("run", "--goal", GOAL, "--url", HERE, *SIGN)
    refused(ended, 2, "allowed_tools lacks complete_task", "add it")


def test_no_key_is_said_before_a_browser_is_opened(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    configure(rutter, ON)
    ended = rutter("run", "--goal", GOAL, "--url", HERE, *SIGN)
    refused(ended, 8, "no key for anthropic", "set ANTHROPIC_API_KEY, or models.anthropic.key")


def test_a_workflow_is_sailed_without_a_model_whose_key_is_missing(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    know(rutter.data, flow("cancel"))
    configure(rutter, ON)
    ended = rutter("run", "cancel")
    warning, browser = ended.err.splitlines()
    assert warning.startswith("no key for anthropic: going on without it -> set ANTHROPIC_API_KEY")
    assert ended.code == 8
    assert "/nowhere/chromium" in browser


# -- what is begun ---------------------------------------------------------------------------------


class Begun:
    """What would have been sailed."""

    def __init__(self) -> None:
        self.started: list[SessionStarted] = []
        self.providers: list[list[str]] = []

    async def run(self, session: StartedSession, _: Answers, what: str, __: object) -> Story:
        started = session.started
        self.started.append(started)
        self.providers.append(list(session.models))
        assert what
        return Story(session="tools-1", purpose=started.purpose, name=started.name)


@pytest.fixture
def begun(rutter: Rutter, monkeypatch: pytest.MonkeyPatch) -> Begun:
    """In the place of the browser: the session as it would have begun."""
    know(rutter.data, flow("cancel"))
    ships = Begun()

    class Harbour:
        async def __aenter__(self) -> Begun:
            return ships

        async def __aexit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(session_run, "open_pipeline", lambda *_: Harbour())
    return ships


NEW = ("--goal", "Pause it", "--url", HERE, *SIGN)


def test_a_model_leads_to_a_goal_that_is_new(rutter: Rutter, begun: Begun) -> None:
    configure(rutter, ON + "max_steps = 5\n[agent]\nfallbacks = ['ollama']\n")
    rutter("run", *NEW)
    [started] = begun.started
    assert (started.purpose, started.driver) == ("tools", "model")
    assert (started.name, started.goal, started.url) == ("pause-it", "Pause it", HERE)
    assert isinstance(started.models, ModelUse)
    assert [each.provider for each in started.models.models] == ["anthropic", "ollama"]
    assert started.models.tools == TOOLS
    assert begun.providers == [["anthropic", "ollama"]]
    limits = started.settings.limits
    assert (limits.max_steps, limits.max_wall_ms, limits.max_failures) == (5, 90_000, 3)
    assert limits.max_turns == 20
    assert started.policy.hosts == ("stream.example",)
    assert not started.settings.screenshots
    assert CANARY not in str(started)


def test_a_way_is_learned_by_the_name_that_is_given_and_tried_dry(
    rutter: Rutter, begun: Begun
) -> None:
    configure(rutter, ON)
    rutter("run", "pause", *NEW, "--dry-run", "--set", "reason=price")
    [started] = begun.started
    assert (started.name, started.settings.dry_run) == ("pause", True)
    assert started.values == {"reason": "price"}


def test_a_workflow_has_the_model_beside_it_unless_it_is_told_not_to(
    rutter: Rutter, begun: Begun
) -> None:
    configure(rutter, ON)
    rutter("run", "cancel")
    rutter("run", "--goal", GOAL)
    rutter("run", "cancel", "--no-model")
    configure(rutter, "")
    rutter("run", "cancel")
    assert [each.purpose for each in begun.started] == ["run"] * 4
    assert [each.goal for each in begun.started] == [GOAL] * 4
    assert [each.models is not None for each in begun.started] == [True, True, False, False]
    assert begun.providers == [["anthropic"], ["anthropic"], [], []]


def test_a_run_opens_the_tables_once(
    rutter: Rutter, begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []

    class Counted(ProjectionStore):
        def __init__(self, path: Path) -> None:
            opened.append(path)
            super().__init__(path)

    monkeypatch.setattr(workflows_and_sessions, "ProjectionStore", Counted)
    configure(rutter, "")
    rutter("run", "cancel")
    assert len(begun.started) == len(opened) == 1


def test_who_is_asked_is_said_at_once_where_no_line_moves(rutter: Rutter, begun: Begun) -> None:
    configure(rutter, ON)
    assert rutter("run", *NEW).complaint.endswith(" for: Pause it")


def test_what_was_learned_is_sailed_with_what_it_was_found_with() -> None:
    found = msgspec.structs.replace(flow("my way"), parameters=("mail", "x"), secrets=("pin", "k"))
    asked = argparse.Namespace(
        set=["mail=a b", "more=1"], secret=["pin=env:PIN@https://a.example"], answers=Path("yes")
    )
    assert run._again(found, asked) == (
        "run 'my way' --set 'mail=a b' --set x=... --secret pin=env:PIN@https://a.example "
        "--secret k=... --answers yes"
    )


def test_a_free_run_has_its_goal_and_its_model(rutter: Rutter, begun: Begun) -> None:
    configure(rutter, ON)
    rutter("run", "--free", "--goal", GOAL, "--url", HERE)
    [started] = begun.started
    assert (started.purpose, started.goal) == ("free", GOAL)
    assert started.models is not None


def test_a_service_that_knows_the_way_needs_no_model(
    rutter: Rutter, begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAM_PASSWORD", "three sheets 9")
    configure(rutter, "[secrets.password]\nsource = 'env:STREAM_PASSWORD'\n")
    rutter("run", "--service", "streaming", "--url", HERE)
    [started] = begun.started
    assert (started.purpose, started.driver, started.models) == ("tools", "model", None)
    assert started.secrets == ("password",)
    assert started.settings.service is not None
    assert started.settings.service.ways
    assert started.goal == started.settings.service.goal
    assert begun.providers == [[]]
