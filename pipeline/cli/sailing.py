"""`rutter record` and `rutter run`: the commands that sail."""

import argparse
import asyncio
import re
import shlex
from pathlib import Path

import msgspec

from events.envelope import Envelope
from events.errors import BadInput
from events.runtime import SessionStarted
from events.sqlite_reader import SqliteReader
from events.workflow import MILLION, Workflow
from pipeline import exit_codes, launch
from pipeline.cli.binding import ask_unbound
from pipeline.cli.given import read_given
from pipeline.cli.reading import latest_workflow, project
from pipeline.cli.terminal import Terminal
from pipeline.cli.voyage import open_voyage, person
from pipeline.editing import names_over_time
from pipeline.fork import left_open, started_before
from pipeline.recorder import prepare, read_script
from pipeline.secret_sources import read_pairs, read_secrets
from pipeline.settings import Settings, environment
from replay.story import StepStory, Story
from replay.wording import in_words


def record(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Records a workflow from a DevTools Recorder script."""
    parameters = read_pairs(options.param, "--param")
    secrets = read_secrets(options.secret, environment(), terminal.ask_secret)
    script = prepare(read_script(Path(options.script)), parameters, secrets)
    started = launch.recording(
        options.name,
        script.steps,
        parameters,
        secrets,
        allow=options.allow,
        screenshots=options.screenshots,
        given=read_given(options),
    )
    answers = person(terminal, options.answers)

    async def sail() -> Story:
        async with open_voyage(settings, terminal) as voyage:
            return await voyage.sail(
                started,
                answers=answers,
                secrets=secrets,
                typed=script.typed,
                what=f"recording {options.name}",
            )

    story = asyncio.run(sail())
    code = report(story, settings, terminal, done=f"recorded {options.name}")
    if code == exit_codes.Exit.DONE and not terminal.as_json:
        tell_unproven(_known(options.name, settings), settings, terminal)
    return code


def run(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Sails a workflow alone, or freely wherever the model is sure."""
    values = read_pairs(options.set, "--set")
    secrets = read_secrets(options.secret, environment(), terminal.ask_secret)
    given = read_given(options)
    if options.free:
        started = _free(options, values, secrets, given)
    else:
        if not options.name:
            raise BadInput("which workflow?", "rutter run NAME, or rutter run --free --url URL")
        workflow = _known(options.name, settings)
        values, secrets = ask_unbound(workflow, values, secrets, terminal)
        before = _unsettled(workflow, settings)
        started = launch.run_of(
            workflow,
            values,
            secrets,
            allow=options.allow,
            dry_run=options.dry_run,
            screenshots=options.screenshots,
            given=given,
        )
        if before:
            # E7: what may have happened is asked about before it is done again.
            started = msgspec.structs.replace(
                started, continues=before[0].session, done_before=started_before(before)
            )
    answers = person(terminal, options.answers)
    what = f"sailing {options.name or options.url}"

    async def sail() -> Story:
        async with open_voyage(settings, terminal) as voyage:
            return await voyage.sail(started, answers=answers, secrets=secrets, what=what)

    story = asyncio.run(sail())
    done = f"sailed {story.name} version {story.version}" if story.name else "sailed freely"
    return report(story, settings, terminal, done=done, dry_run=options.dry_run)


def report(
    story: Story, settings: Settings, terminal: Terminal, *, done: str, dry_run: bool = False
) -> int:
    """The end of a session in a few lines, with the next command to type."""
    code = exit_codes.of_session(story.reason, story.failure, dry_run=dry_run)
    project(settings).close()
    if terminal.as_json:
        terminal.json(story)
        return code
    confirmed = sum(step.done for step in story.steps)
    cost = f"{story.model_calls} model calls, ${story.cost_microdollars / MILLION:.2f}"
    if code == exit_codes.Exit.DONE:
        terminal.say(
            f"[OK] {done}: {confirmed} steps confirmed in {story.took_ms / 1000:.1f} s, {cost}"
        )
        for name, value in story.results.items():
            terminal.say(f"     {name} = {value}")
        if dry_run and story.steps:
            last = story.steps[-1]
            terminal.say(f"     before step {last.step} ({last.words}): {story.detail}")
    else:
        _tell_failure(story, settings, terminal)
    terminal.say(f"     see: {settings.command(f'show {story.session}')}")
    return code


def tell_unproven(workflow: Workflow, settings: Settings, terminal: Terminal) -> None:
    """The last step that was approved, when nothing but where it leads says that it worked."""
    sending = [
        (number, step)
        for number, step in enumerate(workflow.steps, 1)
        if step.standing is not None and step.action.type in ("click", "press")
    ]
    if not sending:
        return
    number, step = sending[-1]
    after = step.after
    if after.learned or after.checks or after.read_back is not None:
        return
    shows = "the page it leads to" if after.moved else "that something changed"
    edit = settings.command(f"workflows edit {shlex.quote(workflow.name)}")
    terminal.say(f"     step {number} ({in_words(step.action)}) is known by {shows} alone;")
    terminal.say(f"     say how its result shows: {edit} --read-back '{number}=URL CHECK'")


NEXT = {
    "needs_person": "run it at a terminal, or give --answers FILE",
    "lost": "look at the page, then record the changed step again",
    "policy_denied": "change the policy or the workflow if this step is meant",
    "unreachable": "check the address and the network, then run it again",
    "verification_failed": "look at the screenshot; record the step again if the site changed",
    "retry_exhausted": "look at the screenshot; record the step again if the site changed",
    "browser_lost": "run it again; if it repeats: rutter doctor",
    "actor_failed": "this is a bug: report it with the log",
    "completed_unverified": "look at the screenshot: what shows that it is done is not on the page",
    "max_steps": "look at its steps, then record it again: it goes round in circles",
    "max_wall_time": "run it again when the site is faster",
    "max_failures": "look at its steps, then record those that fail again",
    "max_turns_exceeded": "look at its steps, then give it a smaller goal",
    "no_op_loop": "look at the page, then record the changed step again",
    "cancelled": "run it again",
    "interrupted": "run it again; an outcome that is unknown is never repeated blindly",
}


def _tell_failure(story: Story, settings: Settings, terminal: Terminal) -> None:
    last = story.steps[-1] if story.steps else None
    kind = story.failure or story.reason
    at = f" at step {_numbered(last)} ({last.words})" if last else ""
    more = f" ({story.failure})" if story.failure not in ("", story.reason) else ""
    terminal.say(f"[FAIL] {story.reason}{more}{at}")
    terminal.say(f"     why: {story.detail}")
    if last is not None and not last.done and not last.found_by:
        for tried in last.tried:
            terminal.say(f"     looked for {tried}")
    if last is not None and (said := _said_by_page(last)):
        terminal.say(f"     the page says: {said}")
    if story.unknown:
        terminal.say(f"     the outcome of the last step is unknown: {story.unknown}")
    if story.screenshot is not None:
        terminal.say(f"     screenshot: {settings.directory.artifacts.path(story.screenshot)}")
    if kind in NEXT and "--" not in story.detail:  # a detail that names a flag says what to do
        terminal.say(f"     next: {_advice(story, kind)}")
    if last is not None and (number := _rested_on_words(story, last)):
        forget = settings.command(f"workflows edit {shlex.quote(story.name)} --no-expect {number}")
        terminal.say(f"     if the step worked and only its words changed: {forget}")


def _numbered(step: StepStory) -> str:
    """The number that `workflows show` gives the step, where it is one of a workflow."""
    found = re.match(r"workflow_step_(\d+)_of_", step.why)
    return found[1] if found else str(step.step)


def _advice(story: Story, kind: str) -> str:
    if story.unknown:
        return "look whether it was done before you run it again; the next run asks"
    if kind == "verification_failed" and "file_" in story.detail:
        return "look at the file; the page is as it should be"
    return NEXT[kind]


def _said_by_page(step: StepStory) -> str:
    """What the page showed where a step did not come to what was expected."""
    if step.verdict in ("", "confirmed", "answered", "passed_over"):
        return ""
    doubtful = [each.sample for each in step.evidence if each.confidence < 1 and each.sample]
    return doubtful[-1] if doubtful else ""


def _rested_on_words(story: Story, step: StepStory) -> str:
    """The number of a step of a workflow that a notice, a state or a text decided against."""
    worded = re.match(r"(?:read_back: )?(?:alert|page_state|text_visible) ", step.reason)
    known = worded and story.name and step.why.startswith("workflow_step_")
    return _numbered(step) if known else ""


def _known(name: str, settings: Settings) -> Workflow:
    with project(settings) as store:
        return latest_workflow(store, name)


def _unsettled(workflow: Workflow, settings: Settings) -> list[Envelope]:
    """The last run since one was completed that left open what it had done, if there is one."""
    with SqliteReader(settings.directory.log) as reader:
        names = names_over_time(workflow.name, reader)
    with project(settings) as store:
        rows = store.db.execute(
            f"SELECT session, reason FROM sessions WHERE name IN ({', '.join('?' * len(names))}) "
            "AND purpose = 'run' ORDER BY seq DESC LIMIT 50",
            names,
        ).fetchall()
    with SqliteReader(settings.directory.log) as reader:
        for session, reason in rows:
            if reason == "completed":
                return []
            events = list(reader.read(session=session))
            if left_open(events):
                return events
    return []


def _free(
    options: argparse.Namespace,
    values: dict[str, str],
    secrets: dict[str, str],
    given: launch.Given,
) -> SessionStarted:
    if not options.url:
        raise BadInput("a free run needs a place to start", "add --url URL")
    if not 0 <= options.threshold <= 1:  # which nan and infinity are not either
        raise BadInput("the threshold is a probability", "give --threshold from 0 to 1")
    return launch.free_run(
        options.url,
        values,
        secrets,
        threshold=round(options.threshold * MILLION),
        allow=options.allow,
        dry_run=options.dry_run,
        screenshots=options.screenshots,
        given=given,
    )
