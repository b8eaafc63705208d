"""Notices are what a page says in its own words, in a form that is the same in the next run."""

import re
from collections.abc import Iterable

from rutter.actors.rules.pages.address import blur, fits

# 1,000.50 and 14:03 and 2026-03-20 are each one number.
_NUMBER = re.compile(r"#(?:[.,:/ \u00a0-]?#)+")
_CODE = re.compile(r"[^\W_]*#[\w#]*")
_WORD = re.compile(r"[^\W_]+|[*#]")
# What a calendar says varies as numbers do, in the languages that the state rules speak.
_CALENDAR = re.compile(
    r"(?<!\w)(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:to|yester)day|tomorrow|just now"
    r"|mon|tue|wed|thu|fri|sat|sun"
    r"|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|[ap]\.?m\.?"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|heute|morgen"
    r"|januar|februar|m\u00e4rz|mai|juni|juli|oktober|dezember"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|aujourd'hui|demain"
    r"|janvier|f\u00e9vrier|mars|avril|juin|juillet|ao\u00fbt|octobre|d\u00e9cembre"
    r"|lunes|martes|mi\u00e9rcoles|jueves|viernes|s\u00e1bado|domingo|hoy|ma\u00f1ana"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|octubre|noviembre|diciembre)(?!\w)"
)


def plain(text: str, values: Iterable[str] = ()) -> str:
    """A notice without what varies: values as `*`, numbers, dates and days as `#`. A `*` of the
    page's own is no wildcard of ours."""
    return _steady(blur(text.replace("*", " "), values))


def _steady(blurred: str) -> str:
    """A word with a number in it is a code, and another one the next time."""
    named = _CALENDAR.sub("#", _CODE.sub("#", blurred))
    return _NUMBER.sub("#", " ".join(named.split()))


def says(wanted: str, notice: str, *, whole: bool) -> bool:
    """Whether a notice says this: all of it but for what varies; or, as somebody wrote them, these
    words somewhere in it, with `*` and `#` for anything."""
    if whole:
        return fits(wanted, plain(notice))
    stated = _words(wanted.casefold().replace("#", "*"))
    return fits(f"*{stated}*", f" {_words(notice.casefold())} ")


def _words(text: str) -> str:
    """Whole words between spaces."""
    return f" {' '.join(_WORD.findall(text))} "
