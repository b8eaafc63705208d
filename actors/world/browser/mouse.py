"""The mouse acts at one place, as calls that the browser is given."""

from typing import NamedTuple

from rutter.actors.world.browser.keyboard import MODIFIERS, Call, held_down, let_go

MOUSE = "Input.dispatchMouseEvent"


class ClickKind(NamedTuple):
    """A click is a plain one unless it is said otherwise."""

    button: str = "left"
    times: int = 1
    modifiers: tuple[str, ...] = ()
    hold_ms: int = 0


LEFT = ClickKind()


def clicking(x: float, y: float, press: ClickKind = LEFT) -> list[list[Call]]:
    """Moves there, and each press with its release, with the keys that are held meanwhile: in two
    parts where the button is held down for a while."""
    bits = sum(MODIFIERS[name] for name in press.modifiers)
    calls: list[Call] = [(MOUSE, {"type": "mouseMoved", "x": x, "y": y})]
    calls += held_down(press.modifiers)
    for count in range(1, press.times + 1):
        at = {"x": x, "y": y, "button": press.button, "clickCount": count, "modifiers": bits}
        calls.append((MOUSE, {"type": "mousePressed", **at}))
        calls.append((MOUSE, {"type": "mouseReleased", **at}))
    release = len(calls) - 1
    calls += let_go(press.modifiers)
    return [calls[:release], calls[release:]] if press.hold_ms else [calls]
