"""The keyboard turns text into keys of a US keyboard, as calls that the browser is given.

What has no key there is composed, as an input method does it. The calls of a text are sent at once
and in order: the browser queues them.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

Call = tuple[str, dict[str, object]]

LONG = 200  # more than a person types in one go: such text comes in whole, from elsewhere
FEW_KEYS = 3  # these cost no more than it does to ask whether anybody listens
LAST_KEYS = 8  # of a long text; whoever listens to keys hears that there was one
ALT, CONTROL, META, SHIFT = 1, 2, 4, 8
MODIFIERS = {"Alt": ALT, "Control": CONTROL, "Meta": META, "Shift": SHIFT}
COMPOSE = "Input.imeSetComposition"
COMPOSING = 229  # what the key of an input method is to the page


class KeyboardKey(NamedTuple):
    code: str
    number: int
    sign: str  # what it is called by the page, and what it types if that is one sign
    shifted: bool = False


def _keys() -> Iterator[KeyboardKey]:
    for letter in "abcdefghijklmnopqrstuvwxyz":
        upper = letter.upper()
        yield KeyboardKey(f"Key{upper}", ord(upper), letter)
        yield KeyboardKey(f"Key{upper}", ord(upper), upper, shifted=True)
    for digit, above in zip("0123456789", ")!@#$%^&*(", strict=True):
        yield KeyboardKey(f"Digit{digit}", ord(digit), digit)
        yield KeyboardKey(f"Digit{digit}", ord(digit), above, shifted=True)
    for code, number, sign, above in (
        ("Backquote", 192, "`", "~"),
        ("Minus", 189, "-", "_"),
        ("Equal", 187, "=", "+"),
        ("BracketLeft", 219, "[", "{"),
        ("BracketRight", 221, "]", "}"),
        ("Backslash", 220, "\\", "|"),
        ("Semicolon", 186, ";", ":"),
        ("Quote", 222, "'", '"'),
        ("Comma", 188, ",", "<"),
        ("Period", 190, ".", ">"),
        ("Slash", 191, "/", "?"),
    ):
        yield KeyboardKey(code, number, sign)
        yield KeyboardKey(code, number, above, shifted=True)
    yield KeyboardKey("Space", 32, " ")


SIGNS = {key.sign: key for key in _keys()}
# A line ends with shift held: where a bare Enter sends what was typed so far, this does not.
NEW_LINE = KeyboardKey("Enter", 13, "Enter", shifted=True)
DELETE, END = KeyboardKey("Delete", 46, "Delete"), KeyboardKey("End", 35, "End")


class TypedField(NamedTuple):
    """A field says how to type into it. It takes lines or not, must be told to select all or not
    (an editor that keeps a selection of its own), and what it is given is composed or not."""

    lines: bool = False
    editor: bool = False
    composes: bool = True


PLAIN = TypedField()


def typing(
    text: str, field: TypedField = PLAIN, *, append: bool = False, keys: bool = True
) -> list[list[Call]]:
    """The calls for one text, over all that the field holds or behind it: in parts, of which the
    second and every further one begins with a composition."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    calls: list[Call] = []
    if append:
        calls += chord(END, CONTROL)
    elif field.editor:
        calls += chord(SIGNS["a"], CONTROL, commands=["selectAll"])
    if not text:
        return [calls if append else [*calls, *chord(DELETE)]]
    if not keys:
        return [[*calls, ("Input.insertText", {"text": text})]]
    if len(text) > LONG:
        calls.append(("Input.insertText", {"text": text[:-LAST_KEYS]}))
        text = text[-LAST_KEYS:]
    parts = [calls]
    for call in _typed(text, field):
        if call[0] == COMPOSE:
            parts.append([])
        parts[-1].append(call)
    return parts


def _typed(text: str, field: TypedField) -> Iterator[Call]:
    def kind(sign: str) -> Literal["shifted", "plain", "none"]:
        key = _key_for(sign, field)
        return "none" if key is None else "shifted" if key.shifted else "plain"

    for held, signs in groupby(text, kind):
        if held == "none":
            yield from _composed("".join(signs), field)
            continue
        modifiers = SHIFT if held == "shifted" else 0
        if modifiers:
            yield _modifier("Shift", SHIFT, down=True)
        for sign in signs:
            yield from _stroke(_key_for(sign, field) or NEW_LINE, modifiers)
        if modifiers:
            yield _modifier("Shift", 0, down=False)


def _key_for(sign: str, field: TypedField) -> KeyboardKey | None:
    return NEW_LINE if sign == "\n" and field.lines else SIGNS.get(sign)


def _composed(text: str, field: TypedField) -> Iterator[Call]:
    """Signs without a key. A text that must reach no other field is given in a way that can be held
    back, which a composition cannot."""
    key = {"windowsVirtualKeyCode": COMPOSING, "key": "Process", "code": ""}
    yield "Input.dispatchKeyEvent", {"type": "rawKeyDown", **key}
    if field.composes and text.isprintable():
        end = len(text.encode("utf-16-le")) // 2
        marked = {"text": text, "selectionStart": end, "selectionEnd": end}
        yield COMPOSE, marked
    yield "Input.insertText", {"text": text}
    yield "Input.dispatchKeyEvent", {"type": "keyUp", **key}


def chord(
    key: KeyboardKey, modifiers: int = 0, *, commands: list[str] | None = None
) -> Iterator[Call]:
    """A key with others held."""
    held = [name for name, bit in MODIFIERS.items() if modifiers & bit]
    yield from held_down(held)
    yield from _stroke(key, modifiers, commands)
    yield from let_go(held)


def held_down(names: Sequence[str]) -> Iterator[Call]:
    down = 0
    for name in names:
        down |= MODIFIERS[name]
        yield _modifier(name, down, down=True)


def let_go(names: Sequence[str]) -> Iterator[Call]:
    down = sum(MODIFIERS[name] for name in names)
    for name in reversed(names):
        down &= ~MODIFIERS[name]
        yield _modifier(name, down, down=False)


def _stroke(key: KeyboardKey, modifiers: int, commands: list[str] | None = None) -> Iterator[Call]:
    said: dict[str, object] = {
        "key": key.sign,
        "code": key.code,
        "windowsVirtualKeyCode": key.number,
        "modifiers": modifiers,
    }
    text = "\r" if key.sign == "Enter" else key.sign if len(key.sign) == 1 else ""
    typed: dict[str, object] = {"type": "rawKeyDown"}
    if text and not modifiers & (CONTROL | ALT | META):
        typed = {"type": "keyDown", "text": text, "unmodifiedText": text}
    if commands:
        typed["commands"] = commands
    yield "Input.dispatchKeyEvent", {**typed, **said}
    yield "Input.dispatchKeyEvent", {"type": "keyUp", **said}


NUMBERS = {"Shift": 16, "Control": 17, "Alt": 18, "Meta": 91}


def _modifier(name: str, modifiers: int, *, down: bool) -> Call:
    return "Input.dispatchKeyEvent", {
        "type": "rawKeyDown" if down else "keyUp",
        "key": name,
        "code": f"{name}Left",
        "windowsVirtualKeyCode": NUMBERS[name],
        "modifiers": modifiers,
        "location": 1,
    }
