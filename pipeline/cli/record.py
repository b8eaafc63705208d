"""`rutter record NAME SCRIPT` records a workflow from a script."""

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path

from rutter.events.runtime import SessionStarted
from rutter.pipeline.cli.missing_values import bind_secrets, carried
from rutter.pipeline.cli.patience_option import read_patience
from rutter.pipeline.cli.recorded_again import kept_as, tell_compared
from rutter.pipeline.cli.recorded_hosts import settle_hosts
from rutter.pipeline.cli.run import pictured
from rutter.pipeline.cli.service_options import read_given
from rutter.pipeline.cli.session_end import report, tell_unproven
from rutter.pipeline.cli.session_run import open_command_pipeline, person
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config import exit_codes
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.start import Bound
from rutter.pipeline.workflows.recorder_import import Script, prepare, read_script
from rutter.replay.story.told_session import Story


def record(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    """Records a workflow from a DevTools Recorder script."""
    parameters = read_pairs(options.param, "--param")
    bound = bind_secrets(options.secret, settings, terminal)
    script = prepare(read_script(Path(options.script)), parameters, bound.secrets)
    started = _started(options, settings, script, parameters, bound)
    answers = person(terminal, options.answers)
    logins = carried(options, started, settings, terminal)

    async def run_in_browser() -> Story:
        async with open_command_pipeline(settings, terminal) as opened:
            return await opened.run_in_browser(
                started,
                answers=answers,
                secrets=bound.secrets,
                typed=script.typed,
                what=f"recording {options.name}",
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
            named=options.allow,
            consent=options.confirm_hosts,
        )
        tell_unproven(workflow, story, settings, terminal)
    return code


def _started(
    options: argparse.Namespace,
    settings: Settings,
    script: Script,
    parameters: Mapping[str, str],
    bound: Bound,
) -> SessionStarted:
    started = session_started.recording(
        options.name,
        script.steps,
        parameters,
        bound.secrets,
        allow=options.allow,
        policy=settings.policy,
        screenshots=pictured(options, settings),
        given=read_given(options),
        origins=bound.origins,
    )
    started = session_started.configured(
        started,
        settings.config.knobs,
        settings.config.sureness,
        headed=options.headed,
        patience_ms=read_patience(options),
    )
    return kept_as(started, options, settings)
