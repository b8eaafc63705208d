"""The next command says what to do after a session that came to nothing, in a sentence."""

import re
import shlex

from rutter.actors.rules.steps.confidence import RULE
from rutter.events.faults import fault_of
from rutter.events.run_settings import MILLION
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import Thresholds
from rutter.pipeline.output.proof_words import how_to_prove
from rutter.pipeline.sessions.models import fix_of
from rutter.replay.story.told_session import Story

ROUNDED = 5_000  # millionths by which two decimals may be too much
# What refused a step and says itself which flag would let it be.
SAYS_HOW = ("private_network", "private_address", "unspecified_address", "secret_in_clear")
OF_PICTURES = ("ghost_refused", "no_reader", "reader_failed", "nothing_read")
OF_FILES = ("file_exists", "file_contains", "file_size")

TO_RECORD = "rutter record NAME --url URL"
NOT_SHOWN = "if it is done, correct --success or the service's criteria; else look at what failed"


def advise(story: Story, settings: Settings, sure: Thresholds | None = None) -> str:
    """What to do now, with a command that can be typed as it stands or nearly so."""
    said, command = _said(story, settings, sure), settings.command(command_for(story))
    if not said:
        return command
    return said if "rutter " in said else f"{said} ({command})"


def command_for(story: Story) -> str:
    """The command that fits the reason, without `rutter`."""
    kind = story.failure or story.reason
    form = fault_of(kind).command or "show {session}"
    workflow = story.purpose == "run" and bool(story.name) and not story.led
    if not workflow and "run {name}" in form:
        form = "show {session}"
    if story.purpose == "free" and kind in ("lost", "max_steps", "no_op_loop"):
        form = "record NAME --url {url}"
    name = shlex.quote(story.name or "NAME")
    url = shlex.quote(story.start or "URL")
    return form.format(session=story.session, name=name, url=url)


def _said(story: Story, settings: Settings, sure: Thresholds | None) -> str:
    """What to do now; nothing, where the reason says it or nobody knows."""
    kind = story.failure or story.reason
    if found := _on_going_on(story, settings, kind) or how_to_prove(story, settings):
        return found
    last = story.steps[-1] if story.steps else None
    suggested = last is not None and last.rule == RULE
    if suggested and (found := fault_of(kind).next_suggested):
        return found
    if last is not None and last.untyped:
        return "run it again and type the word as it stands, if the last step is meant"
    if kind == "model_unavailable":
        return _advice_on_models(story, settings)
    if story.cause.kind == "barrier":
        return fault_of(story.cause.code).next
    if story.cause.code in OF_PICTURES:
        return fault_of(story.cause.code).next
    if kind == "needs_person" and (found := _advice_on_signing_in(story, settings)):
        return found
    if story.purpose == "free" and (found := _advice_on_going_freely(story, kind, sure)):
        return found
    if story.cause.code == "value_unbound" or (last is not None and last.rule in SAYS_HOW):
        return ""
    if story.led and (found := _advice_to_a_goal(story, kind)):
        return found
    if kind == "verification_failed" and story.cause.code in OF_FILES:
        return "look at the file; the page is as it should be"
    return fault_of(kind).next


def _on_going_on(story: Story, settings: Settings, kind: str) -> str:
    """Where something was done, or may have been, or is in the way: how to go on behind it."""
    again = settings.command(f"run {shlex.quote(story.name)} --from {story.session}")
    of_workflow = story.purpose == "run" and bool(story.name)
    if story.unknown and of_workflow:
        return f"look whether it was done; this goes on behind it, and asks: {again}"
    if story.unknown:
        return "look whether it was done before you run it again; the next run asks"
    if of_workflow and (kind == "interrupted" or (kind == "cancelled" and story.sent)):
        return f"this goes on behind what was done: {again}"
    if story.cause.kind == "unrecorded" and of_workflow:
        record = settings.command(f"record {shlex.quote(story.name)} ...")
        return f"record it once with that ({record}): it is optional from then on"
    return ""


def _advice_on_models(story: Story, settings: Settings) -> str:
    """For each who did not answer; another one is not advised where there is one."""
    alone = len(settings.config.providers) == 1
    failed = story.unanswered.items()
    fixes = [fix_of(call.code or call.ended, who, alone=alone) for who, call in failed]
    told = "; ".join(dict.fromkeys(fix for fix in fixes if fix))
    if not told:
        return fault_of("model_unavailable").next
    return f"{told}; then: {settings.command('models check')}"


def _advice_on_signing_in(story: Story, settings: Settings) -> str:
    """Nothing, where that is not what a person is needed for."""
    if login := story.cause.origin:
        return f"sign in again: {settings.command(f'login {login}')}"
    if story.cause.kind != "signed_out":
        return ""
    url = next((step.url for step in reversed(story.steps) if step.url), "")
    origin = re.match(r"https?://[^/]+", url)
    home = origin[0] if origin else "https://HOST"
    return (
        f"sign in once, and later runs are signed in: {settings.command(f'login {home}')}; or give "
        f"it --secret password=env:VARIABLE@{home} and a --service that knows how to sign in, or "
        "sign in yourself: --headed"
    )


def _advice_on_going_freely(story: Story, kind: str, sure: Thresholds | None) -> str:
    """What would have led it on: something to learn from, a value, a limit, a sign of the end."""
    cause = story.cause
    if cause.kind == "no_predictions":
        return f"nothing like this was ever recorded: {TO_RECORD}"
    if cause.kind == "unsure":
        return _advice_on_sureness(cause.share, sure)
    if cause.kind == "value_unknown":
        return (
            "it knows which field comes next and not what to type there: bind it with "
            "--set NAME=VALUE or --secret NAME=SOURCE"
        )
    if cause.kind == "no_criteria":
        return "say what shows that it is done, such as --success heading=TEXT"
    if kind == "policy_denied" and story.steps and story.steps[-1].rule == "denylist":
        return (
            "if this step is meant, leave its word out of policy.denylist in the configuration, "
            f"or record the way and run that: {TO_RECORD}"
        )
    return fault_of(kind).next_free


def _advice_on_sureness(share: int, sure: Thresholds | None) -> str:
    """Which limit it fell below: a person is asked from the lower one on, but not where a model
    was asked in their place, or where nothing is to be suggested."""
    lower = "lower --threshold (it acts alone) or --suggest (a person is asked)"
    if sure is None:
        return f"show it what is meant: {TO_RECORD}, or {lower}"
    asks = sure.suggest < sure.threshold and share <= sure.suggest + ROUNDED
    name, limit = ("suggest", sure.suggest) if asks else ("threshold", sure.threshold)
    below = f"it is less than run.{name} ({limit / MILLION:.2f})"
    return f"{below}: show it what is meant: {TO_RECORD}, or {lower}"


def _advice_to_a_goal(story: Story, kind: str) -> str:
    record = f"record the way: rutter record {shlex.quote(story.name or 'NAME')} --url URL"
    if story.cause.kind == "no_model":
        return (
            f"let a model be asked (agent.internal.enabled = true, and no --no-model), or {record}"
        )
    if story.unmet and kind in ("max_failures", "max_turns_exceeded", "no_op_loop"):
        return NOT_SHOWN
    return fault_of(kind).next_goal.format(record=record)
