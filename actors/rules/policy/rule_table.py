"""The table of policy has one rule a row, each a pure function of a case that may say nothing.

A rule looks at the action, the element as it was resolved, the page it is on, and who proposed it.
What a rule cannot know counts as what cannot be undone.
"""

from collections.abc import Callable
from functools import lru_cache

import ada_url
import msgspec

from rutter.actors.rules.pages.address import host_of
from rutter.actors.rules.policy.hosts import url_refused
from rutter.actors.rules.policy.policy_case import (
    CALLERS,
    READING,
    RECORDED,
    SETS_OFF,
    PolicyCase,
    is_a_door,
    is_field,
    is_recorded_cell,
    is_typed_in,
    said_in,
    said_of,
    secrets_of,
    sets_off,
    side_effect,
)
from rutter.actors.rules.policy.risky_words import denied_by, final_words, icon_words, said_by
from rutter.actors.rules.text.phrases import lexicon
from rutter.events.action import CLICKS, Parameter, Secret, Text, Typed
from rutter.events.policy import Effect, Policy, PolicyRule
from rutter.events.validator import ApprovalKind

# With Control, in a field: to mark, to cut, to take back. Not to paste: nobody knows what.
EDITS = frozenset("acxyz") | {"arrowleft", "arrowright", "backspace", "delete", "home", "end"}
MOVES = frozenset(
    ["Tab", "Escape", "Home", "End", "PageUp", "PageDown"]
    + [f"Arrow{way}" for way in ("Up", "Down", "Left", "Right")]
)
# Signs and icons that open, close, move or look, and nothing else.
GLYPHS = frozenset(
    "\u00d7\u2715\u2716\u2039\u203a\u00ab\u00bb<>\u25b2\u25bc\u25c0\u25b6\u2630"
    "\u22ee\u22ef\u2026+-?\u2190\u2191\u2192\u2193"
)
HARMLESS = lexicon(
    [
        *(
            "menu",
            "hamburger",
            "search",
            "magnifier",
            "close",
            "times",
            "xmark",
            "chevron",
            "arrow",
        ),
        *("caret", "angle", "expand", "collapse", "next", "prev", "previous", "info", "help"),
        *("question", "filter", "sort", "zoom", "play", "pause", "calendar", "eye", "home", "bell"),
        *("plus", "minus", "ellipsis", "dots", "kebab", "back", "forward", "refresh", "copy"),
    ],
    [],
)
LONGEST_PATH = 64  # of an address that was made up: a longer one may carry anything


class PolicyVerdict(msgspec.Struct, frozen=True):
    """A verdict is policy's. `always`: no recording has answered this question before."""

    effect: Effect
    rule: str
    reason: str
    kind: ApprovalKind = "policy"
    always: bool = False


Rule = Callable[[PolicyCase], PolicyVerdict | None]


# -- where it leads ----------------------------------------------------------------------------


def host_allowed(case: PolicyCase) -> PolicyVerdict | None:
    """Only http and https, private networks only by name, others as the policy says."""
    if case.action.type != "navigate" or case.action.url is None:
        return None
    if case.action.url == "about:blank":
        return None
    return _refused(case.policy, case.action.url)


def leads_where_allowed(case: PolicyCase) -> PolicyVerdict | None:
    """A link and a form go where the page says, not where the step was thought to go."""
    element = case.element
    if element is None or case.action.type not in (*CLICKS, "press"):
        return None
    for address in (element.href, element.form_action if element.submits else ""):
        if address and (refused := _refused_web(case.policy, address)):
            return refused
    return None


def page_allowed(case: PolicyCase) -> PolicyVerdict | None:
    """A page that may only be loaded from is not worked on, however one came to be there."""
    if case.element is None or case.action.type in READING:
        return None
    return _refused_web(case.policy, case.element.origin)


def data_in_address(case: PolicyCase) -> PolicyVerdict | None:
    """An address that a caller made up can carry what it has read, to whoever owns the place: in
    its query, and in its path where that is not of the page that it is on."""
    if case.driver not in CALLERS or case.action.type != "navigate":
        return None
    if not case.action.url or case.action.url == case.start:
        return None
    try:
        url = ada_url.URL(case.action.url)
    except ValueError:
        return None  # refused elsewhere
    here = case.page.startswith(f"{url.origin}/")
    carries = (
        url.search
        or url.hash
        or (len(url.pathname) > LONGEST_PATH if here else url.pathname != "/")
    )
    if not carries:
        return None
    return PolicyVerdict(
        "ask", "data_in_address", "the address may carry data, and nobody recorded it"
    )


def _refused_web(policy: Policy, address: str) -> PolicyVerdict | None:
    """Nothing to say of what is no address on the web: a script, a mail, a page without one."""
    return _refused(policy, address) if address.startswith(("http:", "https:")) else None


@lru_cache(maxsize=1_024)
def _refused(policy: Policy, address: str) -> PolicyVerdict | None:
    scheme, host, _ = host_of(address)
    if scheme not in ("http", "https") or not host:
        return PolicyVerdict("deny", "scheme", f"{scheme or 'that'} is not a web address")
    refusal = url_refused(policy, address, top_level=True)
    return PolicyVerdict("deny", refusal.rule, refusal.reason) if refusal is not None else None


# -- secrets and files -------------------------------------------------------------------------


def secret_in_clear(case: PolicyCase) -> PolicyVerdict | None:
    """A literal never goes into a secret field, and a secret never into a plain one."""
    element = case.element
    if element is None or case.action.type != "type":
        return None
    if element.secret and isinstance(case.action.value, Text | Typed | Parameter):
        return PolicyVerdict(
            "deny", "secret_in_clear", "a secret field takes a --secret, not a literal"
        )
    if not element.secret and isinstance(case.action.value, Secret):
        return PolicyVerdict(
            "ask", "secret_in_plain_field", "a secret would be typed in a plain field"
        )
    return None


def secret_at_home(case: PolicyCase) -> PolicyVerdict | None:
    """A secret is typed where it belongs. Where that is not known, and nobody recorded it, a
    person says so: a page can talk whoever chooses by itself into signing in somewhere else."""
    names = secrets_of(case.action)
    if not names or case.element is None:
        return None
    where = case.element.origin
    for name in names:
        origins = [origin for each, origin in case.policy.secret_origins if each == name]
        if origins and where not in origins:
            reason = f"the secret {name!r} belongs to {', '.join(origins)}, this is {where}"
            return PolicyVerdict("deny", "secret_elsewhere", reason)
        if not origins and case.driver not in RECORDED:
            reason = f"the secret {name!r} would be typed on {where}, and nobody recorded that"
            return PolicyVerdict("ask", "secret_unbound", reason)
    return None


def uploads_a_file(case: PolicyCase) -> PolicyVerdict | None:
    """A file of this machine leaves it; a recording says which one by a parameter of its own."""
    element = case.element
    if element is None or case.action.type != "type" or element.kind != "file":
        return None
    if case.driver in RECORDED:
        return None
    return PolicyVerdict("ask", "uploads_a_file", "a file would be sent, and nobody recorded that")


# -- what it says it is ------------------------------------------------------------------------


def denylist(case: PolicyCase) -> PolicyVerdict | None:
    """S0's risky words, in what the element says it is, in how it is found, or in the address that
    whoever recorded nothing wants to go to: a link there would be refused as well."""
    if case.action.type in READING:
        return None
    word = denied_by(said_in(case), case.policy.denylist)
    if not word:
        return None
    what = "address" if case.action.type == "navigate" else "element"
    effect: Effect = "ask" if case.driver in RECORDED or case.recorded else "deny"
    return PolicyVerdict(effect, "denylist", f"the {what} says {word!r}")


def denied_when_set_off(case: PolicyCase) -> PolicyVerdict | None:
    """To type into a field that says such a word can be undone; what it is sent by says so too."""
    return denylist(case) if sets_off(case) or case.action.type == "select" else None


def final_wording(case: PolicyCase) -> PolicyVerdict | None:
    """Words, or pictures in place of words, for what cannot be undone. Of a list it is what would
    be chosen, of Enter in a field the button that sends its form: both stand for an icon."""
    element = case.element
    if element is None:
        return None
    sends = case.action.type == "press" and element.submits
    if case.action.type == "select" or sends:
        word = said_by(element.icon.text, final_words())
    elif not sets_off(case) or is_field(element):
        return None
    else:
        said = f"{element.name.text}\n{element.text.text[:200]}\n{said_of(case.action.to)}"
        word = said_by(said, final_words())
    if not word and case.action.type != "select":
        word = said_by(element.icon.text, icon_words())
    return PolicyVerdict("ask", "final_wording", f"the element says {word!r}") if word else None


def unknown_icon(case: PolicyCase) -> PolicyVerdict | None:
    """A button that says nothing may do anything."""
    element = case.element
    if element is None or not sets_off(case) or is_field(element):
        return None
    shown = {element.name.text.strip(), element.text.text.strip()} - {""}
    if any(map(str.isalnum, "".join(shown))) or (shown and shown <= GLYPHS):
        return None
    if said_by(element.icon.text, HARMLESS) or element.href:
        return None
    return PolicyVerdict("ask", "unknown_icon", "the element does not say what it does")


# -- what it does ------------------------------------------------------------------------------


def sends_a_form(case: PolicyCase) -> PolicyVerdict | None:
    """A form that is not a plain GET changes something on the other side."""
    element = case.element
    if element is None or case.action.type not in ("click", "press", "select"):
        return None
    if not element.submits:
        return None
    kind: ApprovalKind = "login" if is_a_door(case) else "policy"
    if element.form_method not in ("", "get"):
        reason = f"it sends a form ({element.form_method.upper()})"
        return PolicyVerdict("ask", "sends_a_form", reason, kind)
    if case.driver not in RECORDED:
        return PolicyVerdict(
            "ask", "sends_a_form", "it sends a form, and nobody recorded that", kind
        )
    return None


def key_unknown(case: PolicyCase) -> PolicyVerdict | None:
    """A key that neither moves nor is typed does what a script of the page says; and so does Enter
    where no form explains it: many send what was typed."""
    element = case.element
    if element is None or case.action.type != "press" or element.submits:
        return None
    *held, key = (case.action.key or "").replace("++", "+plus").split("+")
    if key in MOVES and set(held) <= {"Shift"}:
        return None
    if is_typed_in(element):
        if not key.endswith("Enter") and (key.lower() in EDITS or set(held) <= {"Shift"}):
            return None
        return PolicyVerdict("ask", "key_unknown", f"{key} may send what was typed there")
    if key in SETS_OFF and not held:
        return None  # as a click on it does: judged by what it says
    return PolicyVerdict("ask", "key_unknown", f"what {key} does there is not known")


def accepts_a_dialog(case: PolicyCase) -> PolicyVerdict | None:
    """What a page asks before it goes on is asked for a reason."""
    if not any(answer.accept for answer in case.action.dialogs):
        return None
    return PolicyVerdict("ask", "accepts_a_dialog", "it says yes to what the page asks")


def final_confirmation(case: PolicyCase) -> PolicyVerdict | None:
    """On the last page before it is done, whatever is set off may do it: the person types it out
    (E3)."""
    element = case.element
    if case.state != "FINAL_CONFIRMATION" or element is None or not sets_off(case):
        return None
    leads_on = element.href and not element.submits
    if leads_on or (is_field(element) and not element.submits) or is_recorded_cell(case):
        return None
    return PolicyVerdict(
        "ask", "final_confirmation", "this is the last step before it is done", "confirm"
    )


def service_checkpoint(case: PolicyCase) -> PolicyVerdict | None:
    """Where the service's own conditions hold, a person is asked before anything is done."""
    checkpoint = case.checkpoint
    if checkpoint is None or case.action.type in READING or case.action.aside:
        return None  # what is only looked at, in a page of its own, changes nothing here
    reason = f"the page is at the checkpoint {checkpoint.name!r}"
    return PolicyVerdict("ask", "service_checkpoint", reason, "service", checkpoint.always)


# -- what a person wrote -----------------------------------------------------------------------


def configured(case: PolicyCase) -> PolicyVerdict | None:
    """The rows of the configuration: the strictest that matches."""
    if not case.policy.rules:
        return None
    said = said_in(case)
    matching = [rule for rule in case.policy.rules if _matches(rule, case, said)]
    for effect in ("deny", "ask"):
        for rule in matching:
            if rule.effect == effect:
                reason = rule.reason or f"the rule {rule.name!r} says so"
                return PolicyVerdict(rule.effect, rule.name, reason, always=True)
    return None


# The tool's name, where it is not the action's.
TOOLS = {
    "type": "browser_fill",
    "click": "browser_click",
    "select": "browser_select",
    "scroll": "browser_scroll",
}


def _matches(rule: PolicyRule, case: PolicyCase, said: str) -> bool:
    """Every column that says something agrees."""
    action, element = case.action, case.element
    tool = TOOLS.get(action.type, action.type)
    return (
        (not rule.actions or action.type in rule.actions)
        and (not rule.tools or (case.driver in CALLERS and tool in rule.tools))
        and (not rule.drivers or case.driver in rule.drivers)
        and (not rule.side_effects or side_effect(case) in rule.side_effects)
        and (not rule.roles or (element is not None and element.role in rule.roles))
        and (not rule.origins or _origin_of(case) in rule.origins)
        and (not rule.says or any(word.casefold() in said for word in rule.says))
    )


def _origin_of(case: PolicyCase) -> str:
    if case.element is not None:
        return case.element.origin
    scheme, host, port = host_of(case.action.url or "")
    return f"{scheme}://{host}{':' if port else ''}{port}" if host else ""


# In the order in which they are told of: of two that ask, the first is the reason.
RULES: tuple[Rule, ...] = (
    host_allowed,
    leads_where_allowed,
    page_allowed,
    secret_in_clear,
    secret_at_home,
    configured,
    service_checkpoint,
    final_confirmation,
    denylist,
    sends_a_form,
    key_unknown,
    accepts_a_dialog,
    uploads_a_file,
    data_in_address,
    final_wording,
    unknown_icon,
)
# What of it cannot be undone: what a dry run stops before, and what is never done twice.
IRREVERSIBLE: tuple[Rule, ...] = (
    denied_when_set_off,
    sends_a_form,
    key_unknown,
    final_confirmation,
    final_wording,
    unknown_icon,
)
