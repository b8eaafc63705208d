"""Given what a step sent and what came back: how the Critic says that it is proven, and when a run
may call itself done."""

from typing import Any

import pytest

from rutter.actors.critic.actor import Critic
from rutter.events.action import Action, ByRole, Parameter, Target, Untrusted
from rutter.events.checks import HERE, ReadBack, ServerAnswered, TextVisible
from rutter.events.critic import ActionJudged, CompletionChecked, Proof, ReadBackDue, ReadBackFound
from rutter.events.observer import PageObserved, Shown
from rutter.events.page import Exchange, Page, PageElement, Resting
from rutter.events.planner import ObservationRequested
from rutter.events.predictor import WorkflowFinished
from rutter.events.validator import ActionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Expectation
from tests.support.case_table import for_each
from tests.support.given_when_then import Told, at, given, only
from tests.support.shop_facts import (
    ORIGIN,
    click,
    done,
    element,
    fill,
    found,
    page,
    place,
    plan,
    recording_of,
    run_of,
    saw,
    workflow,
)

SENT, SAVED = f"POST {ORIGIN}/orders", f"PUT {ORIGIN}/draft"
FORM, ORDER = page("/orders/new", "form"), page("/orders/7", "order")
STAYED, NO_PAGE = page("/orders/new", "changed"), Page("chrome-error://chromewebdata/")
VALUES = {"customer": "Aurora Shipping"}
FLOW = workflow(end=Expectation(place=place("/orders/*")), parameters=("customer",))
RUN = run_of(FLOW, values=VALUES)
SEND = click("#send")
FINISHED = WorkflowFinished(steps=2)
BACK = ReadBack(HERE, (TextVisible("${customer}"),))
Story = tuple[AnyEvent | Told, ...]


def said(*story: AnyEvent | Told) -> tuple[AnyEvent, ...]:
    return given(Critic(), *story)


def seen(
    page: Page, *exchanges: Exchange, shows: tuple[str, ...] = (), **more: Any
) -> PageObserved:
    shown = tuple(Shown(text, Untrusted(text)) for text in shows)
    return PageObserved(page, "after_action", exchanges=exchanges, shown=shown, **more)


def answered(status: int = 201, to: str = SENT, step: int = 2, number: int = 1) -> Exchange:
    return Exchange(number, to, step, status)


def typed(expects: Expectation | None = None, *exchanges: Exchange) -> Story:
    """Step 1 fills in the customer."""
    action = fill("#customer", Parameter("customer"))
    told = done(value_set=True)
    intent = ActionStarted(1, 1, action)
    return plan(action, expects=expects, index=0), intent, told, seen(FORM, *exchanges)


def sent(expects: Expectation | None = None, what: Any = None, **outcome: Any) -> Story:
    """Step 2 sends it, and cannot be undone; only the look is missing."""
    intent = ActionStarted(2, 1, SEND, irreversible=True)
    proposed = plan(SEND, number=2, expects=expects, index=1)
    return proposed, found(what or element(), 2), intent, done(2, **outcome)


def verdict(*story: AnyEvent | Told) -> ActionJudged:
    judged = only(said(*story), ActionJudged)
    assert isinstance(judged, ActionJudged)
    return judged


LEARNED = Expectation(learned=(ServerAnswered(SENT),))
BEGUN: Story = (RUN, saw(FORM), *typed())


# -- what one step proves --------------------------------------------------------------------------


@for_each(
    "expects, look, outcome, grade",
    [
        (LEARNED, seen(ORDER, answered()), "confirmed", "acknowledged"),
        (None, seen(ORDER, answered()), "confirmed", "acknowledged"),
        (LEARNED, seen(ORDER, answered(500)), "failed", None),  # whatever the page shows
        (None, seen(ORDER, answered(500)), "failed", None),
        (LEARNED, seen(ORDER), "unknown", None),  # nothing of that kind was sent
        (LEARNED, seen(ORDER, Exchange(1, SENT, 2, failed=True)), "unknown", None),
        (LEARNED, seen(ORDER, answered(500), answered(200, number=2)), "confirmed", "acknowledged"),
        # Whoever stands between says so, or the browser: whether it was done nobody knows.
        *(
            (None, seen(ORDER, answered(status)), "unknown", None)
            for status in (408, 421, 502, 504)
        ),
        (None, seen(STAYED, Exchange(1, SENT, 2, failed=True)), "unknown", None),
        (None, seen(ORDER, Exchange(1, SENT, 2, failed=True)), "confirmed", ""),  # it was left
        (None, seen(NO_PAGE), "unknown", None),
        # Of an answer that broke off, or that still comes, no more is known than of none.
        (None, seen(ORDER, Exchange(1, SENT, 2, 200, failed=True)), "unknown", None),
        (None, seen(ORDER, Exchange(1, SENT, 2, document=True)), "unknown", None),
        (LEARNED, seen(NO_PAGE, answered(502)), "unknown", None),
        (None, seen(ORDER), "confirmed", None),  # it sent nothing
        (None, seen(ORDER, answered(200, "POST https://count.example/hit")), "confirmed", None),
    ],
)
def test_what_the_server_said_decides(
    expects: Expectation | None, look: PageObserved, outcome: str, grade: str | None
) -> None:
    judged = verdict(*BEGUN, *sent(expects), at(60_000, look))
    assert (judged.verdict, judged.proof and judged.proof.grade) == (outcome, grade)
    if judged.proof is not None:
        assert (judged.proof.step, judged.proof.index) == (2, 1)


def test_an_answer_to_an_earlier_step_is_none_to_this_one() -> None:
    late = seen(ORDER, answered(200, SENT, step=1))
    assert verdict(*BEGUN, *sent(LEARNED), at(60_000, late)).verdict == "unknown"


def test_a_sign_in_is_proven_by_the_page_behind_it() -> None:
    form = element(signs_in=True)
    judged = verdict(*BEGUN, *sent(None, form, navigated=True), seen(ORDER))
    assert judged.proof == Proof(2, 1, "stored", "the page behind the sign-in")


# -- read back -------------------------------------------------------------------------------------


def asked(look: Page, *texts: str) -> PageObserved:
    """A look that was asked whether the page shows the customer."""
    shown = (Shown(VALUES["customer"], Untrusted("a row") if texts else None),)
    return PageObserved(look, "requested", shown=shown)


def looked_aside(back: ReadBack, *texts: str, there: Page = ORDER) -> Story:
    """The step that looks where the result shows: opened aside, seen, and asked for texts."""
    action = Action("navigate", url=back.url, verify=back.checks, aside=True)
    intent = ActionStarted(3, 1, action)
    look = asked(there, *texts)
    return (
        plan(action, number=3, read_back_of=2),
        intent,
        done(3, navigated=True),
        seen(there),
        at(60_000, look),
    )


def judged_of(decided: tuple[AnyEvent, ...], step: int) -> ActionJudged:
    [judged] = [e for e in decided if isinstance(e, ActionJudged) and e.step == step]
    return judged


STATED = Expectation(learned=(ServerAnswered(SENT),), read_back=BACK)
HELD: Story = (*BEGUN, *sent(STATED), seen(ORDER, answered()))
LOOK = ReadBack(ORDER.url, (TextVisible("Aurora Shipping"),))


def test_here_is_where_the_step_led() -> None:
    assert said(*HELD) == (ReadBackDue(2, 1, LOOK),)


@for_each(
    "texts, outcome, proof",
    [
        (("Aurora Shipping",), "confirmed", Proof(2, 1, "stored", "the read-back")),
        ((), "failed", None),
    ],
)
def test_what_is_read_back_is_stored(
    texts: tuple[str, ...], outcome: str, proof: Proof | None
) -> None:
    judged = judged_of(said(*HELD, *looked_aside(LOOK, *texts)), 2)
    assert (judged.verdict, judged.proof) == (outcome, proof)


# -- tried by itself -------------------------------------------------------------------------------

RECORDING = recording_of(values=VALUES, seeks_proof=True)
AT_REST = ObservationRequested("rest_awaited", 10_000, rest=Resting(10_000))
RECORDED: Story = (RECORDING, saw(FORM), *typed(), seen(FORM), *sent(), seen(ORDER, answered()))


def test_a_script_is_recorded_with_a_look_at_rest_after_each_step() -> None:
    assert said(*RECORDED) == (AT_REST,)


TRIED: Story = (*RECORDED, seen(ORDER))


def test_a_recording_tries_whether_what_was_typed_shows() -> None:
    assert said(*TRIED) == (ReadBackDue(2, 1, LOOK, trial=True),)


def holding(value: str) -> Page:
    field = PageElement("textbox", Untrusted("Customer"), "input", value=Untrusted(value))
    return page("/orders/7", "order", elements=(field,))


def test_what_shows_there_is_where_later_runs_look() -> None:
    decided = said(*TRIED, *looked_aside(LOOK, "Aurora Shipping"))
    assert only(decided, ReadBackFound) == ReadBackFound(2, BACK, 1)
    assert judged_of(decided, 2).proof == Proof(2, 1, "stored", "the page loaded anew")


def test_what_shows_on_a_page_in_its_place_is_not_where_later_runs_look() -> None:
    elsewhere = page("/workspaces/2/orders/7", "order")
    decided = said(*TRIED, *looked_aside(LOOK, "Aurora Shipping", there=elsewhere))
    assert not any(isinstance(each, ReadBackFound) for each in decided)
    assert judged_of(decided, 2).proof == Proof(2, 1, "acknowledged", "the server's answer")


def test_what_does_not_show_there_changes_no_verdict() -> None:
    decided = said(*TRIED, *looked_aside(LOOK))
    assert not any(isinstance(each, ReadBackFound) for each in decided)
    judged = judged_of(decided, 2)
    assert (judged.verdict, judged.proof) == (
        "confirmed",
        Proof(2, 1, "acknowledged", "the server's answer"),
    )


@pytest.mark.parametrize(
    "started", [RUN, recording_of(values=VALUES)], ids=["a run", "not asked for"]
)
def test_nothing_is_tried_where_it_is_not_wanted(started: AnyEvent) -> None:
    story = (started, saw(FORM), *typed(), seen(FORM), *sent(), seen(ORDER, answered()))
    assert not any(isinstance(each, ReadBackDue) for each in said(*story, seen(ORDER)))


# -- the end ---------------------------------------------------------------------------------------


def checked(*story: AnyEvent | Told) -> CompletionChecked:
    completion = only(said(*story, FINISHED, seen(ORDER)), CompletionChecked)
    assert isinstance(completion, CompletionChecked)
    return completion


def with_settings(**more: Any) -> Story:
    return (run_of(FLOW, values=VALUES, **more), saw(FORM), *typed())


ACKNOWLEDGED: Story = (*sent(LEARNED), seen(ORDER, answered()))
OPENED = Action("click", target=Target((ByRole("link", "${customer}"),)))
FOUND_LATER: Story = (plan(OPENED, number=3, index=2), found(element(), 3))
NOTHING_SHOWS: Story = (
    *sent(),
    seen(page("/orders/sent", "changed"), Exchange(1, SENT, 2, failed=True)),
)


@for_each(
    "story, wanted, verified, grades",
    [
        (ACKNOWLEDGED, "acknowledged", True, ["acknowledged"]),
        (ACKNOWLEDGED, "stored", False, ["acknowledged"]),
        ((*ACKNOWLEDGED, *FOUND_LATER), "stored", True, ["stored"]),
        (NOTHING_SHOWS, "acknowledged", False, [""]),
        ((), "stored", True, []),  # nothing was sent
    ],
)
def test_a_run_is_done_when_what_it_sent_is_proven(
    story: Story, wanted: Any, verified: bool, grades: list[str]
) -> None:
    completion = checked(*with_settings(proof=wanted), *story)
    assert [each.grade for each in completion.proofs] == grades
    assert completion.verified == verified
    if not verified:
        assert completion.reason == "nothing shows that the application has what was sent by step 2"


SAVES = Expectation(learned=(ServerAnswered(SAVED),))


@for_each(
    "later, verified",
    [
        ((answered(200, SAVED, 1),), True),
        ((), False),
        ((answered(500, SAVED, 1),), False),
        ((answered(500, SAVED, 1), answered(200, SAVED, 1, number=2)), True),
    ],
)
def test_what_the_page_sent_by_itself_when_it_was_recorded_must_come_again(
    later: tuple[Exchange, ...], verified: bool
) -> None:
    story = RUN, saw(FORM), *typed(SAVES), FINISHED
    rest = Resting(10_000, 0, (SAVED,))
    assert said(*story) == (ObservationRequested("rest_awaited", 10_000, rest=rest),)
    completion = only(said(*story, seen(ORDER, *later)), CompletionChecked)
    assert completion.verified == verified
    if not verified:
        assert (
            completion.reason
            == f"the page has not sent what it sent when this was recorded: {SAVED}"
        )


def test_what_is_under_way_at_the_end_is_waited_for_no_longer_and_said() -> None:
    story = RUN, saw(FORM), *typed(), FINISHED
    open_still = seen(ORDER, answered(0, SAVED, 1), pending=1, sent=1)
    completion = only(said(*story, open_still), CompletionChecked)
    assert (completion.verified, completion.reason) == (
        False,
        "something that was sent has no answer yet",
    )
    polled = seen(ORDER, answered(200, SAVED, 1), pending=1, sent=1)
    assert only(said(*story, polled), CompletionChecked).verified
