"""A view says how one answer looks: the switches of the moment applied to words, order and
names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from rutter.pipeline.demo_sites.chandlery.store import TODAY_IN_WORDS
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from rutter.pipeline.demo_sites.chandlery.wording import word
from rutter.pipeline.demo_sites.markup import html_page, link, mark, rename_marks, swap_marks
from rutter.pipeline.demo_sites.sign_ins import USER

MENU = (
    ("nav-desk", "/desk", "Desk"),
    ("nav-customers", "/customers", "Customers"),
    ("nav-orders", "/orders", "Orders"),
    ("nav-logout", "/logout", "Log out"),
)
BRAND = (
    '<div class="brand"><svg width="24" height="24" viewBox="0 0 24 24" fill="none" '
    'stroke="#c08a2d" stroke-width="2" stroke-linecap="round" aria-hidden="true">'
    '<circle cx="12" cy="4.5" r="2.3"/>'
    '<path d="M12 7v14M7.5 10.5h9M4 14c.5 4.5 4 7 8 7s7.5-2.5 8-7"/>'
    "</svg>Chandlery</div>"
)


@dataclass(frozen=True)
class View:
    switches: Switches

    def word(self, key: str) -> str:
        return word(key, self.switches)

    def arrange(self, *blocks: str) -> str:
        """The blocks in their order; when moved, in the other order and wrapped."""
        if not self.switches.moved:
            return "\n".join(blocks)
        return "\n".join(
            f'<div class="slot"><div>{block}</div></div>' for block in reversed(blocks)
        )

    def table(self, caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """Cells are HTML; the first of each row names it, wherever it stands."""
        heads = [f'<th scope="col">{escape(column)}</th>' for column in columns]
        lines = [[f'<th scope="row">{row[0]}</th>', *map(_cell, row[1:])] for row in rows]
        step = -1 if self.switches.moved else 1
        body = "".join(f"<tr>{''.join(line[::step])}</tr>" for line in lines)
        return (
            f"<table><caption>{escape(caption)}</caption>"
            f"<thead><tr>{''.join(heads[::step])}</tr></thead><tbody>{body}</tbody></table>"
        )

    def facts(self, facts: Mapping[str, str]) -> str:
        """A list of names and values; values are HTML."""
        pairs = [f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in facts.items()]
        step = -1 if self.switches.moved else 1
        return f'<dl class="facts">{"".join(pairs[::step])}</dl>'

    def page(self, title: str, current: str, heading: str, *blocks: str) -> str:
        """A page of somebody signed in, with the menu and everything in landmarks."""
        body = (
            f'<header class="masthead"><div class="masthead-inner">{BRAND}'
            f'{self._menu(current)}<span class="who">Signed in as {USER}</span></div></header>\n'
            f'<main class="content" id="content">\n{heading}\n{self.arrange(*blocks)}\n</main>\n'
            f'<footer class="foot">Chandlery back office. Today is {TODAY_IN_WORDS}.</footer>'
        )
        return self.document(title, body)

    def document(self, title: str, body: str) -> str:
        html = html_page(f"{title} - Chandlery", body)
        html = swap_marks(html) if self.switches.swapped else html
        return rename_marks(html) if self.switches.moved else html

    def _menu(self, current: str) -> str:
        links = (
            link(href, text, mark(name) + (' aria-current="page"' if name == current else ""))
            for name, href, text in MENU
        )
        return f'<nav class="menu" aria-label="Main">{self.arrange(*links)}</nav>'


def _cell(html: str) -> str:
    return f"<td>{html}</td>"
