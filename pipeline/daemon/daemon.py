"""The daemon holds one pipeline with warm browsers, that people, schedules and outside agents talk
to.

`open_daemon` is its composition root, for `rutter serve` and for tests. It lets go of everything in
order: jobs begin no more, sessions that run end as interrupted, browsers close, the log is sealed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio
import msgspec

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.window_load import WindowLoad
from rutter.actors.world.egress.gate import Gate
from rutter.events.errors import BadInput
from rutter.events.sqlite_log import SqliteLog
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import require_chromium
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.daemon.browsers.fleet import Fleet, limits_of
from rutter.pipeline.daemon.daily_expiry import DailyExpiry
from rutter.pipeline.daemon.jobs import jobs as jobs_
from rutter.pipeline.daemon.jobs.approvals import Questions
from rutter.pipeline.daemon.jobs.hooks import Hooks, fold_hooks
from rutter.pipeline.daemon.jobs.jobs import Jobs, ends_of_the_interrupted, fold_jobs
from rutter.pipeline.daemon.jobs.runner import JobRunner, bind_configured
from rutter.pipeline.daemon.jobs.schedules import Schedules, fold_schedules
from rutter.pipeline.daemon.live.feed import Feed
from rutter.pipeline.daemon.live.live_views import LiveViews, stream_settings
from rutter.pipeline.daemon.notify.notices import Notifier, notifier_of
from rutter.pipeline.runtime.shutdown import Phase, shut_down
from rutter.pipeline.tools.tool_sessions import ToolSessions
from rutter.pipeline.traces.live import live_export
from rutter.pipeline.upkeep.erase import finish_erasing

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
        self,
        settings: Settings,
        app: App,
        fleet: Fleet,
        jobs: Jobs,
        questions: Questions,
        tools: ToolSessions,
        feed: Feed,
        schedules: Schedules,
        hooks: Hooks,
        notifier: Notifier | None,
        tidying: DailyExpiry,
        ports: list[int],
    ) -> None:
        self.settings = settings
        self.app = app
        self.fleet = fleet
        self.jobs = jobs
        self.questions = questions
        self.tools = tools
        self.feed = feed
        self.schedules = schedules
        self.hooks = hooks
        self.notifier = notifier
        self.tidying = tidying
        self.views = LiveViews(app.screen, stream_settings(settings.config))
        self.stopping = anyio.Event()
        self.looking_back = anyio.CapacityLimiter(LOOKING_BACK)
        self._ports = ports

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
async def open_daemon(
    settings: Settings, *, note: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Daemon]:
    """Takes the data directory, folds the log, closes what a dead process left open, warms the
    browsers. One per data directory: a second one is told who has it."""
    executable = require_chromium(settings.chromium)
    directory = settings.directory
    directory.lock()
    try:
        if directory.tightened:
            note(f"made private, others could read it: {directory.root}")
        if finish_erasing(directory):
            note("finished an erasing that was cut short")
        ports: list[int] = []
        crowd, headless = WindowLoad(), settings.headless
        fleet = Fleet(
            lambda: Chromium(
                executable, Gate(barred=lambda: ports), headless=headless, crowd=crowd
            ),
            limits_of(settings.config),
        )
        log = await SqliteLog.open(directory.log)
        async with App.open(log, artifacts=directory.artifacts) as app:
            traces = live_export(settings, note)
            if traces is not None:
                app.follow(traces)
            if app.interrupted:
                note(f"closed as interrupted: {', '.join(app.interrupted)}")
            async with _running(settings, app, fleet, ports, note) as daemon:
                yield daemon
    finally:
        directory.unlock()


@asynccontextmanager
async def _running(
    settings: Settings,
    app: App,
    fleet: Fleet,
    ports: list[int],
    note: Callable[[str], None],
) -> AsyncIterator[Daemon]:
    questions = Questions()
    feed = Feed(app.log)
    bind = partial(bind_configured, settings)
    tools = ToolSessions(
        app,
        fleet,
        settings,
        questions,
        bind,
        at_most=settings.config.number("tools.sessions"),
        idle_s=settings.config.amount("tools.idle_s"),
    )
    beginning = JobRunner(app, fleet, settings, questions, warn=note)
    jobs = Jobs(app.say_process, beginning, app.clock.new_id, jobs_.limits_of(settings.config))
    schedules = Schedules(app.say_process, jobs, app.clock)
    hooks = Hooks(app.say_process, jobs)
    notifier = notifier_of(settings.config, environment(), app.clock)
    await fold_jobs(app.log, jobs)
    await fold_schedules(app.log, schedules)
    await fold_hooks(app.log, hooks)
    for hear in (jobs.hear, schedules.hear, hooks.hear, feed.hear):
        app.listen(hear)
    if notifier is not None:
        app.listen(notifier.hear)
    for ended in await ends_of_the_interrupted(app.log, jobs):
        await app.say_process(ended)
    tidying = DailyExpiry(app, settings, note)
    daemon = Daemon(
        settings,
        app,
        fleet,
        jobs,
        questions,
        tools,
        feed,
        schedules,
        hooks,
        notifier,
        tidying,
        ports,
    )
    async with anyio.create_task_group() as group:
        try:
            await fleet.start()
            await group.start(tools.keep)
            group.start_soon(jobs.work)
            group.start_soon(schedules.run)
            group.start_soon(tidying.keep)
            if notifier is not None:
                notifier.start()
            yield daemon
        finally:
            beginning.stopping = True
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
