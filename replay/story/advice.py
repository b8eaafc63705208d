"""An advice story says what a language model was asked and advised, at the step that it led to."""

import msgspec

from rutter.events.advisor import (
    TESSERACT,
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    TokenUsage,
    VisionGiven,
)
from rutter.events.event import Event
from rutter.events.planner import AdviceRequested
from rutter.events.run_settings import MILLION
from rutter.replay.story.cost import is_call, is_priced
from rutter.replay.story.wording import advice_in_words, ascii_only, quoted

SHOWN = 160  # characters of why: of what a model says, and of what it is told


class AdviceStory(msgspec.Struct, omit_defaults=True):
    """An advice story tells one call. `ended` is how the answer ended, or `failed`, `lost`,
    `waiting`; `ignored` are the tools that it called beside the first. A cost of None is not
    known."""

    purpose: str
    provider: str
    model: str
    attempt: int = 1
    correction: int = 0
    about: str = ""
    advised: str = ""
    certainty: float | None = None
    why: str = ""
    ended: str = "waiting"
    error: str = ""
    code: str = ""
    ignored: list[str] = []
    missing: list[str] = []
    usage: TokenUsage = TokenUsage()
    estimated_tokens: int | None = None
    cost_microdollars: int | None = None
    took_ms: int = 0

    def __str__(self) -> str:
        nth = f" {self.correction}" if self.correction else ""
        again = f" (try {self.attempt})" if self.attempt > 1 else ""
        who = f"{self.provider} {self.model}".strip()
        about = f" ({self.about})" if self.about else ""
        return f"{self.purpose}{nth}{about}, {who}{again}: {self._answer()}; {self._spent()}"

    @property
    def answered(self) -> bool:
        """Whether something came back that could be used."""
        return self.ended in ("called", "said")

    @property
    def wrong(self) -> str:
        """What went wrong with it."""
        return self.error or self.ended

    def _answer(self) -> str:
        if self.ended == "waiting":
            return "no answer yet"
        if self.ended in ("failed", "lost"):
            return f"{self.ended}: {self.error}" if self.error else self.ended
        sure = "" if self.certainty is None else f", certainty {self.certainty:g}"
        parts = [f"{self.advised}{sure}"]
        if self.error:
            parts.append(f"invalid: {self.error}")
        if self.ended in ("cut", "refused"):
            parts.append(self.ended)
        if self.ignored:
            parts.append(f"ignored {', '.join(self.ignored)}")
        if self.missing:
            parts.append(f"without {', '.join(self.missing)}")
        if self.why:
            parts.append(f"because {quoted(self.why)}")
        return "; ".join(parts)

    def _spent(self) -> str:
        if self.ended in ("failed", "lost", "waiting"):
            tokens = f"about {self.estimated_tokens} tokens" if self.estimated_tokens else "asked"
        else:
            tokens = _tokens(self.usage)
        return _together(tokens, self.cost_microdollars, self.took_ms)


class VisionStory(msgspec.Struct, omit_defaults=True):
    """A vision story says what a model saw in a picture. It is advice: the verdict was fixed before
    it. `asked` is whether anybody was; `error`, why there is no answer; a cost of None is not
    known."""

    said: str = "no answer"
    provider: str = ""
    message: str = ""
    model: str = ""
    error: str = ""
    asked: bool = False
    usage: TokenUsage = TokenUsage()
    cost_microdollars: int | None = None
    took_ms: int = 0

    def __str__(self) -> str:
        who = f"{self.provider} {self.model}".strip()
        by = f" by {who}" if who else ""
        why = ": ".join(part for part in (self.error, self.message) if part)
        more = f" ({why})" if why else ""
        return f"{self.said}{by}{more}; {self._spent()}it changed nothing"

    def _spent(self) -> str:
        if not self.asked:
            return ""
        tokens = "asked" if self.error else _tokens(self.usage)
        return f"{_together(tokens, self.cost_microdollars, self.took_ms)}; "


class AdviceFold:
    """The fold takes what concerns asking; it hands over, for each step, what led to it."""

    def __init__(self) -> None:
        self.calls = 0
        self.tokens = 0
        self.cost_microdollars = 0
        self._calls: dict[str, AdviceStory] = {}
        self._told: list[tuple[int, AdviceStory]] = []
        self._all: list[AdviceStory | VisionStory] = []

    @property
    def unpriced(self) -> int:
        """How many calls cost what is not known, or not yet."""
        return sum(call.cost_microdollars is None for call in self._all)

    def take(self, event: Event) -> bool:
        """Whether it was about asking a model."""
        match event:
            case AdviceRequested() as request:
                self._ask(request)
            case AdvicePrepared() as prepared:
                call = self._call(prepared.request)
                call.estimated_tokens = prepared.tokens
                call.missing = [ascii_only(part) for part in prepared.missing]
            case AdviceReceived() as received:
                self._receive(self._call(received.request, received.provider), received)
            case AdviceFailed(code=code, message=message) as failed:
                call = self._call(failed.request, failed.provider)
                call.ended, call.took_ms = "failed", failed.took_ms
                call.error = ascii_only(f"{code}: {message}" if message else code)
                call.code = code
                call.cost_microdollars = 0 if is_priced(failed) else None
            case AdviceLost(request=name):
                self._call(name).ended = "lost"
            case _:
                return False
        return True

    def look(self, given: VisionGiven) -> VisionStory:
        """What was seen is told at the step that it was about; as a call it counts here."""
        story = VisionStory(
            given.said,
            ascii_only(given.provider),
            ascii_only(given.message),
            ascii_only(given.model),
            given.error or "",
            is_call(given),
            given.usage,
            given.cost_microdollars if is_priced(given) else None,
            given.took_ms,
        )
        if story.asked:
            self.calls += 1
            self._all.append(story)
            self._spend(given)
        return story

    def led_to_a_step(self) -> list[AdviceStory]:
        """What was asked since the step before."""
        told, self._told = self._told, []
        return [call for _, call in told]

    def led_nowhere(self) -> list[tuple[int, AdviceStory]]:
        """What was asked since the last step, each with the number of the step it was about."""
        return self._told

    def _ask(self, request: AdviceRequested) -> None:
        self._open(
            request.request,
            AdviceStory(
                request.purpose,
                ascii_only(request.provider),
                ascii_only(request.model),
                request.attempt,
                request.correction,
                ascii_only(request.told)[:SHOWN],
            ),
            request.step,
        )

    def _open(self, name: str, call: AdviceStory, step: int = 0) -> AdviceStory:
        self._calls[name] = call
        if call.provider != TESSERACT:
            self.calls += 1
            self._all.append(call)
        self._told.append((step, call))
        return call

    def _call(self, name: str, provider: str = "") -> AdviceStory:
        """The call of this name; what was asked may be erased."""
        found = self._calls.get(name)
        return found or self._open(name, AdviceStory("erased", ascii_only(provider), ""))

    def _receive(self, call: AdviceStory, received: AdviceReceived) -> None:
        call.ended, call.took_ms = received.ending, received.took_ms
        call.model = ascii_only(received.model)
        call.advised = advice_in_words(received)
        call.ignored = [ascii_only(each.tool) for each in received.calls[1:]]
        proposal = received.proposal
        if proposal is not None:
            call.certainty = proposal.certainty / MILLION
        said = proposal.reasoning.text if proposal is not None else ""
        call.why = ascii_only(said or received.text.text)[:SHOWN]
        if call.purpose == "ghost":
            call.advised, call.why = f"it reads {quoted(call.why)}", ""
        wrong = received.calls[0].invalid if received.calls else ""
        call.error = ascii_only(received.invalid or wrong)
        call.usage = received.usage
        call.cost_microdollars = received.cost_microdollars if received.priced else None
        self._spend(received)

    def _spend(self, end: AdviceReceived | VisionGiven) -> None:
        self.tokens += end.usage.input + end.usage.output
        self.cost_microdollars += end.cost_microdollars


def _tokens(usage: TokenUsage) -> str:
    cached = f" ({usage.cached} cached)" if usage.cached else ""
    return f"{usage.input} tokens in{cached}, {usage.output} out"


def _together(tokens: str, microdollars: int | None, took_ms: int) -> str:
    """How long it took is not known of what never came back."""
    return f"{tokens}, {money(microdollars)}{f', {took_ms} ms' if took_ms else ''}"


def money(microdollars: int | None) -> str:
    """Four decimals under a dollar, for a call may cost less than a cent; two above."""
    if microdollars is None:
        return "cost unknown"
    if not microdollars:
        return "$0.00"
    rounded = (microdollars + 50) // 100
    if not rounded:
        return "under $0.0001"
    return f"${rounded / 10_000:.4f}" if rounded < 10_000 else f"${microdollars / MILLION:.2f}"


def spent_in_words(calls: int, tokens: int, microdollars: int, unpriced: int) -> str:
    """`3 model calls, 3600 tokens, $0.0144 and 1 call of unknown cost`."""
    told = f"{calls} model call{'' if calls == 1 else 's'}, {tokens} tokens, {money(microdollars)}"
    if not unpriced:
        return told
    return f"{told} and {unpriced} call{'' if unpriced == 1 else 's'} of unknown cost"
