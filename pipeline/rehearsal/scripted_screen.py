"""A scripted screen shows a model a scripted page beside its elements: HTML, words and a
picture."""

from base64 import b64decode
from html import escape
from typing import Any, cast

from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.tab import Tab
from rutter.events.errors import BrowserGone
from rutter.events.policy import Policy
from rutter.pipeline.rehearsal.sheets import TAGS
from rutter.pipeline.rehearsal.world import ScriptedWorld


class ScriptedTab:
    """A scripted tab is the page in front, as far as it is only read."""

    def __init__(self, world: ScriptedWorld) -> None:
        self._world = world

    async def call(self, name: str, *arguments: Any, within_ms: int) -> Any:
        match name, *arguments:
            case "controlsHtml", int(size):
                return _whole(self._controls(), size)
            case "wordsInView", int(size):
                return self._world.words()[:size]
            case _:
                raise BrowserGone(f"a scripted page does not answer {name}")

    async def picture(self, *, max_width: int, within_ms: int) -> bytes:
        return PICTURE

    def _controls(self) -> list[str]:
        operable = set(TAGS.values()) - {"dialog", "section"}
        return [
            f'<{thing.tag} role="{escape(thing.role)}">{escape(thing.name)}</{thing.tag}>'
            for thing in self._world.things().values()
            if thing.tag in operable
        ]


class ScriptedScreen(Screen):
    """A scripted screen shows a scripted world. There is no window behind it."""

    def __init__(self, world: ScriptedWorld, policy: Policy) -> None:
        super().__init__(_NoBrowser(), policy)
        self._scripted = ScriptedTab(world)

    @property
    def tab(self) -> Tab:
        return cast(Tab, self._scripted)


class _NoBrowser:
    async def open_window(self, policy: Policy) -> Any:
        raise BrowserGone("there is no browser in a rehearsal")


def _whole(parts: list[str], size: int) -> str:
    """As many of them as fit, none of them cut."""
    kept: list[str] = []
    for part in parts:
        size -= len(part.encode()) + 1
        if size < 0:
            break
        kept.append(part)
    return "\n".join(kept)


# One grey pixel: a picture for whoever must be sent one.
PICTURE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
)
