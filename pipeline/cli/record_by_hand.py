"""`rutter record NAME --url URL` opens a window to work in; what is done there becomes the
workflow."""

import argparse

import msgspec

from rutter.actors.rules.policy.narrowing import LISTED, may_go_to
from rutter.events.action import Text
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.executor import PersonActed
from rutter.events.policy import Policy
from rutter.events.workflow import Workflow
from rutter.pipeline.cli.session_run import check_display
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.sessions import session_policy, session_started
from rutter.pipeline.sessions.attendant import BoundSecrets
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.start import StartedSession, terms_of
from rutter.replay.story.wording import in_words

OR_A_SCRIPT = "record a script: rutter record NAME --script FILE"


def in_a_window(options: argparse.Namespace, settings: Settings) -> Settings:
    if options.secret:
        raise BadInput(
            "a secret is not given to a recording by hand",
            "type it in the window: only its name is recorded",
        )
    check_display(environment(), OR_A_SCRIPT)
    return msgspec.structs.replace(settings, headless=False)


def watched(
    options: argparse.Namespace, request: RunRequest, settings: Settings, terminal: Terminal
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


class LiveSteps:
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


def tell_next_steps(workflow: Workflow, settings: Settings, terminal: Terminal) -> None:
    """What could be a parameter, and the command that sails it."""
    name = workflow.name
    for number, step in enumerate(workflow.steps, 1):
        if step.action.type == "type" and isinstance(step.action.value, Text):
            edit = settings.command(f"workflows edit {name} --param {number}=NAME")
            terminal.say(f"     step {number} always types the same; to vary it: {edit}")
    flags = [f"--set {parameter}=..." for parameter in workflow.parameters]
    flags += [f"--secret {secret}=prompt" for secret in workflow.secrets]
    terminal.say(f"     run: {settings.command(' '.join(['run', name, *flags]))}")
