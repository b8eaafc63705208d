"""The daemon holds one pipeline with warm browsers, that people, schedules and outside agents talk
to.

`open_daemon` is its composition root, for `rutter serve` and for tests. It lets go of everything in
order: jobs begin no more, sessions that run end as interrupted, browsers close, the log is sealed.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio
import msgspec

from rutter.events.errors import BadInput
from rutter.pipeline.app import App
from rutter.pipeline.browser import browser_maker
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.daemon.browsers.fleet import Fleet, limits_of
from rutter.pipeline.daemon.daily_expiry import DailyExpiry
from rutter.pipeline.daemon.http.web_sessions import WebSessions
from rutter.pipeline.daemon.jobs import hooks as hooks_
from rutter.pipeline.daemon.jobs import jobs as jobs_
from rutter.pipeline.daemon.jobs import schedules as schedules_
from rutter.pipeline.daemon.jobs.approvals import Questions
from rutter.pipeline.daemon.jobs.hooks import Hooks
from rutter.pipeline.daemon.jobs.jobs import Jobs, ends_of_the_interrupted, fold
from rutter.pipeline.daemon.jobs.runner import JobRunner
from rutter.pipeline.daemon.jobs.scheduled_rows import ScheduledRows
from rutter.pipeline.daemon.jobs.schedules import Schedules
from rutter.pipeline.daemon.live.feed import Feed
from rutter.pipeline.daemon.live.live_views import LiveViews, stream_settings
from rutter.pipeline.daemon.notify.notices import notifier_of
from rutter.pipeline.open_app import Note, open_own_app
from rutter.pipeline.runtime.shutdown import Phase, shut_down
from rutter.pipeline.sessions.attendant import bind_configured
from rutter.pipeline.tools.tool_sessions import ToolSessions

STOPPED = "the daemon stopped"
REST_S = 30.0  # a page that hangs has deadlines shorter than this
LET_GO_S = 20.0
LOOKING_BACK = 2  # whole sessions that are read at once: it takes the processor that they run on
VIEWS_S = 5.0
NOTICES_S = 5.0  # what is not out by then is lost: the log has what it was about
BROWSERS_S = 40.0  # a browser that does not close is killed well before


class Daemon:
    """The daemon has these parts, for whoever asks. Made by `open_daemon`."""

    def __init__(
        self, settings: Settings, app: App, fleet: Fleet, ports: list[int], note: Note
    ) -> None:
        config, say = settings.config, app.say_process
        self.settings = settings
        self.app = app
        self.fleet = fleet
        self.questions = Questions()
        self.feed = Feed(app.log)
        self.tools = ToolSessions(
            app,
            fleet,
            settings,
            self.questions.of,
            partial(bind_configured, settings),
            at_most=config.number("tools.sessions"),
            idle_s=config.amount("tools.idle_s"),
        )
        self.runner = JobRunner(app, fleet, settings, self.questions, warn=note)
        self.jobs = Jobs(say, self.runner, app.clock.new_id, jobs_.limits_of(config))
        rows = ScheduledRows(settings, self.jobs)
        self.schedules = Schedules(say, self.jobs, app.clock, rows)
        self.hooks = Hooks(say, self.jobs)
        self.notifier = notifier_of(config, environment(), app.clock)
        self.tidying = DailyExpiry(app, settings, note)
        self.web = WebSessions()
        self.views = LiveViews(app.screen, stream_settings(config))
        self.stopping = anyio.Event()
        self.looking_back = anyio.CapacityLimiter(LOOKING_BACK)
        self._ports = ports

    async def fold(self) -> None:
        """What the log says of jobs and of what sets them off, and whatever it says from now on."""
        app = self.app
        await fold(app.log, jobs_.KINDS, self.jobs.hear)
        await fold(app.log, schedules_.KINDS, self.schedules.hear)
        await fold(app.log, hooks_.KINDS, self.hooks.hear)
        for each in (self.jobs, self.schedules, self.hooks, self.feed, self.notifier):
            if each is not None:
                app.listen(each.hear)
        for ended in await ends_of_the_interrupted(app.log, self.jobs):
            await app.say_process(ended)

    def bar(self, port: int) -> None:
        """No page reaches this port, whatever it is let go to: it is ours."""
        self._ports.append(port)

    def report(self, what: str, error: BaseException) -> None:
        """A defect: to whoever keeps the daemon's own log."""
        asyncio.get_running_loop().call_exception_handler({"message": what, "exception": error})

    def statistics(self) -> dict[str, object]:
        """How full everything is."""
        jobs = self.jobs
        return {
            "sessions": list(self.app.running()),
            "browsers": msgspec.to_builtins(self.fleet.statistics()),
            "queues": [msgspec.to_builtins(each) for each in self.app.statistics()],
            "jobs": {"waiting": len(jobs.waiting()), "running": len(jobs.running())},
            "questions": len(self.questions.pending()),
            "live_views": msgspec.to_builtins(self.views.statistics()),
            "notices": msgspec.to_builtins(self.notifier.statistics() if self.notifier else ()),
        }


@asynccontextmanager
async def open_daemon(settings: Settings, *, note: Note = lambda _: None) -> AsyncIterator[Daemon]:
    """Takes the data directory, folds the log, closes what a dead process left open, warms the
    browsers. One per data directory: a second one is told who has it."""
    ports: list[int] = []
    fleet = Fleet(browser_maker(settings, barred=lambda: ports), limits_of(settings.config))
    async with (
        open_own_app(settings, note) as app,
        _running(Daemon(settings, app, fleet, ports, note)) as daemon,
    ):
        yield daemon


@asynccontextmanager
async def _running(daemon: Daemon) -> AsyncIterator[Daemon]:
    await daemon.fold()
    async with anyio.create_task_group() as group:
        try:
            await daemon.fleet.start()
            await group.start(daemon.tools.keep)
            group.start_soon(daemon.jobs.work)
            group.start_soon(daemon.schedules.run)
            group.start_soon(daemon.tidying.keep)
            if daemon.notifier is not None:
                daemon.notifier.start()
            yield daemon
        finally:
            daemon.runner.stopping = True
            daemon.stopping.set()
            await shut_down(_phases(daemon))
            group.cancel_scope.cancel()


def _phases(daemon: Daemon) -> Sequence[Phase]:
    return (
        Phase("end sessions and jobs", REST_S, partial(_rest, daemon)),
        Phase("let go of tools", LET_GO_S, daemon.tools.close_all),
        Phase("end live views", VIEWS_S, daemon.views.close),
        Phase("close browsers", BROWSERS_S, daemon.fleet.close),
        *([Phase("send notices", NOTICES_S, daemon.notifier.stop)] if daemon.notifier else []),
    )


async def _rest(daemon: Daemon) -> None:
    """What runs is ended, and its end is in the log, before anything is taken from under it."""
    async with anyio.create_task_group() as group:
        for session in daemon.app.running():
            group.start_soon(_interrupt, daemon.app, session)
        await daemon.jobs.rest()


async def _interrupt(app: App, session: str) -> None:
    with suppress(BadInput):  # it has just ended by itself
        await app.interrupt(session, STOPPED)
        await app.ended(session)
