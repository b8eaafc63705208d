"""The next command says what to do after a session that came to nothing, in a sentence."""

import re
import shlex

from rutter.actors.rules.steps.already_done import UNKNOWN
from rutter.actors.rules.steps.confidence import RULE
from rutter.events.run_settings import MILLION
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import Thresholds
from rutter.pipeline.output.proof_words import how_to_prove
from rutter.pipeline.sessions.models import fix_of
from rutter.replay.story.login_use import expired_login
from rutter.replay.story.told_session import Story

ROUNDED = 5_000  # millionths by which two decimals may be too much
SIGNED_OUT = "asks to sign in"
NOT_TYPED = "was not typed out"  # the word that a last step wants
NO_SIGNS = "no criteria "  # how a run says that nobody said what shows that it is done

COMMANDS = {
    "lost": "record {name} --url {url}",
    "needs_person": "run {name} --from {session}",
    "verification_failed": "report {session}",
    "retry_exhausted": "report {session}",
    "unreachable": "doctor",
    "policy_denied": "config show",
    "actor_failed": "log export FILE",
    "browser_lost": "doctor",
    "model_unavailable": "models check",
    "completed_unverified": "report {session}",
    "max_steps": "show {session}",
    "max_wall_time": "run {name} --from {session}",
    "max_failures": "show {session}",
    "max_turns_exceeded": "show {session}",
    "no_op_loop": "show {session}",
    "failed": "report {session}",
    "cancelled": "run {name} --from {session}",
    "interrupted": "run {name} --from {session}",
}
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
# Where a model led the run, nothing is recorded yet that could be recorded again.
TO_A_GOAL = {
    "lost": "look at the page, then say the goal in other words, or {record}",
    "failed": "look at the page, then say the goal in other words, or {record}",
    "verification_failed": "look at the screenshot, then run it again, or {record}",
    "policy_denied": "run it again and say yes, or change the policy, if this step is meant",
    "completed_unverified": "if it is done, correct --success or the service's criteria",
    "max_steps": "allow it more (agent.internal.max_steps), or give it a smaller goal",
    "max_wall_time": "allow it more (agent.internal.max_wall_time_ms), or a smaller goal",
    "max_failures": "look at what failed, then say the goal more exactly, or {record}",
    "no_op_loop": "the model is stuck: say the goal more exactly, ask another model "
    "(models.PROVIDER.model), or {record}",
}
# What was only suggested: nothing is against it but that it is not sure.
SUGGESTED = {
    "needs_person": "run it at a terminal to say yes or no, or give --answers FILE; "
    "it grows surer with every time that the way is recorded",
    "policy_denied": "show it what is meant instead: rutter record NAME --url URL",
}
# A free run follows no way that could be recorded again: it ends where what is known ends.
TO_RECORD = "rutter record NAME --url URL"
FREE = {
    "lost": f"show it what is meant: {TO_RECORD}",
    "completed_unverified": "look at the screenshot; if it is done, correct --success or the "
    "service's criteria",
    "max_steps": "allow it more: agent.internal.max_steps in the configuration",
    "max_wall_time": "allow it more: agent.internal.max_wall_time_ms in the configuration",
    "max_failures": f"look at what failed, then show it what is meant: {TO_RECORD}",
    "no_op_loop": f"look at the page, then show it what is meant: {TO_RECORD}",
}
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
    form = COMMANDS.get(kind, "show {session}")
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
    refused = story.steps[-1].reason if story.steps else ""
    if story.steps and story.steps[-1].rule == RULE and kind in SUGGESTED:
        return SUGGESTED[kind]
    if NOT_TYPED in story.detail or NOT_TYPED in refused:
        return "run it again and type the word as it stands, if the last step is meant"
    if kind == "model_unavailable":
        return _advice_on_models(story, settings)
    if kind == "needs_person" and (found := _advice_on_signing_in(story, settings)):
        return found
    if story.purpose == "free" and (found := _advice_on_going_freely(story, kind, sure)):
        return found
    if "--" in story.detail:  # a detail that names a flag says what to do
        return ""
    if story.led and (found := _advice_to_a_goal(story, kind)):
        return found
    if kind == "verification_failed" and "file_" in story.detail:
        return "look at the file; the page is as it should be"
    return NEXT.get(kind, "")


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
    if UNKNOWN in story.detail and of_workflow:
        record = settings.command(f"record {shlex.quote(story.name)} ...")
        return f"record it once with that ({record}): it is optional from then on"
    return ""


def _advice_on_models(story: Story, settings: Settings) -> str:
    """For each who did not answer; another one is not advised where there is one."""
    failed = story.unanswered
    alone = len(settings.config.providers) == 1
    codes = {who: said.partition(":")[0] for who, said in failed.items()}
    fixes = [fix_of(code, who, alone=alone) for who, code in codes.items()]
    told = "; ".join(dict.fromkeys(fix for fix in fixes if fix))
    return (
        f"{told}; then: {settings.command('models check')}" if told else NEXT["model_unavailable"]
    )


def _advice_on_signing_in(story: Story, settings: Settings) -> str:
    """Nothing, where that is not what a person is needed for."""
    if login := expired_login(story.failure, story.detail):
        return f"sign in again: {settings.command(f'login {login}')}"
    if SIGNED_OUT not in story.detail:
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
    why = story.detail
    if kind == "lost" and why == "no_predictions_available":
        return f"nothing like this was ever recorded: {TO_RECORD}"
    if kind == "lost" and (low := re.fullmatch(r"confidence_too_low_([\d.]+)", why)):
        return _advice_on_sureness(float(low[1]), sure)
    if kind == "lost" and why.startswith("value_unknown_"):
        return (
            "it knows which field comes next and not what to type there: bind it with "
            "--set NAME=VALUE or --secret NAME=SOURCE"
        )
    if kind == "completed_unverified" and why.startswith(NO_SIGNS):
        return "say what shows that it is done, such as --success heading=TEXT"
    if kind == "policy_denied" and story.steps and story.steps[-1].rule == "denylist":
        return (
            "if this step is meant, leave its word out of policy.denylist in the configuration, "
            f"or record the way and run that: {TO_RECORD}"
        )
    return FREE.get(kind, "")


def _advice_on_sureness(said: float, sure: Thresholds | None) -> str:
    """Which limit it fell below: a person is asked from the lower one on, but not where a model
    was asked in their place, or where nothing is to be suggested."""
    lower = "lower --threshold (it acts alone) or --suggest (a person is asked)"
    if sure is None:
        return f"show it what is meant: {TO_RECORD}, or {lower}"
    asks = sure.suggest < sure.threshold and said * MILLION <= sure.suggest + ROUNDED
    name, limit = ("suggest", sure.suggest) if asks else ("threshold", sure.threshold)
    below = f"it is less than run.{name} ({limit / MILLION:.2f})"
    return f"{below}: show it what is meant: {TO_RECORD}, or {lower}"


def _advice_to_a_goal(story: Story, kind: str) -> str:
    record = f"record the way: rutter record {shlex.quote(story.name or 'NAME')} --url URL"
    if story.detail.startswith("no model may be asked"):
        return (
            f"let a model be asked (agent.internal.enabled = true, and no --no-model), or {record}"
        )
    if story.unmet and kind in ("max_failures", "max_turns_exceeded", "no_op_loop"):
        return NOT_SHOWN
    return TO_A_GOAL.get(kind, "").format(record=record)
