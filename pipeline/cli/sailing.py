"""`rutter record` and `rutter run`: the commands that sail."""

import argparse
import asyncio
import re
import shlex
from pathlib import Path

import msgspec

from actors.egress.rules import EVERYWHERE
from actors.minds.prices import Counsel
from actors.place import origin_of
from events.errors import BadInput
from events.runtime import SessionStarted
from events.workflow import MILLION, Minds, Workflow
from pipeline import exit_codes, fork, launch
from pipeline.cli import continuing, goals
from pipeline.cli.binding import Bound, ask_unbound, bind_secrets
from pipeline.cli.given import read_given
from pipeline.cli.hosts import settle_hosts, tell_blocked
from pipeline.cli.reading import all_workflows, project
from pipeline.cli.terminal import Terminal
from pipeline.cli.voyage import open_voyage, person
from pipeline.minds import closing, fix_of, minds_of, open_minds, vision_of
from pipeline.recorder import prepare, read_script
from pipeline.secret_sources import read_pairs
from pipeline.settings import Settings
from replay.advice import spent_in_words
from replay.story import StepStory, Story
from replay.wording import in_words

DONE_BEFORE = " was done by "  # how a run says that an earlier one had done it


def record(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Records a workflow from a DevTools Recorder script."""
    parameters = read_pairs(options.param, "--param")
    secrets, origins = bind_secrets(options.secret, settings, terminal)
    script = prepare(read_script(Path(options.script)), parameters, secrets)
    started = launch.recording(
        options.name,
        script.steps,
        parameters,
        secrets,
        allow=options.allow,
        policy=settings.policy,
        screenshots=pictured(options, settings),
        given=read_given(options),
        origins=origins,
    )
    started = launch.configured(started, settings.config.knobs, headed=options.headed)
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
    if code == exit_codes.Exit.DONE:
        workflow = settle_hosts(
            options.name,
            story.session,
            settings,
            terminal,
            named=options.allow,
            consent=options.confirm_hosts,
        )
        tell_unproven(workflow, settings, terminal)
    return code


def run(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Sails a workflow alone, freely wherever the model is sure, or looks for the way to a goal."""
    values = read_pairs(options.set, "--set")
    given = read_given(options)
    course = goals.chosen(options, settings, given)
    workflow = course.workflow
    needed = workflow.secrets if workflow is not None else goals.secrets_in(given.service)
    bound = bind_secrets(options.secret, settings, terminal, needed)
    if workflow is None and options.after:
        kind = "a free run" if options.free else "a run to a new goal"
        raise BadInput(f"{kind} continues nothing", "leave out --from, or name the workflow")
    minds = _minds(options, settings, terminal, needed=course.leads and not goals.ways_of(given))
    pinned = minds_of(settings.config, minds)
    if workflow is not None:
        started, bound = _of_workflow(options, settings, terminal, workflow, values, bound, given)
    elif course.leads:
        started = _to_goal(options, settings, course, values, bound, given, pinned)
    else:
        started = _free(options, settings, course.goal, values, bound, given)
    started = msgspec.structs.replace(started, minds=pinned)
    started = launch.configured(started, settings.config.knobs, headed=options.headed)
    answers = person(terminal, options.answers)
    what = f"sailing {course.name or options.name or options.url}"

    async def sail() -> Story:
        async with closing(minds), open_voyage(settings, terminal) as voyage:
            return await voyage.sail(
                started,
                answers=answers,
                secrets=bound.secrets,
                what=what,
                minds=minds,
                vision=vision_of(settings.config, minds),
            )

    story = asyncio.run(sail())
    code = report(story, settings, terminal, done=_done(story), dry_run=options.dry_run)
    if course.leads:
        _tell_learned(story, settings, terminal)
    return code


def _done(story: Story) -> str:
    if story.version:
        return f"sailed {story.name} version {story.version}"
    return f"came to the goal of {story.name}" if story.name else "sailed freely"


def _minds(
    options: argparse.Namespace, settings: Settings, terminal: Terminal, *, needed: bool
) -> dict[str, Counsel]:
    """Who may be asked in this run. A key that is missing is said now, before any browser."""
    if options.no_model:
        return {}
    return open_minds(settings.config, needed=needed, warn=terminal.note)


def _tell_learned(story: Story, settings: Settings, terminal: Terminal) -> None:
    """What the way to a goal is called from now on, if it was found."""
    with project(settings) as store:
        mine = [each for each in all_workflows(store) if each.session == story.session]
    for flow in mine:
        bound = [f"--set {each}=..." for each in flow.parameters]
        bound += [f"--secret {each}=..." for each in flow.secrets]
        again = settings.command(" ".join(["run", shlex.quote(flow.name), *bound]))
        terminal.say(f"     learned as {flow.name}; from now on without a model: {again}")


def _of_workflow(
    options: argparse.Namespace,
    settings: Settings,
    terminal: Terminal,
    workflow: Workflow,
    values: dict[str, str],
    bound: Bound,
    given: launch.Given,
) -> tuple[SessionStarted, Bound]:
    before = continuing.named(options.after, workflow, settings) if options.after else []
    if before:
        values = {**continuing.values_of(before, workflow), **values}
    values, secrets = ask_unbound(workflow, values, bound.secrets, terminal)
    before = before or continuing.unsettled(workflow, values, settings)
    started = launch.run_of(
        workflow,
        values,
        secrets,
        allow=options.allow,
        policy=settings.policy,
        dry_run=options.dry_run,
        screenshots=pictured(options, settings),
        given=given,
        origins=bound.origins,
    )
    if before:
        # E7: what may have happened is looked for or asked about before it is done again.
        started = fork.continuing(started, before)
    return started, Bound(secrets, bound.origins)


def _to_goal(
    options: argparse.Namespace,
    settings: Settings,
    course: goals.Course,
    values: dict[str, str],
    bound: Bound,
    given: launch.Given,
    minds: Minds | None,
) -> SessionStarted:
    url = options.url or ""
    homes = recorded_homes(bound, settings, url) if url else []
    return launch.goal_run(
        course.name,
        course.goal,
        url,
        values,
        bound.secrets,
        minds=minds,
        limits=settings.config.limits,
        allow=allowed(options, settings),
        policy=settings.policy,
        dry_run=options.dry_run,
        screenshots=pictured(options, settings),
        given=given,
        origins=(*bound.origins, *homes),
    )


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
    if code == exit_codes.Exit.DONE:
        took = f"{story.took_ms / 1000:.1f} s"
        terminal.say(f"[OK] {done}: {confirmed} steps confirmed in {took}, {_spent(story)}")
        _tell_done(story, terminal, dry_run=dry_run)
        tell_blocked(story, settings, terminal)
    else:
        _tell_failure(story, settings, terminal)
    terminal.say(f"     see: {settings.command(f'show {story.session}')}")
    return code


def _spent(story: Story) -> str:
    if not story.model_calls:
        return "0 model calls, $0.00"
    return spent_in_words(story.model_calls, story.tokens, story.cost_microdollars, story.unpriced)


def _tell_done(story: Story, terminal: Terminal, *, dry_run: bool) -> None:
    """What it read, what it found elsewhere than it was recorded, and what it left alone."""
    for name, value in story.results.items():
        terminal.say(f"     {name} = {value}")
    for step in story.steps:
        if step.healed:
            terminal.say(f"     step {_numbered(step)} was healed: {step.healed}")
    if DONE_BEFORE in story.detail:
        terminal.say(f"     {story.detail}")
    if dry_run and story.steps:
        last = story.steps[-1]
        terminal.say(f"     before step {last.step} ({last.words}): {story.detail}")


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
    "model_unavailable": "see what each of them says: rutter models check",
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
    tell_blocked(story, settings, terminal)
    if story.model_calls:
        terminal.say(f"     spent: {_spent(story)}")
    if kind in NEXT and "--" not in story.detail:  # a detail that names a flag says what to do
        terminal.say(f"     next: {_advice(story, kind, settings)}")
    if last is not None and (number := _rested_on_words(story, last)):
        forget = settings.command(f"workflows edit {shlex.quote(story.name)} --no-expect {number}")
        terminal.say(f"     if the step worked and only its words changed: {forget}")


def _numbered(step: StepStory) -> str:
    """The number that `workflows show` gives the step, where it is one of a workflow."""
    found = re.match(r"workflow_step_(\d+)_of_", step.why)
    return found[1] if found else str(step.step)


def _advice(story: Story, kind: str, settings: Settings) -> str:
    again = settings.command(f"run {shlex.quote(story.name)} --from {story.session}")
    of_workflow = story.purpose == "run" and bool(story.name)
    if story.unknown and of_workflow:
        return f"look whether it was done; this goes on behind it, and asks: {again}"
    if story.unknown:
        return "look whether it was done before you run it again; the next run asks"
    if of_workflow and (kind == "interrupted" or (kind == "cancelled" and story.sent)):
        return f"this goes on behind what was done: {again}"
    if kind == "model_unavailable":
        found = re.match(r"(\w+): (\w+)", story.detail)
        fix = fix_of(found[2], found[1]) if found else ""
        return f"{fix}; then: {settings.command('models check')}" if fix else NEXT[kind]
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


def pictured(options: argparse.Namespace, settings: Settings) -> bool:
    return bool(options.screenshots) or settings.config.flag("run.screenshots")


def _free(
    options: argparse.Namespace,
    settings: Settings,
    goal: str,
    values: dict[str, str],
    bound: Bound,
    given: launch.Given,
) -> SessionStarted:
    if not options.url:
        raise BadInput("a free run needs a place to start", "add --url URL")
    threshold = settings.config.threshold
    if options.threshold is not None:
        if not 0 <= options.threshold <= 1:  # which nan and infinity are not either
            raise BadInput("the threshold is a probability", "give --threshold from 0 to 1")
        threshold = round(options.threshold * MILLION)
    return launch.free_run(
        options.url,
        values,
        bound.secrets,
        threshold=threshold,
        allow=allowed(options, settings),
        policy=settings.policy,
        dry_run=options.dry_run,
        screenshots=pictured(options, settings),
        given=given,
        origins=(*bound.origins, *recorded_homes(bound, settings, options.url)),
        limits=settings.config.limits,
        goal=goal,
    )


def recorded_homes(bound: Bound, settings: Settings, url: str) -> list[tuple[str, str]]:
    """Which secrets any known workflow typed on the origin where the run begins: that was recorded
    too. Elsewhere somebody is asked. What was told with them holds instead, here or in the
    configuration."""
    here = origin_of(url)
    told = {name for name, _ in (*bound.origins, *settings.policy.secret_origins)}
    if not set(bound.secrets) - told or not settings.directory.log.exists():
        return []
    with project(settings) as store:
        flows = all_workflows(store)
    found = [each for flow in flows for each in launch.secret_origins(flow)]
    homes = [each for each in dict.fromkeys(found) if each[0] in bound.secrets.keys() - told]
    return [(name, origin) for name, origin in homes if origin == here]


def allowed(options: argparse.Namespace, settings: Settings) -> list[str]:
    """What a session that no workflow binds may go to beside where it begins."""
    return [*options.allow, *([EVERYWHERE] if settings.config.everywhere else [])]
