"""The rules of page states add up what speaks for each state of a page (F6).

Pure lookups in what was observed: words in places, whole and in any case, found in linear time.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple
from unicodedata import normalize

from rutter.actors.rules.pages.address import ada_url_decode
from rutter.actors.rules.pages.state_rules import OR, state_rules
from rutter.events.checks import PageState
from rutter.events.page import Page, PageElement
from rutter.events.run_settings import RunSettings
from rutter.events.service_pack import Checkpoint, Service, Sign, StateRule, Where

# Below this the page may be anything: one decisive sign, or two that would not do alone.
ENOUGH = 7
# Rules share words ("your plan", "plan"): a place that says the same thrice does not make it surer.
COUNTED = 2
# Who wrote the rules of a service knows its pages: a plain rule of theirs is enough.
SERVICE_COUNTS = ENOUGH
# What a page looks like speaks for UNKNOWN: a list of many, a text to be read, links that are the
# headlines of other texts. There, words in running text are about somebody else.
REPEATED = 3
LISTS = 9
HEADLINE_WORDS = 5
HEADLINES = 3
MOST_HEADLINES = 9
SECTIONS = 4
READS = 6
SEARCHES = 2
ABOUT = 9
# What is only talked of counts as the third part.
HEARSAY = 3
# These ask for an answer: where there is nothing to answer with they are talked of at most.
QUESTIONS: frozenset[PageState] = frozenset(
    ("FINAL_CONFIRMATION", "RETENTION_OFFER", "EXIT_SURVEY")
)
ANSWERS: frozenset[Where] = frozenset(("button", "field"))
# Where as much speaks for two states: that it is none of them first, then what asks for the most
# care, and that it is done last.
CAREFUL: tuple[PageState, ...] = (
    "UNKNOWN",
    "FINAL_CONFIRMATION",
    "LOGIN_REQUIRED",
    "FAILED",
    "THIRD_PARTY_BILLING",
    "EXIT_SURVEY",
    "RETENTION_OFFER",
    "ACCOUNT_ACTIVE",
    "ACCOUNT_CANCELLED",
    "COMPLETE",
    "START",
)
# Who signs in says who they are, and is asked for a code at most; whoever is asked for more, or may
# save something, does something else with a password.
MOST_ASKED = 3
BUTTONS = frozenset(("button", "link", "menuitem", "tab"))
TYPED = frozenset(("textbox", "searchbox", "combobox", "listbox", "spinbutton", "slider"))
CHOSEN = frozenset(("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "option"))
FIELDS = TYPED | CHOSEN
NAMED = BUTTONS | CHOSEN
# What the browser shows of its own accord.
BROWSER_ERROR = "chrome-error:"
NOT_LOADED = ("about:", "chrome://newtab", "chrome://new-tab-page")

# Japanese and Chinese put no spaces between words: each of their signs is a word of its own.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+|#")
_NUMBER = re.compile(r"(?<= )\d+(?= )")


class SignWords(NamedTuple):
    """A sign is made ready as words between spaces, `#` for any number; one of `said` will do."""

    where: Where
    said: tuple[str, ...]


class PreparedRule(NamedTuple):
    state: PageState
    weight: int
    signs: tuple[SignWords, ...]
    unless: tuple[SignWords, ...]


class PageWords(NamedTuple):
    """A page's words stand by their place, as they are and with `#` for every number."""

    places: dict[Where, str]
    numbered: dict[Where, str]
    phrases: frozenset[str]


def detect(page: Page, phrases: Collection[str], service: Service | None = None) -> PageState:
    """The state that most speaks for, if enough does; UNKNOWN is one that rules can speak for."""
    if page.url.startswith(BROWSER_ERROR):
        return "FAILED"
    if _is_start(page):
        return "START"
    said = _said_on(page, phrases)
    own = [rule for rule in _made_ready(service.states if service else ()) if _speaks(rule, said)]
    # Who wrote rules for a page knows what it looks like.
    scores = _generic_scores(said, 0 if own else _looks_like_text(page), page.elements)
    for rule in own:
        scores[rule.state] += rule.weight * SERVICE_COUNTS
    # The first of equals is taken: `scores` is in the order of CAREFUL.
    best = max(scores, key=lambda state: scores[state])
    return best if scores[best] >= ENOUGH else "UNKNOWN"


def _generic_scores(
    said: PageWords, looks: int, elements: Sequence[PageElement]
) -> dict[PageState, int]:
    """What speaks for each state: in each place the COUNTED rules that weigh most."""
    generic = _generic()
    spoken = [
        rule for key in _keys_of(said) for rule in generic.get(key, ()) if _speaks(rule, said)
    ]
    answerable = {rule.state for rule in spoken for sign in rule.signs if sign.where in ANSWERS}
    if not said.places["field"].isspace():
        answerable.add("EXIT_SURVEY")
    weights: dict[tuple[PageState, Where], list[int]] = {}
    for rule in spoken:
        asks_in_vain = rule.state in QUESTIONS and rule.state not in answerable
        weight = rule.weight // HEARSAY if asks_in_vain else rule.weight
        weights.setdefault((rule.state, rule.signs[0].where), []).append(weight)
    speaks = {where for state, where in weights if state == "LOGIN_REQUIRED"}
    if _asks_for_more(elements, named=bool(speaks - {"field", "url"})):
        weights.pop(("LOGIN_REQUIRED", "field"), None)
    counted = {key: sum(sorted(each)[-COUNTED:]) for key, each in weights.items()}
    scores = dict.fromkeys(CAREFUL, 0)
    scores["UNKNOWN"] = looks + sum(n for (state, _), n in counted.items() if state == "UNKNOWN")
    is_about = scores["UNKNOWN"] >= ABOUT
    for (state, where), points in counted.items():
        if state != "UNKNOWN":
            scores[state] += points // HEARSAY if is_about and where == "text" else points
    return scores


def _asks_for_more(elements: Sequence[PageElement], *, named: bool) -> bool:
    """Whether the fields of a page are not those of a sign-in, a password among them or not. One
    that is `named` a sign-in may have a button that saves."""
    asked = [
        each for each in elements if each.role in FIELDS - {"checkbox"} and not _searches(each)
    ]
    if len(asked) > MOST_ASKED:
        return True
    chosen = any(each.role != "textbox" for each in asked)
    buttons = [each.name.text for each in elements if each.role == "button"]
    saves = any(_has_word("word_saves", name) for name in buttons)
    return not named and (chosen or saves)


def _looks_like_text(page: Page) -> int:
    """What the page looks like, whatever it says: a list, a text to be read, a search."""
    names = Counter(each.name.text for each in page.elements if each.role in NAMED)
    headlines = sum(
        each.role == "link" and len(each.name.text.split()) >= HEADLINE_WORDS
        for each in page.elements
    )
    points = min(headlines * HEADLINES, MOST_HEADLINES)
    if any(name and count >= REPEATED for name, count in names.items()):
        points += LISTS
    if len(page.headings) >= SECTIONS and not any(map(_acts, page.elements)):
        points += READS
    if any(map(_searches, page.elements)):
        points += SEARCHES
    return points


def _searches(element: PageElement) -> bool:
    return element.role == "searchbox" or (
        element.role in TYPED and _has_word("word_searches", element.name.text)
    )


def _acts(element: PageElement) -> bool:
    """Whether something could be done with it other than search, agree or share."""
    if element.role in FIELDS:
        return not _searches(element)
    # What a reader is offered: to find, to agree, to pass on.
    offered = any(_has_word(words, element.name.text) for words in ("word_searches", "word_reads"))
    return element.role == "button" and not offered


def _has_word(words: str, name: str) -> bool:
    """Whether a name has one of these words, in any of the languages."""
    return not state_rules().words[words].isdisjoint(name.casefold().split())


def phrases_for(settings: RunSettings) -> tuple[str, ...]:
    """Every text that rules and criteria ask the page for, in lower case, each once."""
    criteria = settings.criteria
    indicators = (*criteria.success, *criteria.failure) if criteria else ()
    # What was stated for this run comes first, where to stop before all: there may be no room.
    service = settings.service
    stops = [each.signs for each in (service.checkpoints if service else ())]
    stops += [each.signs for each in (service.ways if service else ())]
    wanted = [
        *(says for signs in stops for sign in signs for says in _texts(sign)),
        *(each.says for each in indicators if each.where == "text"),
        *_asked_by(service.states if service else ()),
    ]
    spelled = (spelling for says in wanted for spelling in _spellings(says))
    return tuple(dict.fromkeys((*spelled, *_generic_phrases())))


@cache  # the same thousands for every run
def _generic_phrases() -> tuple[str, ...]:
    asked = _asked_by(state_rules().generic)
    return tuple(spelling for says in asked for spelling in _spellings(says))


def _asked_by(rules: Iterable[StateRule]) -> Iterator[str]:
    for rule in rules:
        for sign in (*rule.signs, *rule.unless):
            yield from _texts(sign)


def words_of(text: str) -> str:
    """The words of a text in lower case with a space around each: whole words are found by `in`."""
    return f" {' '.join(_WORD.findall(normalize('NFKC', text).casefold()))} "


def _texts(sign: Sign) -> tuple[str, ...]:
    return _alternatives(sign) if sign.where == "text" else ()


def _alternatives(sign: Sign) -> tuple[str, ...]:
    return tuple(sign.says.split(OR))


def _spellings(says: str) -> Iterator[str]:
    """Pages write the apostrophe in two ways, and are searched for what is written."""
    plain = " ".join(says.casefold().split())
    if plain:
        yield plain
    if "'" in plain:
        yield plain.replace("'", "\u2019")


def _is_start(page: Page) -> bool:
    """Nothing was asked for yet. A page that shows nothing is another matter."""
    return not page.url or page.url.startswith(NOT_LOADED)


def _made_ready(rules: Iterable[StateRule]) -> tuple[PreparedRule, ...]:
    return tuple(
        PreparedRule(rule.state, rule.weight, _ready(rule.signs), _ready(rule.unless))
        for rule in rules
    )


def _ready(signs: Iterable[Sign]) -> tuple[SignWords, ...]:
    return tuple(SignWords(sign.where, tuple(map(words_of, _alternatives(sign)))) for sign in signs)


def _by_first(rules: Iterable[PreparedRule]) -> dict[tuple[Where, str], list[PreparedRule]]:
    """Rules by the first word of their first sign: of thousands, a page has the words of a few."""
    found: dict[tuple[Where, str], list[PreparedRule]] = {}
    for rule in rules:
        where, alternatives = rule.signs[0]
        for said in alternatives:
            found.setdefault((where, said if where == "text" else said.split()[0]), []).append(rule)
    return found


@cache  # when the first page is looked at, not with every command: there are thousands
def _generic() -> dict[tuple[Where, str], list[PreparedRule]]:
    ready = _made_ready(state_rules().generic)
    return _by_first(dict.fromkeys(ready))  # two spellings are one rule


def _keys_of(said: PageWords) -> Iterator[tuple[Where, str]]:
    yield from (("text", phrase) for phrase in said.phrases)
    for where, words in said.places.items():
        yield from ((where, word) for word in {*words.split(), *said.numbered[where].split()})


def _speaks(rule: PreparedRule, said: PageWords) -> bool:
    """A rule without a sign says nothing, and so does a sign without a word."""
    return (
        bool(rule.signs)
        and all(_is_there(sign, said) for sign in rule.signs)
        and not any(_is_there(sign, said) for sign in rule.unless)
    )


def _is_there(sign: SignWords, said: PageWords) -> bool:
    if sign.where == "text":
        return any(each in said.phrases for each in sign.said)
    plain, numbered = said.places[sign.where], said.numbered[sign.where]
    return any(
        each in (numbered if "#" in each else plain) for each in sign.said if not each.isspace()
    )


def _said_on(page: Page, phrases: Collection[str]) -> PageWords:
    texts: dict[Where, list[str]] = {
        "url": [_behind_host(page.url)],
        "title": [page.title.text],
        "heading": [heading.text for heading in page.headings],
        "button": [],
        "field": [],
        "alert": [alert.text for alert in page.alerts],
    }
    for element in page.elements:
        if element.role == "heading":
            texts["heading"].append(element.name.text)
        elif element.role in BUTTONS:
            texts["button"].append(element.name.text)
        elif element.role in FIELDS:
            texts["field"].append(element.name.text)
    # A line for each, so that no words are found across two of them.
    places = {where: "\n".join(map(words_of, said)) for where, said in texts.items()}
    numbered = {where: _NUMBER.sub("#", said) for where, said in places.items()}
    return PageWords(places, numbered, frozenset(words_of(phrase) for phrase in phrases))


def _behind_host(url: str) -> str:
    """Path, query and fragment, by which some pages route. The host may be called anything."""
    return ada_url_decode(url.partition("://")[2].partition("/")[2])


def checkpoint_of(
    page: Page, phrases: Collection[str], service: Service | None
) -> Checkpoint | None:
    """The first of the service's checkpoints whose signs are all on the page."""
    if service is None or not service.checkpoints:
        return None
    said = _said_on(page, phrases)
    for checkpoint in service.checkpoints:
        if all(_is_there(sign, said) for sign in _ready(checkpoint.signs)):
            return checkpoint
    return None


def has_signs(signs: Iterable[Sign], page: Page, phrases: Collection[str]) -> bool:
    """Whether all of them are on the page."""
    said = _said_on(page, phrases)
    return all(_is_there(sign, said) for sign in _ready(signs))
