"""The Advisor says as facts what a model was asked and answered: replay needs no model."""

from typing import Final, Literal

import msgspec

from rutter.events.action import Action, Untrusted
from rutter.events.checks import PageState
from rutter.events.event import Event, TryEvent
from rutter.events.page import Artifact

# How a model came to the end of what it says: a call, no call, cut off, or that it will not.
Ending = Literal["called", "said", "cut", "refused"]
AdviceError = Literal[
    "timeout",
    "unavailable",
    "overloaded",
    "rate_limited",
    "cut",
    "invalid",
    "unauthorised",
    "unknown_model",
    "refused",
]

TESSERACT: Final = "tesseract"  # reads pictures on this machine: no model, and asked of nobody


class WantedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model wants this tool called: `arguments` is JSON without what it types, as in
    `ToolCalled`; `invalid` says what is wrong with them."""

    call: str
    tool: str
    arguments: str = "{}"
    invalid: str = ""


class Proposal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model proposes one action by the schema of S1 5.3, so many millionths sure of it.

    `state` is what it takes the page for, `leads_to` what it expects it to be then. `instead`: the
    action does what the step it was asked about did; else it only leads there.
    """

    action: Action
    certainty: int
    state: PageState = "UNKNOWN"
    leads_to: PageState | None = None
    instead: bool = True
    reasoning: Untrusted = Untrusted()


class TokenUsage(msgspec.Struct, frozen=True, omit_defaults=True):
    """The provider counted these tokens. `input` are all that went in; `cached` those of them that
    it had kept, `kept` those that it keeps from now on."""

    input: int = 0
    output: int = 0
    cached: int = 0
    kept: int = 0


class AdvicePrepared(Event, frozen=True, tag="AdvicePrepared"):
    """The Advisor will send this `prompt` word for word, once it is on disk. `tokens` is our own
    estimate of its text; `missing` names what of the page could not be had."""

    request: str
    prompt: Artifact | None = None
    tokens: int = 0
    pictures: int = 0
    missing: tuple[str, ...] = ()
    dropped_turns: int = 0


class AdviceReceived(Event, frozen=True, tag="AdviceReceived"):
    """The model answered, at this cost. All that it wants done is in `calls`, or it is a
    `proposal`; `invalid` says why there is none. `priced`: what a token costs here is known."""

    request: str
    provider: str
    model: str
    ending: Ending = "called"
    calls: tuple[WantedCall, ...] = ()
    proposal: Proposal | None = None
    invalid: str = ""
    text: Untrusted = Untrusted()
    usage: TokenUsage = TokenUsage()
    cost_microdollars: int = 0
    priced: bool = True
    took_ms: int = 0
    body: Artifact | None = None


class AdviceFailed(Event, frozen=True, tag="AdviceFailed"):
    """The model gave no answer. `transient`: the same question may be answered a moment later."""

    request: str
    provider: str
    code: AdviceError
    transient: bool
    message: str = ""
    took_ms: int = 0


class AdviceLost(Event, frozen=True, tag="AdviceLost"):
    """The run ended between question and answer: the call counts as spent."""

    request: str


class VisionGiven(TryEvent, frozen=True, tag="VisionGiven"):
    """A vision model says what a picture shows of a step. Advice: it changes no verdict (F5).

    Without a `provider` nobody was asked. `error` says why who was asked gave no answer.
    """

    said: Literal["VERIFIED", "NOT_VERIFIED", "UNKNOWN"]
    provider: str = ""
    message: str = ""
    screenshot: Artifact | None = None
    took_ms: int = 0
    model: str = ""
    usage: TokenUsage = TokenUsage()
    cost_microdollars: int = 0
    priced: bool = True
    error: AdviceError | None = None
