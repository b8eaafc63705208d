"""`rutter record NAME` records a workflow: by a script, or of what a person does in a window."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from rutter.actors.rules.policy.narrowing import LISTED, may_go_to
from rutter.events.action import Text
from rutter.events.errors import BadInput
from rutter.events.policy import Policy
from rutter.events.predictor import Comparison, WorkflowLearned
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.cli.options import read_request
from rutter.pipeline.cli.record_again import record_again
from rutter.pipeline.cli.recorded_hosts import settle_hosts
from rutter.pipeline.cli.session_end import report, tell_unproven
from rutter.pipeline.cli.session_run import attendant, run_here
from rutter.pipeline.cli.terminal import LiveSteps, Options, Terminal
from rutter.pipeline.cli.workflow_changes import changing
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings, check_display, environment
from rutter.pipeline.output.failure import told
from rutter.pipeline.queries.look_back import said_in
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions import session_policy, session_started
from rutter.pipeline.sessions.attendant import BoundSecrets, bind_secrets
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.start import StartedSession, configured, logins_of, terms_of
from rutter.pipeline.workflows.forget import ForgetTarget
from rutter.pipeline.workflows.recorder_import import prepare, read_script
from rutter.replay.story.told_session import Story
from rutter.replay.story.wording import in_words, printable

OR_A_SCRIPT = "record a script: rutter record NAME --script FILE"


def record(options: Options, settings: Settings, terminal: Terminal) -> int:
    request, live = read_request(options, settings.config), None
    if options.from_step:
        values = read_pairs(options.param, "--param")
        request = msgspec.structs.replace(request, name=options.name, values=values)
        return record_again(request, options.from_step, settings, terminal)
    if options.url:
        live = LiveSteps(terminal)
        settings = in_a_window(options, settings)
        # A person waits as long as they like.
        request = msgspec.structs.replace(request, headed=True, patience_ms=0)
    what, named = f"recorded {options.name}", options.allow
    if live is None:
        session = _scripted(options, request, settings, terminal)
    else:
        session = watched(options, request, settings, terminal)
        named = (session_policy.host_typed(options.url), *named)
    # It takes the place of what is known under its name, or is compared with it.
    kept = {"compares": not options.replace, "pictures": settings.config.flag("record.pictures")}
    started = configured(session.started, request, settings)
    own = msgspec.structs.replace(started.settings, **kept)
    started = msgspec.structs.replace(started, settings=own)
    logins = logins_of(request, started, settings, attendant(terminal))
    session, doing = session._replace(started=started, logins=logins), f"recording {options.name}"
    with Tables(settings) as tables:
        story = run_here(session, tables, terminal, doing, answers=options.answers, live=live)
    if story.cause.kind == "discarded":
        return discarded(story, settings, terminal)
    code = report(story, settings, terminal, done=what)
    if code == Exit.DONE:
        tell_compared(story.session, settings, terminal)
        workflow = settle_hosts(
            options.name,
            story.session,
            settings,
            terminal,
            named=named,
            consent=options.confirm_hosts,
        )
        if live is not None:
            tell_next_steps(workflow, session.started.values, settings, terminal)
        tell_unproven(workflow, story, settings, terminal)
    return code


def _scripted(
    options: Options, request: RunRequest, settings: Settings, terminal: Terminal
) -> StartedSession:
    parameters = read_pairs(options.param, "--param")
    bound = bind_secrets(request.secrets, settings, attendant(terminal))
    script = prepare(read_script(Path(options.script)), parameters, bound.secrets)
    started = session_started.recording(
        options.name, script.steps, parameters, bound.secrets, **terms_of(request, settings, bound)
    )
    return StartedSession(started, bound.secrets, typed=script.typed)


# -- by hand ---------------------------------------------------------------------------------------


def in_a_window(options: Options, settings: Settings) -> Settings:
    if options.secret:
        raise BadInput(
            "a secret is not given to a recording by hand",
            "type it in the window: only its name is recorded",
        )
    check_display(environment(), OR_A_SCRIPT)
    return msgspec.structs.replace(settings, headless=False)


def watched(
    options: Options, request: RunRequest, settings: Settings, terminal: Terminal
) -> StartedSession:
    """The start of a recording of what a person does in the window, until it is closed."""
    values = read_pairs(options.param, "--param")
    terms = terms_of(request, settings, BoundSecrets({}))
    terms["policy"] = base_for(options.url, settings.policy, terminal)
    return StartedSession(
        session_started.watching(
            options.name, options.url, values, attended=terminal.interactive, **terms
        )
    )


def base_for(url: str, policy: Policy, terminal: Terminal) -> Policy:
    """The policy with the host that was typed. One that the allowlist lacks is asked about: the
    person at the terminal may add it for this recording."""
    host = session_policy.host_typed(url)
    if session_policy.names_hosts_freely(policy) or may_go_to(policy, host):
        return policy
    refused = BadInput(f"{host} is not among the allowed hosts", LISTED)
    if not terminal.interactive:
        raise refused
    try:
        answer = terminal.ask(f"record at {host}? it is not among the allowed hosts (yes / no): ")
    except EOFError:
        raise refused from None
    if answer.strip().casefold() not in ("yes", "y"):
        raise refused
    return session_policy.with_hosts(policy, [host])


def discarded(story: Story, settings: Settings, terminal: Terminal) -> int:
    """Nothing of it counts: neither as a workflow nor for what is predicted."""
    with changing(settings) as writer:
        writer.forget(ForgetTarget(session=story.session), "discarded")
    terminal.answer(told(story, settings))
    terminal.say("[OK] discarded: nothing of it is known, and no workflow was made")
    erase = settings.command(f"log erase {story.session} --why TEXT")
    terminal.say_below(f"the log still has what happened; that goes with: {erase}")
    return Exit.DONE


def tell_next_steps(
    workflow: Workflow, wanted: Mapping[str, str], settings: Settings, terminal: Terminal
) -> None:
    """What could be a parameter, which was wanted and is none, and the command that runs it."""
    name = shlex.quote(workflow.name)
    for parameter in sorted(set(wanted) - set(workflow.parameters)):
        edit = settings.command(f"workflows edit {name} --param STEP={parameter}")
        typed = printable(repr(wanted[parameter]))
        why = f"{typed} was never typed, so {parameter} is no parameter"
        terminal.say_below(f"{why}. Say which step types it: {edit}")
    for number, step in enumerate(workflow.steps, 1):
        if step.action.type == "type" and isinstance(step.action.value, Text):
            edit = settings.command(f"workflows edit {name} --param {number}=NAME")
            typed = printable(repr(step.action.value.text))
            terminal.say_below(f"Step {number} will always type {typed}. To vary it: {edit}")
    flags = [f"--set {parameter}=..." for parameter in workflow.parameters]
    flags += [f"--secret {secret}=prompt" for secret in workflow.secrets]
    terminal.say_below(f"run: {settings.command(' '.join(['run', name, *flags]))}")


# -- recorded again: it is compared with what is known ---------------------------------------------


def tell_compared(session: str, settings: Settings, terminal: Terminal) -> None:
    """What a recording made of the version before it; nothing where there was none."""
    for learned in said_in(settings, session, WorkflowLearned)[:1]:
        if learned.compared is not None:
            said = in_plain_words(learned.workflow, learned.compared, settings)
            terminal.say_below(*map(printable, said))


def in_plain_words(workflow: Workflow, compared: Comparison, settings: Settings) -> Iterator[str]:
    before, name = compared.version, shlex.quote(workflow.name)
    back = settings.command(f"workflows revert {name} {before}")
    if not compared.merged:
        yield f"it is another way of working than version {before}: {compared.why}"
        yield f"version {workflow.version} is this recording alone; to go back: {back}"
        return
    changed = (*compared.optional, *compared.added)
    if not changed and not compared.varied:
        yield f"the same steps as version {before}"
        return
    if changed:
        yield f"merged with version {before}; to undo that: {back}"
    for index in sorted(changed):
        yield f"{_which(workflow, index)} {_became(workflow, index, compared)}"
    for index in compared.varied:
        edit = settings.command(f"workflows edit {name} --param {index + 1}=NAME")
        typed = "typed something else before; runs type this now"
        yield f"{_which(workflow, index)} {typed}; to vary it: {edit}"


def _which(workflow: Workflow, index: int) -> str:
    return f"step {index + 1} ({in_words(workflow.steps[index].action)})"


def _became(workflow: Workflow, index: int, compared: Comparison) -> str:
    step = workflow.steps[index]
    was = "was only in this recording" if index in compared.added else "was not in this recording"
    if not step.optional:
        return f"{was}: it is looked at in every run"
    if step.fork is None:
        return f"{was}: optional from now on"
    first = "; where it has the choice, this one" if index in compared.added else ""
    return f"{was}: {branch_in_words(step)}{first}"


def branch_in_words(step: Step) -> str:
    """Of a fork a run takes one branch."""
    assert step.fork is not None
    letter = chr(ord("a") + min(step.fork.way, 26) - 1)
    return f"one of several ways ({step.fork.number}{letter}), of which a run goes one"
