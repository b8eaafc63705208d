"""A view says how one page of the streaming service looks: the switches applied to words, names and
markup."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from rutter.pipeline.demo_sites.gaffsail.switches import Switches
from rutter.pipeline.demo_sites.gaffsail.wording import RECAST, path_to, word
from rutter.pipeline.demo_sites.markup import html_page, link, mark, rename_marks, select_options

NAME = "Gaffsail"
BRAND = (
    '<div class="brand"><svg width="24" height="24" viewBox="0 0 24 24" fill="#c08a2d" '
    'aria-hidden="true"><path d="M11 2v17H4zM13 5l7 11h-7zM3 21h18v1H3z"/></svg>Gaffsail</div>'
)


@dataclass(frozen=True)
class View:
    switches: Switches

    def word(self, key: str) -> str:
        return word(key, self.switches)

    def path(self, key: str) -> str:
        return path_to(key, self.switches)

    def heading(self, text: str) -> str:
        if self.switches.altered:
            return f'<div role="heading" aria-level="1" class="title">{escape(text)}</div>'
        return f"<h1>{escape(text)}</h1>"

    def field_name(self, name: str) -> str:
        """By what a form calls it; the routes know both."""
        return f"fld_{name}" if self.switches.altered else name

    def way(self, name: str, text: str, to: str, *, primary: bool = False) -> str:
        """A link that looks like a button; altered, a button of a form that goes there."""
        style = "button primary" if primary else "button"
        if self.switches.altered or self._is_recast(name):
            return (
                f'<form method="get" action="{self.path(to)}">'
                f'<button class="{style}" {self._mark(name)}>{escape(text)}</button></form>'
            )
        return link(self.path(to), text, f'class="{style}" {mark(name)}')

    def send(self, name: str, text: str, to: str, *, primary: bool = False) -> str:
        """A button that changes something."""
        style = "button primary" if primary else "button"
        return (
            f'<form method="post" action="{self.path(to)}">'
            f'<button class="{style}" {self._mark(name)}>{escape(text)}</button></form>'
        )

    def _mark(self, name: str) -> str:
        return mark(f"new-{name}" if self._is_recast(name) else name)

    def _is_recast(self, name: str) -> bool:
        return self.switches.recast and RECAST.get(self.switches.relabelled) == name

    def idle(self, name: str, text: str) -> str:
        """A button that does nothing: it only sounds like another."""
        return f'<button type="button" class="button" {mark(name)}>{escape(text)}</button>'

    def actions(self, *controls: str) -> str:
        return f'<div class="actions">{self.arrange(*controls)}</div>'

    def choice(self, label: str, name: str, choices: Mapping[str, str]) -> str:
        """Radio buttons; altered, a list."""
        field = self.field_name(name)
        if self.switches.altered:
            options = select_options({"": "Choose one", **choices}, "")
            return (
                f'<div class="field"><label for="{name}">{escape(label)}</label>'
                f'<select {mark(name)} name="{field}">{options}</select></div>'
            )
        radios = (
            f'<label for="{name}-{value}"><input type="radio" name="{field}" value="{value}" '
            f"{mark(f'{name}-{value}')}>{escape(text)}</label>"
            for value, text in choices.items()
        )
        legend = f"<legend>{escape(label)}</legend>"
        return f'<fieldset class="choices">{legend}{"".join(radios)}</fieldset>'

    def facts(self, facts: Mapping[str, str]) -> str:
        if self.switches.altered:
            lines = (f"<li><b>{escape(k)}</b>: {escape(v)}</li>" for k, v in facts.items())
            return f"<ul>{''.join(lines)}</ul>"
        pairs = (f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
        return f'<dl class="facts">{"".join(pairs)}</dl>'

    def arrange(self, *blocks: str) -> str:
        """The blocks in their order; altered, in the other order and wrapped."""
        if not self.switches.altered:
            return "\n".join(blocks)
        return "\n".join(
            f'<div class="slot"><div>{block}</div></div>' for block in reversed(blocks)
        )

    def page(self, title: str, heading: str, *blocks: str) -> str:
        """A page of somebody signed in."""
        menu = "".join(
            link(self.path(to), text, mark(f"nav-{to}"))
            for to, text in (
                ("watch", "Films and series"),
                ("account", self.word("account_heading")),
                ("sign_out", "Sign out"),
            )
        )
        body = (
            f'<header class="masthead"><div class="masthead-inner">{BRAND}'
            f'<nav class="menu" aria-label="Main">{menu}</nav></div></header>\n'
            f'<main class="content" id="content">\n{self.heading(heading)}\n'
            f"{self.arrange(*blocks)}\n</main>\n"
            f'<footer class="foot">{NAME}. Films and series from the coast.</footer>'
        )
        return self.document(title, body)

    def document(self, title: str, body: str) -> str:
        html = html_page(f"{title} - {NAME}", body)
        return rename_marks(html) if self.switches.altered else html
