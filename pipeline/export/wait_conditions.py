"""Wait conditions say what an exported script waits for, as expressions and patterns that other
tools can read, and what no tool but Rutter looks at."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from rutter.actors.rules.pages.server_exchanges import EITHER
from rutter.events.action import READS, Action
from rutter.events.checks import (
    HERE,
    AlertSaid,
    Check,
    ServerAnswered,
    StateIs,
    TextGone,
    TextVisible,
    UrlHas,
)
from rutter.events.workflow import Place, Step, Workflow
from rutter.pipeline.workflows.check_syntax import write_check
from rutter.pipeline.workflows.recorder_import import WRITTEN
from rutter.replay.story.wording import in_words

# All that the page says, shadow roots included, as a recorded notice is kept.
SAID = (
    "((says) => { const all = (node) => node.nodeType === 3 ? node.data : "
    "/^(script|style|template|noscript)$/i.test(node.nodeName) ? '' : "
    "[...(node.shadowRoot?.childNodes ?? []), ...node.childNodes].map(all).join(' '); "
    "return says((document.body ? all(document.body) : '').replace(/\\s+/g, ' ').toLowerCase()); })"
)


# Until nothing changed or was answered for so long, and nothing that ends moves; a page that never
# comes to rest is left alone after a while. What is owed is waited for, within a limit of its own.
REST = (
    "((step, quiet, owed) => { const now = performance.now(); "
    "if (window.rutterRest?.step !== step) { window.rutterRest?.watch.disconnect(); "
    "const rest = window.rutterRest = { step, since: now, changed: now }; "
    "rest.watch = new MutationObserver(() => { rest.changed = performance.now(); }); "
    "rest.watch.observe(document, { subtree: true, childList: true, characterData: true }); } "
    "const rest = window.rutterRest, answers = performance.getEntriesByType('resource'); "
    "const last = answers.reduce((last, each) => Math.max(last, each.responseEnd), rest.changed); "
    "const due = owed.filter(([mark, to]) => window.rutterMarks?.[mark] !== undefined && "
    "!answers.some((each) => each.startTime >= window.rutterMarks[mark] && "
    "new RegExp(to).test(each.name))); "
    "if (due.length) return now - rest.since > 8000; "
    "const moving = document.getAnimations().some((each) => each.playState === 'running' && "
    "each.effect?.getComputedTiming().endTime !== Infinity); "
    "return (!moving && now - last >= quiet) || now - rest.since > 3000; })"
)
MARK = (
    "(performance.setResourceTimingBufferSize(100000), "
    "(window.rutterMarks ??= {})[%d] = performance.now(), true)"
)
# In another document than before it was answered by that one.
ANSWERED = (
    "((mark, to) => window.rutterMarks?.[mark] === undefined || "
    "performance.getEntriesByType('resource').some((each) => "
    "each.startTime >= window.rutterMarks[mark] && new RegExp(to).test(each.name) && "
    "each.responseStatus >= 200 && each.responseStatus < 400))"
)
# The visible elements at these paths, shadow roots included.
AT = (
    "const all = (root, css) => [...root.querySelectorAll(css), "
    "...[...root.querySelectorAll('*')].flatMap((each) => "
    "each.shadowRoot ? all(each.shadowRoot, css) : [])]; "
    "const at = ([css, ...deeper], root) => all(root, css).flatMap((each) => "
    "deeper.length ? (each.shadowRoot ? at(deeper, each.shadowRoot) : []) : [each]); "
    "const found = paths.flatMap((path) => at(path, document)).filter((each) => "
    "each.checkVisibility()); "
    "const enter = (field) => { field.focus(); if (field.select) field.select(); "
    "else if (field.textContent.replace(/\\u200b|\\ufeff/g, '').trim()) "
    "getSelection().selectAllChildren(field); "
    "const clipboardData = new DataTransfer(); clipboardData.setData('text/plain', typed); "
    "const how = { clipboardData, bubbles: true, cancelable: true, composed: true }; "
    "if (field.select || field.dispatchEvent(new ClipboardEvent('paste', how))) "
    "document.execCommand('insertText', false, typed); }; "
)
# Whether a field holds what was typed, however it writes it; one that is gone has been taken.
# What a page that was in motion has mixed up is put right once.
HOLDS = (
    "((step, paths, typed) => { " + AT + "const folded = (text) => text.toLowerCase()"
    ".replace(/(?<![\\d.,])0+(?=\\d)/g, '').replace(/[^\\p{L}\\p{N}]/gu, ''); "
    "const held = (each) => [each.value ?? each.textContent, "
    "...[...each.selectedOptions ?? []].map((option) => option.label)]; "
    "const is = (text) => typed === null ? text !== '' : folded(text) === folded(typed) || "
    "(text !== '' && Number(text) === Number(typed)); "
    "if (!found.length || found.some((each) => held(each).some(is))) return true; "
    "const seen = (window.rutterHeld ??= {})[step] ??= { since: performance.now() }; "
    "if (typed !== null && !seen.again && performance.now() - seen.since > 1000) "
    "{ seen.again = true; if (!found[0].selectedOptions) enter(found[0]); } return false; })"
)
# Chrome empties an editor behind its back before it types; what is there already it leaves alone.
ENTER = (
    "((step, paths, typed) => { " + AT + "if (!found.length) return false; "
    "const now = performance.now(), began = (window.rutterEntered ??= {})[step] ??= now; "
    "if (began === now) { enter(found[0]); return false; } "
    "return found[0].innerText === typed || now - began > 2000; })"
)
NOT_DONE = f"{WRITTEN}/* only Rutter does the step before this one */ false"
LEAVING = f"{WRITTEN}(window.rutterStale = true)"
LONGEST_HELD = 200  # an editor may show a part of a long text alone


def place_pattern(place: Place | None) -> str:
    """A recorded place as a regular expression that Python and JavaScript read alike."""
    if place is None or not place.origin.startswith("http"):
        return ""
    paths = [_pattern(path.removesuffix("/")) for path in place.paths]
    path = paths[0] if len(paths) == 1 else f"(?:{'|'.join(paths)})"
    return f"^{re.escape(place.origin)}{path}/?([?#].*)?$"


def _pattern(path: str) -> str:
    """Of a path in which `*` is a part that varies."""
    return "/".join("[^/?#]*" if part == "*" else re.escape(part) for part in path.split("/"))


def notice_pattern(said: AlertSaid) -> str:
    """A notice as a regular expression over text in small letters. What was blurred when it was
    learned varies: a number, and a word that may be part of a date."""
    told = re.sub(r"\d+", "#", " ".join(said.value.lower().split()))
    return ".+".join(re.escape(part) for part in re.split(r"[*#]+", told))


def notices_of(step: Step) -> list[AlertSaid]:
    """What the page must have said for a step that cannot be undone to count as done."""
    return [
        each for each in step.after.learned if isinstance(each, AlertSaid) and step.irreversible
    ]


def place_expression(place: Place | None) -> str:
    pattern = place_pattern(place)
    return f"{WRITTEN}new RegExp({json.dumps(pattern)}).test(location.href)" if pattern else ""


def left_expression(url: str) -> str:
    """In another document than the one that was marked: at an address, or this one again."""
    there = json.dumps(url) if url else "location.href"
    return (
        f"{WRITTEN}((url) => {{ if (window.rutterStale === undefined) "
        "return document.readyState !== 'loading'; "
        "if (window.rutterStale === true) { window.rutterStale = 'left'; "
        "const same = url.split('#')[0] === location.href.split('#')[0]; "
        "if (url !== location.href) location.assign(url); if (same) location.reload(); } "
        "return false; })"
        f"({there})"
    )


def read_at_the_end(workflow: Workflow) -> int | None:
    """The step whose result can be looked for behind the last one: no other is read back after it,
    and it is known where it shows."""
    numbered = enumerate(workflow.steps, 1)
    found = [(n, step) for n, step in numbered if step.after.read_back is not None]
    if not found:
        return None
    number, step = found[-1]
    back = step.after.read_back
    assert back is not None
    later = workflow.steps[number:]
    stays = not any(each.after.moved or each.action.type == "navigate" for each in later)
    seen = any(check_expression(each) for each in back.checks)
    return number if seen and (stays or back.url != HERE) else None


def answer_pattern(kinds: str) -> str:
    """Where such requests go, as a page tells it: by their address alone."""
    addresses = [kind.partition(" ")[2] for kind in kinds.split(EITHER)]
    return f"^(?:{'|'.join(map(_pattern, addresses))})(?:[?#]|$)"


def mark_expression(number: int) -> str:
    """Remembers when the step began: what is answered later may be because of it."""
    return WRITTEN + MARK % number


def rest_expression(number: int, quiet_ms: int, owed: Iterable[tuple[int, str]] = ()) -> str:
    due = json.dumps([[mark, answer_pattern(kinds)] for mark, kinds in owed])
    return f"{WRITTEN}{REST}({number}, {quiet_ms}, {due})"


def answered_expression(number: int, kinds: str) -> str:
    return f"{WRITTEN}{ANSWERED}({number}, {json.dumps(answer_pattern(kinds))})"


def held_expression(number: int, paths: Sequence[Sequence[str]], typed: str | None) -> str:
    """What was typed; of a secret only that there is something."""
    return f"{WRITTEN}{HOLDS}({number}, {json.dumps(paths)}, {json.dumps(typed)})"


def enter_expression(number: int, paths: Sequence[Sequence[str]], typed: str) -> str:
    return f"{WRITTEN}{ENTER}({number}, {json.dumps(paths)}, {json.dumps(typed)})"


def check_expression(check: Check) -> str:
    """What a page alone can answer; empty for anything else."""
    match check:
        case TextVisible(text):
            return f"{WRITTEN}{SAID}((text) => text.includes({_folded(text)}))"
        case TextGone(text):
            return f"{WRITTEN}{SAID}((text) => !text.includes({_folded(text)}))"
        case UrlHas(part):
            both = "[location.href, decodeURI(location.href)].join(' ')"
            return f"{WRITTEN}{both}.includes({json.dumps(part)})"
        case AlertSaid():
            pattern = json.dumps(notice_pattern(check))
            return f"{WRITTEN}{SAID}((text) => new RegExp({pattern}).test(text))"
        case _:
            return ""


def _folded(text: str) -> str:
    return json.dumps(" ".join(text.split()).lower())


def not_done(workflow: Workflow, format: str) -> Iterator[str]:
    """The steps that a file of this format leaves to Rutter: whoever runs it elsewhere has not
    done what the workflow does."""
    for number, step in enumerate(workflow.steps, 1):
        if format == "recorder" and is_ours(step.action):
            yield f"step {number}: only Rutter does this: {in_words(step.action)}"


def is_ours(action: Action) -> bool:
    """What the Recorder has no step for, and Chrome passes over."""
    return action.type in ("drag", "wheel") or action.pasted


def unchecked(workflow: Workflow, format: str) -> Iterator[str]:
    """What the file does not carry over, step by step: what only Rutter looks at or reads."""
    at_the_end = read_at_the_end(workflow)
    for number, step in enumerate(workflow.steps, 1):
        back = step.after.read_back
        if format == "recorder" and back is not None and number != at_the_end:
            yield f"step {number}: only Rutter looks at {back.url} afterwards"
            back = None
        if format == "recorder" and step.action.type in READS:
            yield f"step {number}: only Rutter reads {step.action.name or 'text'!r}"
        read_back = back.checks if back is not None else ()
        for check in (*step.action.verify, *step.after.checks, *read_back):
            asserted = not isinstance(check, StateIs | ServerAnswered)
            if not (asserted if format == "playwright" else check_expression(check)):
                yield f"step {number}: only Rutter checks {write_check(check)}"
