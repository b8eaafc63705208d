"""A person states what a step must lead to: checks and read-backs put into a workflow's steps.

A literal that is named afterwards varies in them too; one that is a secret is kept in none.
"""

from collections.abc import Iterable, Iterator

import msgspec

from rutter.actors.rules.pages.address import host_of, place_of
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.actors.rules.workflows.templates import template
from rutter.events.action import Action, kind_of
from rutter.events.checks import HERE, Check, ReadBack, texts_of
from rutter.events.errors import BadInput
from rutter.events.workflow import Expectation, Step
from rutter.pipeline.workflows.secret_literals import Literals, refusal

_KINDS = {"observation": "an observation", "verification": "a verification"}


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


# -- what is a secret ------------------------------------------------------------------------------


def withheld(number: int, expectation: Expectation, hidden: Literals) -> Expectation:
    """The expectation without a secret: what was learned goes, what was stated is refused."""
    if hidden.are_among(texts_in(expectation.checks, expectation.read_back)):
        raise refusal(number, "is checked by a text that holds it", f"add --no-expect {number}")
    learned = [each for each in expectation.learned if not hidden.are_among(texts_of(each))]
    return msgspec.structs.replace(expectation, learned=tuple(learned))
