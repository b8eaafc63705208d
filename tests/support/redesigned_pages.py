"""Pages are made up from a seed, and redesigned: what moved, what is gone.

Every control has a `data-truth` of its own that nothing but the test reads. Two buttons that send
the same request count as one, so a look-alike always sends something else.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import escape

THINGS = ("order", "invoice", "customer", "report", "shipment", "vessel", "crew list", "contract")
VERBS = ("Save", "Send", "Open", "Archive", "Approve", "Print", "Cancel", "Review", "Delete", "Add")
FIELDS = ("Name", "Quantity", "Delivery date", "Berth", "Note", "Email", "Reference", "Port")
SYNONYMS = {
    "Save": "Keep", "Send": "Submit", "Open": "Show", "Archive": "Put away", "Approve": "Confirm",
    "Print": "Make a copy", "Cancel": "Call off", "Review": "Check", "Delete": "Erase",
    "Add": "Create",
}  # fmt: skip
FOLLOWED_BY = ("later", "all", "again", "as copy", "and close", "history")
ROWS = ("Aurora", "Juniper", "Isbjorn", "Tern", "Fairlead", "Kestrel", "Halcyon")


@dataclass(frozen=True)
class Control:
    """A control is clicked, or written into. `kind` says how it does what it does."""

    truth: str
    kind: str  # link | script_link | submit | script | field | bare_field | row
    label: str
    mark: str = ""
    does: str = ""  # address, name=value, or field name


@dataclass(frozen=True)
class Block:
    """A block has controls that stand together: a menu, a toolbar, a form, a table."""

    kind: str
    title: str
    controls: tuple[Control, ...]
    action: str = ""
    wrapped: int = 0


@dataclass(frozen=True)
class Design:
    blocks: tuple[Block, ...]
    classes: str = "a"
    ids: bool = True
    tests: bool = True


@dataclass(frozen=True)
class Case:
    """A case is a page as it was recorded, as it is now, and which control was recorded."""

    before: Design
    after: Design
    truth: str
    changes: tuple[str, ...] = field(default=())


def make_case(seed: int, *, gone: bool) -> Case:
    """`gone` takes the recorded control away: then nothing but a refusal is right."""
    chance = random.Random(seed)
    before = _design(chance)
    wanted = chance.choice([c for block in before.blocks for c in block.controls])
    if seed % 2:
        changes = [name for name in CHANGES if chance.random() < 0.4] or ["remark"]
    else:  # one or two things at a time, in the order of the table
        some = chance.sample(list(CHANGES), chance.randint(1, 2))
        changes = [name for name in CHANGES if name in some]
    after = before
    for name in changes:
        after = CHANGES[name](chance, after, wanted)
    if gone:
        after = _each(after, lambda c: None if c.truth == wanted.truth else c)
        changes.append("gone")
    return Case(before, after, wanted.truth, tuple(changes))


# -- a page as it was ------------------------------------------------------------------------------


def _design(chance: random.Random) -> Design:
    number = iter(range(1000))

    def control(kind: str, label: str, does: str = "") -> Control:
        truth = f"t{next(number)}"
        slug = label.lower().replace(" ", "-")
        return Control(truth, kind, label, f"{slug}-{truth}" if kind == "row" else slug, does)

    def phrases(count: int) -> list[str]:
        pairs = [f"{verb} {thing}" for verb in VERBS for thing in THINGS]
        return chance.sample(pairs, count)

    menu = Block("menu", "Main", tuple(
        control(chance.choice(["link", "link", "script_link"]), thing.capitalize(),
                chance.choice([f"/{thing.replace(' ', '-')}s", f"/?view={thing}"]))
        for thing in chance.sample(THINGS, 4)
    ))  # fmt: skip
    tools = Block(
        "tools", "Tools", tuple(control("script", text) for text in phrases(chance.randint(2, 4)))
    )
    forms = [
        Block("form", text, (
            *(control(kind, label, label.split()[0].lower()) for label in chance.sample(FIELDS, 3)
              for kind in [chance.choice(["field", "field", "bare_field"])]),
            *(control("submit", words, f"op={at}" if at else "")
              for at, words in enumerate(phrases(chance.randint(1, 2)))),
        ), action=chance.choice([f"/{text.split()[0].lower()}", f"/do/{text.split()[-1]}", ""]))
        for text in phrases(2)
    ]  # fmt: skip
    table = Block("table", "All of them", tuple(
        control("row", verb, f"/things/{chance.randint(1000, 9999)}/{verb.lower()}|{row}")
        for row in chance.sample(ROWS, 3) for verb in ("Edit", "Remove")
    ))  # fmt: skip
    blocks = [menu, tools, *forms, table]
    return Design(tuple(blocks))


# -- what a redesign does --------------------------------------------------------------------------


def _each(design: Design, change: Callable[[Control], Control | None]) -> Design:
    blocks = [
        replace(block, controls=tuple(new for c in block.controls if (new := change(c))))
        for block in design.blocks
    ]
    return replace(design, blocks=tuple(blocks))


def _remark(chance: random.Random, design: Design, wanted: Control) -> Design:
    suffix = chance.choice(["x", "-new", "-2b"])
    return _each(design, lambda c: replace(c, mark=f"z{len(c.mark)}{c.mark[::-1]}{suffix}"))


def _unmark(chance: random.Random, design: Design, wanted: Control) -> Design:
    return replace(design, ids=chance.random() < 0.5, tests=False)


def _reclass(chance: random.Random, design: Design, wanted: Control) -> Design:
    return replace(design, classes="b")


def _reorder(chance: random.Random, design: Design, wanted: Control) -> Design:
    blocks = [
        replace(block, controls=tuple(chance.sample(block.controls, len(block.controls))))
        if block.kind != "table" else block
        for block in design.blocks
    ]  # fmt: skip
    return replace(design, blocks=tuple(chance.sample(blocks, len(blocks))))


def _wrap(chance: random.Random, design: Design, wanted: Control) -> Design:
    return replace(
        design, blocks=tuple(replace(b, wrapped=chance.randint(0, 3)) for b in design.blocks)
    )


def _reworded(chance: random.Random, label: str) -> str:
    first, _, rest = label.partition(" ")
    way = chance.randrange(4)
    if way == 0:
        return f"{SYNONYMS.get(first, 'My ' + first.lower())} {rest}".strip()
    if way == 1:
        return f"{label} now"
    if way == 2:
        return "Continue"
    return label.upper() if rest else f"The {label.lower()}"


def _reword_it(chance: random.Random, design: Design, wanted: Control) -> Design:
    said = _reworded(chance, wanted.label)
    return _each(design, lambda c: replace(c, label=said) if c.truth == wanted.truth else c)


def _reword_others(chance: random.Random, design: Design, wanted: Control) -> Design:
    return _each(
        design,
        lambda c: (
            c
            if c.truth == wanted.truth or c.kind == "row" or chance.random() < 0.5
            else replace(c, label=_reworded(chance, c.label))
        ),
    )


def _readdress(chance: random.Random, design: Design, wanted: Control) -> Design:
    blocks = [replace(b, action=b.action and f"/v2{b.action}") for b in design.blocks]
    moved = replace(design, blocks=tuple(blocks))
    return _each(moved, lambda c: replace(c, does=f"/v2{c.does}") if c.does[:1] == "/" else c)


def _look_alike(chance: random.Random, design: Design, wanted: Control) -> Design:
    """One that sounds like it, in front of it, and does something else."""
    label = f"{wanted.label} {chance.choice(FOLLOWED_BY)}"
    if chance.random() < 0.3 and _shows_what_it_does(design, wanted):
        label = wanted.label  # word for word
    does = {"link": "/elsewhere", "submit": "op=other", "field": "other"}.get(wanted.kind, "")
    if wanted.kind == "row":
        does = f"/things/7777/other|{wanted.does.partition('|')[2]}"
    other = replace(wanted, truth="look-alike", label=label, mark=f"other-{wanted.mark}", does=does)
    return _in_front(design, wanted, other)


def _shows_what_it_does(design: Design, wanted: Control) -> bool:
    """Of two that say the same and show nothing of what they do, nobody could tell which is it."""
    sent = any(block.action for block in design.blocks if wanted in block.controls)
    return wanted.kind == "link" or (wanted.kind in ("submit", "field") and sent)


def _reuse_mark(chance: random.Random, design: Design, wanted: Control) -> Design:
    """Another control of its block has its id and test id now."""
    others = [
        c.truth
        for block in design.blocks
        for c in block.controls
        if any(each.truth == wanted.truth for each in block.controls)
        and c.kind == wanted.kind and c.truth != wanted.truth
    ]  # fmt: skip
    if not others:
        return design
    taker = chance.choice(others)
    now = next(c for block in design.blocks for c in block.controls if c.truth == wanted.truth)
    marks = {taker: now.mark, wanted.truth: f"{now.mark}-old"}
    return _each(design, lambda c: replace(c, mark=marks.get(c.truth, c.mark)))


def _in_front(design: Design, wanted: Control, other: Control) -> Design:
    blocks = []
    for block in design.blocks:
        controls: list[Control] = []
        for control in block.controls:
            controls += [other, control] if control.truth == wanted.truth else [control]
        blocks.append(replace(block, controls=tuple(controls)))
    return replace(design, blocks=tuple(blocks))


CHANGES: dict[str, Callable[[random.Random, Design, Control], Design]] = {
    "remark": _remark,
    "unmark": _unmark,
    "reclass": _reclass,
    "reorder": _reorder,
    "wrap": _wrap,
    "reword it": _reword_it,
    "reword others": _reword_others,
    "readdress": _readdress,
    "look-alike": _look_alike,
    "reuse mark": _reuse_mark,
}


# -- as HTML ---------------------------------------------------------------------------------------


def html(design: Design) -> str:
    parts = [_block(design, block) for block in design.blocks]
    return f"<title>Made up</title><h1>Made up</h1>{''.join(parts)}"


def _block(design: Design, block: Block) -> str:
    inside = "".join(_control(design, control) for control in block.controls)
    title = escape(block.title)
    match block.kind:
        case "menu":
            shown = f'<nav aria-label="{title}">{inside}</nav>'
        case "form":
            action = f' action="{escape(block.action)}" method="post"' if block.action else ""
            shown = f"<section><h2>{title}</h2><form{action}>{inside}</form></section>"
        case "table":
            shown = f"<table>{_rows(design, block)}</table>"
        case _:
            shown = f"<div><h2>{title}</h2>{inside}</div>"
    return "<div>" * block.wrapped + shown + "</div>" * block.wrapped


def _rows(design: Design, block: Block) -> str:
    rows: dict[str, list[str]] = {}
    for control in block.controls:
        address, _, row = control.does.partition("|")
        shown = f'<a href="{escape(address)}" {_marks(design, control)}>{control.label}</a>'
        rows.setdefault(row, []).append(shown)
    return "".join(
        f"<tr><td>{row}</td><td>{' '.join(all_)}</td></tr>" for row, all_ in rows.items()
    )


def _marks(design: Design, control: Control) -> str:
    mark = escape(control.mark)
    test = mark.partition("-t")[0] if control.kind == "row" else mark
    marks = [f'data-truth="{control.truth}"', f'class="{design.classes}"']
    marks += [f'id="{mark}"'] * design.ids + [f'data-testid="{test}"'] * design.tests
    return " ".join(marks)


def _control(design: Design, control: Control) -> str:
    marks, label = _marks(design, control), escape(control.label)
    match control.kind:
        case "link":
            return f'<a href="{escape(control.does)}" {marks}>{label}</a> '
        case "script_link":
            return f'<a href="#" {marks}>{label}</a> '
        case "submit":
            name, _, value = control.does.partition("=")
            own = f'name="{name}" value="{value}"' if name else ""
            return f"<button {own} {marks}>{label}</button> "
        case "script":
            return f'<button type="button" {marks}>{label}</button> '
        case _:
            name = f'name="{control.does}"' if control.kind == "field" else ""
            return f"<p><label>{label} <input {name} {marks}></label></p>"
