"""The evaluation sets of page states are pages as sites have them, labelled by their folder.

They measure how the rules do on pages they were not written for. A label says what a careful person
would call the page; neither labels nor rules are fitted to each other.
"""

import re
from pathlib import Path
from typing import get_args

import msgspec

from rutter.events.checks import PageState
from tests.support.page_server import PageServer

HERE = Path(__file__).parent
ADDRESS = re.compile(r"<!-- url: (/\S*) -->\n")


class LabelledPage(msgspec.Struct, frozen=True):
    state: PageState
    name: str
    url: str
    html: str


class Verdict(msgspec.Struct, frozen=True):
    page: LabelledPage
    said: PageState

    @property
    def right(self) -> bool:
        return self.said == self.page.state


class Sites(PageServer):
    """A site serves one page after the other, each at its own address: many share one."""

    def show_at(self, page: LabelledPage) -> str:
        self._server.pages[page.url.partition("?")[0]] = page.html
        return self.url + page.url


def read_pages(of: str) -> list[LabelledPage]:
    """The pages of one set: `pages`, or `fresh`, which was written without sight of the rules."""
    return [_read(path) for path in sorted((HERE / of).glob("*/*.html"))]


def _read(path: Path) -> LabelledPage:
    html = path.read_text("utf-8")
    address = ADDRESS.match(html)
    if address is None:
        raise ValueError(f"{path} does not begin with its address")
    state = msgspec.convert(path.parent.name, PageState)
    # The page must not say its label to the rules: the comment stays in the file.
    return LabelledPage(state, path.stem, address[1], html[address.end() :])


def table_of(verdicts: list[Verdict]) -> str:
    """Accuracy, then recall and precision of each state, then every miss with what was said."""
    right = sum(verdict.right for verdict in verdicts)
    lines = [f"page states: {right} of {len(verdicts)} right ({_share(right, len(verdicts))})"]
    lines.append(f"{'state':<20} {'pages':>5} {'recall':>8} {'precision':>10}")
    for state in get_args(PageState):
        labelled = [verdict for verdict in verdicts if verdict.page.state == state]
        said = [verdict for verdict in verdicts if verdict.said == state]
        hits = sum(verdict.right for verdict in labelled)
        if labelled or said:
            recall, precision = _share(hits, len(labelled)), _share(hits, len(said))
            lines.append(f"{state:<20} {len(labelled):>5} {recall:>8} {precision:>10}")
    lines += [_miss(verdict) for verdict in verdicts if not verdict.right]
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _miss(verdict: Verdict) -> str:
    page = verdict.page
    return f"missed: {page.state}/{page.name} ({page.url}) was called {verdict.said}"
