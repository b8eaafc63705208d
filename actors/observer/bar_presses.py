"""Presses in the bar become facts: what a person says of the steps that they are recorded in."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from rutter.actors.rules.workflows.literals import named_checks
from rutter.actors.world.browser.recording_bar import BarView
from rutter.events.action import Action, Parameter, Target, Text
from rutter.events.checks import Check, ElementState, TextVisible, ValueSet
from rutter.events.executor import PersonActed, StepMarked
from rutter.events.observer import BarDisturbed
from rutter.events.page import Resolved

LONGEST_NAME = 60  # it is the head of a column
Wording = Callable[[Action, str], str]


class BarRefused(Exception):
    """The recorder cannot do what was pressed; the bar shows why."""


class ToldStep(msgspec.Struct, frozen=True):
    """A step was told, and is part of the recording until it is left out."""

    number: int
    action: Action
    name: str
    optional: bool = False


class ToldSteps:
    """The told steps of a recording are what the bar shows, and what is pressed in it is about."""

    def __init__(self, before: int, words: Wording, values: Mapping[str, str]) -> None:
        self._before = before  # steps that were done before the person began
        self._words = words
        self._steps: list[ToldStep] = []
        self._names = set(values)

    def tell(self, acted: PersonActed) -> None:
        name = acted.element.name.text if acted.element is not None else ""
        self._steps.append(ToldStep(acted.step, acted.action, name))

    @property
    def last(self) -> ToldStep | None:
        return self._steps[-1] if self._steps else None

    def view(self, note: str = "", *, bad: bool = False) -> BarView:
        count, last = self._before + len(self._steps), self.last
        if last is None:
            return BarView(count, note=note, bad=bad)
        return BarView(
            steps=count,
            last=self._words(last.action, last.name),
            number=last.number,
            optional=last.optional,
            varies=_typed(last),
            suggested=_name_from(last.name),
            note=note,
            bad=bad,
        )

    # -- what is said of the last one ----------------------------------------------------------

    def marked(self, press: Mapping[str, Any]) -> tuple[StepMarked, str]:
        """What was pressed as a fact, and what the bar says to it."""
        match press["do"]:
            case "undo":
                return self._left_out()
            case "optional":
                return self._made_optional()
            case _:
                return self._varies(str(press["answer"]))

    def _left_out(self) -> tuple[StepMarked, str]:
        step = self._of_person()
        self._steps.pop()
        said = f"Left out: {self._words(step.action, step.name)}. Go back where it led on."
        return StepMarked(step.number, "left_out"), said

    def _made_optional(self) -> tuple[StepMarked, str]:
        step = self._of_person()
        self._steps[-1] = msgspec.structs.replace(step, optional=True)
        return StepMarked(
            step.number, "optional"
        ), "A run goes on without it where it is not there."

    def _varies(self, name: str) -> tuple[StepMarked, str]:
        step, typed = self.check_varies()
        name = name.strip()
        if not name.isidentifier():
            raise BarRefused(f'"{name}" is no name: letters, digits and _ make a name.')
        if name in self._names:
            raise BarRefused(f'There is a "{name}" already: take another name.')
        self._names.add(name)
        action = msgspec.structs.replace(step.action, value=Parameter(name))
        self._steps[-1] = msgspec.structs.replace(step, action=action)
        return StepMarked(step.number, "varies", name, typed), f'Each run gets its own "{name}".'

    def check_varies(self) -> tuple[ToldStep, str]:
        """The last step and what it typed, which could be another text in each run."""
        step = self._of_person()
        typed = _typed(step)
        if not typed:
            raise BarRefused("The last step typed nothing that could vary.")
        return step, typed

    def _of_person(self) -> ToldStep:
        if self.last is None:
            raise BarRefused("There is no step of yours yet.")
        return self.last

    # -- what is read and checked --------------------------------------------------------------

    def picked(
        self, press: Mapping[str, Any], values: Mapping[str, str]
    ) -> tuple[Action, Resolved]:
        """What every run reads or checks here."""
        found, said = press["found"], " ".join(str(press["answer"]).split())
        if press["what"] == "check":
            verify = named_checks((_check(found, said),), values)
            return Action("check", verify=verify), _element(found)
        if press.get("whole"):
            found = found["whole"]
        if not said.isprintable() or len(said) > LONGEST_NAME:
            raise BarRefused(f'"{said[:LONGEST_NAME]}" is too long for a name.')
        if said in (each.action.name for each in self._steps):
            raise BarRefused(f'"{said}" is read already: take another name.')
        element = _element(found)
        target = Target(element.ways, element.fingerprint)
        return Action("extract", target=target, name=said), element


def _check(found: Mapping[str, Any], said: str) -> Check:
    check = msgspec.convert(found["check"], TextVisible | ValueSet | ElementState)
    if isinstance(check, TextVisible):
        if said.casefold() not in check.value.casefold():
            raise BarRefused(f'The page does not say "{said}" there.')
        check = TextVisible(said)
    return check


def _element(found: Mapping[str, Any]) -> Resolved:
    return msgspec.convert(found["element"], Resolved)


def _typed(step: ToldStep) -> str:
    value = step.action.value
    return value.text if isinstance(value, Text) else ""


def _name_from(label: str) -> str:
    """A name for a value after the field that it was typed into."""
    return re.sub(r"\W+", "_", label.casefold()).strip("_")[:40] or "value"


def disturbed(press: Mapping[str, Any]) -> BarDisturbed:
    return msgspec.convert({"by": press["by"], "restored": press["restored"]}, BarDisturbed)
