"""A person states what a step must lead to: checks and read-backs put into a workflow's steps.

A literal that is named afterwards varies in them too; one that is a secret is kept in none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus

import msgspec

from rutter.actors.rules.pages.address import blur, host_of, place_of
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.actors.rules.workflows.templates import template, templated
from rutter.events.action import Action, kind_of
from rutter.events.checks import HERE, AlertSaid, Check, ReadBack, UrlHas, ValueSet, texts_of
from rutter.events.errors import BadInput
from rutter.events.workflow import Expectation, Step
from rutter.pipeline.workflows.check_syntax import mapped
from rutter.pipeline.workflows.secret_literals import Literals, refusal

_KINDS = {"observation": "an observation", "verification": "a verification"}
_ORIGIN = re.compile(r"[a-z]+://[^/?#]*", re.IGNORECASE)


def stated(
    number: int, step: Step, checks: Iterable[Check], read_back: ReadBack | None, *, afresh: bool
) -> Step:
    """The step with these checks beside what it expects, or in place of that."""
    after = step.after
    if afresh:
        after = msgspec.structs.replace(after, learned=(), checks=(), read_back=None)
    found = tuple(dict.fromkeys((*after.checks, *checks)))
    if read_back is not None:
        url = address(number, step, read_back.url)
        after = msgspec.structs.replace(after, read_back=ReadBack(url, read_back.checks))
    return msgspec.structs.replace(step, after=msgspec.structs.replace(after, checks=found))


def verifying(check: Check) -> Step:
    """A step that only looks. It says itself what must be so, so that it is due anywhere."""
    return Step(action=Action("check", verify=(check,)), after=Expectation(effect=False))


def check_kind(number: int, step: Step) -> None:
    """Only of an action is it judged what came of it."""
    kind = kind_of(step.action)
    if kind != "action":
        raise BadInput(
            f"step {number} is no action but {_KINDS[kind]}: nothing comes of it",
            f"check it in a step of its own: --verify {number}=CHECK",
        )


def check_names(
    number: int, texts: Iterable[str], parameters: Iterable[str], secrets: Iterable[str]
) -> None:
    """A name in a check is bound when the workflow is run, and so must be one of its own."""
    known = list(dict.fromkeys(parameters))
    for name in (name for text in texts for name in PLACEHOLDER.findall(text)):
        if name in secrets:
            raise BadInput(
                f"what is stated for step {number} holds the secret {name!r}",
                "a secret is compared with nothing; check something else",
            )
        if name not in known:
            raise BadInput(
                f"what is stated for step {number} holds {template(name)}, which nothing binds",
                f"its parameters are: {', '.join(known) or 'none'}",
            )


def address(number: int, step: Step, url: str) -> str:
    """Where to read back: an address as it is, a path on the site of the step, or `here`."""
    if url == HERE:
        return url
    if url.startswith("/") and not url.startswith("//"):
        after = step.after.place.origin if step.after.place is not None else ""
        origins = (after, step.before.origin, place_of(step.action.url or "").origin)
        origin = next((each for each in origins if each.startswith("http")), "")
        if not origin:
            raise BadInput(f"where step {number} is done is not known", "give the whole address")
        return origin + url
    return web_address(url)


def web_address(url: str) -> str:
    scheme, host, _ = host_of(url)
    if scheme not in ("http", "https") or not host:
        raise BadInput(f"{url!r} is not a web address", "write https://... or a path: /orders")
    return url


def texts_in(checks: Iterable[Check], read_back: ReadBack | None = None) -> Iterator[str]:
    for check in checks:
        yield from texts_of(check)
    if read_back is not None:
        yield read_back.url
        yield from texts_in(read_back.checks)


# -- what was a literal ----------------------------------------------------------------------------


def named(expectation: Expectation, values: Mapping[str, str], own: str = "") -> Expectation:
    """The expectation with parameters in place of their values. `own` is what the step itself
    types from now on: its field holds that, however short it is."""
    if not values:
        return expectation

    def change(check: Check) -> Check:
        return _named_check(check, values, own)

    back = expectation.read_back
    if back is not None:
        back = ReadBack(_named_address(back.url, values), tuple(map(change, back.checks)))
    return msgspec.structs.replace(
        expectation,
        learned=tuple(map(change, expectation.learned)),
        checks=tuple(map(change, expectation.checks)),
        read_back=back,
    )


def named_checks(checks: Iterable[Check], values: Mapping[str, str]) -> tuple[Check, ...]:
    return tuple(_named_check(check, values, "") for check in checks)


def named_read_back(read_back: ReadBack, values: Mapping[str, str]) -> ReadBack:
    checks = named_checks(read_back.checks, values)
    return ReadBack(_named_address(read_back.url, values), checks)


def withheld(number: int, expectation: Expectation, hidden: Literals) -> Expectation:
    """The expectation without a secret: what was learned goes, what was stated is refused."""
    if hidden.are_among(texts_in(expectation.checks, expectation.read_back)):
        raise refusal(number, "is checked by a text that holds it", f"add --no-expect {number}")
    learned = [each for each in expectation.learned if not hidden.are_among(texts_of(each))]
    return msgspec.structs.replace(expectation, learned=tuple(learned))


def _named_check(check: Check, values: Mapping[str, str], own: str) -> Check:
    if isinstance(check, ValueSet) and own and check.value == values[own]:
        return msgspec.structs.replace(check, value=template(own))
    if isinstance(check, UrlHas):
        return UrlHas(_in_address(check.value, values))
    if isinstance(check, AlertSaid):
        return AlertSaid(_said(check.value, values))
    return mapped(check, lambda text: templated(text, values))


def _said(text: str, values: Mapping[str, str]) -> str:
    """What a page said has lost its numbers when it was learned, so that a value with numbers in it
    is only found without them."""
    changed = templated(text, values)
    if changed != text:
        return changed
    return without(text, (value for value in values.values() if "#" in blur(value)))


def without(text: str, values: Iterable[str]) -> str:
    """A text that has lost its numbers, so the values are compared without theirs."""
    for value in sorted(map(blur, values), key=len, reverse=True):
        if len(value) > 2:
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "*", text)
    return text


def _named_address(url: str, values: Mapping[str, str]) -> str:
    """Which site it is does not vary, nor does `here`, whatever was typed."""
    if url == HERE:
        return url
    origin = _ORIGIN.match(url)
    at = origin.end() if origin else 0
    return url[:at] + _in_address(url[at:], values)


def _in_address(text: str, values: Mapping[str, str]) -> str:
    """Values are written into addresses in their own ways."""
    forms = {
        form.casefold(): name
        for name, value in values.items()
        for form in (value.strip(), quote(value), quote(value, ""), quote_plus(value))
        if len(value.strip()) > 2
    }
    if not forms:
        return text
    either = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return re.sub(
        rf"(?<!\w)(?:{either})(?!\w)",
        lambda found: template(forms[found[0].casefold()]),
        text,
        flags=re.IGNORECASE,
    )
