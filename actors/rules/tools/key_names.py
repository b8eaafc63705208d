"""Key names are how callers name the keys that they may press.

A key that the browser does not know, or one held down before another that is no modifier, is
refused here: what is pressed is the last of a combination, and that is what policy looks at.
"""

MODIFIERS = ("Control", "Shift", "Alt", "Meta", "ControlOrMeta")
NAMED = (
    *("Enter", "NumpadEnter", "Escape", "Tab", "Space", "Backspace", "Delete", "Insert"),
    *("Home", "End", "PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *(f"F{number}" for number in range(1, 13)),
    "ContextMenu",
)
_ALIASES = {
    "ctrl": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "super": "Meta",
    "win": "Meta",
    "windows": "Meta",
    "option": "Alt",
    "opt": "Alt",
    "return": "Enter",
    "esc": "Escape",
    "del": "Delete",
    "ins": "Insert",
    "spacebar": "Space",
    "pgup": "PageUp",
    "pgdn": "PageDown",
    "pgdown": "PageDown",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
}
_CODES = (
    *(f"Key{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    *(f"Digit{number}" for number in range(10)),
)
_BY_NAME = {name.casefold(): name for name in (*MODIFIERS, *NAMED, *_CODES)} | _ALIASES
ALLOWED = (
    f"a key is a sign of a US keyboard or one of {', '.join(NAMED)};"
    f" before it, each with a plus sign, {', '.join(MODIFIERS)}"
)


def key_named(given: str) -> str | None:
    """The key as the browser calls it; `None` when there is none of this name."""
    *held, last = _parts(given)
    names = [_BY_NAME.get(part.casefold()) for part in held]
    key = last if _is_sign(last) else _BY_NAME.get(last.casefold())
    if key is None or any(name not in MODIFIERS for name in names):
        return None
    return "+".join([*(name for name in names if name is not None), key])


def _parts(given: str) -> list[str]:
    """What stands between plus signs. The last one may be the plus sign itself."""
    if given == "+" or given.endswith("++"):
        return [*given[:-2].split("+"), "+"] if len(given) > 1 else ["+"]
    return given.split("+")


def _is_sign(part: str) -> bool:
    return len(part) == 1 and " " <= part <= "~"
