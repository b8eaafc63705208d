"""Given what was done in a session: which recorded workflow it is in, and how far."""

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.predictor.position.workflow_tracker import LEAST, RecordedWorkflows
from rutter.actors.rules.workflows.step_marks import fits, marks_of
from rutter.events.action import Action, ByCss, ByRole, Target
from rutter.events.checks import TextVisible
from rutter.events.predictor import Within
from rutter.events.run_settings import MILLION
from rutter.events.signature import doing
from rutter.events.workflow import Step, Workflow

SURE = 800_000

letters = st.sampled_from("abcdefgh")
tracks = st.lists(letters, min_size=1, max_size=8)
histories = st.lists(st.one_of(letters, st.sampled_from(["", "x", "y"])), max_size=60)
numbers = st.integers(1, 25)


def click(name: str) -> Action:
    return Action("click", target=Target((ByCss(f"#{name}"),)))


def open_link(name: str) -> Action:
    return Action("click", target=Target((ByRole("link", name),)))


def flow(name: str, steps: Sequence[str], optional: str = "", version: int = 1) -> Workflow:
    made = (Step(action=click(step), optional=step in optional) for step in steps)
    return Workflow(name, version, tuple(made))


def done(steps: Sequence[str]) -> list[str]:
    """A history: blank where a step was not confirmed."""
    return [doing(click(step)) if step else "" for step in steps]


def recorded(*flows: Workflow) -> RecordedWorkflows:
    found = RecordedWorkflows()
    for each in flows:
        found.learn(each)
    return found


def only(found: tuple[Within, ...]) -> Within:
    assert len(found) == 1, found
    return found[0]


def names(found: tuple[Within, ...]) -> list[str]:
    return [within.workflow for within in found]


ORDER = flow("order", "abcde")
RETURN = flow("return", "abxyz")
INVOICE = flow("invoice", "pqr")
ALL = recorded(ORDER, RETURN, INVOICE)


# -- one workflow ----------------------------------------------------------------------------------


def test_nothing_is_in_a_workflow_when_none_is_recorded() -> None:
    assert RecordedWorkflows().within(done("abc")) == ()


def test_a_session_that_has_done_nothing_is_in_none() -> None:
    assert ALL.within([]) == ()


def test_steps_of_no_workflow_are_in_none() -> None:
    assert ALL.within(done("mno")) == ()


def test_how_far_it_is_and_which_version_is_told() -> None:
    found = recorded(flow("order", "abcde", version=4)).within(done("abc"))
    within = only(found)
    assert (within.workflow, within.version, within.step, within.of) == ("order", 4, 3, 5)
    assert within.probability > 990_000


def test_behind_its_last_step_it_is_at_its_end_and_one_step_later_in_none() -> None:
    end = only(ALL.within(done("abcde")))
    assert (end.workflow, end.step, end.of) == ("order", 5, 5)
    assert end.probability > 990_000
    assert ALL.within(done("abcdem")) == ()


def test_the_last_step_done_twice_is_no_second_end() -> None:
    assert ALL.within(done("abcdee")) == ()


def test_a_step_that_repeats_within_a_workflow_is_counted() -> None:
    loops = recorded(flow("loops", "annnb"))
    assert [only(loops.within(done("annnb"[:count]))).step for count in (2, 3, 4, 5)] == [
        2,
        3,
        4,
        5,
    ]


def test_a_workflow_of_a_single_step_is_at_its_end_with_it() -> None:
    assert only(recorded(flow("one", "a")).within(done("a"))).step == 1


def test_it_may_begin_anywhere_in_a_session() -> None:
    assert only(ALL.within(done("mnopqrsmpq"))).workflow == "invoice"


def test_it_is_joined_in_its_middle_when_three_steps_say_so() -> None:
    assert ALL.within(done("mc")) == ()
    joined = only(ALL.within(done("mcde")))
    assert (joined.workflow, joined.step) == ("order", 5)
    assert joined.probability > SURE


# -- what does not go as recorded ------------------------------------------------------------------


def test_noise_in_between_keeps_it_and_much_of_it_does_not() -> None:
    shares = [only(ALL.within(done("abc" + "mno"[:count]))).probability for count in range(4)]
    assert shares == sorted(shares, reverse=True)
    assert shares[1] > SURE > shares[3]
    back = only(ALL.within(done("abcmnod")))
    assert (back.step, back.probability > SURE) == (4, True)


def test_an_optional_step_is_left_out_without_a_doubt_and_another_with_one() -> None:
    optional = only(recorded(flow("order", "abcde", optional="c")).within(done("abd")))
    required = only(recorded(ORDER).within(done("abd")))
    assert optional.step == required.step == 4
    assert optional.probability > required.probability > SURE


def test_a_step_that_was_not_confirmed_makes_it_less_sure_and_its_second_try_sure_again() -> None:
    before = only(ALL.within(done("abc")))
    broken = only(ALL.within(done(["a", "b", "c", ""])))
    again = only(ALL.within(done(["a", "b", "c", "", "d"])))
    assert broken.step == 3
    assert broken.probability < before.probability
    assert (again.step, again.probability > SURE) == (4, True)


def test_one_that_is_given_up_for_another_is_left_behind() -> None:
    assert names(ALL.within(done("abcp")))[0] == "order"
    assert only(ALL.within(done("abcpqr"))).workflow == "invoice"


# -- several workflows -----------------------------------------------------------------------------


def test_what_begins_alike_stays_split_until_it_parts() -> None:
    order, back = ALL.within(done("ab"))
    assert names((order, back)) == ["order", "return"]
    assert order.probability == back.probability > 450_000
    assert only(ALL.within(done("abx"))).workflow == "return"


def test_the_end_of_one_may_be_the_middle_of_another() -> None:
    both = recorded(flow("long", "abcde"), flow("short", "abc"))
    found = {within.workflow: (within.step, within.of) for within in both.within(done("abc"))}
    assert found == {"long": (3, 5), "short": (3, 3)}
    assert only(both.within(done("abcd"))).workflow == "long"


def test_one_right_behind_the_other_is_told_apart_at_the_boundary() -> None:
    found = [ALL.within(done("abcdepqr"[:count])) for count in range(3, 9)]
    best = [(each[0].workflow, each[0].step) for each in found]
    assert best == [
        *[("order", 3), ("order", 4), ("order", 5)],
        *[("invoice", 1), ("invoice", 2), ("invoice", 3)],
    ]
    assert all(len(each) == 1 for each in found)


def test_the_most_probable_are_told_and_no_more_than_asked_for() -> None:
    many = [flow(f"w{number}", f"ab{number}") for number in range(9)]
    found = recorded(*many).within(done("ab"), 2)
    assert names(found) == ["w0", "w1"]


# -- what the steps of a workflow are --------------------------------------------------------------


def check(text: str) -> Action:
    return Action("check", verify=(TextVisible(text),))


def test_what_only_checks_is_done_with_the_step_that_it_looks_at() -> None:
    actions = (check("1"), click("a"), check("2"), click("b"), check("3"), check("4"))
    checked = recorded(Workflow("checked", 1, tuple(Step(action=each) for each in actions)))
    first, second = (only(checked.within(done(steps))) for steps in ("a", "ab"))
    assert (first.step, second.step, second.of) == (3, 6, 6)


def test_a_workflow_that_only_checks_is_never_in() -> None:
    assert recorded(Workflow("looks", 1, (Step(action=check("1")),))).within(done("a")) == ()


def test_what_only_reads_may_be_left_out_by_a_person() -> None:
    reads = Action("extract", target=Target((ByCss("#total"),)), name="total")
    marks = marks_of(Workflow("order", 1, (Step(action=click("a")), Step(action=reads))))
    assert [mark.optional for mark in marks] == [False, True]


def parametrised() -> Workflow:
    actions = (click("find"), open_link("Open ${customer}"), click("order"))
    steps = tuple(Step(action=each) for each in actions)
    return Workflow("order", 1, steps, parameters=("customer",))


def test_a_step_with_a_parameter_in_it_is_done_with_any_value() -> None:
    other = doing(open_link("Open Juniper Tankers"))
    within = only(recorded(parametrised()).within([doing(click("find")), other]))
    assert (within.step, within.probability > SURE) == (2, True)


def test_what_fits_by_a_parameter_alone_tells_less_than_the_step_itself() -> None:
    flows = recorded(parametrised())
    by_name = only(flows.within([doing(click("find")), doing(open_link("Open ${customer}"))]))
    by_value = only(flows.within([doing(click("find")), doing(open_link("Open Juniper"))]))
    assert by_name.probability > by_value.probability


def test_one_step_that_fits_two_places_is_done_once() -> None:
    actions = (open_link("Open all"), open_link("Open ${customer}"), click("order"))
    steps = tuple(Step(action=each) for each in actions)
    flows = recorded(Workflow("order", 1, steps, parameters=("customer",)))
    assert only(flows.within([doing(open_link("Open all"))])).step == 1


def test_what_a_page_itself_calls_so_is_no_parameter() -> None:
    priced = Workflow("priced", 1, (Step(action=open_link("${half} price")), *ORDER.steps))
    [mark, *_] = marks_of(priced)
    assert mark.pieces == (mark.token,)


def test_a_value_is_a_text_and_no_other_field() -> None:
    pieces = ('{"name":"Open ', '","role":"link"}')
    assert fits(pieces, '{"name":"Open Juniper","role":"link"}')
    assert not fits(pieces, '{"name":"Open ","role":"link"}')
    assert not fits(pieces, '{"name":"Open x","more":"y","role":"link"}')
    assert not fits(pieces, '{"name":"Close x","role":"link"}')


def test_two_parameters_in_one_step_are_both_something() -> None:
    assert fits(("a", "-", "z"), "a1-2z")
    assert not fits(("a", "-", "z"), "a-2z")
    assert not fits(("a", "-", "z"), "a1-z")


# -- learning --------------------------------------------------------------------------------------


def test_a_new_version_takes_the_place_of_the_old_one() -> None:
    flows = recorded(ORDER, flow("order", "vwxyz", version=2))
    assert flows.within(done("abc")) == ()
    assert only(flows.within(done("vwx"))).version == 2


def test_what_is_forgotten_leaves_nothing_behind() -> None:
    flows = recorded(RETURN, parametrised(), ORDER)
    for name in ("order", "nobody", "return"):
        flows.forget(name)
    assert vars(flows) == vars(RecordedWorkflows())


# -- for all workflows and histories ---------------------------------------------------------------


@st.composite
def books(draw: st.DrawFn) -> dict[str, Workflow]:
    found = draw(st.lists(st.tuples(tracks, st.lists(letters, max_size=3)), max_size=6))
    return {
        f"w{number}": flow(f"w{number}", steps, optional="".join(optional))
        for number, (steps, optional) in enumerate(found)
    }


@given(books(), histories)
def test_all_of_it_is_never_more_than_a_million(
    book: dict[str, Workflow], history: list[str]
) -> None:
    found = recorded(*book.values()).within(done(history), 99)
    assert sum(within.probability for within in found) <= MILLION
    assert all(within.probability >= LEAST for within in found)
    assert all(1 <= within.step <= within.of for within in found)
    assert list(found) == sorted(found, key=lambda each: (-each.probability, each.workflow))


@given(books(), histories, st.randoms(use_true_random=False))
def test_the_order_in_which_they_were_learned_changes_nothing(
    book: dict[str, Workflow], history: list[str], chance: Random
) -> None:
    mixed = list(book.values())
    chance.shuffle(mixed)
    again = RecordedWorkflows()
    for each in (*mixed, *mixed[:2]):
        again.learn(each)
    assert again.within(done(history)) == recorded(*book.values()).within(done(history))


@given(books(), histories)
def test_asking_changes_nothing(book: dict[str, Workflow], history: list[str]) -> None:
    flows = recorded(*book.values())
    first = flows.within(done(history))
    flows.within(done("abcabc"))
    assert flows.within(done(history)) == first


@st.composite
def apart(draw: st.DrawFn) -> dict[str, list[str]]:
    """Workflows that share nothing, by name."""
    sizes = draw(st.lists(st.integers(2, 15), min_size=1, max_size=40))
    return {
        f"w{number}": [f"{number}-{step}" for step in range(size)]
        for number, size in enumerate(sizes)
    }


@given(apart(), st.data())
def test_one_that_shares_nothing_is_known_by_its_first_two_steps(
    book: dict[str, list[str]], data: st.DataObject
) -> None:
    flows = recorded(*(flow(name, steps) for name, steps in book.items()))
    name = data.draw(st.sampled_from(sorted(book)))
    steps = book[name]
    for count in range(2, len(steps) + 1):
        within = only(flows.within(done(steps[:count])))
        assert (within.workflow, within.step, within.of) == (name, count, len(steps))
        assert within.probability >= SURE


@given(apart(), st.data())
def test_one_behind_the_other_is_told_by_the_second_step_with_or_without_noise_between(
    book: dict[str, list[str]], data: st.DataObject
) -> None:
    flows = recorded(*(flow(name, steps) for name, steps in book.items()))
    first, second = (data.draw(st.sampled_from(sorted(book))) for _ in range(2))
    noise = [f"noise-{number}" for number in range(data.draw(st.integers(0, 3)))]
    before = [*book[first], *noise]
    assert noise == [] or flows.within(done(before)) == ()
    within = only(flows.within(done([*before, *book[second][:2]])))
    assert (within.workflow, within.step) == (second, 2)
    assert within.probability >= SURE


@given(apart(), st.data())
def test_one_strange_step_in_between_is_forgiven(
    book: dict[str, list[str]], data: st.DataObject
) -> None:
    flows = recorded(*(flow(name, steps) for name, steps in book.items()))
    name = data.draw(st.sampled_from(sorted(book)))
    steps = book[name]
    at = data.draw(st.integers(1, len(steps) - 1))
    history = [*steps[:at], "strange", *steps[at:]]
    end = only(flows.within(done(history)))
    assert (end.workflow, end.step, end.of) == (name, len(steps), len(steps))
    assert end.probability >= SURE - 50_000  # of two steps, one strange one is a third
