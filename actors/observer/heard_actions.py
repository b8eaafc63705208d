"""Input that was heard in a page becomes an action of ours."""

from collections.abc import Mapping
from typing import Any

import msgspec

from rutter.events.action import DOUBLE, Action, Parameter, Secret, Target, Text, Value
from rutter.events.page import Resolved


def action_of(body: Mapping[str, Any], element: Resolved, names: Mapping[str, str]) -> Action:
    """The page's words as an action of ours. What was typed is a parameter where it is the value
    of one, and a reference where the field is a secret one: its value never came here."""
    target = Target(element.ways, element.fingerprint)
    kind = body["kind"]
    if kind == "press":
        return Action("press", key=str(body["key"]))
    if kind == "click":
        button, modifiers = body.get("button"), tuple(body.get("modifiers", ()))
        return Action("click", target=target, button=button, modifiers=modifiers)
    if kind == "double":
        return Action("click", target=target, count=DOUBLE)
    if kind == "hover":
        return Action("hover", target=target)
    if kind == "wheel":
        across, down = body["by"]
        return Action("wheel", target=target, by=(int(across), int(down)))
    if kind == "drag":
        onto = msgspec.convert(body["to"], Resolved)
        x, y = body["drop"]
        onto_target = Target(onto.ways, onto.fingerprint)
        return Action("drag", target=target, to=onto_target, drop=(int(x), int(y)))
    if kind == "upload":
        return Action("type", target=target, value=Parameter(str(body["parameter"])))
    value = _value(body, names)
    if kind == "select":
        return Action("select", target=target, value=value)
    return Action("type", target=target, value=value, pasted=bool(body.get("pasted")))


def _value(body: Mapping[str, Any], names: Mapping[str, str]) -> Value:
    if "secret" in body:
        return Secret(str(body["secret"]))
    typed = str(body["value"])
    return Parameter(names[typed]) if typed in names else Text(typed)
