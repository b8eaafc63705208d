"""The pages bench predicts the same made-up walks with the page and without it.

Three sites: an office whose two wizards share fields and buttons, with a header, errors by chance,
distractions and sessions that begin anywhere; forms that only the page tells apart; and a site of
chance, where what one does next is a matter of the page more than of what one did. Each is foreseen
with no place, its own places, and places that tell nothing: one for all, one by chance, the last
token. Sequences of people (see `bench foresight`) have no pages; with such places they show what a
useless one costs.
"""

import math
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time_ns

from bench.foresight import BESIDE, EVENTS, floor_of, scoring
from bench.tables import Cell, middle, print_table
from rutter.actors.predictor.model.foresight import Foresight
from rutter.events.run_settings import MILLION

SEEDS = (1, 2, 3, 4)
SESSIONS = 650
ASKED = 10
BINS = 10
PLACES = ("none", "its own", "one", "by chance", "the last token")

Leads = Mapping[str, Mapping[str, list[str]]]  # from a page by a token to a page
Walk = list[tuple[str, str]]  # the page that one is on, what is done there; "" did not come about

HEADER = {"home": "/", "orders": "/orders", "customers": "/customers", "reports": "/reports"}
# Page, token, where it leads; the second of two one time in eight.
OFFICE = """
/ tasks /tasks
/orders row /orders/*
/orders new /orders/new
/orders search /orders
/customers row /customers/*
/customers new /customers/new
/customers search /customers
/orders/* edit /orders/*/edit
/orders/* print /orders/*
/orders/* cancel /orders/*:ask
/orders/*:ask confirm /orders/*
/customers/* edit /customers/*/edit
/orders/new name /orders/new
/orders/new amount /orders/new
/orders/new next /orders/new/address /orders/new:wrong
/orders/new:wrong amount /orders/new:wrong
/orders/new:wrong next /orders/new/address
/orders/new/address street /orders/new/address
/orders/new/address next /orders/new/check
/orders/new/check agree /orders/new/check
/orders/new/check submit /orders/*
/customers/new name /customers/new
/customers/new email /customers/new
/customers/new next /customers/new/address /customers/new:wrong
/customers/new:wrong email /customers/new:wrong
/customers/new:wrong next /customers/new/address
/customers/new/address street /customers/new/address
/customers/new/address next /customers/new/last
/customers/new/last save /customers/*
/orders/*/edit amount /orders/*/edit
/orders/*/edit save /orders/*
/customers/*/edit email /customers/*/edit
/customers/*/edit save /customers/*
/reports month /reports
/reports next /reports/view
/reports/view download /reports/view
/tasks row /orders/* /customers/*
"""
ERRANDS = (
    "orders new name amount next street next agree submit",
    "customers new name email next street next save",
    "orders row edit amount save print",
    "customers search row edit email save",
    "orders search row cancel confirm",
    "reports month next download",
    "home tasks row edit save",
)
FORMS = {
    "/hire": "name street next date next agree next iban next finish",
    "/claim": "name street next date amount next reason next agree next send",
    "/move": "street next date next agree next send",
}


def office(seed: int) -> Iterator[Walk]:
    dice = random.Random(seed)
    leads: dict[str, dict[str, list[str]]] = {}
    for line in OFFICE.split("\n"):
        if line:
            page, token, *to = line.split()
            leads.setdefault(page, {})[token] = to
    weights = [dice.random() + 0.2 for _ in ERRANDS]
    for _ in range(SESSIONS):
        page = "/" if dice.random() < 0.6 else dice.choice(list(leads))
        walk: Walk = []
        for errand in dice.choices(ERRANDS, weights, k=dice.choice((1, 1, 2, 3))):
            for wanted in errand.split():
                page = _towards(dice, leads, page, wanted, walk)
        yield walk


def _towards(dice: random.Random, leads: Leads, page: str, to: str, walk: Walk) -> str:
    """What an errand wants next, where that is possible; now and then something else before."""
    chance = dice.random()
    if chance < 0.03:
        walk.append((page, ""))
    elif chance < 0.11:
        other = dice.choice([*HEADER, *leads[page]])
        walk.append((page, other))
        page = HEADER.get(other) or leads[page][other][0]
    if to not in leads[page] and to not in HEADER:
        return page
    walk.append((page, to))
    ways = leads[page].get(to) or [HEADER[to]]
    page = ways[-1] if dice.random() < 1 / 8 else ways[0]
    if page.endswith(":wrong"):  # it is mended first
        for again in leads[page]:
            walk.append((page, again))
        page = leads[page]["next"][0]
    return page


def forms(seed: int) -> Iterator[Walk]:
    dice = random.Random(seed)
    for _ in range(SESSIONS):
        name = dice.choice(list(FORMS))
        steps = FORMS[name].split()
        begun = 0 if dice.random() < 0.5 else dice.randrange(len(steps))
        page = steps[:begun].count("next")
        walk: Walk = []
        for step in steps[begun:]:
            if dice.random() < 0.09:
                walk.append((f"{name}/{page}", dice.choice(("help", "save draft", ""))))
            walk.append((f"{name}/{page}", step))
            page += step == "next"
        yield walk


def chance(seed: int) -> Iterator[Walk]:
    dice = random.Random(seed)
    pages = [f"/{number}" for number in range(20)]
    own = {page: dice.sample(range(60), 6) for page in pages}
    leads = {(page, el): dice.choices(pages, k=2) for page in pages for el in own[page]}
    for _ in range(SESSIONS):
        page, last, walk = dice.choice(pages[:5]), 0, []
        for _ in range(dice.randint(4, 25)):
            first = (int(page[1:]) + last) % 6
            favoured = own[page][first:] + own[page][:first]
            last = dice.choices(favoured, (100, 36, 16, 4, 1, 1))[0]
            walk.append((page, f"element {last}"))
            page = leads[page, last][dice.random() < 0.3]
        yield walk


SITES: Mapping[str, Callable[[int], Iterator[Walk]]] = {
    "office": office,
    "forms": forms,
    "chance": chance,
}


def placed(walks: Sequence[Walk], how: str) -> Iterator[Walk]:
    dice = random.Random(5)
    for walk in walks:
        last = "start"
        made: Walk = []
        for page, token in walk:
            by_chance = dice.choice("abcdefgh")
            made.append(
                (dict(zip(PLACES, ("", page, "/", by_chance, last), strict=True))[how], token)
            )
            last = token or last
        yield made


class Score:
    """A score says how often it was right, how sure it was, and what it cost."""

    def __init__(self) -> None:
        self.asked = self.right = 0
        self.bits = 0.0
        self.best: list[float | None] = []
        self.bins = [0.0] * BINS
        self.predicting: list[float] = []
        self.observing: list[float] = []

    def add(self, found: Sequence[tuple[str, int]], token: str, known: int) -> None:
        self.asked += 1
        shares = {each: share / MILLION for each, share in found}
        left = max(1.0 - sum(shares.values()), 1e-6) / max(1, known + 1 - len(shares))
        self.bits -= math.log2(max(shares.get(token, left), 1e-9))
        best, share = (found[0][0], found[0][1] / MILLION) if found else ("", 0.0)
        self.right += best == token
        self.best.append(share)
        self.bins[min(BINS - 1, int(share * BINS))] += (best == token) - share

    @property
    def ece(self) -> float:
        return sum(map(abs, self.bins)) / self.asked


def foreseen(walks: Iterable[Walk]) -> Score:
    """Every step of these walks, from nothing: asked, then learned."""
    model, score = Foresight(), Score()
    known: set[str] = set()
    for walk in walks:
        history: list[str] = []
        for place, token in walk:
            if token:
                began = process_time_ns()
                found = model.predict(history, ASKED, place=place)
                asked = process_time_ns()
                model.observe(history, token, place=place)
                score.observing.append((process_time_ns() - asked) / 1_000)
                score.predicting.append((asked - began) / 1_000)
                score.add(found, token, len(known))
                known.add(token)
            history.append(token)
    return score


def _sequences() -> list[list[Walk]]:
    folder = Path(os.environ.get("RUTTER_SEQUENCES") or BESIDE)
    score = scoring(folder)
    if score is None:
        return []
    return [
        [[("", token) for token in sequence] for sequence in score.load(str(path), EVENTS)]
        for path in sorted(folder.glob("*.seq"))
    ]


def _measured(name: str, logs: Sequence[Sequence[Walk]], how: str) -> list[Cell]:
    """The mean over these logs."""
    scores = [foreseen(placed(log, how)) for log in logs]
    top, bits, ece, floor = (
        sum(each) / len(scores)
        for each in zip(
            *(
                (100 * one.right / one.asked, one.bits / one.asked, one.ece, floor_of(one.best))
                for one in scores
            ),
            strict=True,
        )
    )
    steps = sum(one.asked for one in scores)
    predicting = [time for one in scores for time in one.predicting]
    observing = [time for one in scores for time in one.observing]
    row: list[Cell] = [name, how, f"{steps:,}", f"{top:.2f}", f"{bits:.3f}", f"{ece:.4f}"]
    return [*row, f"{floor:.4f}", middle(predicting), middle(observing)]


def main() -> None:
    rows: list[list[Cell]] = []
    for name, walk in SITES.items():
        made = [list(walk(seed)) for seed in SEEDS]
        rows += [_measured(name, made, how) for how in PLACES]
    files = _sequences()
    rows += [_measured("people", files, how) for how in PLACES if files and how != "its own"]
    columns = (
        "site",
        "place",
        "steps",
        "top-1",
        "bits",
        "ece",
        "floor",
        "predict us",
        "observe us",
    )
    about = f"{len(SEEDS)} sites of each kind, {SESSIONS} sessions each, every one from nothing"
    print_table(about, columns, rows)
