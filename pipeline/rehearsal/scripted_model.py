"""A language model that says what a test wants it to say, and remembers what it was asked."""

import re
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import anyio
import msgspec

from rutter.actors.advisor import proposal
from rutter.actors.rules.pages.text_form import estimate_tokens
from rutter.actors.world.models.messages import (
    ModelCall,
    ModelClient,
    ModelFailed,
    ModelTurn,
    Prompt,
    Reply,
    ResultsTurn,
    Turn,
    UserTurn,
)
from rutter.events.advisor import AdviceError, TokenUsage
from rutter.pipeline.rehearsal.troubles import Waits

# The same question may be answered a moment later; the others stay as they are.
TRANSIENT: frozenset[AdviceError] = frozenset(
    {"timeout", "unavailable", "overloaded", "rate_limited", "cut", "invalid"}
)
LOCATORS = ("css", "aria_role", "aria_name", "text", "coordinates")
# `@e8 textbox "Name" = "Ann" readonly`, as `rutter.actors.rules.pages.text_form.line_of` writes it.
_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_LINE = re.compile(
    rf"^\s*(@e\d+) ([a-z]+)(?: \d+)?(?: {_QUOTED})?(?: = {_QUOTED})?((?: [a-z_-]+)*)\s*$",
    re.MULTILINE,
)

Said = Reply | ModelFailed
Answer = Said | Waits | Callable[[Prompt], Said]


class ScriptedModel(ModelClient):
    """A scripted model answers in order. A function among them is asked what to say; if it is the
    last one it answers all that follows. Who has nothing left to say is not available.

    `asked` holds every prompt. Where an answer names no usage, tokens are estimated.
    """

    provider: ClassVar[str] = "scripted"

    def __init__(self, *answers: Answer, provider: str = "", model: str = "scripted-1") -> None:
        self._answers = list(answers)
        self.model = model
        self.asked: list[Prompt] = []
        self.closed = False
        if provider:  # several may stand in for several providers: a name for this one alone
            vars(self)["provider"] = provider

    @property
    def left(self) -> int:
        """How many answers nobody has asked for."""
        return len(self._answers)

    async def complete(self, prompt: Prompt, *, within_ms: int) -> Reply:
        self.asked.append(prompt)
        with anyio.move_on_after(within_ms / 1000):
            said = await self._next(prompt)
            if isinstance(said, Reply):
                return self._finished(said, prompt)
            # A new one each time: an exception keeps the way it went.
            raise ModelFailed(said.code, said.message, transient=said.transient)
        raise fails("timeout", f"no answer within {within_ms} ms")

    async def aclose(self) -> None:
        self.closed = True

    async def _next(self, prompt: Prompt) -> Said:
        if not self._answers:
            return fails("unavailable", "the script has no more answers", transient=False)
        answer = self._answers[0]
        if isinstance(answer, Waits):
            self._answers.pop(0)
            answer.reached.set()
            await answer.answer.wait()
            return await self._next(prompt)
        if isinstance(answer, Reply | ModelFailed):
            return self._answers.pop(0)  # type: ignore[return-value]
        if len(self._answers) > 1:
            self._answers.pop(0)
        return answer(prompt)

    def _finished(self, reply: Reply, prompt: Prompt) -> Reply:
        """With what a provider adds: ids of the calls, its model's name, what it counted."""
        count = len(self.asked)
        named = tuple(
            call if call.id else msgspec.structs.replace(call, id=f"call_{count}_{place}")
            for place, call in enumerate(reply.calls, 1)
        )
        usage = reply.usage if reply.usage != TokenUsage() else _counted(prompt, reply)
        model = reply.model or self.model
        reply = msgspec.structs.replace(reply, model=model, calls=named, usage=usage)
        raw = reply.raw or msgspec.json.encode(reply)
        return msgspec.structs.replace(reply, raw=raw)


# -- what it may say -------------------------------------------------------------------------------


def calls(tool: str, /, **arguments: object) -> Reply:
    """It calls one tool."""
    return calls_badly(tool, msgspec.json.encode(arguments).decode())


def calls_badly(tool: str, arguments: str) -> Reply:
    """It calls one tool with this text for arguments, whether that is JSON or not."""
    return Reply("", "called", calls=(ModelCall("", tool, arguments),))


def says(text: str) -> Reply:
    """It calls nothing."""
    return Reply("", "said", text=text)


def together(*replies: Reply) -> Reply:
    """All of these in one answer: several calls, or a text before a call."""
    used = tuple(call for reply in replies for call in reply.calls)
    text = "\n".join(reply.text for reply in replies if reply.text)
    return Reply("", "called" if used else "said", text=text, calls=used)


def cut(reply: Reply) -> Reply:
    """The same, ended by the limit of tokens."""
    return msgspec.structs.replace(reply, ending="cut")


def refuses(text: str = "") -> Reply:
    return Reply("", "refused", text=text)


def proposes(
    *,
    action_type: str = "click",
    confidence: float = 0.9,
    state: str = "UNKNOWN",
    reasoning: str = "it is the next step",
    **more: object,
) -> Reply:
    """One action by the schema of S1 5.3; `more` are the locators of its target, and its other
    fields: `value`, `expected_state`, `does_step`, `fallback_targets`."""
    target = {name: more.pop(name) for name in LOCATORS if name in more}
    return calls(
        proposal.NAME,
        state=state,
        action_type=action_type,
        target=target,
        reasoning=reasoning,
        confidence=confidence,
        **more,
    )


def fails(code: AdviceError, message: str = "", *, transient: bool | None = None) -> ModelFailed:
    """No answer. Whether it may be asked again follows from why, unless it is said."""
    again = code in TRANSIENT if transient is None else transient
    return ModelFailed(code, message or f"scripted: {code}", transient=again)


# -- what it was shown -----------------------------------------------------------------------------


class PromptElement(NamedTuple):
    """A prompt shows an element like this."""

    ref: str
    role: str
    name: str = ""
    value: str = ""
    state: tuple[str, ...] = ()


def elements_in(prompt: Prompt) -> list[PromptElement]:
    """The elements of the newest snapshot that the prompt shows."""
    for turn in reversed(prompt.turns):
        if lines := [_line(found) for found in _LINE.finditer(text_in(turn))]:
            return lines
    return []


def ref_of(prompt: Prompt, role: str, name: str) -> str:
    """The ref of an element in the newest snapshot; empty when it shows none such."""
    wanted = (role, name.casefold())
    for line in elements_in(prompt):
        if (line.role, line.name.casefold()) == wanted:
            return line.ref
    return ""


def text_in(turn: Turn) -> str:
    match turn:
        case UserTurn(text=text):
            return text
        case ModelTurn(text=text, calls=used):
            return "\n".join([text, *(call.arguments for call in used)])
        case ResultsTurn(outcomes=outcomes, text=text):
            return "\n".join([*(outcome.text for outcome in outcomes), text])


def _line(found: re.Match[str]) -> PromptElement:
    ref, role, name, value, state = found.groups()
    return PromptElement(ref, role, _unquoted(name), _unquoted(value), tuple(state.split()))


def _unquoted(text: str | None) -> str:
    return re.sub(r"\\(.)", r"\1", text or "")


def _counted(prompt: Prompt, reply: Reply) -> TokenUsage:
    tools = "".join(f"{tool.name} {tool.description} {tool.schema}" for tool in prompt.tools)
    asked = "\n".join([prompt.system, tools, *map(text_in, prompt.turns)])
    said = "\n".join([reply.text, *(call.arguments for call in reply.calls)])
    return TokenUsage(input=estimate_tokens(asked), output=estimate_tokens(said))
