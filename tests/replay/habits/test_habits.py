"""Given what was learned in many sessions: what was done again and again, and how to name it."""

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rutter.events.action import (
    Action,
    ByCss,
    ByRole,
    Fingerprint,
    Parameter,
    Secret,
    Target,
    Text,
    Untrusted,
    Value,
)
from rutter.events.envelope import Envelope
from rutter.events.predictor import (
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.events.signature import signature, token
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver, Step, Workflow
from rutter.replay.habits.habits import Habit, habits
from rutter.replay.habits.suggested_names import kebab, says_much, snake, unique
from tests.support.case_table import for_each
from tests.support.envelopes import Scribe

SHOP = "https://shop.example"


def click(name: str, css: str = "") -> Action:
    ways = (ByCss(css),) if css else ()
    return Action("click", target=Target((*ways, ByRole("button", name))))


def enter(name: str, value: Value | str, css: str = "#field") -> Action:
    held = Text(value) if isinstance(value, str) else value
    return Action("type", target=Target((ByCss(css), ByRole("textbox", name))), value=held)


def go(path: str = "/") -> Action:
    return Action("navigate", url=SHOP + path)


def search(customer: str, quantity: str = "3") -> list[Action]:
    """An order as a person places it."""
    number = sum(map(ord, customer))
    return [
        go(),
        enter("Search", customer, "#q"),
        click("Find"),
        click(f"Open {customer}", f"#row-{number} a"),
        enter("Quantity", quantity, "#qty"),
        click("Place order"),
    ]


ORDERS = [search("Aurora Shipping"), search("Fairlead Offshore", "5"), search("Juniper Tankers")]


class Log:
    """Sessions as the Predictor tells of them."""

    def __init__(self) -> None:
        self._scribe = Scribe()
        self.envelopes: list[Envelope] = []
        self._sessions = 0

    def say(self, *events: AnyEvent, session: str = "process-1") -> None:
        self.envelopes += [each.envelope for each in self._scribe.turn(session, events)]

    def session(self, *actions: Action, driver: Driver = "person", place: str = "") -> str:
        self._sessions += 1
        name = f"session-{self._sessions}"
        self.say(*transitions(actions, driver, place), session=name)
        return name

    def habits(self, least: int = 3) -> tuple[Habit, ...]:
        return habits(self.envelopes, least)

    @property
    def only(self) -> Habit:
        [habit] = self.habits()
        return habit


def transitions(
    actions: Sequence[Action], driver: Driver = "person", place: str = ""
) -> Iterable[TransitionLearned]:
    tokens = [token(action) for action in actions]
    for at, action in enumerate(actions):
        after = tuple(tokens[max(at - 2, 0) : at])
        yield TransitionLearned(tokens[at], signature(action), action, after, driver, place)


def done(*sessions: Sequence[Action], **more: Any) -> Log:
    log = Log()
    for actions in sessions:
        log.session(*actions, **more)
    return log


def recorded(name: str, actions: Sequence[Action], **more: Any) -> WorkflowLearned:
    return WorkflowLearned(Workflow(name, 1, tuple(Step(action=each) for each in actions), **more))


ABC = [click("A"), click("B"), click("Close the books")]


# -- what is a habit -------------------------------------------------------------------------------


def test_nothing_was_done() -> None:
    assert Log().habits() == ()


def test_what_was_done_three_times_is_told_with_its_times_and_sessions() -> None:
    log = done(ABC, [*ABC, click("X"), *ABC], [click("Y"), *ABC])
    habit = log.only
    assert (habit.times, habit.sessions, habit.by_person) == (4, 3, 4)
    assert habit.steps == ("click 'A'", "click 'B'", "click 'Close the books'")


def test_twice_is_told_when_that_is_asked_for() -> None:
    log = done(ABC, ABC)
    assert log.habits() == ()
    assert [habit.times for habit in log.habits(2)] == [2]


@for_each("driver", ["workflow", "prediction"])
def test_what_rutter_did_by_itself_is_nobodys_habit(driver: Driver) -> None:
    assert done(ABC, ABC, ABC, driver=driver).habits() == ()


def test_what_an_agent_did_counts_and_is_told_from_what_a_person_did() -> None:
    log = done(ABC, ABC)
    log.session(*ABC, driver="agent")
    assert (log.only.times, log.only.by_person) == (3, 2)


def test_sessions_that_ran_at_the_same_time_are_told_apart() -> None:
    log = Log()
    rows = [list(transitions(ABC)) for _ in range(3)]
    for step in zip(*rows, strict=True):
        for number, learned in enumerate(step):
            log.say(learned, session=f"session-{number}")
    assert (log.only.times, log.only.sessions) == (3, 3)


def test_what_did_not_follow_from_the_step_before_is_no_part_of_it() -> None:
    log = Log()
    for number in range(3):
        first, second, _ = transitions(ABC)
        [alone] = transitions([click("Close the books")])
        log.say(first, second, alone, session=f"session-{number}")
    assert log.habits() == ()


def test_a_step_of_ours_in_between_is_a_gap() -> None:
    log = Log()
    for number in range(3):
        first, _, *others = transitions([*ABC, click("D")])
        log.say(first, *others, session=f"session-{number}")
    assert log.habits() == ()


def test_what_was_taken_back_was_not_done() -> None:
    log = Log()
    for number, wrong in enumerate("XYZ"):
        first, *rest = transitions(ABC)
        [slip] = [*transitions([ABC[0], click(wrong)])][1:]
        back = TransitionUndone(slip.token, "went_back", slip.after)
        log.say(first, slip, back, *rest, session=f"session-{number}")
    assert log.only.times == 3


def test_a_forgotten_session_is_left_out() -> None:
    log = done(ABC, ABC, ABC, ABC)
    log.say(SessionForgotten("session-2"))
    assert (log.only.times, log.only.sessions) == (3, 3)
    log.say(SessionForgotten("session-1"))
    assert log.habits() == ()


def test_the_most_worthwhile_comes_first() -> None:
    long = [click(f"Step {number}") for number in range(8)]
    log = done(ABC, ABC, ABC, ABC, long, long, long)
    assert [(habit.times, len(habit.steps)) for habit in log.habits()] == [(3, 8), (4, 3)]


# -- what has a name already -----------------------------------------------------------------------


def test_what_a_workflow_holds_has_a_name() -> None:
    log = done(ABC, ABC, ABC)
    log.say(recorded("books", [click("Before"), *ABC]))
    assert log.habits() == ()


def test_more_than_a_workflow_holds_is_suggested() -> None:
    more = [*ABC, click("Print")]
    log = done(more, more, more)
    log.say(recorded("books", ABC))
    assert len(log.only.steps) == 4


def test_what_only_reads_in_a_workflow_need_not_be_done_by_hand() -> None:
    reads = Action("extract", target=Target((ByCss("#total"),)), name="total")
    log = done(ABC, ABC, ABC)
    log.say(recorded("books", [ABC[0], reads, *ABC[1:]]))
    assert log.habits() == ()


def test_a_workflow_with_a_parameter_holds_it_whatever_was_typed() -> None:
    log = done(*ORDERS)
    search_for = [go(), enter("Search", Parameter("customer"), "#q"), click("Find")]
    opened = Action("click", target=Target((ByRole("button", "Open ${customer}"),)))
    rest = [opened, *search("")[4:]]
    log.say(recorded("order", [*search_for, *rest], parameters=("customer",)))
    assert log.habits() == ()


def test_a_workflow_without_one_holds_what_was_done_with_the_same() -> None:
    log = done(ORDERS[0], ORDERS[0], ORDERS[0])
    log.say(recorded("order", ORDERS[0]))
    assert log.habits() == ()
    log.session(*ORDERS[1])
    assert log.only.times == 4


@for_each(
    "gone",
    [WorkflowDeleted("books"), SessionForgotten("recording")],
)
def test_what_has_lost_its_name_is_suggested_again(gone: AnyEvent) -> None:
    log = done(ABC, ABC, ABC)
    log.say(recorded("books", ABC), session="recording")
    log.say(gone)
    assert log.only.name == "close-the-books"


# -- what to call it -------------------------------------------------------------------------------


def test_it_is_named_by_the_last_thing_that_says_what_it_was_for() -> None:
    steps = [click("Export invoices"), click("Next"), click("OK")]
    assert done(steps, steps, steps).only.name == "export-invoices"


def test_what_varies_is_no_part_of_its_name() -> None:
    log = done(
        *(
            [go(), enter("Customer", each), click("Look up"), click(f"Remind {each} of it")]
            for each in ("Aurora", "Fairlead", "Juniper")
        )
    )
    assert log.only.name == "remind-of-it"
    assert log.only.steps[-1] == "click 'Remind <customer> of it'"


def test_a_name_is_given_once() -> None:
    log = done(ABC, ABC, ABC)
    log.say(recorded("close-the-books", [go()]), WorkflowRenamed("x", "y"))
    assert log.only.name == "close-the-books-2"


def test_the_site_is_a_name_where_nothing_says_more() -> None:
    bare = [Action("click", target=Target((ByCss(f"#b{number}"),))) for number in range(3)]
    log = done(bare, bare, bare, place=f"{SHOP}/desk FORM_VISIBLE")
    assert (log.only.name, log.only.start) == ("shop-example", f"{SHOP}/desk")


def test_what_varied_is_a_parameter_named_by_its_field_with_examples() -> None:
    habit = done(*ORDERS).only
    assert [(each.name, each.step) for each in habit.parameters] == [("search", 2), ("quantity", 5)]
    customer, quantity = habit.parameters
    assert customer.examples == ("Juniper Tankers", "Fairlead Offshore", "Aurora Shipping")
    assert quantity.examples == ("3", "5")


def test_an_element_that_is_named_by_what_was_typed_is_the_same_step() -> None:
    habit = done(*ORDERS).only
    assert habit.steps == (
        *("go to https://shop.example/", "type <search> into 'Search'", "click 'Find'"),
        *("click 'Open <search>'", "type <quantity> into 'Quantity'", "click 'Place order'"),
    )


def test_what_was_always_the_same_is_no_parameter() -> None:
    habit = done(ORDERS[0], ORDERS[0], ORDERS[0]).only
    assert habit.parameters == ()
    assert habit.steps[3] == "click 'Open Aurora Shipping'"


def test_no_more_than_three_examples_are_shown_and_long_ones_in_part() -> None:
    log = done(*(search(f"{number} {'very ' * number * 5}long") for number in range(5)))
    examples = log.only.parameters[0].examples
    assert len(examples) == 3
    assert all(len(example) <= 40 for example in examples)


def test_two_fields_of_one_name_are_two_parameters() -> None:
    log = done(
        *(
            [enter("Date", f"from {day}", "#from"), enter("Date", f"to {day}", "#to"), click("Go")]
            for day in "123"
        )
    )
    assert [each.name for each in log.only.parameters] == ["date", "date_2"]


def test_a_field_without_a_name_is_called_by_what_is_known_of_it() -> None:
    known = Fingerprint(attributes=(("name", "postal-code"),), text=Untrusted(""))
    steps = [
        [
            Action("type", target=Target((ByCss("#x"),), known), value=Text(code)),
            Action("type", target=Target((ByCss("#note"),)), value=Text(f"note {code}")),
            click("Look up"),
        ]
        for code in ("1000", "2000", "3000")
    ]
    assert [each.name for each in done(*steps).only.parameters] == ["postal_code", "note"]


def test_what_was_recorded_as_a_parameter_keeps_its_name() -> None:
    named = [go(), enter("Search", Parameter("customer"), "#q"), click("Find")]
    habit = done(ORDERS[0][:3], ORDERS[1][:3], named).only
    assert [each.name for each in habit.parameters] == ["customer"]
    assert "--param customer=..." in habit.record


def test_an_element_that_is_named_by_a_parameter_is_the_one_that_is_named_by_its_value() -> None:
    named = [go(), enter("Search", Parameter("customer"), "#q"), click("Find")]
    opened = Action("click", target=Target((ByRole("button", "Open ${customer}"),)))
    habit = done(ORDERS[0], ORDERS[1], [*named, opened, *ORDERS[2][4:]]).only
    assert (habit.times, habit.steps[3]) == (3, "click 'Open <customer>'")


# -- secrets ---------------------------------------------------------------------------------------


def test_a_secret_is_named_and_never_shown() -> None:
    steps = [enter("User", "mate"), enter("Password", Secret("password"), "#p"), click("Sign in")]
    habit = done(steps, steps, steps).only
    assert habit.secrets == ("password",)
    assert habit.steps[1] == "type <secret password> into 'Password'"
    assert habit.parameters == ()


@for_each("typed", [("hunter2",) * 3, ("hunter1", "hunter2", "hunter3")])
def test_what_was_typed_into_a_field_that_asks_for_one_is_not_shown(typed: tuple[str, ...]) -> None:
    log = done(*([go(), enter("Your PIN code", each), click(f"Sign in, {each}")] for each in typed))
    habit = log.only
    assert "hunter" not in repr(habit)
    assert habit.secrets == ("your_pin_code",)


# -- recording it ----------------------------------------------------------------------------------


def test_it_starts_where_its_first_step_goes_and_the_command_says_so() -> None:
    habit = done(*ORDERS).only
    assert habit.start == f"{SHOP}/"
    assert habit.record == (
        "record place-order --url https://shop.example/ "
        "--param search='Juniper Tankers' --param quantity=3"
    )


def test_where_a_place_varies_it_starts_at_its_site() -> None:
    assert done(ABC, ABC, ABC, place=f"{SHOP}/customers/*").only.start == f"{SHOP}/"


def test_without_a_place_it_starts_where_its_session_last_went() -> None:
    log = done(*([go(f"/{number}"), click(f"X{number}"), *ABC] for number in range(3)))
    assert log.only.start == f"{SHOP}/2"


def test_what_cannot_be_typed_again_is_left_to_fill_in() -> None:
    texts = ("J\u00fcrgen", "line\nline", "\u4eac")
    log = done(*([enter("Kunde", each), click("A"), click("B")] for each in texts))
    assert log.only.record == "record kunde --url URL --param kunde=..."


def test_what_a_page_says_is_one_word_of_the_command() -> None:
    log = done(*([enter("x; rm -rf ~", f"$(rm {n})"), click("A"), click("B")] for n in range(3)))
    assert log.only.record == "record x-rm-rf --url URL --param x_rm_rf='$(rm 2)'"


# -- names -----------------------------------------------------------------------------------------


@for_each(
    "said, name",
    [
        ("Place order", "place-order"),
        ("  \u00dcberweisung best\u00e4tigen! ", "uberweisung-bestatigen"),
        ("\u4e0b\u5355", ""),
        ("one two three four five six", "one-two-three-four-five"),
        ("x" * 99, "x" * 40),
    ],
)
def test_names_are_short_and_plain(said: str, name: str) -> None:
    assert kebab(said) == name


def test_a_parameter_never_begins_with_a_digit() -> None:
    assert snake("2nd line") == "value_2nd_line"


def test_what_stands_on_every_button_says_little() -> None:
    assert [says_much(said) for said in ("Next", "Save and close", "Save invoice")] == [
        False,
        False,
        True,
    ]


def test_a_number_makes_a_name_unique() -> None:
    assert unique("order", ["order", "order-2"], "-") == "order-3"


# -- for all logs ----------------------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 30), min_size=3, max_size=8, unique=True),
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), min_size=3, max_size=7
    ),
)
def test_what_is_planted_among_noise_is_told_with_its_times(
    planted: list[int], around: list[tuple[int, int, bool]]
) -> None:
    habit = [click(f"Planted {number}") for number in planted]
    log, noise, pending = Log(), 0, list[Action]()
    for before, behind, ends in around:
        for count, steps in ((before, habit), (behind + 1, [])):
            pending += [click(f"Noise {noise + number}") for number in range(count)]
            noise += count
            pending += steps
        if ends:
            log.session(*pending)
            pending = []
    log.session(*pending)
    assert log.only.times == len(around)
    assert log.only.steps == tuple(f"click 'Planted {number}'" for number in planted)
