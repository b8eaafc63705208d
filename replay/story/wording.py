"""Words describe actions, checks and targets for people; any text is made safe for an ASCII
terminal (H7)."""

import re
from collections.abc import Iterable, Mapping

import msgspec

from rutter.events.action import (
    DOUBLE,
    Action,
    ByBeside,
    ByCss,
    ByPoint,
    ByRef,
    ByRole,
    ByText,
    Count,
    Parameter,
    Secret,
    Strategy,
    Target,
    Text,
    Typed,
    Value,
)
from rutter.events.advisor import AdviceReceived, Proposal, WantedCall
from rutter.events.checks import (
    AlertSaid,
    Check,
    Downloaded,
    ElementState,
    FileContains,
    FileExists,
    FileSize,
    ServerAnswered,
    StateIs,
    TextGone,
    TextVisible,
    UrlHas,
    ValueSet,
)
from rutter.events.executor import StepMarked
from rutter.events.observer import BarDisturbed, FileSeen
from rutter.events.page import Page, Resolved
from rutter.events.predictor import Within
from rutter.events.run_settings import MILLION
from rutter.events.tools import ToolCalled

UNDONE = {
    "went_back": "a person went back",
    "turned_back": "a person turned it back",
    "undo_key": "a person pressed undo",
    "left_out": "a person left it out of a recording",
    "refused": "a person said no to what was predicted",
}

# What a person calls an element.
CALLED = {
    **dict.fromkeys(("textbox", "searchbox", "spinbutton"), "field"),
    **dict.fromkeys(("combobox", "listbox"), "list"),
    **{each: each for each in ("button", "link", "checkbox", "tab", "switch", "heading")},
    "radio": "choice",
    "menuitem": "menu entry",
    "img": "picture",
}


def kind_of(role: str) -> str:
    """What a person calls an element of this role."""
    return CALLED.get(role, "element")


def ascii_only(text: str) -> str:
    """cp1252-safe and on one line: what is not plain ASCII is escaped, never dropped."""
    return printable(text, "ascii")


def printable(text: str, encoding: str = "utf-8") -> str:
    """On one line, and what the encoding has: whatever it has not is escaped, as is whatever moves
    the cursor or turns the text around. Where it is shown is for who shows it (H7)."""
    shown = "".join(char if char.isprintable() else _escaped(char) for char in text)
    return shown.encode(encoding, "backslashreplace").decode(encoding)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def in_words(action: Action, name: str = "") -> str:
    """What the action does; `name` is what its element calls itself, when that is known."""
    target = repr(name) if name else _found(action.target)
    value = value_in_words(action.value) if action.value is not None else "nothing"
    if not action.verify:
        return printable(_words(action, target, value))
    return printable(_verifying(action, _words(action, target, value)))


def called(action: Action) -> str:
    """What the action is done to: `"Save"`."""
    target = _found(action.target)
    return printable(f'"{target[1:-1]}"' if target.startswith("'") else target)


def name_on(page: Page | None, action: Action) -> str:
    """What the element calls itself that the action names by a ref of this page."""
    first = action.locators[0] if action.locators else None
    found = re.fullmatch(r"@e(\d+)", first.ref) if isinstance(first, ByRef) else None
    number = int(found[1]) if found else -1
    if page is None or not 0 <= number < len(page.elements):
        return ""
    return page.elements[number].name.text


def quoted(said: str) -> str:
    """What somebody said, in quotes that are not its own."""
    bare = said.strip()
    own = bare[:1] if bare[:1] in ("'", '"') and bare.endswith(bare[:1]) else ""
    if own and len(bare) > 1 and own not in bare[1:-1]:
        bare = bare[1:-1]
    return f'"{bare}"' if "'" in bare else f"'{bare}'"


def mark_in_words(marked: StepMarked) -> str:
    """What a person said of a step of theirs: `this is "customer", and varies`."""
    match marked.mark:
        case "left_out":
            return "left out of the workflow; what it did on the page stays"
        case "optional":
            return "optional: a run goes on without it where it is not there"
        case "varies":
            return printable(f'this is "{marked.name}", and varies from run to run')


def bar_in_words(disturbed: BarDisturbed) -> str:
    """What became of the bar of a recording, and what to press."""
    why = {
        "window": "The page opened a window over the bar.",
        "full_screen": "The page fills the screen, the bar too.",
        "closed": "The bar was closed. The recording goes on; F8 in the page brings it back.",
    }[disturbed.by]
    return f"{why} The bar is in front again." if disturbed.restored else why


def check_in_words(check: Check) -> str:
    """What must be so: `the page shows 'Order sent'`."""
    return printable(_check(check))


def file_in_words(seen: FileSeen) -> str:
    """What was found out about a file, and never a word of what it holds."""
    if seen.error:
        what = f"not looked at ({seen.error}{': ' if seen.message else ''}{seen.message})"
    elif not seen.exists:
        what = "not there"
    else:
        what = f"there, {seen.size} bytes"
        if seen.holds is not None:
            what += ", holds it" if seen.holds else ", does not hold it"
    return printable(f"{seen.path!r}: {what}")


def file_wanted(called: ToolCalled) -> str | None:
    """The path of the file that a call is to read; nothing for any other call."""
    if called.tool != "read_file":
        return None
    try:
        return msgspec.json.decode(called.arguments, type=_ReadFileArguments).path
    except msgspec.DecodeError:
        return ""


class _ReadFileArguments(msgspec.Struct):
    path: str = ""


def within_in_words(within: Within) -> str:
    """Where in a recorded workflow a session seems to be, by what is done of it:
    `after step 3 of 7 of order, 0.93`."""
    sure = f"{within.probability / MILLION:.2f}"
    return printable(f"after step {within.step} of {within.of} of {within.workflow}, {sure}")


def absent_in_words(absent: int) -> str:
    """What is no prediction, because its element is not there."""
    one = absent == 1
    return f"{absent} more {'was' if one else 'were'} likely, and not possible on this page"


def paused_in_words(by: str, took_ms: float, resumed_by: str) -> str:
    """Who had the wheel from here on, for how long, and who handed it back:
    `paused by ann for 12.3 s, resumed by ann`."""
    return printable(f"paused by {by} for {took_ms / 1000:.1f} s, resumed by {resumed_by}")


def undone_in_words(why: str) -> str:
    """How a person took back what was done."""
    return UNDONE.get(why, why)


def advice_in_words(received: AdviceReceived) -> str:
    """What a model advised: the one action that it proposed, or the first tool that it called."""
    if received.proposal is not None:
        return proposal_in_words(received.proposal)
    if received.calls:
        return asked_in_words(received.calls[0])
    return "nothing"


def proposal_in_words(proposal: Proposal) -> str:
    """One action, and where it is to lead: `click 'Continue', which leads to COMPLETE`."""
    leads = f", which leads to {proposal.leads_to}" if proposal.leads_to else ""
    way = "" if proposal.instead else ", on the way there"
    return f"{in_words(proposal.action)}{leads}{way}"


def asked_in_words(asked: WantedCall) -> str:
    """A tool as it was called: `click ref=@e5`. What it types is known by its number alone."""
    try:
        arguments = msgspec.json.decode(asked.arguments, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        arguments = {}
    given = " ".join(f"{name}={_argument(raw)}" for name, raw in arguments.items())
    return printable(f"{asked.tool} {given}".strip())


def _argument(raw: msgspec.Raw) -> str:
    """A string bare, a bound or typed value as everywhere, else the JSON that it is."""
    value = msgspec.json.decode(raw)
    match value:
        case str():
            return value if re.fullmatch(r"[\w@:/.-]{1,80}", value) else repr(value)
        case {"typed": int(number)}:
            return value_in_words(Typed(number))
        case {"secret": str(name)}:
            return value_in_words(Secret(name))
        case {"param": str(name)}:
            return value_in_words(Parameter(name))
        case _:
            return bytes(raw).decode("utf-8", "replace")


def _verifying(action: Action, words: str) -> str:
    """A verification by what it checks; one that is made aside is a look elsewhere (S2 1.3)."""
    texts = [check.value for check in action.verify if isinstance(check, TextVisible)]
    if action.aside and len(texts) == len(action.verify):
        return f"look at {action.url} for {_and(_named(text) for text in texts)}"
    checks = "check that " + _and(_check(check) for check in action.verify)
    if action.aside:
        return f"look at {action.url} and {checks}"
    return checks if action.type == "check" else f"{words} and {checks}"


def _and(parts: Iterable[str]) -> str:
    return " and ".join(parts)


def _check(check: Check) -> str:
    match check:
        case TextVisible(value):
            return f"the page shows {_named(value)}"
        case TextGone(value):
            return f"the page does not show {_named(value)}"
        case UrlHas(value):
            return f"the address holds {_named(value)}"
        case AlertSaid(value):
            return f"the page says {_named(value)}"
        case ValueSet(value, name):
            return f"{_named(name)} holds {_named(value)}"
        case ElementState(value, name):
            return f"{_named(name)} is {value}"
        case StateIs(value):
            return f"the page is in state {value}"
        case Downloaded(value):
            return f"a file {_named(value)} was downloaded" if value else "a file was downloaded"
        case ServerAnswered(value):
            return f"the server took {_named(value)}"
        case FileExists() | FileContains() | FileSize():
            return _file_check(check)


def _file_check(check: FileExists | FileContains | FileSize) -> str:
    match check:
        case FileExists(value):
            return f"there is a file {_named(value)}"
        case FileContains(value, path):
            return f"the file {_named(path)} contains {_named(value)}"
        case FileSize(value, at_least, None):
            return f"the file {_named(value)} has at least {at_least} bytes"
        case FileSize(value, at_least, at_most):
            return f"the file {_named(value)} has {at_least} to {at_most} bytes"


def _words(action: Action, target: str, value: str) -> str:
    match action.type:
        case "navigate":
            return f"go to {action.url}"
        case "click":
            return f"{_clicking(action)} {target}"
        case "hover" | "drag" | "wheel":
            return _pointing(action, target)
        case "type":
            entered = "paste" if action.pasted else "type"
            return f"{entered} {value} {'behind what is in' if action.append else 'into'} {target}"
        case "select":
            return f"select {value} in {target}"
        case "press":
            return f"press {action.key}"
        case "scroll":
            return f"scroll to {target}" if action.target else f"scroll {action.direction}"
        case "wait_for":
            return f"wait for {_counted(action.wanted)}{target}"
        case "wait":
            return f"wait {action.ms} ms"
        case "extract" | "read_page" | "ghost_extract":
            return _reading(action, target)
        case "check":
            return "check the page"


def _reading(action: Action, target: str) -> str:
    if action.type == "extract":
        return f"read {action.name or 'text'} from {target}"
    if action.type == "ghost_extract":
        seen = "what is in view" if action.viewport_only else "the whole page"
        return f"read a picture of {seen} for {_named(action.prompt)}"
    what = f"all of {target}" if action.target is not None else "the whole page"
    what += f", page {action.page} of it" if action.page else ""
    return f"read {what} as {action.name}" if action.name else f"read {what}"


def _pointing(action: Action, target: str) -> str:
    match action.type:
        case "drag":
            return f"drag {target} onto {_found(action.to)}"
        case "wheel":
            return f"turn the wheel over {target}"
        case _:
            return f"point at {target}"


def _clicking(action: Action) -> str:
    """`right click`, `double click`, `click with Control held`: as a person says it."""
    kinds = [str(action.button or ""), "double" if action.count == DOUBLE else "", "click"]
    held = f" with {' and '.join(action.modifiers)} held on" if action.modifiers else ""
    return " ".join(kind for kind in kinds if kind) + held


def _counted(count: Count | None) -> str:
    """How many are waited for, where it is not one or more: `at most 0 of `."""
    words = {">=": "at least", "<=": "at most", "==": "exactly", "!=": "other than"}
    return f"{words[count.operator]} {count.number} of " if count is not None else ""


def locator_in_words(strategy: Strategy) -> str:
    match strategy:
        case ByCss(selector):
            return selector
        case ByRole(role, name):
            return f"{role or 'element'} {_named(name)}"
        case ByText(text):
            return f"text {_named(text)}"
        case ByBeside(text, how):
            return f"what stands {'at' if how == 'label' else 'near'} {_named(text)}"
        case ByPoint(x, y):
            return f"point {x},{y}"
        case ByRef(ref):
            return ref


def healed_in_words(recorded: str, element: Resolved, score: int) -> str:
    """From what to what a target was healed, and how like the two are."""
    now = element.name.text or element.text.text or element.tag
    alike = score * 100 // MILLION
    return printable(f'"{recorded}" is now the {kind_of(element.role)} "{now}" ({alike} % alike)')


def with_values(words: str, values: Mapping[str, str]) -> str:
    """The words with what was given where the parameters stand."""
    given = {f"<{name}>": printable(f'"{value}"') for name, value in values.items()}
    return re.sub(r"<\w+>", lambda found: given.get(found[0], found[0]), words)


def _found(target: Target | None) -> str:
    locators = target.strategies if target else ()
    for locator in locators:
        if isinstance(locator, ByRole) and locator.name:
            return _named(locator.name)
    return locator_in_words(locators[0]) if locators else "the page"


def _named(name: str) -> str:
    """A name in quotes; one that is a parameter, by the parameter's name."""
    shown = re.sub(r"\$\{(\w+)\}", r"<\1>", name)
    return shown if re.fullmatch(r"<\w+>", shown) else repr(shown)


def value_in_words(value: Value) -> str:
    match value:
        case Text(text):
            return repr(text)
        case Parameter(name):
            return f"<{name}>"
        case Secret(name):
            return f"<secret {name}>"
        case Typed(number):
            return f"<typed {number + 1}>"
