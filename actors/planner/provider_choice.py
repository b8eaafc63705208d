"""The choice of provider says which model is asked, how often, and who after it (C2). No calls.

A question goes to one provider. What is transient is asked there once more, then the next one is
asked, and stays the one; when all are through, nobody is asked in this session any more.
"""

import msgspec

from rutter.events.advisor import AdviceFailed, AdviceLost, AdviceReceived
from rutter.events.checks import PageState
from rutter.events.planner import AdviceRequested
from rutter.events.run_settings import LanguageModel, ModelUse
from rutter.events.runtime import SessionStarted
from rutter.events.vocabulary import AnyEvent

TRIES = 2  # of one question at one provider
# Where nothing is yet, and where a person signs in: no model is shown these (S1 FR-007).
NEVER_SHOWN: frozenset[PageState] = frozenset({"START", "LOGIN_REQUIRED"})


class ProviderChoice(msgspec.Struct, frozen=True):
    """A session asks the provider at `at` next, for the `attempt`th time; `last` is the last
    question, `waiting` whether it has no answer yet."""

    models: ModelUse
    count: int = 0
    at: int = 0
    attempt: int = 1
    last: AdviceRequested | None = None
    waiting: bool = False
    failed: str = ""

    @property
    def next(self) -> LanguageModel | None:
        models = self.models.models
        return models[self.at] if self.at < len(models) else None


def open_asking(started: SessionStarted) -> ProviderChoice | None:
    models = started.models
    return ProviderChoice(models) if models is not None and models.models else None


def evolve_asking(asking: ProviderChoice, event: AnyEvent) -> ProviderChoice:
    change = msgspec.structs.replace
    match event:
        case AdviceRequested() as request:
            return change(asking, count=asking.count + 1, last=request, waiting=True)
        case AdviceReceived() as received if _is_awaited(asking, received.request):
            failed = wanting(received, asking)
            if not failed:
                return change(asking, waiting=False, attempt=1, failed="")
            again = received.ending != "refused"
            return _after(asking, f"{received.provider}: {failed}", again=again)
        case AdviceFailed() as failure if _is_awaited(asking, failure.request):
            said = f"{failure.provider}: {failure.code}"
            said = f"{said}: {failure.message}" if failure.message else said
            return _after(asking, said, again=failure.transient)
        case AdviceLost():
            return change(asking, waiting=False)
        case _:
            return asking


def wanting(received: AdviceReceived, asking: ProviderChoice) -> str:
    """Why this answer is none; empty where it is one. In a conversation a call that does not fit
    is answered, and silence too: there it is part of the talk."""
    if received.ending == "refused":
        return "it refused"
    if asking.last is None or asking.last.purpose == "act" or received.proposal is not None:
        return ""
    return received.invalid or "it proposed nothing"


def request(asking: ProviderChoice | None, like: AdviceRequested) -> AdviceRequested | None:
    """The question, put to who is next; nothing, where nobody is left."""
    choice = asking.next if asking is not None else None
    if asking is None or choice is None:
        return None
    return msgspec.structs.replace(
        like,
        request=f"a{asking.count + 1}",
        provider=choice.provider,
        model=choice.model,
        attempt=asking.attempt,
    )


def lost(asking: ProviderChoice | None) -> AdviceLost | None:
    """The question that a run leaves open when it stops: it counts as spent."""
    if asking is None or not asking.waiting or asking.last is None:
        return None
    return AdviceLost(asking.last.request)


def _is_awaited(asking: ProviderChoice, name: str) -> bool:
    return asking.waiting and asking.last is not None and asking.last.request == name


def _after(asking: ProviderChoice, failed: str, *, again: bool) -> ProviderChoice:
    """Once more where that may help, else on to the next."""
    more = again and asking.attempt < TRIES
    return msgspec.structs.replace(
        asking,
        waiting=False,
        failed=failed,
        at=asking.at if more else asking.at + 1,
        attempt=asking.attempt + 1 if more else 1,
    )
