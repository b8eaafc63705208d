"""What the page sent because of a step, and where its result showed, put to the step in the end."""

import msgspec

from rutter.actors.predictor.actor import Predictor
from rutter.actors.predictor.learning.consequences import answered_in_run, heard, with_what_followed
from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.pages.changes import PageMoment
from rutter.events.checks import HERE, AlertSaid, ReadBack, ServerAnswered, TextVisible
from rutter.events.envelope import Envelope
from rutter.events.observer import PageObserved
from rutter.events.page import Exchange
from rutter.events.predictor import Notices
from rutter.events.workflow import Expectation, Place, Step
from tests.support.case_table import for_each
from tests.support.shop_facts import ORIGIN, click, done, fill, page, plan, run_of, step, workflow

SENT, SAVED = f"POST {ORIGIN}/orders", f"PUT {ORIGIN}/draft"
BACK = ReadBack(HERE, (TextVisible("${customer}"),))
STARTED = run_of(workflow())
STATED = ReadBack(f"{ORIGIN}/orders", (TextVisible("Aurora"),))


def saw(*exchanges: Exchange) -> PageObserved:
    return PageObserved(page(), "after_action", exchanges=exchanges)


def recorded(*steps: Step, **more: object) -> PredictorState:
    numbers = tuple(range(1, len(steps) + 1))
    return msgspec.structs.replace(PredictorState(STARTED), steps=steps, numbers=numbers, **more)


def with_learned(one: Step, *learned: ServerAnswered | AlertSaid) -> Step:
    after = msgspec.structs.replace(one.after, learned=learned)
    return msgspec.structs.replace(one, after=after)


def test_what_a_person_led_the_page_to_send_belongs_to_the_step_that_was_under_way() -> None:
    state = recorded(step(fill()), step(click()))
    assert heard(state, saw()) is state
    assert heard(state, saw(Exchange(1, SAVED))).sent == (Exchange(1, SAVED, step=2),)
    planned = msgspec.structs.replace(state, plan=plan(click(), number=3))
    assert heard(planned, saw(Exchange(1, SAVED))).sent == (Exchange(1, SAVED, step=3),)
    assert heard(planned, saw(Exchange(1, SAVED, 1))).sent == (Exchange(1, SAVED, step=1),)


def test_an_answer_that_came_long_after_its_step_is_put_to_it() -> None:
    state = recorded(step(fill()), step(click()), read_backs=((2, BACK),))
    state = heard(state, saw(Exchange(1, SAVED, 1), Exchange(2, SENT, 2, 201)))
    state = heard(state, saw(Exchange(1, SAVED, 1, 200)))
    typed, sent = with_what_followed(state, {})
    assert (typed.after.learned, typed.after.read_back) == ((ServerAnswered(SAVED),), None)
    assert (sent.after.learned, sent.after.read_back) == ((ServerAnswered(SENT),), BACK)


def test_a_read_back_that_was_stated_stays() -> None:
    stated = msgspec.structs.replace(step(click()), after=Expectation(read_back=STATED))
    [kept] = with_what_followed(recorded(stated, read_backs=((1, BACK),)), {})
    assert kept.after.read_back == STATED


@for_each("of, done_at", [(2, "/orders/7"), (3, "/draft")])
def test_where_a_result_is_looked_for_is_not_where_its_step_was_done(of: int, done_at: str) -> None:
    """Step 2 is still the plan while it is read back by step 3, in a page aside."""
    before = PageMoment(page("/draft"))
    state = msgspec.structs.replace(
        PredictorState(STARTED), plan=plan(click(), number=2), before=before
    )
    told = Envelope(9, "s", 9, 0, "executor", 8, done(of, url=f"{ORIGIN}/orders/7"), b"")
    evolved = Predictor().evolve(state, told)
    assert evolved is not None
    assert evolved.before.page.url == f"{ORIGIN}{done_at}"


def test_what_was_refused_is_not_learned() -> None:
    state = heard(recorded(step(click())), saw(Exchange(1, SENT, 1, 500)))
    assert with_what_followed(state, {}) == state.steps


def test_a_run_says_what_came_again_in_the_words_of_what_was_expected() -> None:
    either = ServerAnswered(f"{SAVED} | {SENT}")
    flow = workflow(with_learned(step(fill()), either), step(click()), step(click()))
    state = msgspec.structs.replace(
        PredictorState(run_of(flow)),
        workflow=flow,
        done_steps=((0, 4), (1, 5), (2, 6)),
        notices=(Notices(1, (AlertSaid("Sent"),)),),
    )
    state = heard(state, saw(Exchange(1, SAVED, 4, 200), Exchange(2, SENT, 5, 201)))
    assert answered_in_run(state) == (
        Notices(0, (either,)),
        Notices(1, (AlertSaid("Sent"), ServerAnswered(SENT))),
    )


def test_what_keeps_being_sent_while_a_person_looks_around_tells_nothing() -> None:
    steps = (step(click()), step(fill()), step(click(), irreversible=True))
    sent = (
        Exchange(1, SAVED, 1, 200),
        Exchange(2, SAVED, 2, 200),
        Exchange(3, SAVED, 3, 200),
        Exchange(4, SENT, 3, 201),
    )
    for driver, typed in (("person", ()), ("script", (ServerAnswered(SAVED),))):
        begun = msgspec.structs.replace(run_of(workflow(*steps)), driver=driver)
        state = heard(recorded(*steps, started=begun), saw(*sent))
        _, entered, last = with_what_followed(state, {})
        assert entered.after.learned == typed
        assert ServerAnswered(SENT) in last.after.learned or driver == "script"


def test_what_is_sent_to_the_page_itself_is_known_by_its_other_addresses() -> None:
    """The step that has the page rename itself, and each one behind it."""
    add, edit = Place(ORIGIN, "/notes/add"), Place(ORIGIN, "/notes/*", also=("/notes/add",))
    renamed = msgspec.structs.replace(step(fill()), before=add, after=Expectation(place=edit))
    later = msgspec.structs.replace(step(fill()), before=edit)
    left = msgspec.structs.replace(renamed, after=Expectation(place=Place(ORIGIN, "/notes/*")))
    to = f"POST {ORIGIN}/notes"
    state = recorded(renamed, later, left)
    state = heard(state, saw(*(Exchange(n, f"{to}/add", n, 200) for n in (1, 2, 3))))
    learned = [each.after.learned for each in with_what_followed(state, {})]
    both = (ServerAnswered(f"{to}/add | {to}/*"),)
    assert learned == [both, both, (ServerAnswered(f"{to}/add"),)]
