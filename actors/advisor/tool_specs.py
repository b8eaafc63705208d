"""Tool specs tell a language model the table of `rules.tools`, within a budget."""

from collections.abc import Collection, Sequence

import msgspec

from rutter.actors.rules.pages.text_form import estimate_tokens
from rutter.actors.rules.tools.tool_table import TOOLS, Descriptor
from rutter.actors.world.models.messages import ToolSpec

ANY_CALL = (
    "policy_denied",
    "timeout",
    "browser_gone",
)  # what each may end in is not worth its tokens


def tool_specs(allowed: Collection[str]) -> tuple[ToolSpec, ...]:
    """Those that are allowed, in the order of the table: it stays the same from turn to turn, so
    that providers can keep it."""
    return tuple(
        ToolSpec(each.name, description_of(each), each.input_schema)
        for each in TOOLS.values()
        if each.name in allowed
    )


def description_of(tool: Descriptor) -> str:
    """S3 1.5.1: the seeds' own sentence, what becomes of refs, when, patterns, errors, example."""
    guidance = tool.guidance
    errors = [each for each in guidance.errors if each not in ANY_CALL]
    return "\n".join(
        (
            tool.description,
            f"{guidance.purpose} {guidance.refs}",
            f"When: {guidance.when}",
            f"Patterns: {'; '.join(guidance.patterns)}.",
            *([f"Errors: {', '.join(errors)}."] if errors else ()),
            f"Example: {guidance.example}",
        )
    )


def specs_tokens(specs: Sequence[ToolSpec]) -> int:
    """The estimate for what they cost, as JSON."""
    return estimate_tokens(msgspec.json.encode(specs).decode()) if specs else 0
