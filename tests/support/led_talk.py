"""A conversation that a language model leads, as the Planner hears it."""

from typing import Any

import msgspec

from rutter.actors.planner.actor import Planner
from rutter.events.action import Untrusted
from rutter.events.advisor import AdviceReceived, WantedCall
from rutter.events.checks import PageState
from rutter.events.critic import CompletionChecked, PageAssessed
from rutter.events.observer import PageObserved
from rutter.events.page import PageElement
from rutter.events.planner import PlanProposed
from rutter.events.run_settings import LanguageModel, Limits, ModelUse
from rutter.events.runtime import SessionStarted
from rutter.events.service_pack import Service
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.sessions import session_started
from tests.support.given_when_then import Story, only
from tests.support.shop_facts import ORIGIN, done, judged, page

FIVE = tuple(PageElement("button") for _ in range(5))
MODELS = ModelUse(
    (LanguageModel("anthropic", "claude-x"), LanguageModel("openai", "gpt-x")), ("browser_click",)
)


def led(
    models: ModelUse | None = MODELS,
    service: Service | None = None,
    *,
    headed: bool = False,
    limits: Limits | None = None,
    **more: Any,
) -> SessionStarted:
    """A session that a model leads, from what an outside agent's is."""
    started = session_started.tool_session(f"{ORIGIN}/", goal="cancel it", **more)
    settings = msgspec.structs.replace(
        started.settings, service=service, limits=limits or Limits(max_turns=20)
    )
    return msgspec.structs.replace(
        started, driver="model", models=models, name="film", settings=settings, headed=headed
    )


class Talk(Story):
    """A Planner in such a session, its first page open and looked at."""

    def __init__(
        self, started: SessionStarted | None = None, state: PageState = "UNKNOWN", title: str = ""
    ) -> None:
        super().__init__(Planner())
        self.step = 1
        self.tell(started or led())
        opening = only(self.saw(), PlanProposed)
        assert (opening.driver, opening.step) == ("script", 1)
        self.first = self.over(state=state, title=title)

    def saw(self, path: str = "/", state: PageState = "UNKNOWN") -> tuple[AnyEvent, ...]:
        self.tell(PageObserved(page(path, elements=FIVE), "requested"))
        return self.tell(PageAssessed(state))

    def over(
        self,
        verdict: Any = "confirmed",
        path: str = "/",
        state: PageState = "UNKNOWN",
        title: str = "",
    ) -> tuple[AnyEvent, ...]:
        """The step under way was judged so, on that page."""
        self.tell(done(self.step))
        seen = page(path, elements=FIVE, title=Untrusted(title))
        self.tell(PageObserved(seen, "after_action"))
        told = self.tell(judged(verdict, self.step))
        self.step += 1
        return told + self.tell(PageAssessed(state))

    def checked(self, *, verified: bool) -> tuple[AnyEvent, ...]:
        """What the page says to the claim, and in the same turn what it is."""
        said = "the heading says so" if verified else "no sign"
        return self.tell(CompletionChecked(verified, said), then=(PageAssessed(),))

    def calls(self, request: str, *tools: str, **arguments: Any) -> tuple[AnyEvent, ...]:
        given = msgspec.json.encode(arguments).decode()
        asked = tuple(WantedCall(f"{request}.{i}", tool, given) for i, tool in enumerate(tools))
        ending: Any = "called" if tools else "said"
        return self.tell(AdviceReceived(request, "anthropic", "claude-x", ending, asked))
