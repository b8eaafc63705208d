"""Given a session that was paused: what each decider holds, and how it goes on."""

from typing import Any

import msgspec

from rutter.actors.critic.actor import Critic
from rutter.actors.planner.actor import Planner
from rutter.actors.predictor import Predictor
from rutter.actors.rules.steps.pause import Pause, evolve_pause
from rutter.actors.validator.actor import Validator
from rutter.events.checks import ReadBack, TextVisible
from rutter.events.critic import CompletionChecked, PageAssessed, ReadBackDue
from rutter.events.executor import TargetChanged, TargetMissing
from rutter.events.observer import BrowserLost, PageObserved
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import (
    CheckpointReached,
    ObservationRequested,
    PlanProposed,
    RunStopped,
    StepSettled,
)
from rutter.events.predictor import PredictionMade, StepDue, WorkflowFinished
from rutter.events.runtime import (
    DeadlinePassed,
    SessionInterrupted,
    SessionPaused,
    SessionResumed,
    SessionStarted,
    StopRequested,
)
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ApprovalRequested,
    ApprovalVoided,
    CheckpointPassed,
    CheckpointRefused,
    PlanAdmitted,
)
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import (
    Criteria,
    Expectation,
    Indicator,
    StandingApproval,
    Step,
    Workflow,
)
from tests.support.case_table import for_each
from tests.support.given_when_then import Story, Told, at
from tests.support.shop_facts import (
    click,
    done,
    element,
    fill,
    found,
    go_to,
    intent,
    judged,
    page,
    place,
    plan,
    run_of,
    saw,
    step,
    workflow,
)

PAUSED, RESUMED = SessionPaused("ann"), SessionResumed("ann")
LOOK = ObservationRequested("resumed", 0)
HOME, FORM, SENT = "/", "/form", "/sent"
FLOW = workflow(
    step(click("#start"), HOME, FORM),
    step(fill("#name"), FORM),
    step(click("#send"), FORM, SENT, irreversible=True),
    step(click("#more"), SENT, HOME),
    end=Expectation(place=place(HOME)),
)


def headed(flow: Workflow = FLOW, **more: Any) -> SessionStarted:
    return msgspec.structs.replace(run_of(flow, **more), headed=True)


def due(index: int = 0, flow: Workflow = FLOW, unmet: str = "") -> StepDue:
    return StepDue(index, len(flow.steps), flow.steps[index], unmet)


class Log(Story):
    """A decider that is told a story in which somebody takes the wheel."""

    def __init__(self, decider: Any, *events: AnyEvent) -> None:
        super().__init__(decider)
        for event in events:
            self.tell(event)

    def resume(self) -> int:
        """The number of what asks for the look."""
        if self.actor.name == "planner":
            assert LOOK in self.tell(RESUMED)
        else:
            self.tell(RESUMED)
            self.tell(LOOK)
        return self.seq

    def look(self, path: str = HOME, digest: str = "", **more: Any) -> tuple[AnyEvent, ...]:
        """It is resumed, and this is seen."""
        return self.tell(Told(saw(page(path, digest, **more)), cause=self.resume()))


# -- how long it holds -----------------------------------------------------------------------------


def test_it_holds_until_the_look_that_was_asked_for_when_it_was_resumed() -> None:
    log = Log(Planner(), headed(), saw(page()), PAUSED)
    earlier = log.seq
    number = log.resume()
    log.tell(Told(saw(page()), cause=earlier))
    assert log.tell(due()) == (), "this look was under way when a person still had the wheel"
    log.tell(Told(saw(page()), cause=number))
    assert log.tell(due()) != ()


def test_a_pause_that_comes_before_that_look_is_a_new_one() -> None:
    log = Log(Planner(), headed(), saw(page()), PAUSED)
    number = log.resume()
    log.tell(PAUSED)
    log.tell(Told(saw(page()), cause=number))
    assert log.tell(due()) == ()


def test_what_was_never_paused_is_not_resumed() -> None:
    log = Log(Planner(), headed(), saw(page()))
    assert log.tell(RESUMED) == ()
    assert log.tell(due()) != ()


@for_each("event", [saw(page()), RESUMED, LOOK, judged()])
def test_without_a_pause_nothing_changes(event: AnyEvent) -> None:
    pause = Pause()
    envelope = Log(Planner())._number("s", "runtime", event, 0)
    assert evolve_pause(pause, envelope) is pause


# -- the Planner -----------------------------------------------------------------------------------


@for_each(
    "event",
    [
        due(),
        due(unmet="elsewhere"),
        PredictionMade("markov2", position=0),
        CheckpointPassed("unknown", "1"),
        CompletionChecked(verified=True, reason="there"),
        CompletionChecked(verified=False, reason="not there"),
        ActionRejected(1, "target_exists", "gone", "1", "execution_error", "element_not_found"),
    ],
)
def test_what_would_lead_on_is_held(event: AnyEvent) -> None:
    log = Log(Planner(), headed(), saw(page()), plan(click("#start"), "workflow", index=0), PAUSED)
    assert log.tell(event) == ()


@for_each(
    "event, reason",
    [
        (StopRequested("ann"), "cancelled"),
        (BrowserLost("closed"), "interrupted"),
        (SessionInterrupted("died"), "interrupted"),
        (DeadlinePassed("wall_time", 1), "max_wall_time"),
        (CheckpointRefused("login", "1", "terminal", "no"), "policy_denied"),
        (ActionRejected(1, "r", "no", "1", "policy_denied", "human_rejected"), "policy_denied"),
    ],
)
def test_what_ends_a_run_ends_it_while_it_is_paused(event: AnyEvent, reason: str) -> None:
    log = Log(Planner(), headed(), saw(page()), plan(click("#start"), "workflow", index=0), PAUSED)
    [stop] = log.tell(event)
    assert isinstance(stop, RunStopped)
    assert stop.reason == reason


def test_a_step_that_has_begun_is_looked_for_where_its_result_must_show() -> None:
    """A read-back is part of its step: held, the step would never be judged."""
    begun = (plan(click("#send"), "workflow", index=2), intent(click("#send")))
    log = Log(Planner(), headed(), saw(page(FORM)), *begun, PAUSED)
    [look] = log.tell(ReadBackDue(1, 1, ReadBack("https://shop.example/sent", ())))
    assert isinstance(look, PlanProposed)
    assert look.read_back_of == 1


def test_resumed_while_a_step_is_under_way_the_look_comes_behind_it() -> None:
    begun = (plan(click("#start"), "workflow", index=0), intent(click("#start")))
    log = Log(Planner(), headed(), saw(page()), *begun, PAUSED)
    assert log.tell(RESUMED) == ()
    assert log.tell(done()) == ()
    assert log.tell(judged()) == (LOOK,)


def test_the_time_that_it_was_paused_is_no_time_that_a_page_had() -> None:
    """Without it, 3 s of patience would be used up by whoever took a minute."""
    log = Log(Planner(), headed(), saw(page("/x")), due(unmet="elsewhere"), PAUSED)
    number = log.resume()
    log.tell(Told(saw(page("/x")), 60_000, cause=number))
    assert log.tell(at(60_000, due(unmet="elsewhere"))) == (
        ObservationRequested("place_unmet", 3_000),
    )


def test_a_step_that_was_let_go_is_none_of_those_that_are_limited() -> None:
    log = Log(Planner(), headed(max_steps=1), saw(page()))
    [first] = log.tell(due())
    log.tell(PAUSED)
    log.tell(ActionRejected(1, "paused", "paused by ann", "1", "execution_error", "paused"))
    log.look()
    [again] = log.tell(due())
    assert isinstance(first, PlanProposed)
    assert isinstance(again, PlanProposed)
    assert msgspec.structs.replace(again, rest=None) == msgspec.structs.replace(first, step=2)


ASKED = ApprovalRequested("1.1.1", 1, "policy", "Approve?", signature="{}")


def test_an_open_question_about_the_same_page_is_waited_for() -> None:
    log = Log(Planner(), headed(), saw(page()), due(), ASKED, PAUSED)
    log.look()
    assert log.tell(due()) == ()


def test_an_open_question_about_a_page_that_is_another_now_is_not() -> None:
    log = Log(Planner(), headed(), saw(page()), due(), ASKED, PAUSED)
    log.look(digest="other")
    [again] = log.tell(due())
    assert isinstance(again, PlanProposed)


def test_what_a_person_was_asked_to_do_in_the_window_is_not_asked_twice() -> None:
    by_hand = ApprovalRequested("1.unknown.1", 1, "unknown", "Bring it there. Done?")
    log = Log(Planner(), headed(), saw(page("/x")), due(unmet="elsewhere"), by_hand, PAUSED)
    log.look("/x")
    assert log.tell(due(unmet="elsewhere")) == ()
    [again] = log.tell(due())
    assert isinstance(again, PlanProposed), "they did it, and somebody resumed it"


def test_whether_a_person_did_it_is_looked_for_where_it_shows() -> None:
    back = ReadBack("https://shop.example/records", (TextVisible("Ann"),))
    sends = step(click("#send"), FORM, SENT, irreversible=True)
    stated = msgspec.structs.replace(sends.after, read_back=back)
    flow = workflow(msgspec.structs.replace(sends, after=stated))
    log = Log(Planner(), headed(flow), saw(page(FORM)), PAUSED)
    log.look(FORM)
    [look] = log.tell(due(0, flow))
    assert isinstance(look, PlanProposed)
    assert (look.settles, look.reason) == (0, "whether_step_1_was_done_by_a_person")


TAKEN = msgspec.structs.replace(due(2, unmet="elsewhere"), taken_to=3)


def test_who_had_the_wheel_is_asked_what_they_did() -> None:
    log = Log(Planner(), headed(), saw(page(FORM)), PAUSED)
    log.look(SENT)
    why = "a person had the wheel; step 3 of 4: elsewhere"
    assert log.tell(TAKEN) == (CheckpointReached("unknown", 1, why, 2, 3),)
    settled, look = log.tell(CheckpointPassed("unknown", "1"))
    assert settled == StepSettled(2, True, "they had the wheel, and say so")
    assert look == ObservationRequested("checkpoint_passed", 0)


def test_if_they_did_not_it_is_lost() -> None:
    log = Log(Planner(), headed(), saw(page(FORM)), PAUSED)
    log.look(SENT)
    log.tell(TAKEN)
    [stop] = log.tell(CheckpointRefused("unknown", "1", "terminal"))
    assert isinstance(stop, RunStopped)
    assert (stop.failure, stop.detail) == ("lost", "a person had the wheel; a person said no")


# -- the Validator ---------------------------------------------------------------------------------

SEND = element(digest="send", submits=True, form_method="post")
STANDING_APPROVAL = StandingApproval("https://shop.example", "send")
RECORDED = workflow(
    step(click("#start"), HOME, FORM),
    msgspec.structs.replace(FLOW.steps[2], standing_approval=STANDING_APPROVAL),
)


def proposed(index: int, number: int = 1) -> PlanProposed:
    return plan(RECORDED.steps[index].action, "workflow", number=number, index=index)


def test_what_was_proposed_and_has_not_begun_is_let_go() -> None:
    log = Log(Validator(), headed(RECORDED), saw(page()), proposed(0))
    [let_go] = log.tell(PAUSED)
    assert isinstance(let_go, ActionRejected)
    assert (let_go.step, let_go.rule, let_go.error) == (1, "paused", "paused")
    for late in (found(element()), TargetMissing(1, 1, "element_not_found")):
        assert log.tell(late) == (), "it was still being looked for"


def test_what_is_found_for_a_step_that_was_let_go_is_not_taken_for_the_next_one() -> None:
    log = Log(Validator(), headed(RECORDED), saw(page()), proposed(0), PAUSED)
    log.look()
    [admitted] = log.tell(proposed(0, number=2))
    assert isinstance(admitted, PlanAdmitted)
    assert log.tell(found(element(), step=1)) == ()
    assert [type(each) for each in log.tell(found(element(), step=2))] == [
        ActionApproved,
        ActionStarted,
    ]


def test_what_has_begun_is_not_let_go() -> None:
    log = Log(Validator(), headed(RECORDED), saw(page()), proposed(0), found(element()))
    assert log.tell(PAUSED) == ()


def test_an_element_that_changed_is_not_judged_again_while_it_is_paused() -> None:
    log = Log(Validator(), headed(RECORDED), saw(page()), proposed(0), found(element()), PAUSED)
    [let_go] = log.tell(TargetChanged(1, 1, element(digest="e2")))
    assert isinstance(let_go, ActionRejected)
    assert let_go.rule == "paused"


UNKNOWN = element(digest="another", submits=True, form_method="post")


def asked() -> tuple[Log, ApprovalRequested]:
    log = Log(Validator(), headed(RECORDED), saw(page(FORM)), proposed(1))
    [question] = log.tell(found(UNKNOWN))
    assert isinstance(question, ApprovalRequested)
    return log, question


def test_a_question_stays_open() -> None:
    log, question = asked()
    assert log.tell(PAUSED) == ()
    assert log.look(FORM) == ()
    voided, *begun = log.tell(ApprovalAnswered(question.approval, True, "terminal"))
    assert voided == ApprovalVoided(question.approval, "used")
    assert [type(each) for each in begun] == [ActionApproved, ActionStarted]


def test_a_yes_while_it_is_paused_is_for_nothing() -> None:
    log, question = asked()
    log.tell(PAUSED)
    voided, let_go = log.tell(ApprovalAnswered(question.approval, True, "terminal"))
    assert voided == ApprovalVoided(question.approval, "the session is paused")
    assert isinstance(let_go, ActionRejected)
    assert let_go.rule == "paused"


def test_a_no_while_it_is_paused_is_a_no() -> None:
    log, question = asked()
    log.tell(PAUSED)
    voided, refused = log.tell(ApprovalAnswered(question.approval, False, "terminal"))
    assert voided == ApprovalVoided(question.approval, "refused")
    assert isinstance(refused, ActionRejected)
    assert refused.error == "human_rejected"


def test_a_recording_does_not_answer_what_a_person_may_have_done() -> None:
    log = Log(Validator(), headed(RECORDED), saw(page(FORM)), PAUSED)
    log.look(FORM)
    log.tell(proposed(1))
    [question] = log.tell(found(SEND))
    assert isinstance(question, ApprovalRequested)
    assert question.rule == "had_the_wheel"
    assert "a person had the wheel, and may have done it already" in question.question


def test_once_somebody_said_that_they_had_not_it_does() -> None:
    log = Log(Validator(), headed(RECORDED), saw(page(FORM)), PAUSED)
    log.look(FORM)
    log.tell(proposed(1))
    [question] = log.tell(found(SEND))
    assert isinstance(question, ApprovalRequested)
    log.tell(ApprovalAnswered(question.approval, True, "terminal"))
    log.tell(proposed(1, number=2))
    approved, _ = log.tell(found(SEND, step=2))
    assert isinstance(approved, ActionApproved)
    assert approved.rule == "standing_approval"


def test_without_a_window_nobody_can_have_done_it() -> None:
    log = Log(Validator(), run_of(RECORDED), saw(page(FORM)), PAUSED)
    log.look(FORM)
    log.tell(proposed(1))
    approved, _ = log.tell(found(SEND))
    assert isinstance(approved, ActionApproved)


def test_who_had_the_wheel_is_asked_in_plain_words() -> None:
    log = Log(Validator(), headed(RECORDED), saw(page(FORM)), PAUSED)
    log.look(FORM)
    [question] = log.tell(CheckpointReached("unknown", 1, "a person had the wheel; so", 1, 2))
    assert isinstance(question, ApprovalRequested)
    assert question.question == "a person had the wheel; so. Is it done?"


# -- the Critic ------------------------------------------------------------------------------------


def test_an_end_that_was_awaited_has_its_time_anew() -> None:
    log = Log(Critic(), headed(), saw(page(SENT)), WorkflowFinished(4))
    [late] = log.tell(at(60_000, saw(page(SENT))))
    assert late.__class__ is CompletionChecked
    log = Log(Critic(), headed(), saw(page(SENT)), WorkflowFinished(4), PAUSED)
    log.tell(at(60_000, RESUMED))
    [waits] = log.tell(at(60_001, saw(page(SENT))))
    assert waits == ObservationRequested("end_awaited", 2_999)


# -- the Predictor ---------------------------------------------------------------------------------


def after_hand(path: str, index: int = 0, flow: Workflow = FLOW, **more: Any) -> AnyEvent:
    """What is due where a person left the page, in a run that had done so many steps."""
    log = Log(Predictor(), headed(flow), saw(page(flow.steps[0].before.path)))
    for number, recorded in enumerate(flow.steps[:index], 1):
        log.tell(plan(recorded.action, "workflow", number=number, index=number - 1))
        log.tell(judged(number=number))
    log.tell(PAUSED)
    log.look(path, **more)
    [said] = log.tell(PageAssessed())
    return said


def test_where_the_page_is_what_it_was_the_same_step_is_due() -> None:
    assert after_hand(HOME) == due(0)


def test_a_step_that_was_done_by_hand_is_passed_over() -> None:
    assert after_hand(FORM) == due(1)


@for_each("index", [0, 2])
def test_whether_what_cannot_be_undone_was_done_is_for_a_person_to_say(index: int) -> None:
    said = after_hand(SENT, index)
    assert isinstance(said, StepDue)
    assert (said.index, said.taken_to) == (index, 3)
    knows = "the page is at step 4, and who had the wheel knows if step 3 is done"
    assert said.unmet.endswith(knows)


def test_what_somebody_says_was_done_is_passed_over() -> None:
    log = Log(Predictor(), headed(), saw(page(HOME)), PAUSED)
    log.look(SENT)
    log.tell(PageAssessed())
    log.tell(StepSettled(2, True, "they say so"))
    assert log.tell(PageAssessed()) == (due(3),)


def test_signs_of_the_service_say_it_too() -> None:
    told = Criteria((Indicator("heading", "Sent"),))
    log = Log(Predictor(), headed(criteria=told), saw(page(HOME)), PAUSED)
    log.look(SENT)
    assert log.tell(PageAssessed()) == (due(3),)


def test_what_was_to_be_read_is_not_passed_over() -> None:
    reads = msgspec.structs.replace(FLOW.steps[1], action=_extract())
    flow = workflow(FLOW.steps[0], reads, step(click("#next"), SENT, HOME))
    said = after_hand(SENT, 1, flow)
    assert isinstance(said, StepDue)
    assert said.unmet.endswith("the page is at step 3, and step 2 was to be read before")


def _extract() -> Any:
    return msgspec.structs.replace(click("#number"), type="extract", name="number")


def test_a_page_behind_the_due_step_is_no_place_to_go_on_from() -> None:
    said = after_hand(HOME, 2)
    assert isinstance(said, StepDue)
    assert said.index == 2
    assert said.unmet


def test_at_the_end_nothing_is_due_any_more() -> None:
    flow = workflow(FLOW.steps[0], end=Expectation(place=place(FORM)))
    assert after_hand(FORM, 0, flow) == WorkflowFinished(1)
    sends = workflow(*FLOW.steps[:3], end=Expectation(place=place(SENT)))
    said = after_hand(SENT, 2, sends)
    assert isinstance(said, StepDue)
    assert (said.taken_to, "the page is at the end" in said.unmet) == (3, True)


def test_a_navigation_is_no_sign_of_where_the_run_is() -> None:
    flow = workflow(FLOW.steps[0], Step(action=go_to("/far")), step(click("#f"), "/far", HOME))
    assert after_hand("/far", 0, flow) == due(2, flow)
    said = after_hand("/unknown", 0, flow)
    assert isinstance(said, StepDue)
    assert said.index == 0


def test_without_a_window_the_page_moves_no_run() -> None:
    log = Log(Predictor(), run_of(FLOW), saw(page(HOME)), PAUSED)
    log.look(FORM)
    [said] = log.tell(PageAssessed())
    assert isinstance(said, StepDue)
    assert (said.index, bool(said.unmet)) == (0, True)


def test_only_a_look_that_comes_after_it_was_resumed_says_where_it_is() -> None:
    log = Log(Predictor(), headed(), saw(page(HOME)), PAUSED, saw(page(FORM)))
    [meanwhile] = log.tell(PageAssessed())
    log.look(HOME)
    [then] = log.tell(PageAssessed())
    assert isinstance(meanwhile, StepDue)
    assert meanwhile.unmet
    assert then == due(0)


def test_the_observation_that_ends_it_is_like_any_other() -> None:
    seen = PageObserved(page=page(), why="requested")
    log = Log(Planner(), headed(), saw(page()), PAUSED)
    log.tell(Told(seen, cause=log.resume()))
    assert log.tell(due()) != ()
