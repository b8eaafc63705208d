"""A service says as data how its pages are told apart, and what is done there."""

from typing import Literal

import msgspec

from rutter.events.action import Action
from rutter.events.checks import PageState

Where = Literal["url", "title", "heading", "button", "field", "alert", "text"]


class Sign(msgspec.Struct, frozen=True):
    """A sign is words, in any case, in a place of the page."""

    where: Where
    says: str


class StateRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """A state rule fits where every sign is there and none of `unless` is, and weighs so much."""

    state: PageState
    signs: tuple[Sign, ...]
    weight: int = 1
    unless: tuple[Sign, ...] = ()


class Checkpoint(msgspec.Struct, frozen=True, omit_defaults=True):
    """A checkpoint asks a person, where every sign is there, before anything is done (E3).
    `always`: also when the step was recorded there."""

    name: str
    signs: tuple[Sign, ...]
    always: bool = False


class ServiceScript(msgspec.Struct, frozen=True, omit_defaults=True):
    """A service script says what to do on a page in this state with these signs, without a model:
    actions, in order. With none, the run ends there as failed, for the reason `why`."""

    state: PageState
    actions: tuple[Action, ...] = ()
    signs: tuple[Sign, ...] = ()
    why: str = ""


class Service(msgspec.Struct, frozen=True, omit_defaults=True):
    """A service has a name and rules of its own, beside those that hold everywhere. `goal` is what
    one comes to it for, `guidance` what a model is told about it, `ways` its service scripts."""

    name: str
    version: str = "1"
    states: tuple[StateRule, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    goal: str = ""
    guidance: str = ""
    ways: tuple[ServiceScript, ...] = ()
