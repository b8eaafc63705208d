"""Given pages as they are seen: which state each is in, and what can and cannot change that."""

import random
import tomllib
from collections.abc import Iterable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rutter.actors.rules.pages.page_state import CAREFUL, checkpoint_of, detect, phrases_for
from rutter.actors.rules.pages.state_rules import state_rules
from rutter.events.action import Untrusted
from rutter.events.checks import PageState
from rutter.events.page import Page, PageElement
from rutter.events.run_settings import RunSettings
from rutter.events.service_pack import Checkpoint, Service, Sign, StateRule, Where
from rutter.events.workflow import Criteria, Indicator
from tests.support.case_table import for_each

Seen = tuple[Page, tuple[str, ...]]
LISTED = phrases_for(RunSettings())
LINKS: dict[str, tuple[str, ...]] = {
    "@NAV": ("Home", "Browse", "My list", "Account", "Sign out"),
    "@FOOTER": ("Help Center", "Terms of Use", "Privacy", "FAQ", "Contact us", "Blog"),
    "@VISITOR": ("Home", "Pricing", "Sign in", "Start free trial"),
    "@THREAD": ("Like", "Reply") * 4,
}
ROLES = {
    "<": ("link", "a"),
    "_": ("textbox", "input"),
    "(": ("radio", "input"),
    "[": ("button", "button"),
}


def shown(sketch: str, *, url: str = "https://tide.example/p/1", links: Iterable[str] = ()) -> Seen:
    """A page, and which of the listed phrases it says: headings and names are visible text too.

    In a sketch the title comes first: `Tide / # heading / <link> / [button] / _field_ / (choice) /
    ! alert / text`, and `@NAV` for the links of that name.
    """
    title, *parts = sketch.split(" / ")
    links = [*links, *(link for part in parts for link in LINKS.get(part, ()))]
    alerts = [part[2:] for part in parts if part.startswith("! ")]
    named = [
        *(
            PageElement("heading", Untrusted(part[2:]), "h2")
            for part in parts
            if part.startswith("# ")
        ),
        *(PageElement("link", Untrusted(name), "a") for name in links),
        *(
            PageElement(role, Untrusted(part[1:-1]), tag)
            for first, (role, tag) in ROLES.items()
            for part in parts
            if part.startswith(first)
        ),
    ]
    marked = (*ROLES, "# ", "! ", "@")
    texts = [part for part in parts if not part.startswith(marked)]
    said = " ".join([*(each.name.text for each in named), *alerts, *texts]).lower()
    page = Page(
        url=url,
        title=Untrusted(title),
        headings=tuple(each.name for each in named if each.role == "heading"),
        alerts=tuple(map(Untrusted, alerts)),
        elements=tuple(named),
    )
    return page, tuple(phrase for phrase in LISTED if phrase in said)


SKETCHES = tomllib.loads((Path(__file__).parent / "page_sketches.toml").read_text("utf-8"))
CASES: list[tuple[PageState, str, Page, tuple[str, ...]]] = [
    (state, what, *shown(sketch))
    for pages in SKETCHES.values()
    for state, sketches in pages.items()
    for what, sketch in sketches.items()
]


def test_a_page_is_in_the_state_that_a_person_would_say() -> None:
    for state, what, page, phrases in CASES:
        assert detect(page, phrases) == state, what


# ---- nothing loaded, and what the browser shows of its own --------------------------------------


@for_each("url", ["about:blank", "", "chrome://newtab/"])
def test_where_nothing_was_loaded_is_the_start(url: str) -> None:
    assert detect(Page(url), ()) == "START"


def test_a_page_that_shows_nothing_is_no_start() -> None:
    assert detect(Page("https://tide.example/"), ()) == "UNKNOWN"


def test_an_error_of_the_browser_is_a_failure() -> None:
    assert detect(Page("chrome-error://chromewebdata/"), ()) == "FAILED"


# ---- what changes nothing, on any page ----------------------------------------------------------

words = st.sampled_from(
    ["Sign in", "cancel", "why are you leaving", "404", "#", "\u2019", "ß", "", "é"]
)
texts = st.builds(Untrusted, st.one_of(st.text(max_size=40), words))
roles = st.sampled_from(
    ["button", "link", "textbox", "radio", "heading", "generic", "nonsense", ""]
)
elements = st.builds(PageElement, role=roles, name=texts)
pages = st.builds(
    Page,
    url=st.one_of(st.text(max_size=60), st.just("https://a.example/%ff/cancel?x=%zz#/y")),
    title=texts,
    headings=st.lists(texts, max_size=4).map(tuple),
    alerts=st.lists(texts, max_size=3).map(tuple),
    elements=st.lists(elements, max_size=8).map(tuple),
)
phrase_lists = st.lists(st.one_of(st.sampled_from(LISTED), st.text(max_size=20)), max_size=5)
places = st.sampled_from(["url", "title", "heading", "button", "field", "alert", "text"])
signs = st.lists(st.builds(Sign, places, st.one_of(st.text(max_size=20), words)), max_size=3)
rules = st.builds(
    StateRule,
    state=st.sampled_from(CAREFUL),
    signs=signs.map(tuple),
    weight=st.integers(-5, 50),
    unless=signs.map(tuple),
)
services = st.builds(Service, st.just("any"), states=st.lists(rules, max_size=4).map(tuple))


@given(pages, phrase_lists, services)
def test_any_page_has_one_state_the_same_each_time(
    page: Page, phrases: list[str], service: Service
) -> None:
    state = detect(page, phrases, service)
    assert state in CAREFUL
    assert detect(page, tuple(reversed(phrases)), service) == state


@given(pages, phrase_lists, st.randoms(use_true_random=False))
def test_the_order_of_what_is_on_a_page_does_not_matter(
    page: Page, phrases: list[str], dice: random.Random
) -> None:
    mixed = replace(
        page,
        elements=tuple(dice.sample(page.elements, len(page.elements))),
        headings=tuple(dice.sample(page.headings, len(page.headings))),
    )
    assert detect(mixed, phrases) == detect(page, phrases)


def rewritten(page: Page, how: str) -> Page:
    def again(said: Untrusted) -> Untrusted:
        text = said.text.upper() if how == "louder" else said.text.replace(" ", " \n\t ")
        return Untrusted(f"  {text} " if how == "wider" else text)

    return replace(
        page,
        title=again(page.title),
        headings=tuple(map(again, page.headings)),
        alerts=tuple(map(again, page.alerts)),
        elements=tuple(replace(each, name=again(each.name)) for each in page.elements),
    )


@for_each("how", ["louder", "wider"])
def test_neither_case_nor_spaces_matter(how: str) -> None:
    for state, what, page, phrases in CASES:
        assert detect(rewritten(page, how), phrases) == state, what


def test_a_host_says_nothing() -> None:
    page, phrases = shown("Tide / # Tide", url="https://login-error.cancel.example/")
    assert detect(page, phrases, _rule("FAILED", Sign("url", "error"))) == "UNKNOWN"


# ---- what a page looks like ---------------------------------------------------------------------


def test_what_running_text_says_counts_less_on_a_page_that_lists_many_things() -> None:
    said = "Your card was declined."
    plain = shown(f"Tide / # Tide / {said}", links=("Home",))
    listing = shown(f"Tide / # Tide / {said}", links=("Home", *["Open"] * 3))
    assert [detect(*plain), detect(*listing)] == ["FAILED", "UNKNOWN"]


def test_links_that_are_headlines_make_a_page_one_to_read() -> None:
    said = "Your card was declined."
    headlines = [f"A {word} that nobody had ever seen" for word in ("ship", "whale", "storm")]
    few = shown(f"Tide / # Tide / {said}", links=headlines[:1])
    many = shown(f"Tide / # Tide / {said}", links=headlines)
    assert [detect(*few), detect(*many)] == ["FAILED", "UNKNOWN"]


def test_a_question_that_cannot_be_answered_is_only_talked_of() -> None:
    asked = shown("Tide / # Are you sure? / [Yes, cancel] / [Go back]")
    told = shown("Tide / # Are you sure? / <Home>")
    assert [detect(*asked), detect(*told)] == ["FINAL_CONFIRMATION", "UNKNOWN"]


def test_the_rule_of_a_service_stands_whatever_the_page_looks_like() -> None:
    page, phrases = shown("Tide / # Ahoy", links=["Open"] * 5)
    assert detect(page, phrases, _rule("COMPLETE", Sign("heading", "ahoy"))) == "COMPLETE"


def test_a_bar_in_the_rule_of_a_service_is_no_choice() -> None:
    page, _ = shown("Account | Tide")
    assert detect(page, (), _rule("COMPLETE", Sign("title", "Account | Tide"))) == "COMPLETE"
    assert detect(page, (), _rule("COMPLETE", Sign("title", "Account | Ebb"))) == "UNKNOWN"


# ---- words --------------------------------------------------------------------------------------


def _rule(
    state: PageState, *signs: Sign, weight: int = 1, unless: tuple[Sign, ...] = ()
) -> Service:
    return Service("tide", states=(StateRule(state, signs, weight, unless),))


@for_each(
    "where, says, there",
    [
        ("heading", "set sail", True),
        ("heading", "SET  SAIL!", True),
        ("heading", "set", True),
        ("heading", "sailing", False),
        ("heading", "et sail", False),
        ("heading", "sail aboard", False),
        ("heading", "# fathoms", True),
        ("heading", "12 fathoms", True),
        ("heading", "# sail", False),
        ("heading", "", False),
        ("heading", "!?", False),
        ("heading", "don't sink", True),
        ("heading", "don\u2019t sink", True),
        ("heading", "航海", True),
        ("button", "aboard", True),
        ("button", "a name", False),
        ("field", "a name", True),
        ("field", "by day", True),
        ("field", "aboard", False),
        ("title", "harbour", True),
        ("alert", "high tide", True),
        ("url", "ship log", True),
        ("url", "größe", True),
        ("url", "sea", False),
    ],
)
def test_a_sign_is_whole_words_in_its_place(where: Where, says: str, there: bool) -> None:
    page, _ = shown(
        "Harbour / # Set sail / # At 12 fathoms / # Don\u2019t sink / # 大航海時代 / "
        "[All aboard] / _A name_ / (By day) / ! High tide",
        url="https://sea.example/ship-log?gr%C3%B6%C3%9Fe=1",
    )
    assert detect(page, (), _rule("COMPLETE", Sign(where, says))) == (
        "COMPLETE" if there else "UNKNOWN"
    )


def test_words_are_not_found_across_two_elements() -> None:
    page, _ = shown("Tide / [Set] / [Sail]")
    assert detect(page, (), _rule("COMPLETE", Sign("button", "set sail"))) == "UNKNOWN"


def test_text_counts_only_if_the_page_was_found_to_say_it() -> None:
    page, _ = shown("Tide / # Under way")
    service = _rule("COMPLETE", Sign("text", "Under  way"))
    assert detect(page, (), service) == "UNKNOWN"
    assert detect(page, ("over board",), service) == "UNKNOWN"
    assert detect(page, ("under way",), service) == "COMPLETE"


# ---- rules of a service -------------------------------------------------------------------------


def test_a_plain_rule_of_a_service_is_enough_for_a_page_that_says_nothing_else() -> None:
    page, phrases = shown("Tide / # Ahoy")
    assert detect(page, phrases) == "UNKNOWN"
    assert detect(page, phrases, _rule("COMPLETE", Sign("heading", "ahoy"))) == "COMPLETE"


def test_a_heavier_rule_of_a_service_outweighs_what_holds_everywhere() -> None:
    page, phrases = shown(SKETCHES["plain"]["LOGIN_REQUIRED"]["a form"])
    light = _rule("ACCOUNT_ACTIVE", Sign("title", "tide"))
    heavy = _rule("ACCOUNT_ACTIVE", Sign("title", "tide"), weight=10)
    assert detect(page, phrases, light) == "LOGIN_REQUIRED"
    assert detect(page, phrases, heavy) == "ACCOUNT_ACTIVE"


def test_every_sign_must_be_there_and_none_that_excludes() -> None:
    both = (Sign("heading", "ahoy"), Sign("button", "aboard"))
    service = _rule("COMPLETE", *both, unless=(Sign("alert", "storm"),))
    one, _ = shown("Tide / # Ahoy")
    two, _ = shown("Tide / # Ahoy / [All aboard]")
    three, _ = shown("Tide / # Ahoy / [All aboard] / ! Storm ahead")
    assert [detect(page, (), service) for page in (one, two, three)] == [
        "UNKNOWN",
        "COMPLETE",
        "UNKNOWN",
    ]


def test_a_rule_without_a_sign_says_nothing() -> None:
    page, _ = shown("Tide / # Ahoy")
    assert detect(page, (), _rule("COMPLETE", weight=100)) == "UNKNOWN"


def test_where_as_much_speaks_for_two_states_it_is_the_one_to_be_careful_with() -> None:
    page, _ = shown("Tide / # Ahoy")
    states: tuple[PageState, ...] = ("COMPLETE", "FINAL_CONFIRMATION", "ACCOUNT_ACTIVE")
    either = tuple(StateRule(state, (Sign("heading", "ahoy"),)) for state in states)
    assert detect(page, (), Service("tide", states=either)) == "FINAL_CONFIRMATION"


# ---- where a person is asked for leave ----------------------------------------------------------

# What the seeds stop at: the title of the last page, or its last button.
BY_TITLE = Checkpoint("the last page", (Sign("title", "finish cancellation"),))
BY_BUTTON = Checkpoint("the last button", (Sign("button", "finish cancellation"),), always=True)
STREAM = Service("stream", checkpoints=(BY_TITLE, BY_BUTTON))


@for_each(
    "seen, reached",
    [
        (shown("Finish Cancellation - Stream"), BY_TITLE),
        (shown("Stream / [Go back] / [Finish Cancellation]"), BY_BUTTON),
        (shown("Finish cancellation / [Finish cancellation]"), BY_TITLE),
        (shown("Stream / # Finish cancellation / finish cancellation"), None),
        (shown("Stream / [Finish] / [Cancellation]"), None),
        (shown("Stream / [Cancel membership]"), None),
    ],
)
def test_a_checkpoint_is_reached_where_its_signs_are(
    seen: tuple[Page, tuple[str, ...]], reached: Checkpoint | None
) -> None:
    assert checkpoint_of(*seen, STREAM) == reached


def test_every_sign_of_a_checkpoint_must_be_there() -> None:
    stop = Checkpoint("no refunds", (Sign("button", "confirm"), Sign("text", "No  refunds")))
    service = Service("stream", checkpoints=(stop,))
    page, _ = shown("Stream / [Confirm]")
    assert checkpoint_of(page, (), service) is None
    assert checkpoint_of(page, ("no refunds",), service) == stop
    assert checkpoint_of(page, ("no refunds",), Service("stream")) is None
    assert checkpoint_of(page, ("no refunds",), None) is None
    assert phrases_for(RunSettings(service=service)) == ("no refunds", *LISTED)


# ---- what the page is asked for -----------------------------------------------------------------


def test_every_text_that_is_asked_for_is_listed_once_what_was_stated_first() -> None:
    service = _rule("COMPLETE", Sign("text", "All  ABOARD"), unless=(Sign("text", "don't"),))
    criteria = Criteria(
        success=(Indicator("text", "Ship ahoy"), Indicator("title", "not text")),
        failure=(Indicator("text", "all aboard"),),
    )
    listed = phrases_for(RunSettings(service=service, criteria=criteria))
    assert listed[:4] == ("ship ahoy", "all aboard", "don't", "don\u2019t")
    assert listed[4:] == LISTED
    assert len(set(listed)) == len(listed)
    assert all(phrase == phrase.casefold() and phrase.strip() for phrase in listed)


def test_the_rules_that_hold_everywhere_are_whole() -> None:
    """No empty words, and numbers only where words are counted: text is searched as it stands."""
    used = [sign for rule in state_rules().generic for sign in (*rule.signs, *rule.unless)]
    assert all(sign.says == " ".join(sign.says.split()) != "" for sign in used)
    assert not [sign for sign in used if sign.where == "text" and "#" in sign.says]
    # A browser lowers letters without folding them, so rules keep clear of those that differ.
    assert not [sign for sign in used if sign.where == "text" and sign.says != sign.says.casefold()]
    assert {rule.state for rule in state_rules().generic} == set(CAREFUL) - {"START"}


NO_SIGN_IN = {
    "somebody else is added": shown(
        "Add user | Site administration / # Add user / _Username_ / _Password_ / _Password "
        "confirmation_ / [Save] / [Save and add another]",
        url="https://desk.example/admin/auth/user/add/",
    ),
    "with a role": shown(
        "New member / # New member / _Email_ / _Password_ / (Reader) / (Editor) / [Invite]"
    ),
    "settings that want the password": shown(
        "Profile / # Profile / _First name_ / _Last name_ / _Email_ / _Password_ / [Save changes]"
    ),
    "a password is changed": shown(
        "Password / # Password / _Password_ / _Retype password_ / [Change]"
    ),
    "somebody registers": shown("Join / # Join us / _Email_ / _Password_ / [Create account]"),
}


def test_a_password_among_other_things_is_no_sign_in() -> None:
    for what, (page, phrases) in NO_SIGN_IN.items():
        assert detect(page, phrases) != "LOGIN_REQUIRED", what


def test_one_that_asks_who_it_is_still_is() -> None:
    says_nothing = shown("Tide / # Tide / _Email_ / _Password_ / [Continue]")
    of_a_bank = shown("Tide / # Tide / _Customer number_ / _Branch_ / _PIN_ / [Next]")
    beside = shown("Sign in / # Sign in / _Email_ / _Password_ / [Create account]")
    for page, phrases in (says_nothing, of_a_bank, beside):
        assert detect(page, phrases) == "LOGIN_REQUIRED", page
