"""What an exported script waits for, as expressions and patterns that other tools can read, and
what no tool but Rutter looks at."""

import json
import re
from collections.abc import Iterator

from events.checks import Answered, Check, Said, StateIs, TextGone, TextVisible, UrlHas
from events.workflow import Place, Step, Workflow
from pipeline.checks import write_check
from pipeline.recorder import WRITTEN
from replay.wording import in_words

# All that the page says, shadow roots included, as a recorded notice is kept.
SAID = (
    "((says) => { const all = (node) => node.nodeType === 3 ? node.data : "
    "/^(script|style|template|noscript)$/i.test(node.nodeName) ? '' : "
    "[...(node.shadowRoot?.childNodes ?? []), ...node.childNodes].map(all).join(' '); "
    "return says(all(document.body).replace(/\\s+/g, ' ').toLowerCase()); })"
)


def place_pattern(place: Place | None) -> str:
    """A recorded place as a regular expression that Python and JavaScript read alike."""
    if place is None or not place.origin.startswith("http"):
        return ""
    paths = [_path_pattern(path) for path in place.paths]
    path = paths[0] if len(paths) == 1 else f"(?:{'|'.join(paths)})"
    return f"^{re.escape(place.origin)}{path}/?([?#].*)?$"


def _path_pattern(path: str) -> str:
    parts = path.removesuffix("/").split("/")
    return "/".join("[^/?#]*" if part == "*" else re.escape(part) for part in parts)


def notice_pattern(said: Said) -> str:
    """A notice as a regular expression over text in small letters whose numbers are `#`."""
    blurred = re.sub(r"\d+", "#", " ".join(said.value.lower().split()))
    return ".+".join(re.escape(part) for part in blurred.split("*"))


def notices_of(step: Step) -> list[Said]:
    """What the page must have said for a step that cannot be undone to count as done."""
    return [each for each in step.after.learned if isinstance(each, Said) and step.irreversible]


def place_expression(place: Place | None) -> str:
    pattern = place_pattern(place)
    return f"{WRITTEN}new RegExp({json.dumps(pattern)}).test(location.href)" if pattern else ""


def notice_expression(said: Said) -> str:
    pattern = json.dumps(notice_pattern(said))
    return f"{WRITTEN}{SAID}((text) => new RegExp({pattern}).test(text.replace(/\\d+/g, '#')))"


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
        case Said():
            return notice_expression(check)
        case _:
            return ""


def _folded(text: str) -> str:
    return json.dumps(" ".join(text.split()).lower())


def unchecked(workflow: Workflow, format: str) -> Iterator[str]:
    """What the file does not carry over, step by step: what only Rutter looks at or reads."""
    for number, step in enumerate(workflow.steps, 1):
        checks = (*step.action.verify, *step.after.checks)
        if format == "playwright":
            back = step.after.read_back
            checks = (*checks, *(back.checks if back is not None else ()))
            lost = [each for each in checks if not _is_asserted(each)]
        else:
            lost = [each for each in checks if not check_expression(each)]
            if step.after.read_back is not None:
                yield f"step {number}: only Rutter looks at {step.after.read_back.url} afterwards"
            if step.action.type == "extract":
                yield f"step {number}: only Rutter reads {step.action.name or 'text'!r}"
            if step.action.type in ("drag", "wheel") or step.action.pasted:
                yield f"step {number}: only Rutter does this: {in_words(step.action)}"
        for each in lost:
            yield f"step {number}: only Rutter checks {write_check(each)}"


def _is_asserted(check: Check) -> bool:
    return not isinstance(check, StateIs | Answered)
