"""A coast is many made-up sites and routes through them: sessions of a long log run there.

A site has sections; a section has a list with a few entries, an entry has a form, and a form that
was sent has a page that says so. Numbers in addresses differ from session to session, selectors do
not. Routes on one site share their beginnings, and all sites have some selectors in common.
"""

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import NamedTuple

from rutter.events.action import Action, ByCss, Parameter, Target, Text
from rutter.events.workflow import Step
from rutter.pipeline.rehearsal.sheets import ScriptedElement, ScriptedPage
from rutter.pipeline.rehearsal.world import ScriptedWorld

SITES = 40
SECTIONS = 6
TOPICS = 8
WAYS = 300
KEPT = 400  # pages of so many (site, number) pairs are drawn once
NUMBERS = 16  # entries of a site that sessions begin with

NOUNS = (
    "Berths", "Charters", "Crews", "Cargoes", "Invoices", "Permits", "Repairs", "Routes", "Stores",
    "Surveys", "Tenders", "Tides", "Tows", "Visits", "Warrants", "Yards", "Ledgers", "Manifests",
)  # fmt: skip
PLACES = ("First", "Second", "Third")  # an entry is called by its place: a redesign has other names
FIELDS = ("owner", "weight", "quay", "remark", "agent")


class Site(NamedTuple):
    number: int

    @property
    def origin(self) -> str:
        return f"https://port-{self.number:02d}.example"

    def noun(self, section: int) -> str:
        return NOUNS[(self.number * 5 + section * 3) % len(NOUNS)]

    def path(self, section: int) -> str:
        return f"/{self.noun(section).lower()}-{section}"

    def id(self, section: int, what: str) -> str:
        """The selector of something that only this section of this site has."""
        return f"#{self.noun(section).lower()}-{self.number}-{what}"


def world(site: Site, number: int, *, redesigned: bool = False) -> ScriptedWorld:
    """The site as one session finds it; `number` is in the addresses of its entries. Redesigned,
    its buttons have other selectors."""
    return ScriptedWorld(
        _sheets(site, 1_000 + number % NUMBERS * 37, redesigned), origin=site.origin
    )


@lru_cache(maxsize=KEPT)
def _sheets(site: Site, first: int, redesigned: bool) -> dict[str, ScriptedPage]:
    sheets = {"/": _page(site, f"Port {site.number}", _home())}
    for topic in range(TOPICS):
        sheets[f"/help/{topic}"] = _page(site, f"Help, chapter {topic}", {})
    for section in range(SECTIONS):
        noun, path = site.noun(section), site.path(section)
        entries = [first + section * 100 + entry for entry in range(len(PLACES))]
        sheets[path] = _page(site, noun, _listed(site, section, entries))
        for entry in entries:
            form = _form(site, section, f"{path}/{entry}", "-now" if redesigned else "")
            sheets[f"{path}/{entry}"] = _page(site, f"{noun} {entry}", form)
            back = ScriptedElement("a", "link", f"Back to {noun.lower()}", leads_to=path)
            sheets[f"{path}/{entry}/kept"] = _page(site, f"{noun} {entry} is kept", {"#back": back})
    return sheets


def _page(site: Site, heading: str, own: dict[str, ScriptedElement]) -> ScriptedPage:
    """What every page of a site has, around what this one has of its own."""
    ways = {
        site.id(each, "go"): ScriptedElement("a", "link", site.noun(each), leads_to=site.path(each))
        for each in range(SECTIONS)
    }
    topics = {
        f"#help-{topic}": ScriptedElement(
            "a", "link", f"Chapter {topic}", leads_to=f"/help/{topic}"
        )
        for topic in range(TOPICS)
    }
    home = ScriptedElement("a", "link", "Home", leads_to="/")
    return ScriptedPage(heading, {"#home": home, **ways, **own, **topics})


def _home() -> dict[str, ScriptedElement]:
    return {
        "#q": ScriptedElement("input", "searchbox", "Search"),
        "#theme": ScriptedElement(name="Larger letters"),
    }


def _listed(site: Site, section: int, entries: list[int]) -> dict[str, ScriptedElement]:
    noun, path = site.noun(section).lower(), site.path(section)
    rows = {
        site.id(section, f"row-{row}"): ScriptedElement(
            "a", "link", f"{place} of {noun}", leads_to=f"{path}/{entry}"
        )
        for row, (place, entry) in enumerate(zip(PLACES, entries, strict=True))
    }
    return {
        site.id(section, "filter"): ScriptedElement("input", "textbox", f"Filter {noun}"),
        "#newest": ScriptedElement(name="Newest first"),
        **rows,
    }


def _form(site: Site, section: int, path: str, suffix: str) -> dict[str, ScriptedElement]:
    noun = site.noun(section)
    fields = {
        site.id(section, field): ScriptedElement("input", "textbox", f"{noun} {field}")
        for field in FIELDS
    }
    kept = ScriptedElement(name="Keep", leads_to=f"{path}/kept", submits=True, method="post")
    return {
        **fields,
        f"#draft{suffix}": ScriptedElement(name="Draft"),
        site.id(section, f"keep{suffix}"): kept,
    }


# -- ways ------------------------------------------------------------------------------------------


class Move(NamedTuple):
    """A move is one step of a route: an element by its selector, and the parameter typed there."""

    selector: str
    field: str = ""


class Way(NamedTuple):
    name: str
    site: Site
    moves: tuple[Move, ...]

    @property
    def url(self) -> str:
        return self.site.origin + "/"

    def script(self) -> tuple[Step, ...]:
        first = Action("navigate", url=self.url)
        return tuple(map(Step, (first, *map(action_of, self.moves))))


def way(number: int) -> Way:
    """The way of this number: to a section, an entry, some fields of its form, and to its end."""
    chance = Random(number)
    site = Site(number % SITES)
    section = chance.randrange(SECTIONS)
    moves = [Move(site.id(section, "go"))]
    if chance.random() < 0.3:
        moves.append(Move(site.id(section, "filter"), "owner"))
    if chance.random() < 0.3:
        moves.append(Move("#newest"))
    moves.append(Move(site.id(section, f"row-{chance.randrange(len(PLACES))}")))
    fields = chance.sample(FIELDS, chance.randint(1, 4))
    moves += [Move(site.id(section, field), field) for field in fields]
    if chance.random() < 0.4:
        moves.append(Move("#draft"))
    moves.append(Move(site.id(section, "keep")))
    if chance.random() < 0.4:
        moves.append(Move("#back"))
    return Way(f"{site.noun(section).lower()}-{number:03d}", site, tuple(moves))


def values(chance: Random) -> dict[str, str]:
    return {field: f"{field} {chance.randrange(10_000)}" for field in FIELDS}


def action_of(move: Move) -> Action:
    target = Target((ByCss(move.selector),))
    if not move.field:
        return Action("click", target=target)
    return Action("type", target=target, value=Parameter(move.field))


def strolled(way: Way, here: ScriptedWorld, chance: Random) -> Iterator[Action]:
    """How a person goes it: mostly straight on, now and then astray, then sometimes back.

    Each action is found on the page as it is when it is asked for; the caller does it.
    """
    for move in way.moves:
        while chance.random() < 0.15:
            yield from _astray(here, chance)
        if move.selector in here.things():
            yield action_of(move)


def _astray(here: ScriptedWorld, chance: Random) -> Iterator[Action]:
    """Something else that is there; half of the time they see that it is not what they wanted."""
    before = here.url
    selector = chance.choice(list(here.things()))
    target = Target((ByCss(selector),))
    if here.things()[selector].tag == "input":
        yield Action("type", target=target, value=Text(f"{chance.randrange(100)}"))
        return
    yield Action("click", target=target)
    if here.url != before and chance.random() < 0.5:
        yield Action("navigate", url=before)
