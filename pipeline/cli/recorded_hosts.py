"""A recording tells which hosts it spoke to, and a person confirms once which of them its runs may
use.

And the other way round: which hosts a run was kept from, with the command that allows them.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rutter.actors.rules.policy.hosts import read_pattern
from rutter.actors.rules.policy.narrowing import covered
from rutter.events.observer import Contact, HostsContacted, RequestBlocked
from rutter.events.workflow import Workflow
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.cli.workflow_changes import change
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.look_back import said_in
from rutter.pipeline.queries.workflows_and_sessions import find_workflow
from rutter.pipeline.workflows.edit import Edit
from rutter.replay.story.told_session import Story

IMPLIED = (80, 443)
MOST_TOLD = 3  # of what was blocked, with how often; the command has them all
ASKED = 3  # times, before no answer is a no
QUESTION = "allow this workflow to use them? yes / no, or the numbers to leave out: "
# What is refused for what it is, not for where it leads.
BY_NAME = frozenset({"", "host", "private_network"})
BY_ADDRESS = "private_address"
BY_RESOLVER = "unspecified_address"  # how one says no
COMMANDS = {
    "run": "run ...",
    "record": "record ...",
    "free": "run --free ...",
    "tools": "tools call ...",
}
TOP_LEVEL = frozenset({"navigation", "document", "top_level"})


class ContactedHost(NamedTuple):
    """A host was contacted, and would be named like this."""

    pattern: str
    top_level: bool
    named: bool  # by who recorded, or by the steps themselves
    known: bool  # its workflow's already


def settle_hosts(
    name: str,
    session: str,
    settings: Settings,
    terminal: Terminal,
    *,
    named: Iterable[str] = (),
    consent: bool = False,
) -> Workflow:
    """Lists the hosts of a recording and asks about those that nobody named. What is allowed is a
    new version of the workflow; the latest comes back."""
    workflow = find_workflow(settings, name)
    said = next(iter(said_in(settings, session, HostsContacted)), None)
    if said is None:
        # The proxy counts them; if it died, nobody did.
        edit = settings.command(f"workflows edit {shlex.quote(name)} --host HOST --resource HOST")
        terminal.note("whom it spoke to is not in the log: the workflow has no confirmed hosts")
        terminal.note(f"record it again, or name them: {edit}")
        return workflow
    met = meetings(said.contacts, workflow, tuple(named))
    _list(met, said.others, terminal)
    unnamed = [each for each in met if not each.named and not each.known]
    allowed = [each for each in met if each.named and not each.known]
    if unnamed:
        agreed = unnamed if consent else _asked(unnamed, terminal)
        allowed += agreed
        _tell_left([each for each in unnamed if each not in agreed], name, settings, terminal)
    if not allowed:
        return workflow
    hosts = tuple(each.pattern for each in allowed if each.top_level)
    resources = tuple(each.pattern for each in allowed if not each.top_level)
    _, workflow = change(name, Edit(hosts=hosts, resources=resources), settings)
    listed = ", ".join(each.pattern for each in allowed)
    terminal.say_below(f"version {workflow.version} may use {listed}")
    return workflow


def tell_by_name(session: str, settings: Settings, terminal: Terminal) -> None:
    """Hosts of which nobody here has judged an address."""
    said = said_in(settings, session, HostsContacted)
    met = [each for one in said for each in one.contacts if each.by_name]
    if met:
        listed = ", ".join(pattern_of(each.host, each.port) for each in met)
        terminal.say_below(
            f"only the company's proxy knows where these are, judged by name: {listed}"
        )


def meetings(
    contacts: Iterable[Contact], workflow: Workflow, named: Sequence[str]
) -> list[ContactedHost]:
    """Each host once, those that were gone to first."""
    met: dict[str, ContactedHost] = {}
    for contact in sorted(contacts, key=lambda contact: not contact.top_level):
        pattern = pattern_of(contact.host, contact.port)
        if read_pattern(pattern) is None or pattern in met:
            continue
        own = workflow.hosts if contact.top_level else (*workflow.hosts, *workflow.resources)
        known = covered(own, pattern)
        met[pattern] = ContactedHost(
            pattern, contact.top_level, known or covered(named, pattern), known
        )
    return list(met.values())


def pattern_of(host: str, port: int) -> str:
    """A host as people name it: the port only where no scheme implies it."""
    bare = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return bare if port in IMPLIED else f"{bare}:{port}"


def _list(met: Sequence[ContactedHost], others: int, terminal: Terminal) -> None:
    for words, top_level in (("Sites used", True), ("Loaded from", False)):
        hosts = [
            each.pattern if each.named else f"{each.pattern} (not allowed yet)"
            for each in met
            if each.top_level is top_level
        ]
        if hosts:
            only = " Runs may open only these." if top_level and _all_named(met) else ""
            terminal.say_below(f"{words}: {', '.join(hosts)}.{only}")
    if others:
        terminal.say_below(f"And {others} more hosts, which are not listed and not allowed.")


def _all_named(met: Sequence[ContactedHost]) -> bool:
    return all(each.named for each in met if each.top_level)


def _asked(unnamed: Sequence[ContactedHost], terminal: Terminal) -> list[ContactedHost]:
    """Those that the person at the terminal agrees to; none where nobody is there."""
    if terminal.as_json or not terminal.interactive:
        return []
    terminal.say_below("not named yet:")
    for number, each in enumerate(unnamed, 1):
        what = "gone to" if each.top_level else "loaded from"
        terminal.say_below(f"{number:>4}  {each.pattern}  ({what})")
    for _ in range(ASKED):
        try:
            kept = chosen(terminal.ask(QUESTION), unnamed)
        except EOFError:
            return []
        if kept is not None:
            return kept
        terminal.note(f"yes, no, or numbers from 1 to {len(unnamed)}")
    return []


def chosen(answer: str, unnamed: Sequence[ContactedHost]) -> list[ContactedHost] | None:
    """What an answer leaves; `None` when it is no answer."""
    said = answer.strip().casefold()
    if said in ("yes", "y"):
        return list(unnamed)
    if said in ("no", "n", ""):
        return []
    if not re.fullmatch(r"[0-9]{1,4}(?:[ ,]+[0-9]{1,4})*", said):
        return None
    left_out = {int(number) for number in re.split(r"[ ,]+", said)}
    if not left_out <= set(range(1, len(unnamed) + 1)):
        return None
    return [each for number, each in enumerate(unnamed, 1) if number not in left_out]


def _tell_left(
    left: Sequence[ContactedHost], name: str, settings: Settings, terminal: Terminal
) -> None:
    if left:
        flags = " ".join(
            f"{'--host' if each.top_level else '--resource'} {shlex.quote(each.pattern)}"
            for each in left
        )
        terminal.note(f"not allowed in its runs: {', '.join(each.pattern for each in left)}")
        edit = settings.command(f"workflows edit {shlex.quote(name)} {flags}")
        terminal.note(f"to allow them: {edit}")


# -- what a run was kept from ----------------------------------------------------------------------


def tell_blocked(story: Story, settings: Settings, terminal: Terminal) -> None:
    """After a failure: what the page wanted to reach and may not, most wanted first."""
    events = said_in(settings, story.session, RequestBlocked)
    _tell_addresses(events, terminal)
    times: Counter[str] = Counter()
    gone_to: set[str] = set()
    for event in events:
        pattern = pattern_of(event.host, event.port)
        if event.rule in BY_NAME and read_pattern(pattern) is not None:
            times[pattern] += event.repeats
            if event.channel.casefold() in TOP_LEVEL or _is_where_it_failed(event.host, story):
                gone_to.add(pattern)
    if not times:
        return
    wanted = [pattern for pattern, _ in times.most_common()]
    more = f" and {len(wanted) - MOST_TOLD} more" if len(wanted) > MOST_TOLD else ""
    told = ", ".join(f"{each} ({times[each]})" for each in wanted[:MOST_TOLD])
    terminal.say_below(f"The pages asked for sites that are not allowed (how often): {told}{more}")
    if story.purpose == "run" and story.name:
        allow = f"workflows edit {shlex.quote(story.name)}"
        flags = [
            f"{'--host' if each in gone_to else '--resource'} {shlex.quote(each)}"
            for each in wanted
        ]
    else:
        allow = COMMANDS[story.purpose]
        flags = [f"--allow {shlex.quote(each)}" for each in wanted]
    command = settings.command(" ".join([allow, *flags]))
    terminal.say_below(f"If something is missing there without them, allow them: {command}")


def _tell_addresses(events: Iterable[RequestBlocked], terminal: Terminal) -> None:
    """A name that leads to an address which is not public: allowing the name does not help."""
    said: dict[str, None] = {}
    for event in events:
        if event.rule == BY_ADDRESS:
            said[event.reason] = None
        elif event.rule == BY_RESOLVER:
            said[f"{event.host} is blocked by this machine's resolver"] = None
    terminal.say_below(*(f"Not allowed: {each}" for each in list(said)[:MOST_TOLD]))


def _is_where_it_failed(host: str, story: Story) -> bool:
    """Whether the step that failed was to lead there."""
    last = story.steps[-1] if story.steps else None
    if last is None or last.done:
        return False
    said = " ".join((last.words, last.reason, last.element, story.detail)).casefold()
    return re.search(rf"(?<![\w.-]){re.escape(host.casefold())}(?![\w-]|\.\w)", said) is not None
