"""`rutter demo` takes the bundled site from start to finish: record, learn, run alone, verify,
replay."""

import asyncio

import msgspec

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.events.errors import RutterError
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.session_run import open_pipeline
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import going_by
from rutter.pipeline.demo_sites.chandlery import Order, Site, order_script
from rutter.pipeline.queries.workflows_and_sessions import catch_up, find_workflow
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.start import StartedSession
from rutter.pipeline.workflows.recorder_import import RecorderScript, prepare
from rutter.replay.story.advice import money
from rutter.replay.story.told_session import Story
from rutter.replay.verify import verify

NAME = "order"
# What the script types while it is watched, and what the run alone types instead.
WATCHED = {
    "customer": "Aurora Shipping",
    "product": "mooring-rope",
    "quantity": "3",
    "delivery": "2026-03-20",
    "berth": "Waalhaven pier 7",
    "note": "Call the bosun on arrival.",
}
ALONE = {
    "customer": "Juniper Tankers",
    "product": "shackle-bow",
    "quantity": "12",
    "delivery": "2026-04-02",
    "berth": "Botlek quay 2",
    "note": "Second gangway.",
}
APPROVES = PersonAnswer(True, "it is the script being recorded", "confirm")


class DemoFailed(RutterError):
    """The demo did not come out as it must."""


def demo(options: Options, settings: Settings, terminal: Terminal) -> None:
    """Everything on embedded defaults: SQLite, headless Chromium, the site on loopback."""
    own = msgspec.structs.replace(settings, data=settings.data / "demo", named=True)
    with Site() as site:
        terminal.say(f"Chandlery, a ship chandler's back office, is at {site.base_url}")
        stories = asyncio.run(_record_and_run(site, own, terminal))
        order = _check_on_server(site, stories[1])
    terminal.say(f"checked on the server: order {order.number} for {order.customer}: {order.note}")
    _replay(own, terminal)
    catch_up(own)
    _sum_up(stories, own, terminal)


async def _record_and_run(
    site: Site, settings: Settings, terminal: Terminal
) -> tuple[Story, Story]:
    secrets = {"password": site.password}
    recorded = msgspec.convert(order_script(site.base_url, **WATCHED), RecorderScript)
    script = prepare(recorded, WATCHED, secrets)
    host, sure = site.base_url.removeprefix("http://"), settings.config.sureness
    async with open_pipeline(settings, terminal) as opened:
        terminal.say(f"\n1. Watch: a script of {len(script.steps)} steps is recorded as {NAME!r}")
        # The script is the person's own work here: a scripted person approves what it submits,
        # and the log says that it was one.
        started = session_started.recording(NAME, script.steps, WATCHED, secrets, allow=[host])
        person = ScriptedPerson(otherwise=APPROVES)
        session = StartedSession(going_by(started, sure), secrets, typed=script.typed)
        watched = await opened.run(session, person, "watching")
        _steps(watched, terminal)
        workflow = find_workflow(settings, NAME)
        terminal.say(f"\n2. Sail it alone: {NAME!r} version {workflow.version}, other values")
        started = going_by(session_started.run_of(workflow, ALONE, secrets), sure)
        session = StartedSession(started, secrets)
        alone = await opened.run(session, ScriptedPerson(), "sailing alone")
        _steps(alone, terminal)
    return watched, alone


def _steps(story: Story, terminal: Terminal) -> None:
    for step in story.steps:
        mark = "[OK]  " if step.done else "[FAIL]"
        asked = f"  asked: {step.asked}" if step.asked else ""
        gate = "  approved by its recording" if step.rule == "standing_approval" else ""
        line = f"{mark} {step.step:2}  {step.words}  ({step.took_ms:.0f} ms){asked}{gate}"
        terminal.say(line)
    terminal.say(f"       {story.reason}: {story.detail}")
    if story.reason != "completed":
        raise DemoFailed(f"the demo stopped: {story.detail}", "run: rutter doctor")


def _check_on_server(site: Site, story: Story) -> Order:
    """The result as the server has it, not as the page says it."""
    order = site.orders[-1]
    expected = {**ALONE, "quantity": int(ALONE["quantity"])}
    found = {name: getattr(order, name) for name in expected}
    if found != expected or str(order.number) != story.results.get("order_number"):
        raise DemoFailed(f"the server has {found}, not {expected}", "this is a bug: report it")
    return order


def _replay(settings: Settings, terminal: Terminal) -> None:
    with SqliteReader(settings.directory.log) as reader:
        report = verify(reader.read())
    if report.divergence is not None:
        raise DemoFailed(f"replay differs: {report.divergence}", "this is a bug: report it")
    terminal.say(
        f"decided again from the log: {report.decisions} decisions of {report.sessions} sessions, "
        "no divergence"
    )


def _sum_up(stories: tuple[Story, Story], settings: Settings, terminal: Terminal) -> None:
    watched, alone = stories
    calls = watched.model_calls + alone.model_calls
    spent = money(watched.cost_microdollars + alone.cost_microdollars)
    terminal.answer({"watched": watched, "alone": alone, "log": str(settings.directory.log)})
    terminal.say(
        f"\nwatched {len(watched.steps)} steps in {watched.took_ms / 1000:.1f} s, sailed "
        f"{len(alone.steps)} alone in {alone.took_ms / 1000:.1f} s; "
        f"{calls} model calls, {spent}"
    )
    terminal.say(f"log: {settings.directory.log}")
    terminal.say(f"look at it: {settings.command(f'show {alone.session}')}")
