"""A prompt is read back as a model sees the page in it: elements, address, words, controls.

Nothing here knows a site. A prompt has the page between quarantine marks; the last one counts.
"""

import re
from html import unescape
from typing import NamedTuple

from rutter.actors.world.models.messages import ModelTurn, ResultsTurn, UserTurn
from tests.support.provider_server import Heard

_MARKED = re.compile(r"<untrusted-(\w+)>\n(.*?)\n</untrusted-\1>", re.DOTALL)
_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_LINE = re.compile(
    rf"^( *)@e(\d+) ([a-z]+)(?: \d+)?(?: {_QUOTED})?(?: = {_QUOTED})?([^\"]*)$", re.MULTILINE
)
_TITLE = re.compile(r"^title: (.*)$", re.MULTILINE)
_ADDRESS = re.compile(r"^(?:address: )?(https?://\S+)$", re.MULTILINE)
_TAG = re.compile(r"<(\w+)((?: [\w-]+=\"[^\"]*\")*)[^>]*>([^<]*)")
_OPTION = re.compile(r"<option[^>]*>([^<]*)</option>")
_ATTRIBUTE = re.compile(r" ([\w-]+)=\"([^\"]*)\"")


class Line(NamedTuple):
    """A line is one element: `@e6 link "Cancel membership"`."""

    ref: str
    role: str
    name: str
    value: str = ""
    said: str = ""
    depth: int = 0

    @property
    def words(self) -> frozenset[str]:
        return words_of(self.name)


class Sight(NamedTuple):
    """A sight is the page as the prompt has it."""

    lines: tuple[Line, ...] = ()
    url: str = ""
    title: str = ""
    text: str = ""
    html: str = ""

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(line.name for line in self.lines if line.role == "heading")

    @property
    def says(self) -> str:
        """Title, headings, notices and running words, as far as it was told them."""
        notices = [each.name for each in self.lines if each.role in ("alert", "status", "dialog")]
        return "\n".join((self.title, *self.headings, *notices, self.text)).casefold()

    @property
    def key(self) -> str:
        """By what the page is known again."""
        return "|".join((self.title, *self.headings))

    def of(self, *roles: str) -> list[Line]:
        return [line for line in self.lines if line.role in roles]

    def inside(self, role: str) -> list[Line]:
        """What is in the first element of this role."""
        found: list[Line] = []
        depth = None
        for line in self.lines:
            if depth is not None and line.depth <= depth:
                break
            if depth is not None:
                found.append(line)
            elif line.role == role:
                depth = line.depth
        return found

    def selector(self, line: Line) -> str:
        """A selector from the controls as HTML, where they were told."""
        for tag, attributes, inside in _TAG.findall(self.html):
            given = dict(_ATTRIBUTE.findall(attributes))
            if line.name not in (unescape(inside).strip(), given.get("aria-label")):
                continue
            for name in ("data-testid", "id", "name", "href"):
                if given.get(name):
                    return f'{tag}[{name}="{unescape(given[name])}"]'
        return ""

    def options(self) -> list[str]:
        return [unescape(each) for each in _OPTION.findall(self.html)]


def words_of(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w']+", text.casefold()))


def told(heard: Heard) -> str:
    """Everything that the prompt says, oldest first."""
    parts = [heard.system]
    for turn in heard.turns:
        match turn:
            case ResultsTurn(outcomes=outcomes, text=text):
                parts += [*(each.text for each in outcomes), text]
            case UserTurn(text=text) | ModelTurn(text=text):
                parts.append(text)
    return "\n".join(parts)


def marked(text: str, after: str) -> str:
    """What stands between the marks right behind these words; nothing, where they are not said."""
    _, there, rest = text.rpartition(f"{after}:\n<untrusted-")
    found = _MARKED.match(f"<untrusted-{rest}") if there else None
    return found[2] if found else ""


def unmarked(text: str) -> str:
    """What is said by whoever asks, and by no page."""
    return _MARKED.sub("", text)


def read_page(heard: Heard) -> Sight:
    """The last page in the prompt."""
    text = told(heard)
    whole = marked(text, "The page now") or marked(text, "its elements")
    address = marked(text, "the address of the page") or whole
    title, url = _TITLE.search(whole), _ADDRESS.search(address)
    return Sight(
        tuple(_line(*found) for found in _LINE.findall(whole)),
        url[1] if url else "",
        title[1] if title else "",
        marked(text, "its words in view"),
        marked(text, "its controls as HTML"),
    )


def _line(indent: str, number: str, role: str, name: str, value: str, said: str) -> Line:
    name, value = (re.sub(r"\\(.)", r"\1", each) for each in (name, value))
    return Line(f"@e{number}", role, name, value, said.strip(), len(indent))


def goal_of(heard: Heard) -> str:
    found = re.search(r"goal: (.+)", told(heard), re.IGNORECASE)
    return found[1] if found else ""
