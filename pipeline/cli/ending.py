"""The end of a session in a few lines: what came of it, why, and the next command to type."""

import re
import shlex
from collections.abc import Iterator

from actors.suggesting import RULE
from events.workflow import MILLION, Workflow
from pipeline import exit_codes
from pipeline.cli.hosts import tell_blocked
from pipeline.cli.terminal import Terminal
from pipeline.known import project
from pipeline.minds import fix_of
from pipeline.settings import Settings
from pipeline.sureness import Sureness
from replay.advice import spent_in_words
from replay.story import StepStory, Story, as_json
from replay.wording import in_words, quoted

ROUNDED = 5_000  # millionths by which two decimals may be too much
DONE_BEFORE = " was done by "  # how a run says that an earlier one had done it
DRY = "dry run: "  # how it says where it stopped because it was only to be tried
SIGNED_OUT = "asks to sign in"
NOT_TYPED = "was not typed out"  # the word that a last step wants
NO_SIGNS = "no criteria "  # how a run says that nobody said what shows that it is done
OF_A_WAY = "way_"  # how the reason of a step begins that a service knows

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


def report(
    story: Story,
    settings: Settings,
    terminal: Terminal,
    *,
    done: str,
    dry_run: bool = False,
    sure: Sureness | None = None,
) -> int:
    """How it ended; the same as JSON for machines. `sure`: by which limits it went."""
    tried = (dry_run or story.dry_run) and story.detail.startswith(DRY)
    code = exit_codes.of_session(story.reason, story.failure, dry_run=tried)
    project(settings).close()
    if terminal.as_json:
        terminal.json(as_json(story))
        return code
    if code == exit_codes.Exit.DONE:
        confirmed = sum(step.done for step in story.steps)
        came = f"dry run of {_what(story)}" if tried else done
        took = f"{story.took_ms / 1000:.1f} s"
        terminal.say(f"[OK] {came}: {confirmed} steps confirmed in {took}, {_spent(story)}")
        _tell_done(story, terminal, tried=tried)
        _tell_unanswered(story, terminal)
        tell_blocked(story, settings, terminal)
    else:
        _tell_failure(story, settings, terminal, sure)
    terminal.say(f"     see: {settings.command(f'show {story.session}')}")
    return code


def _what(story: Story) -> str:
    if story.led:
        return f"{story.name} to the goal {quoted(story.goal)}"
    return f"{story.name} version {story.version}" if story.version else story.name or "a free run"


def _spent(story: Story) -> str:
    if not story.model_calls:
        return "0 model calls, $0.00"
    return spent_in_words(story.model_calls, story.tokens, story.cost_microdollars, story.unpriced)


def _tell_done(story: Story, terminal: Terminal, *, tried: bool) -> None:
    """What it read, what it found elsewhere than it was recorded, and what it left alone."""
    _tell_results(story, terminal)
    for step in story.steps:
        if step.healed:
            terminal.say(f"     step {_numbered(step)} was healed: {step.healed}")
    if DONE_BEFORE in story.detail:
        terminal.say(f"     {story.detail}")
    if tried and story.steps:
        last = story.steps[-1]
        why = story.detail.removeprefix(DRY)
        terminal.say(f"     stopped before step {_numbered(last)} ({last.words}): {why}")
        terminal.say("     that step was not done, and nothing was learned")
    elif story.dry_run:
        terminal.say("     it was a dry run: there was nothing to stop before")


def _tell_results(story: Story, terminal: Terminal) -> None:
    for name, value in story.results.items():
        terminal.say(f"     {name} = {value}")


def _tell_unanswered(story: Story, terminal: Terminal) -> None:
    """Who was asked in vain, and who went on."""
    failed = story.unanswered
    if not failed or story.failure == "model_unavailable":
        return
    others = [
        call.provider for call in story.calls if call.answered and call.provider not in failed
    ]
    by_way = any(step.why.startswith(OF_A_WAY) for step in story.steps)
    way = "the service's own way" if by_way else "the run without a model"
    on = others[-1] if others else way
    why = "; ".join(f"{provider} did not answer ({said})" for provider, said in failed.items())
    terminal.say(f"     {why}: {on} went on")


def tell_repaired(old: Workflow, new: Workflow, terminal: Terminal) -> None:
    """What a run learned about the workflow that it sailed."""
    known = [step.action for step in old.steps]
    changed = sum(step.action not in known for step in new.steps)
    steps = f": {changed} step{'' if changed == 1 else 's'} repaired" if changed else ""
    terminal.say(f"     learned as version {new.version}{steps}")


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


# -- what went wrong -------------------------------------------------------------------------------


def _tell_failure(
    story: Story, settings: Settings, terminal: Terminal, sure: Sureness | None
) -> None:
    last = story.steps[-1] if story.steps else None
    at = f" at step {_numbered(last)} ({last.words})" if last else ""
    more = f" ({story.failure})" if story.failure not in ("", story.reason) else ""
    terminal.say(f"[FAIL] {story.reason}{more}{at}")
    for why in _reasons(story):
        terminal.say(f"     {why}")
    if story.reason == "completed_unverified":
        _tell_results(story, terminal)
    if last is not None and not last.done and not last.found_by:
        for tried in last.tried:
            terminal.say(f"     looked for {tried}")
    if last is not None and (said := _said_by_page(last)):
        terminal.say(f"     the page says: {said}")
    if story.unknown:
        terminal.say(f"     the outcome of the last step is unknown: {story.unknown}")
    if story.screenshot is not None:
        terminal.say(f"     screenshot: {settings.directory.artifacts.path(story.screenshot)}")
    _tell_unanswered(story, terminal)
    tell_blocked(story, settings, terminal)
    if story.model_calls:
        terminal.say(f"     spent: {_spent(story)}")
    if advice := _advice(story, settings, sure):
        terminal.say(f"     next: {advice}")
    if last is not None and (number := _rested_on_words(story, last)):
        forget = settings.command(f"workflows edit {shlex.quote(story.name)} --no-expect {number}")
        terminal.say(f"     if the step worked and only its words changed: {forget}")


def _reasons(story: Story) -> Iterator[str]:
    """Why it ended; all who did not answer, and what of the end was not on the page."""
    if story.gave_up:
        yield f"why: the model gave up: it says {quoted(story.gave_up)}"
        return
    why = story.detail
    if story.failure == "model_unavailable":
        failed = story.unanswered.items()
        missing = [f"{who}: {said}" for who, said in failed if f"{who}: " not in why]
        why = "; ".join([why, *missing])
    yield f"why: {why}"
    if story.unmet and story.reason != "completed" and story.unmet not in why:
        yield f"it was said to be done, but {story.unmet}"


def _numbered(step: StepStory) -> str:
    """The number that `workflows show` gives the step, where it is one of a workflow."""
    found = re.match(r"workflow_step_(\d+)_of_", step.why)
    return found[1] if found else str(step.step)


def _advice(story: Story, settings: Settings, sure: Sureness | None) -> str:
    """What to do now; nothing, where the reason says it or nobody knows."""
    kind = story.failure or story.reason
    again = settings.command(f"run {shlex.quote(story.name)} --from {story.session}")
    of_workflow = story.purpose == "run" and bool(story.name)
    if story.unknown and of_workflow:
        return f"look whether it was done; this goes on behind it, and asks: {again}"
    if story.unknown:
        return "look whether it was done before you run it again; the next run asks"
    if of_workflow and (kind == "interrupted" or (kind == "cancelled" and story.sent)):
        return f"this goes on behind what was done: {again}"
    refused = story.steps[-1].reason if story.steps else ""
    if story.steps and story.steps[-1].rule == RULE and kind in SUGGESTED:
        return SUGGESTED[kind]
    if NOT_TYPED in story.detail or NOT_TYPED in refused:
        return "run it again and type the word as it stands, if the last step is meant"
    if kind == "model_unavailable":
        return _advice_on_models(story, settings)
    if kind == "needs_person" and SIGNED_OUT in story.detail:
        return _advice_on_signing_in(story)
    if story.purpose == "free" and (found := _advice_on_going_freely(story, kind, sure)):
        return found
    if "--" in story.detail:  # a detail that names a flag says what to do
        return ""
    if story.led and (found := _advice_to_a_goal(story, kind)):
        return found
    if kind == "verification_failed" and "file_" in story.detail:
        return "look at the file; the page is as it should be"
    return NEXT.get(kind, "")


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


def _advice_on_signing_in(story: Story) -> str:
    url = next((step.url for step in reversed(story.steps) if step.url), "")
    origin = re.match(r"https?://[^/]+", url)
    home = origin[0] if origin else "https://HOST"
    return (
        f"give it --secret password=env:VARIABLE@{home} and a --service that knows how to sign in, "
        "or sign in yourself: --headed"
    )


def _advice_on_going_freely(story: Story, kind: str, sure: Sureness | None) -> str:
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


def _advice_on_sureness(said: float, sure: Sureness | None) -> str:
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
