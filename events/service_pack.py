"""What is known about a service, as data: how its pages are told apart."""

from typing import Literal

import msgspec

from rutter.events.action import Action
from rutter.events.checks import PageState

Where = Literal["url", "title", "heading", "button", "field", "alert", "text"]


class Sign(msgspec.Struct, frozen=True):
    """These words, in any case, in this place of the page."""

    where: Where
    says: str


class StateRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """Every sign is there, none of `unless` is: so much speaks for this state."""

    state: PageState
    signs: tuple[Sign, ...]
    weight: int = 1
    unless: tuple[Sign, ...] = ()


class Checkpoint(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where every sign is there, a person is asked before anything is done (E3). `always`: also
    when the step was recorded there."""

    name: str
    signs: tuple[Sign, ...]
    always: bool = False


class ServiceScript(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is done on a page in this state with these signs, where no model is asked: actions, one
    after the other, or, with none, the end of the run as failed, for the reason `why`."""

    state: PageState
    actions: tuple[Action, ...] = ()
    signs: tuple[Sign, ...] = ()
    why: str = ""


class Service(msgspec.Struct, frozen=True, omit_defaults=True):
    """A service by its name: rules of its own, beside those that hold everywhere. `goal` is what
    one comes to it for, `guidance` what a model is told about it, `ways` how it goes without one.
    """

    name: str
    version: str = "1"
    states: tuple[StateRule, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    goal: str = ""
    guidance: str = ""
    ways: tuple[ServiceScript, ...] = ()
