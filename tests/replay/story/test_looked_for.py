"""What a step looked for and what was there instead, from the log alone and in plain words."""

from rutter.events.action import ByRole, ByText, Target, Untrusted
from rutter.events.envelope import Envelope
from rutter.events.executor import LookalikesFound, TargetMissing, TargetResolved
from rutter.events.page import Page, PageElement, Try
from rutter.events.planner import LookalikesRequested, RunStopped, TargetHealed
from rutter.events.predictor import StepDue
from rutter.events.runtime import SessionEnded
from rutter.events.validator import ActionRejected
from rutter.events.vocabulary import AnyEvent
from rutter.replay.story.looked_for import around, nearest_on, refused_among
from rutter.replay.story.session_story import tell
from rutter.replay.story.told_session import Story
from tests.support import shop_facts
from tests.support.page_elements import click_on, recorded, thing

OLD = thing("Place order", id="place", near=("Total", "", "Your cart"))
FLOW = shop_facts.workflow(shop_facts.step(click_on(OLD), at="/cart"))


def told(*events: AnyEvent) -> Story:
    return tell(
        Envelope(n, "run-1", n, n, "runtime", n - 1, event, bytes(32))
        for n, event in enumerate(events, 1)
    )


def lost(*between: AnyEvent) -> Story:
    """A step whose element is gone, and what happened until the run stopped."""
    stop = RunStopped("failed", "lost", "element_not_found: nothing is like it", 1)
    return told(
        shop_facts.run_of(FLOW),
        shop_facts.saw(shop_facts.page("/cart", title=Untrusted("Cart"))),
        shop_facts.plan(click_on(OLD), "workflow", index=0),
        TargetMissing(1, 1, "element_not_found", (Try(0, 0, "none"), Try(1, 2, "ambiguous"))),
        ActionRejected(
            1, "target_exists", "not there", "1", "execution_error", "element_not_found"
        ),
        *between,
        stop,
        SessionEnded("failed", "lost", stop.detail),
    )


def elements(*named: tuple[str, str]) -> tuple[PageElement, ...]:
    return tuple(PageElement(role, Untrusted(name)) for role, name in named)


def test_each_locator_is_told_with_what_came_of_it_and_what_stood_around() -> None:
    [step] = lost().steps
    assert step.looked_for == [
        "#place: not there",
        "button 'Place order': several are there",
        "an element near 'Total' and 'Your cart'",
    ]


def test_what_was_compared_is_told_with_why_it_was_refused() -> None:
    others = (
        thing("Empty the cart", id="empty", near=("Help",)),
        thing("Place order", tag="a", role="link", href="/elsewhere"),
        thing("Cancel", id="no", near=("Help",)),
        thing("Send", id="x", near=("Help",)),
    )
    asked = LookalikesRequested(1, 1, OLD.fingerprint)
    [step] = lost(asked, LookalikesFound(1, 1, others)).steps
    assert len(step.instead) == 3
    assert all("% like it: " in each for each in step.instead)
    assert any("button 'Cancel'" in each and "says something else" in each for each in step.instead)


def test_two_that_are_alike_are_the_reason_that_neither_was_taken() -> None:
    plan = shop_facts.plan(click_on(OLD), "workflow", index=0)
    twins = (thing("Place order", id="a"), thing("Place order", id="b"))
    said = refused_among(plan, twins, {})
    assert len(said) == 2
    assert all("another is as like it" in why for why, _ in said)
    assert {name for _, name in said} == {'the button "Place order"'}


def test_a_field_for_a_secret_is_of_another_kind() -> None:
    old = thing("Code", tag="input", role="textbox", type="text", id="code")
    plan = shop_facts.plan(click_on(old), "workflow", index=0)
    hidden = thing("Code", tag="input", role="textbox", type="password", id="code")
    [(said, _)] = refused_among(plan, (hidden,), {})
    assert "it is of another kind" in said


def test_where_nothing_was_compared_the_page_says_what_is_called_alike() -> None:
    page = Page(
        "https://shop.example/cart",
        elements=elements(
            ("link", "Place order"), ("button", "Place the order"), ("button", "Help"), ("link", "")
        ),
    )
    target = Target((ByRole("button", "Place order"),))
    assert nearest_on(page, target) == [
        "link 'Place order' (a link, not a button)",
        "button 'Place the order' (called otherwise)",
    ]


def test_at_most_three_are_told_and_their_names_are_cut() -> None:
    many = elements(*[("button", f"Place order {'x' * 200}") for _ in range(20)])
    found = nearest_on(Page("https://a.example/", elements=many), Target((ByText("Place order"),)))
    assert len(found) <= 3
    assert all(len(each) < 120 for each in found)


def test_what_a_page_writes_is_on_one_line() -> None:
    page = Page("https://a.example/", elements=elements(("button", "Place\norder \N{SHIP}")))
    [said] = nearest_on(page, Target((ByText("Place order"),)))
    assert said.isprintable()
    assert "\N{SHIP}" in said


def test_a_target_of_marks_alone_has_no_name_to_compare() -> None:
    assert nearest_on(Page("https://a.example/", elements=elements(("button", "x"))), None) == []
    assert nearest_on(shop_facts.page("/"), shop_facts.css("#place")) == []
    assert around(recorded(thing("x", near=("", "")))) == ()


def test_where_it_was_is_told_and_where_it_should_have_been() -> None:
    story = told(
        shop_facts.run_of(FLOW),
        shop_facts.saw(shop_facts.page("/login", title=Untrusted("Sign in"))),
        StepDue(0, 1, FLOW.steps[0], unmet="the page is another one"),
        RunStopped("failed", "lost", "step 1 of 1: the page is another one"),
        SessionEnded("failed", "lost", "step 1 of 1: the page is another one"),
    )
    assert story.page == "'Sign in' at https://shop.example/login"
    assert story.expected == "https://shop.example/cart"


def test_on_the_right_page_nothing_is_said_of_another() -> None:
    story = lost()
    assert (story.page, story.expected) == ("'Cart' at https://shop.example/cart", "")


def test_where_it_began_is_known_for_whoever_records_it_again() -> None:
    story = told(
        shop_facts.run_of(None),
        shop_facts.plan(shop_facts.go_to("/start")),
        SessionEnded("failed", "unreachable", "navigation_failed"),
    )
    assert story.start == "https://shop.example/start"


def test_what_was_healed_was_found() -> None:
    new = thing("Send order", id="send")
    [step] = lost(
        LookalikesRequested(1, 1, OLD.fingerprint),
        LookalikesFound(1, 1, (new,)),
        TargetHealed(1, 1, new, 900_000, 0),
        shop_facts.plan(click_on(new), "workflow", index=0, healed=True),
        TargetResolved(1, 1, new),
    ).steps
    assert (step.looked_for, step.instead) == ([], [])


def test_a_session_that_is_done_or_runs_has_nothing_of_it() -> None:
    done = told(
        shop_facts.run_of(None), shop_facts.saw(shop_facts.page("/")), SessionEnded("completed")
    )
    runs = told(shop_facts.run_of(None), shop_facts.saw(shop_facts.page("/")))
    assert [(story.page, story.expected) for story in (done, runs)] == [("", "")] * 2
