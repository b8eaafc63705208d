"""A membership is ended by a model that reads what it is sent: through a provider's SDK, in its
wire format, in a real browser. Every session is decided again without any of them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rutter.actors.advisor.conversation import IGNORED
from rutter.actors.answers import PersonAnswer as Word
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.models.messages import ResultsTurn, UserTurn
from rutter.events.advisor import AdviceFailed, AdviceReceived
from rutter.events.critic import CompletionChecked, PageAssessed
from rutter.events.log import EventLog
from rutter.events.observer import HostsContacted, PageObserved
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import AdviceRequested, PlanProposed, RunStopped
from rutter.events.predictor import WorkflowLearned
from rutter.events.tools import ToolAnswered, ToolCalled
from rutter.events.validator import ActionRejected, ActionWithheld
from rutter.pipeline.demo_sites.gaffsail import Switches
from tests.support.log_checks import Replayed
from tests.support.model_brain import Quirks, Reader
from tests.support.model_cancellation import NAME, Harbour, Voyage, harbour
from tests.support.prompt_reader import read_page
from tests.support.provider_server import Answer, Brain, Call, Fault, Heard

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

PASSWORD = "canary-rolling-hitch-71"
# Words of the page before the first one, and of the page where somebody signs in.
NEVER_TOLD = ("about:blank", "Sign in - ", "/login", "login-password", "Log in", PASSWORD)
DOWN = Fault("status", 529, "Overloaded")


@asynccontextmanager
async def port_of(
    log: EventLog, chromium: Chromium, brain: Brain, **switches: Any
) -> AsyncIterator[Harbour]:
    """A harbour that no model is ever told the sign-in page or the password in."""
    site = {"password": PASSWORD, "switches": Switches(**switches)}
    async with harbour(log, chromium, brain, **site) as port:
        yield port
        told = port.told
        assert [each for each in NEVER_TOLD if each in told] == []


@pytest.fixture
def open_port(replayed: Replayed, chromium: Chromium) -> Callable[..., Any]:
    def opened(brain: Brain, **switches: Any) -> Any:
        return port_of(replayed.memory(), chromium, brain, **switches)

    return opened


def cancelled(voyage: Voyage, port: Harbour) -> None:
    """It was ended once, by a person's typed word, and the page bears it out."""
    assert (voyage.ended.reason, voyage.ended.failure) == ("completed", ""), voyage.ended
    assert port.site.cancelled == 1
    assert voyage.told(CompletionChecked)[-1].verified
    assert [each.phrase for each in voyage.asked if each.kind == "confirm"] == ["confirm"]
    assert "confirm" in [each.phrase for each in voyage.told(ApprovalAnswered)]
    learned = voyage.learned
    assert learned is not None
    assert (learned.name, learned.complete) == (NAME, True)


def untouched(port: Harbour) -> None:
    membership = port.site.membership
    assert (membership.cancelled, membership.offers_taken, membership.paused) == (0, 0, 0)


def sent(port: Harbour) -> list[str]:
    """What was really sent to the site, beside the sign-in."""
    return [path for method, path in port.site.requests if method == "POST" and path != "/login"]


# -- to the end -----------------------------------------------------------------------------------


async def test_a_model_finds_the_way_and_nobody_is_asked_for_it_again(
    replayed: Replayed, chromium: Chromium, tmp_path: Path
) -> None:
    log = await replayed.sqlite(tmp_path / "log.db")
    async with port_of(log, chromium, Reader()) as port:
        found = await port.find()
        cancelled(found, port)
        assert sent(port) == ["/cancel/survey", "/cancel/confirm"]
        assert found.calls == len(port.wire.requests) == 6
        assert found.cost > 0
        assert {each.purpose for each in found.told(AdviceRequested)} == {"act"}
        [contacts] = found.told(HostsContacted)
        assert {each.host for each in contacts.contacts} == {"127.0.0.1"}
        assert found.learned is not None
        assert found.learned.goal

        port.site.reset()
        again = await port.run(found.learned)
        assert (again.ended.reason, again.calls, again.cost) == ("completed", 0, 0)
        assert port.site.cancelled == 1
        assert sent(port) == ["/cancel/survey", "/cancel/confirm"]
        assert [each.kind for each in again.asked][-1] == "confirm"
        assert len(port.wire.requests) == 6
    await log.close()


async def test_without_any_model_the_service_knows_its_own_way(
    open_port: Callable[..., Any],
) -> None:
    async with open_port(Reader()) as port:
        voyage = await port.find(providers=())
        cancelled(voyage, port)
        assert voyage.calls == port.wire.attempts == 0
        assert {each.driver for each in voyage.told(PlanProposed)} == {"script"}
        port.site.reset()
        again = await port.run(voyage.learned, providers=())
        assert again.ended.reason == "completed"
        assert port.site.cancelled == 1


@pytest.mark.parametrize("providers", [("anthropic",), ()])
async def test_a_dry_run_ends_before_anything_that_cannot_be_undone(
    open_port: Callable[..., Any], providers: tuple[str, ...]
) -> None:
    async with open_port(Reader()) as port:
        voyage = await port.find(dry_run=True, providers=providers)
        assert voyage.ended.reason == "completed_unverified"
        assert voyage.told(ActionWithheld)
        assert sent(port) == []
        assert voyage.asked == ()
        assert voyage.learned is None


@pytest.mark.parametrize("providers", [("anthropic",), ()])
@pytest.mark.parametrize(
    ("switch", "why"),
    [
        ("third_party_billing", "partner"),
        ("already_cancelled", "already"),
        ("failing", "could not"),
    ],
)
async def test_what_cannot_be_cancelled_here_is_said_and_left_alone(
    open_port: Callable[..., Any], providers: tuple[str, ...], switch: str, why: str
) -> None:
    async with open_port(Reader(), **{switch: True}) as port:
        voyage = await port.find(providers=providers)
        assert voyage.ended.reason == "failed"
        assert why in voyage.ended.detail
        untouched(port)
        assert voyage.learned is None


# -- elements -------------------------------------------------------------------------------------


async def test_what_covers_the_button_is_closed_first(open_port: Callable[..., Any]) -> None:
    async with open_port(Reader(), overlay=True) as port:
        voyage = await port.find()
        cancelled(voyage, port)
        assert "element_obscured" in [each.error for each in voyage.told(ToolAnswered)]
        assert "element_obscured" in port.told


async def test_an_element_that_is_gone_is_told_and_looked_for_again(
    open_port: Callable[..., Any],
) -> None:
    reader, gone = Reader(), ["@e99"]

    def brain(heard: Heard) -> Answer:
        if gone:
            return Answer(calls=(Call("browser_click", {"ref": gone.pop()}),))
        return reader(heard)

    async with open_port(brain) as port:
        voyage = await port.find()
        cancelled(voyage, port)
        assert voyage.calls == 7
        first, *others = voyage.told(ToolAnswered)
        assert (first.success, first.error) == (False, "ref_invalid")
        assert all(each.success for each in others)
        assert "ref_invalid" in port.wire.requests[1].text


# -- providers ------------------------------------------------------------------------------------


async def test_who_does_not_answer_is_followed_by_the_next_for_the_whole_session(
    open_port: Callable[..., Any],
) -> None:
    reader = Reader()
    wrong = {"anthropic": Fault("status", 400, "no"), "openai": DOWN}

    def brain(heard: Heard) -> Answer | Fault:
        return wrong.get(heard.provider) or reader(heard)

    async with open_port(brain) as port:
        voyage = await port.find(providers=("anthropic", "openai", "ollama"))
        cancelled(voyage, port)
        failed = voyage.told(AdviceFailed)
        # What is transient is asked once more, what is not is not.
        assert [each.provider for each in failed] == ["anthropic", "openai", "openai"]
        assert [each.transient for each in failed] == [False, True, True]
        assert {each.provider for each in voyage.told(AdviceReceived)} == {"ollama"}
        assert [each.provider for each in port.wire.requests[:3]] == [
            each.provider for each in failed
        ]
        assert port.wire.attempts == 3 + 6  # no SDK asks again by itself


async def test_with_nobody_who_answers_the_service_goes_its_own_way_to_the_same_end(
    open_port: Callable[..., Any],
) -> None:
    async with open_port(lambda _: Fault("silent")) as port:
        port.within_ms = 1_000
        voyage = await port.find(providers=("anthropic", "openai"))
        cancelled(voyage, port)
        assert [each.code for each in voyage.told(AdviceFailed)] == ["timeout"] * 4
        assert port.wire.attempts == 4
        assert port.wire.hung_up.wait(10)


@pytest.mark.parametrize("answers", [2, 3])
async def test_an_outage_in_the_middle_is_no_end(
    open_port: Callable[..., Any], answers: int
) -> None:
    reader = Reader()

    def brain(heard: Heard) -> Answer | Fault:
        return reader(heard) if reader.asked < answers else DOWN

    async with open_port(brain) as port:
        voyage = await port.find()
        cancelled(voyage, port)
        assert len(voyage.told(AdviceReceived)) == answers
        assert [each.code for each in voyage.told(AdviceFailed)] == ["overloaded"] * 2
        drivers = [each.driver for each in voyage.told(PlanProposed)]
        assert drivers[4 : 4 + answers] == ["model"] * answers
        assert set(drivers[4 + answers :]) == {"script"}


# -- going wrong ----------------------------------------------------------------------------------


async def test_what_only_sounds_right_is_noticed_and_led_on_from(
    open_port: Callable[..., Any],
) -> None:
    async with open_port(Reader(Quirks(wrong_first=True)), look_alikes=True) as port:
        voyage = await port.find()
        cancelled(voyage, port)
        assert "nothing_changed" in voyage.told(ToolAnswered)[0].message
        untouched_but_for_the_end = port.site.membership
        assert untouched_but_for_the_end.paused == 0


async def test_a_page_that_is_not_on_the_way_is_left_again(open_port: Callable[..., Any]) -> None:
    reader, strayed = Reader(), list[str]()

    def brain(heard: Heard) -> Answer:
        sight = read_page(heard)
        films = [each for each in sight.lines if each.name == "Continue watching"]
        if films and not strayed:
            strayed.append(films[0].ref)
            return Answer(calls=(Call("browser_click", {"ref": films[0].ref}),))
        if "policy_denied" in heard.text:  # the link to the account is not for a model to press
            url = sight.url.replace("/watch", "/cancel/offer")
            return Answer(calls=(Call("navigate", {"url": url}),))
        return reader(heard)

    async with open_port(brain, look_alikes=True) as port:
        port.tools = (*port.tools, "navigate")
        voyage = await port.find()
        cancelled(voyage, port)
        pages = [each.page.url.rpartition("/")[2] for each in voyage.told(PageObserved)]
        assert pages.index("offer") < pages.index("watch") < len(pages) - pages[::-1].index("offer")
        assert "denylist" in [each.rule for each in voyage.told(ActionRejected)]


async def test_a_sign_in_in_the_middle_is_not_the_models_either(
    open_port: Callable[..., Any],
) -> None:
    reader, signed_out = Reader(), list[bool]()

    def brain(heard: Heard) -> Answer:
        if "offer" in read_page(heard).url and not signed_out:
            signed_out.append(True)
            port.site.expire_sessions()
        return reader(heard)

    async with open_port(brain) as port:
        voyage = await port.find()
        cancelled(voyage, port)
        states = [each.state for each in voyage.told(PageAssessed)]
        assert "LOGIN_REQUIRED" in states[states.index("RETENTION_OFFER") :]


async def test_success_is_not_acknowledged_before_the_page_bears_it_out(
    open_port: Callable[..., Any],
) -> None:
    async with open_port(Reader(Quirks(too_early=True))) as port:
        voyage = await port.find()
        cancelled(voyage, port)
        claims = [each.verified for each in voyage.told(CompletionChecked)]
        assert claims == [False, True]
        assert '"acknowledged":false' in port.wire.requests[1].text


async def test_of_several_calls_the_first_is_done_and_the_others_are_answered(
    open_port: Callable[..., Any],
) -> None:
    async with open_port(Reader(Quirks(several_calls=True))) as port:
        voyage = await port.find(providers=("openai",))
        cancelled(voyage, port)
        assert [len(each.calls) for each in voyage.told(AdviceReceived)] == [2] * 6
        assert "get_snapshot" not in [each.tool for each in voyage.told(ToolCalled)]
        for heard in port.wire.requests[1:]:
            last = heard.turns[-1]
            assert isinstance(last, ResultsTurn)
            done, ignored = last.outcomes
            assert not done.failed
            assert (ignored.tool, ignored.text) == ("get_snapshot", f"error: {IGNORED}")


async def test_who_only_talks_is_told_to_call_and_then_it_is_over(
    open_port: Callable[..., Any],
) -> None:
    async with open_port(Reader(Quirks(says_only=1))) as port:
        voyage = await port.find(providers=("ollama",))
        cancelled(voyage, port)
        last = port.wire.requests[1].turns[-1]
        assert isinstance(last, UserTurn)
        assert "complete_task" in last.text
    async with open_port(Reader(Quirks(says_only=9))) as port:
        voyage = await port.find(providers=("ollama",))
        assert (voyage.ended.reason, voyage.calls) == ("no_op_loop", 2)
        untouched(port)


# -- the person -----------------------------------------------------------------------------------


async def test_a_no_ends_it(open_port: Callable[..., Any]) -> None:
    async with open_port(Reader()) as port:
        voyage = await port.find(answers=[Word(False, "not this month")])
        assert voyage.ended.reason == "failed"
        assert sent(port) == []
        assert "User feedback: not this month" in port.wire.requests[-1].text


async def test_what_a_person_says_instead_reaches_the_model_and_is_done(
    open_port: Callable[..., Any],
) -> None:
    async with open_port(Reader()) as port:
        voyage = await port.find(answers=[Word(False, "choose pause instead")])
        assert "User feedback: choose pause instead" in port.wire.requests[1].text
        assert voyage.ended.reason == "failed"  # it is not what the goal was
        assert (port.site.membership.paused, port.site.cancelled) == (1, 0)
        assert voyage.learned is None


@pytest.mark.parametrize("tools", [(), ("navigate",)], ids=["claims", "goes"])
async def test_no_model_gets_past_the_last_confirmation(
    open_port: Callable[..., Any], tools: tuple[str, ...]
) -> None:
    async with open_port(Reader(Quirks(skips_confirmation=True))) as port:
        port.tools = (*port.tools, *tools)
        voyage = await port.find(otherwise=Word(True))  # a yes, and nothing typed
        assert port.site.cancelled == 0
        assert set(sent(port)) == {"/cancel/survey"}
        assert voyage.ended.reason == "failed"
        assert voyage.told(WorkflowLearned) == []
        assert not any(each.verified for each in voyage.told(CompletionChecked))
        went = "navigate" if tools else "complete_task"
        assert went in [each.tool for each in voyage.told(ToolCalled)]
        [confirm] = [each for each in voyage.asked if each.kind == "confirm"]
        assert confirm.phrase == "confirm"
        [*_, stopped] = voyage.told(RunStopped)
        assert "was not typed out" in stopped.detail
