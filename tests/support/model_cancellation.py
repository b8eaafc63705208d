"""The cancellation runs for real, in Chromium and on the bundled service. A provider's SDK talks to
a local server of its wire format, with a reader of pages for a brain."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.models.defaults import DEFAULTS
from rutter.actors.world.models.messages import ModelClient, Prompt, Reply
from rutter.actors.world.models.prices import PricedModel
from rutter.events.advisor import AdviceFailed, AdviceReceived
from rutter.events.envelope import Envelope
from rutter.events.log import EventLog
from rutter.events.predictor import WorkflowLearned
from rutter.events.run_settings import LanguageModel, Limits, ModelUse
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import ApprovalRequested
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.demo_sites.gaffsail import StreamingSite
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.service_file import read_service
from tests.support.model_providers import client_of
from tests.support.provider_server import Brain, WireServer

YES = PersonAnswer(True, phrase="confirm")
NOT_THAT = PersonAnswer(False, "that is something else")
ELSEWHERE = {"pause", "changes", "download", "profile", "watching", "stay", "later"}
NAME = "cancel_film"


class Careful(ScriptedPerson):
    """A careful person reads what is asked, and says yes to nothing about something else."""

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        said = await super().ask(question)
        about = set(question.question.casefold().replace("'", " ").split())
        return NOT_THAT if about & ELSEWHERE else said


class Voyage(msgspec.Struct, frozen=True):
    """A voyage is one session: how it ended, and everything in it."""

    ended: SessionEnded
    events: tuple[Any, ...]
    asked: tuple[Any, ...]

    def told(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def calls(self) -> int:
        return len(self.told(AdviceReceived)) + len(self.told(AdviceFailed))

    @property
    def cost(self) -> int:
        return sum(event.cost_microdollars for event in self.told(AdviceReceived))

    @property
    def learned(self) -> Workflow | None:
        lessons = self.told(WorkflowLearned)
        return lessons[-1].workflow if lessons else None


class Hurried(ModelClient):
    """A hurried adapter is given less time than it is said to have."""

    provider: ClassVar[str] = "hurried"

    def __init__(self, client: ModelClient, within_ms: int) -> None:
        self.model = client.model
        self._client, self._within_ms = client, within_ms

    async def complete(self, prompt: Prompt, *, within_ms: int) -> Reply:
        return await self._client.complete(prompt, within_ms=min(within_ms, self._within_ms))

    async def aclose(self) -> None:
        await self._client.aclose()


class Harbour:
    """A harbour has a pipeline, a browser, the site, and whoever plays the model. `within_ms` is
    how long an answer of it is waited for; nothing is as long as everywhere."""

    def __init__(
        self, app: App, log: EventLog, browser: Chromium, site: StreamingSite, wire: WireServer
    ) -> None:
        self._app, self._log, self._browser = app, log, browser
        self.site, self.wire = site, wire
        self.within_ms: int | None = None
        self.person: type[ScriptedPerson] = ScriptedPerson
        self.tools = tuple(tool.name for tool in SEVEN)
        self._count = 0

    @property
    def told(self) -> str:
        """All that any model was sent, as it went over the wire."""
        return "\n".join(_unquoted(each.body) for each in self.wire.requests)

    async def find(
        self,
        *,
        answers: Sequence[PersonAnswer] = (),
        otherwise: PersonAnswer | None = YES,
        providers: Sequence[str] = ("anthropic",),
        **more: Any,
    ) -> Voyage:
        """A model looks for the way; without providers the service's own is gone."""
        known = read_service(Path("streaming"))
        started = session_started.goal_run(
            NAME,
            known.service.goal,
            f"{self.site.base_url}/account",
            {"email": self.site.email},
            ("password",),
            models=self.models(providers),
            limits=more.pop("limits", Limits(max_steps=20, max_wall_ms=60_000)),
            given=session_started.Given(service=known.service, criteria=known.criteria),
            origins=[("password", self.site.base_url)],
            dry_run=more.pop("dry_run", False),
        )
        started = msgspec.structs.replace(started, **more)
        person = self.person(answers, otherwise=otherwise)
        return await self.sail(started, person, providers)

    async def run(
        self,
        workflow: Workflow,
        *,
        providers: Sequence[str] = ("anthropic",),
        answers: Sequence[PersonAnswer] = (),
        limits: Limits | None = None,
        **more: Any,
    ) -> Voyage:
        """The way that was learned; a model may be asked where it is lost."""
        known = read_service(Path("streaming"))
        started = session_started.run_of(
            workflow,
            {"email": self.site.email},
            ("password",),
            given=session_started.Given(service=known.service, criteria=known.criteria),
            **more,
        )
        started = msgspec.structs.replace(started, models=self.models(providers))
        if limits is not None:
            settings = msgspec.structs.replace(started.settings, limits=limits)
            started = msgspec.structs.replace(started, settings=settings)
        return await self.sail(started, self.person(answers, otherwise=YES), providers)

    def models(self, providers: Sequence[str]) -> ModelUse | None:
        models = tuple(LanguageModel(each, DEFAULTS[each].model) for each in providers)
        return ModelUse(models, self.tools) if models else None

    async def sail(
        self, started: SessionStarted, person: ScriptedPerson, providers: Sequence[str]
    ) -> Voyage:
        self._count += 1
        name = f"voyage-{self._count}"
        priced = {each: PricedModel(self._client(each), DEFAULTS[each].price) for each in providers}
        try:
            ended = await self._app.run_in_browser(
                started,
                self._browser,
                answers=person,
                secrets={"password": self.site.password},
                name=name,
                models=priced,
            )
        finally:
            for each in priced.values():
                await each.client.aclose()
        events: list[Envelope] = [each async for each in self._log.read(session=name)]
        return Voyage(ended, tuple(each.event for each in events), tuple(person.asked))

    def _client(self, provider: str) -> ModelClient:
        client = client_of(provider, self.wire)
        return client if self.within_ms is None else Hurried(client, self.within_ms)


def _unquoted(value: Any) -> str:
    """Every text in a body, one under the other."""
    if isinstance(value, dict):
        return "\n".join(_unquoted(each) for each in value.values())
    if isinstance(value, list):
        return "\n".join(_unquoted(each) for each in value)
    return str(value)


@asynccontextmanager
async def harbour(
    log: EventLog, browser: Chromium, brain: Brain, **site: Any
) -> AsyncIterator[Harbour]:
    with StreamingSite(**site) as streaming, WireServer(brain) as wire:
        async with App.open(log) as app:
            yield Harbour(app, log, browser, streaming, wire)
