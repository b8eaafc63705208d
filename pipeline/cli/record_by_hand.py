"""`rutter record NAME --url URL` opens a window to work in; what is done there becomes the
workflow."""

import argparse
import asyncio

import msgspec

from rutter.actors.rules.policy.narrowing import LISTED, may_go_to
from rutter.events.action import Text
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.executor import PersonActed
from rutter.events.policy import Policy
from rutter.events.runtime import SessionStarted
from rutter.events.workflow import Workflow
from rutter.pipeline.cli import record as record_module
from rutter.pipeline.cli import run
from rutter.pipeline.cli.missing_values import carried
from rutter.pipeline.cli.recorded_again import kept_as, tell_compared
from rutter.pipeline.cli.recorded_hosts import settle_hosts
from rutter.pipeline.cli.service_options import read_given
from rutter.pipeline.cli.session_end import report, tell_unproven
from rutter.pipeline.cli.session_run import check_display, open_command_pipeline, person
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config import exit_codes
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.sessions import session_policy, session_started
from rutter.replay.story.told_session import Story
from rutter.replay.story.wording import in_words

OR_A_SCRIPT = "record a script: rutter record NAME --script FILE"


def record(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """By hand in a window, or from a script."""
    return (watch if options.url else record_module.record)(options, settings, terminal)


def watch(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Opens a window and records what a person does in it, until it is closed."""
    if options.secret:
        raise BadInput(
            "a secret is not given to a recording by hand",
            "type it in the window: only its name is recorded",
        )
    check_display(environment(), OR_A_SCRIPT)
    started = _started(options, settings, terminal)
    headed = msgspec.structs.replace(settings, headless=False)
    logins = carried(options, started, settings, terminal)

    async def run_in_browser() -> Story:
        async with open_command_pipeline(headed, terminal) as opened:
            live = _Live(terminal)
            opened.listen(live.hear)
            return await opened.run_in_browser(
                started,
                answers=person(terminal, options.answers),
                secrets={},
                what=f"recording {options.name}",
                by_hand=live.invite,
                logins=logins,
            )

    story = asyncio.run(run_in_browser())
    code = report(story, settings, terminal, done=f"recorded {options.name}")
    if code == exit_codes.Exit.DONE:
        tell_compared(story.session, settings, terminal)
        workflow = settle_hosts(
            options.name,
            story.session,
            settings,
            terminal,
            named=(session_policy.host_typed(options.url), *options.allow),
            consent=options.confirm_hosts,
        )
        _next_steps(workflow, settings, terminal)
        tell_unproven(workflow, story, settings, terminal)
    return code


def _started(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> SessionStarted:
    values = read_pairs(options.param, "--param")
    started = session_started.watching(
        options.name,
        options.url,
        values,
        allow=options.allow,
        policy=base_for(options.url, settings.policy, terminal),
        screenshots=run.pictured(options, settings),
        given=read_given(options),
        attended=terminal.interactive,
    )
    config = settings.config
    started = session_started.configured(started, config.knobs, config.sureness, headed=True)
    return kept_as(started, options, settings)


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


class _Live:
    """The terminal shows each step as it happens."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def invite(self) -> None:
        """Once they are heard, and not when they are awaited: what they do before is lost."""
        self._terminal.say("work in the window; close it, or press Ctrl-C here, when done")

    def hear(self, envelope: Envelope) -> None:
        match envelope.event:
            case PersonActed(step=step, action=action, element=element):
                name = element.name.text if element is not None else ""
                self._terminal.say(f"{step:>4}  {in_words(action, name)}")
            case _:
                pass


def _next_steps(workflow: Workflow, settings: Settings, terminal: Terminal) -> None:
    """What could be a parameter, and the command that sails it."""
    name = workflow.name
    for number, step in enumerate(workflow.steps, 1):
        if step.action.type == "type" and isinstance(step.action.value, Text):
            edit = settings.command(f"workflows edit {name} --param {number}=NAME")
            terminal.say(f"     step {number} always types the same; to vary it: {edit}")
    flags = [f"--set {parameter}=..." for parameter in workflow.parameters]
    flags += [f"--secret {secret}=prompt" for secret in workflow.secrets]
    terminal.say(f"     run: {settings.command(' '.join(['run', name, *flags]))}")
