"""Signatures are stable names for actions (A2), and tokens are what the model learns on.

Compact JSON with sorted keys. A CSS selector is a string, every other locator an object, so no
selector can be mistaken for another kind.
"""

import msgspec

from rutter.events.action import (
    Action,
    ByBeside,
    ByCss,
    ByPoint,
    ByRef,
    ByRole,
    ByText,
    DialogAnswer,
    Parameter,
    Secret,
    Strategy,
    Text,
    Typed,
)

_json = msgspec.json.Encoder(order="sorted")


def selector_of(action: Action) -> str | dict[str, object] | None:
    """The primary selector in its signature form."""
    return _locator(action.target.primary if action.target else None)


def _locator(locator: Strategy | None) -> str | dict[str, object] | None:
    match locator:
        case None:
            return None
        case ByCss(selector):
            return selector
        case ByRole(role, name):
            return {"name": name, "role": role}
        case ByText(text):
            return {"text": text}
        case ByPoint(x, y):
            return {"x": x, "y": y}
        case ByRef(ref):
            return {"ref": ref}
        case ByBeside(text, how):
            return {how: text}


def _fields(action: Action) -> dict[str, object]:
    fields = {
        "type": action.type,
        "selector": selector_of(action),
        "url": action.url,
        "key": action.key,
        "direction": action.direction,
        "amount": action.amount,
        "ms": action.ms,
        "name": action.name,
        "tab": action.tab,
        "dialogs": [answer.accept for answer in action.dialogs] or None,
        "append": action.append or None,
        "verify": [msgspec.to_builtins(check) for check in action.verify] or None,
        "aside": action.aside or None,
        "pasted": action.pasted or None,
        "button": action.button,
        "count": action.count if action.count != 1 else None,
        "modifiers": list(action.modifiers) or None,
        "to": _locator(action.to.primary) if action.to is not None else None,
        "by": action.by,
        "wanted": action.wanted,
        "page": action.page or None,
        "prompt": action.prompt or None,
        "viewport_only": action.viewport_only or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _answer(answer: DialogAnswer) -> dict[str, object]:
    said: dict[str, object] = {"accept": answer.accept}
    if answer.text is not None:
        said["text"] = answer.text
    for name in ("kind", "message", "secret"):
        if getattr(answer, name):
            said[name] = getattr(answer, name)
    return said


def signature(action: Action) -> str:
    """Equal actions have equal signatures, different ones different. Never holds a secret."""
    fields = _fields(action)
    if action.dialogs:
        fields["dialogs"] = [_answer(answer) for answer in action.dialogs]
    match action.value:
        case Text(text):
            fields["text"] = text
        case Parameter(name):
            fields["param"] = name
        case Secret(name):
            fields["secret"] = name
        case Typed(number):
            fields["typed"] = number
        case None:
            pass
    return _json.encode(fields).decode()


def token(action: Action) -> str:
    """The signature without values: what was done to which element. The model learns on this."""
    fields = _fields(action)
    if isinstance(action.value, Parameter | Secret):
        fields["param"] = action.value.name
    return _json.encode(fields).decode()


def doing(action: Action) -> str:
    """The token without the names of parameters: what was done to which element, and no more."""
    return _json.encode(_fields(action)).decode()


def bare(token: str) -> str:
    """What `doing` says of the action that has this token."""
    fields = msgspec.json.decode(token)
    fields.pop("param", None)
    return _json.encode(fields).decode()
