"""Elements stand as a page describes them, for tests of what is known again: short to write."""

from typing import Any

from rutter.events.action import (
    Action,
    Box,
    ByCss,
    ByRole,
    Fingerprint,
    Strategy,
    Target,
    Untrusted,
)
from rutter.events.page import Resolved
from tests.support.shop_facts import ORIGIN

# What the page says stands before, behind and above it, and what it is a part of.
AT_HOME = ("Estimated price", "", "For a customer", "Order form")


def thing(said: str = "", /, *, text: str | None = None, **more: Any) -> Resolved:
    """A button unless said otherwise; `more` with underscores are attributes (data_testid)."""
    tag, role = more.pop("tag", "button"), more.pop("role", "button")
    near, box = more.pop("near", AT_HOME), more.pop("box", Box(100, 600, 150, 40))
    resolved = {key: more.pop(key) for key in ("secret", "submits", "form_method") if key in more}
    kind = more.get("type", "text") if tag == "input" else ""
    attributes = tuple((key.replace("_", "-"), value) for key, value in more.items())
    label, shown = Untrusted(said), Untrusted(said if text is None else text)
    print_ = Fingerprint(tag, role, label, shown, attributes, tuple(map(Untrusted, near)), box)
    return Resolved(
        tag=tag,
        digest=f"{tag} {said} {attributes}",
        role=role,
        name=label,
        text=shown,
        kind=kind,
        origin=ORIGIN,
        ways=_ways(role, said, more),
        fingerprint=print_,
        **resolved,
    )


def _ways(role: str, said: str, marks: dict[str, str]) -> tuple[Strategy, ...]:
    ways: list[Strategy] = []
    if "data_testid" in marks:
        ways.append(ByCss(f'[data-testid="{marks["data_testid"]}"]'))
    if "id" in marks:
        ways.append(ByCss(f"#{marks['id']}"))
    if said:
        ways.append(ByRole(role, said))
    return tuple(ways)


def recorded(element: Resolved, *, telling: bool = True) -> Target:
    """What a recording keeps of it. Not telling: there were several with this label."""
    ways = tuple(way for way in element.ways if telling or not isinstance(way, ByRole))
    return Target(ways or (ByCss("main > button"),), element.fingerprint)


def click_on(element: Resolved) -> Action:
    return Action("click", target=recorded(element))
