"""The next command says what to do after a session that came to nothing, in a sentence."""

import re
import shlex
from collections.abc import Mapping

from rutter.actors.rules.steps.confidence import RULE
from rutter.events.faults import fault_of
from rutter.events.run_settings import MILLION
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import Thresholds
from rutter.pipeline.output.proof_words import how_to_prove
from rutter.pipeline.sessions.models import fix_of
from rutter.replay.story.told_session import Story
from rutter.replay.story.what_happened import Trouble, WhatHappened, what_happened

LONGER_S, MOST_S = 10, 60  # what is proposed where something took longer than it may, and at most
ROUNDED = 5_000  # millionths by which two decimals may be too much
# What refused a step and says itself which flag would let it be.
SAYS_HOW = ("private_network", "private_address", "unspecified_address", "secret_in_clear")
OF_PICTURES = ("ghost_refused", "no_reader", "reader_failed", "nothing_read")
OF_FILES = ("file_exists", "file_contains", "file_size")

# What to do about a run of a workflow that met this, and the command for it: of the workflow
# `name`, run as `session`; `check` is the value in doubt, `at` where the page was, `host` its host.
TROUBLES: Mapping[Trouble, tuple[str, str]] = {
    "value": (
        'Check the value of "{check}" on the site, and run it again with the right one',
        "run {name} --from {session} --set {check}=...",
    ),
    "not_kept": (
        "The picture shows what the field made of it. If it wants the value in another form",
        "run {name} --from {session} --set {check}=...",
    ),
    "told_why": (
        "The site refused it. If one of the values ({given}) is wrong, run it again with another "
        "({again} --set {first}=...). Else put it right on the site, then run it again",
        "run {name} --from {session}",
    ),
    "changed": (
        "Open {at} in your own browser. If the right page comes there, Rutter may be signed in as "
        "somebody else or not at all: sign in ({login}), then run it again ({again}). If not, the "
        "site has changed: record the workflow again",
        "record {name} --url {url}",
    ),
    "not_read": (
        "Read it on the site this time. To have it read in later runs, record the workflow again",
        "record {name} --url {url}",
    ),
    "not_found": (
        "If the page is only out of order, run it again later ({again}). If it was changed for "
        "good, do this step once on its new element",
        "workflows edit {name} --target {step}",
    ),
    "several": (
        "If one of them should not be there, correct that on the site and run it again ({again}). "
        "Else show once which one is meant",
        "workflows edit {name} --target {step}",
    ),
    "locked": (
        "Check on the site why it cannot be changed there, and who may; then run it again",
        "run {name} --from {session}",
    ),
    "in_the_way": (
        "If it only takes longer, run it again with more patience",
        "run {name} --from {session} --patience {patience}s",
    ),
    "forbidden": (
        "Ask for access, or sign in as a user who has it ({login}), then run it again",
        "run {name} --from {session}",
    ),
    "refused": (
        "Run it again later; like this a window shows what the site says",
        "run {name} --from {session} --headed",
    ),
    "signed_out": (
        "Sign in once, and later runs are signed in ({login}). Then run it again",
        "run {name} --from {session}",
    ),
    "sent_signed_out": (
        "Sign in ({login}), then check on the site whether it was done. If not, run it again; "
        "Rutter asks you before it does that step",
        "run {name} --from {session}",
    ),
    "slow": (
        "Run it again when the site, or this machine, is less busy",
        "run {name} --from {session}",
    ),
    "unreachable": (
        "If the site does not open in your own browser either, run it again later ({again}). If it "
        "does, see what is wrong on this machine",
        "doctor",
    ),
    "not_allowed": (
        "If the workflow may open that site, allow it, then run it again",
        "workflows edit {name} --host {host}",
    ),
    "needs_person": (
        "Nobody could be asked: it did not run in a terminal window of yours. Run it in one",
        "run {name} --from {session}",
    ),
    "asks_again": (
        "Check on the site whether it was done. If not, run it in a terminal window of yours, and "
        "say yes when it asks",
        "run {name} --from {session}",
    ),
    "said_no": (
        "If you want it done after all, run it again and say yes when it asks",
        "run {name} --from {session}",
    ),
    "stopped": ("Continue", "run {name} --from {session}"),
    "died": ("Continue", "run {name} --from {session}"),
    "maybe_done": (
        "Check on the site whether it was done. If not, run it again; Rutter asks you before it "
        "does that step",
        "run {name} --from {session}",
    ),
    "not_shown": (
        "Check on the site whether it was done. If not, run it again; Rutter asks you before it "
        "does that step",
        "run {name} --from {session}",
    ),
    "says_otherwise": (
        "Check on the site whether it came out as you want it. If not, run it again ({again}); "
        "Rutter asks you before it does that step. If it did, and the page only says it in other "
        "words, let later runs look for those",
        "workflows edit {name} --no-expect {step} --expect {says}",
    ),
    "page_asked": (
        "Check on the site whether it was done. If it was not, and you would answer that question "
        "otherwise, record the workflow again and answer it yourself",
        "record {name} --url {url}",
    ),
}
# Where a page could not be used, and a window helps.
SHUT = dict.fromkeys(
    ("captcha", "blocked"),
    "Run it with a window: it waits there until you have done it, and goes on by itself",
) | {
    "empty_shell": "If it is empty in your own browser too, the site is out of order: run it again "
    "later. Else see in a window what happens"
}
TO_RECORD = "rutter record NAME --url URL"
NOT_SHOWN = "if it is done, correct --success or the service's criteria; else look at what failed"


def advise(story: Story, settings: Settings, sure: Thresholds | None = None) -> str:
    """What to do now, with a command that can be typed as it stands or nearly so."""
    said, command = _said(story, settings, sure), settings.command(command_for(story))
    if not said:
        return command
    return _begun(said if "rutter " in said else f"{said}: {command}")


def is_of_workflow(story: Story) -> bool:
    """A run of a workflow: its next command is known by what it met."""
    return story.purpose == "run" and bool(story.name) and not story.led


def _by_trouble(story: Story, happened: WhatHappened, settings: Settings) -> str:
    """What to do about a workflow that met this."""
    if happened.trouble not in TROUBLES:
        return ""
    said, form = TROUBLES[happened.trouble]
    ending = story.ending
    url = ending.url if ending is not None else ""
    origin = re.match(r"https?://[^/]+", url if story.sent or not story.start else story.start)
    waited_ms = story.steps[-1].waited_ms if story.steps else 0
    host = ending.blocked if ending is not None and ending.blocked else "HOST"
    login = story.cause.origin or (origin[0] if origin else "https://HOST")
    says = ending.alerts[0].removesuffix("...") if ending is not None and ending.alerts else "TEXT"
    for parameter, value in story.values.items():
        says = says.replace(value, f"<{parameter}>") if value else says
    known = {
        "name": shlex.quote(story.name),
        "session": story.session,
        "check": happened.check,
        "step": happened.step,
        "url": shlex.quote(story.start or "URL"),
        "at": (ending.address if ending is not None else "") or url or story.start or "the page",
        "login": settings.command(f"login {login}"),
        "again": settings.command(f"run {shlex.quote(story.name)} --from {story.session}"),
        "given": ", ".join(story.values) or "none was given",
        "first": next(iter(story.values), "NAME"),
        "says": shlex.quote(f"{happened.step}=text_visible:{says}"),
        "host": shlex.quote(host),
        "patience": min(max(LONGER_S, 3 * -(-waited_ms // 1000)), MOST_S),
    }
    return f"{said.format(**known)}: {settings.command(form.format(**known))}"


def command_for(story: Story) -> str:
    """The command that fits the reason, without `rutter`."""
    kind = story.failure or story.reason
    form = fault_of(kind).command or "show {session}"
    if not is_of_workflow(story) and "run {name}" in form:
        form = "show {session}"
    if story.purpose == "free" and kind in ("lost", "max_steps", "no_op_loop"):
        form = "record NAME --url {url}"
    name = shlex.quote(story.name or "NAME")
    url = shlex.quote(story.start or "URL")
    return form.format(session=story.session, name=name, url=url)


def _said(story: Story, settings: Settings, sure: Thresholds | None) -> str:
    """What to do now; nothing, where the reason says it or nobody knows."""
    kind = story.failure or story.reason
    last = story.steps[-1] if story.steps else None
    if found := how_to_prove(story, settings) or _taught(story, settings):
        return found
    if kind == "model_unavailable":
        return _advice_on_models(story, settings)
    if story.cause.kind == "barrier" or story.cause.code in OF_PICTURES:
        return fault_of(story.cause.code).next
    if last is not None and last.rule == RULE and (found := fault_of(kind).next_suggested):
        return found
    if last is not None and last.untyped:
        return "Run it again and type the word as it stands, if the last step is meant"
    if story.cause.code == "value_unbound" or (last is not None and last.rule in SAYS_HOW):
        return ""
    if kind == "verification_failed" and story.cause.code in OF_FILES:
        return "Look at the file; the page is as it should be"
    happened = what_happened(story)
    if is_of_workflow(story) and (found := _by_trouble(story, happened, settings)):
        return found
    return _of_no_workflow(story, kind, settings, sure)


def _of_no_workflow(story: Story, kind: str, settings: Settings, sure: Thresholds | None) -> str:
    """What to do about a session that follows none, or for which there is nothing better."""
    if story.unknown:
        return "Look whether it was done before you run it again; the next run asks"
    if kind == "needs_person" and (found := _advice_on_signing_in(story, settings)):
        return found
    if story.purpose == "free" and (found := _advice_on_going_freely(story, kind, sure)):
        return found
    if story.led and (found := _advice_to_a_goal(story, kind)):
        return found
    return fault_of(kind).next


def _taught(story: Story, settings: Settings) -> str:
    """What no recording has met, or a person can do or see alone."""
    if not is_of_workflow(story):
        return ""
    name, url = shlex.quote(story.name), shlex.quote(story.start or "URL")
    if story.cause.kind == "unrecorded":
        record = settings.command(f"record {name} --url {url}")
        again = settings.command(f"run {name} --from {story.session}")
        return (
            f"If that goes away by itself, run it again later ({again}). If it comes again and "
            "again, record the workflow while it is there and close it as you would, and later "
            f"runs do so too: {record}"
        )
    if story.cause.kind == "barrier":
        said = SHUT.get(story.cause.code, "Look at the page in a window while it runs")
        return f"{said}: {settings.command(f'run {name} --from {story.session} --headed')}"
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
        return f"Sign in again: {settings.command(f'login {login}')}"
    if story.cause.kind != "signed_out":
        return ""
    url = next((step.url for step in reversed(story.steps) if step.url), "")
    origin = re.match(r"https?://[^/]+", url)
    home = origin[0] if origin else "https://HOST"
    return (
        f"Sign in once, and later runs are signed in: {settings.command(f'login {home}')}; or give "
        f"it --secret password=env:VARIABLE@{home} and a --service that knows how to sign in, or "
        "sign in yourself: --headed"
    )


def _advice_on_going_freely(story: Story, kind: str, sure: Thresholds | None) -> str:
    """What would have led it on: something to learn from, a value, a limit, a sign of the end."""
    cause = story.cause
    if cause.kind == "no_predictions":
        at = story.ending.url if story.ending is not None else ""
        record = f"rutter record NAME --url {shlex.quote(at or 'URL')}"
        return f"Show it once what to do, under a NAME that you choose: {record}"
    if cause.kind == "unsure":
        return _advice_on_sureness(cause.share, sure)
    if cause.kind == "value_unknown":
        url = shlex.quote(story.start or "URL")
        return (
            "Type the same again with --set FIELD=VALUE behind it, where FIELD is what the field "
            "is called (the picture shows it), as in: "
            f"rutter run --free --url {url} --set FIELD=VALUE"
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


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
