"""`rutter record NAME --url URL` opens a window to work in; what is done there becomes the
workflow."""

import msgspec

from rutter.actors.rules.policy.narrowing import LISTED, may_go_to
from rutter.events.action import Text
from rutter.events.errors import BadInput
from rutter.events.policy import Policy
from rutter.events.workflow import Workflow
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings, check_display, environment
from rutter.pipeline.sessions import session_policy, session_started
from rutter.pipeline.sessions.attendant import BoundSecrets
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.start import StartedSession, terms_of

OR_A_SCRIPT = "record a script: rutter record NAME --script FILE"


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


def tell_next_steps(workflow: Workflow, settings: Settings, terminal: Terminal) -> None:
    """What could be a parameter, and the command that sails it."""
    name = workflow.name
    for number, step in enumerate(workflow.steps, 1):
        if step.action.type == "type" and isinstance(step.action.value, Text):
            edit = settings.command(f"workflows edit {name} --param {number}=NAME")
            terminal.say_below(f"step {number} always types the same; to vary it: {edit}")
    flags = [f"--set {parameter}=..." for parameter in workflow.parameters]
    flags += [f"--secret {secret}=prompt" for secret in workflow.secrets]
    terminal.say_below(f"run: {settings.command(' '.join(['run', name, *flags]))}")
