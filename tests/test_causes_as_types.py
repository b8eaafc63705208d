"""Nothing in the product decides by a text that was written for people: what somebody needs of it
is a field with a type. Only `events/upcast.py` reads sentences, those of old logs."""

import ast
import importlib
import re
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from rutter.events.vocabulary import AnyEvent

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("events", "actors", "replay", "pipeline")
TEXTS = frozenset({"reason", "detail", "message", "why"})
MENTIONED = re.compile(rf"\b(?:{'|'.join(TEXTS)})\b")
TAKEN_APART = frozenset(
    {
        *("startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition"),
        *("split", "rsplit", "find", "index", "count", "replace"),
    }
)
PATTERNS = frozenset({"match", "fullmatch", "search", "findall", "finditer", "split", "sub"})
STORIES = frozenset({"running", "erased"})  # a session that has no end
EXCEPTED = {
    "events/upcast.py": "reads the sentences of old logs",
    "actors/world/browser/page_session.py": "the browser's driver says in words alone what failed",
    "pipeline/demo_sites/gaffsail/server.py": "the field of a form is called so",
    "pipeline/sessions/service_file.py": "a person's text loses its line breaks",
}


def _literals(annotation: object) -> Iterator[str]:
    """What a type that is words in a list may be."""
    if typing.get_origin(annotation) is typing.Literal:
        yield from (each for each in typing.get_args(annotation) if isinstance(each, str))
    else:
        for each in typing.get_args(annotation):
            yield from _literals(each)


CODES = STORIES | {
    code
    for event in typing.get_args(AnyEvent)
    for name, annotation in typing.get_type_hints(event).items()
    if name in TEXTS
    for code in _literals(annotation)
}


def _is_text(node: ast.expr) -> bool:
    """Whether it is a text for people by its name, `story.detail` or `why`, or made of one."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in TEXTS
        case (
            ast.Call(func=ast.Attribute(value=value))
            | ast.Subscript(value=value, slice=ast.Slice())
        ):
            return _is_text(value)
        case _:
            return False


def _words(node: ast.AST, module: ModuleType | None) -> list[str]:
    """The words that a text is compared with: written there, or in a constant of the module."""
    match node:
        case ast.Constant(value=str(word)):
            return [word]
        case ast.Tuple(elts=nodes) | ast.Set(elts=nodes) | ast.List(elts=nodes):
            return [word for each in nodes for word in _words(each, module)]
        case ast.JoinedStr(values=nodes):
            return ["".join(word for each in nodes for word in _words(each, module)) or "{}"]
        case ast.MatchValue(value=value):
            return _words(value, module)
        case ast.MatchOr(patterns=patterns):
            return [word for each in patterns for word in _words(each, module)]
        case ast.Name(id=name) if name.isupper() and module is not None:
            found = getattr(module, name, ())
            found = (found,) if isinstance(found, str | int) else found
            return [each for each in found if isinstance(each, str)]
        case _:
            return []


def _are_prose(words: Iterable[str]) -> bool:
    return any(word and word not in CODES for word in words)


def matched(tree: ast.AST, module: ModuleType | None = None) -> Iterator[int]:
    """The lines that match on a text."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = (left, *others)
                for op, one, other in zip(ops, sides, sides[1:], strict=False):
                    contains = isinstance(op, ast.In | ast.NotIn) and _is_text(other)
                    words = [*_words(one, module), *_words(other, module)]
                    compares = _is_text(one) or _is_text(other)
                    if (contains and words) or (compares and _are_prose(words)):
                        yield node.lineno
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=args):
                taken_apart = name in TAKEN_APART and _is_text(value)
                if taken_apart or (name in PATTERNS and any(map(_is_text, args))):
                    yield node.lineno
            case ast.MatchClass(kwd_attrs=names, kwd_patterns=patterns):
                for name, pattern in zip(names, patterns, strict=True):
                    if name in TEXTS and _are_prose(_words(pattern, module)):
                        yield pattern.lineno
            case ast.Match(subject=subject, cases=cases) if _is_text(subject):
                if _are_prose(word for each in cases for word in _words(each.pattern, module)):
                    yield node.lineno
            case _:
                pass


def _matched_in(file: Path) -> set[int]:
    text = file.read_text()
    if MENTIONED.search(text) is None:
        return set()
    tree = ast.parse(text)
    if not _has_constants(tree):
        return set(matched(tree))
    name = file.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    return set(matched(tree, importlib.import_module(f"rutter.{name}")))


def _has_constants(tree: ast.AST) -> bool:
    """Whether a text is compared with a name in capitals, which only the module itself explains."""
    return any(
        isinstance(node, ast.Compare)
        and any(map(_is_text, (node.left, *node.comparators)))
        and any(isinstance(each, ast.Name) and each.id.isupper() for each in ast.walk(node))
        for node in ast.walk(tree)
    )


def test_nothing_decides_by_a_text_that_is_for_people() -> None:
    files = (file for each in PRODUCT for file in sorted((ROOT / each).rglob("*.py")))
    matches = ((file.relative_to(ROOT).as_posix(), _matched_in(file)) for file in files)
    found = {name: lines for name, lines in matches if lines}
    assert {name: lines for name, lines in found.items() if name not in EXCEPTED} == {}
    assert set(EXCEPTED) <= set(found), "nothing is to be excepted there any more"


@pytest.mark.parametrize(
    "line",
    [
        "story.detail.startswith('dry run')",
        "story.detail.strip().lower().startswith('dry run')",
        "why.removeprefix('dry run: ')",
        "'asks to sign in' in story.detail",
        "f'{who}: ' in why",
        "judged.reason == 'value_not_set'",
        "judged.reason in ('led_elsewhere', 'other_place')",
        "re.match('workflow_step_', step.why)",
        "CODE.match(story.detail)",
        "'a' < error.message.partition(':')[0]",
        "match plan:\n case PlanProposed(reason='opening'): pass",
        "match plan.reason:\n case 'opening' | 'failed': pass",
    ],
)
def test_a_line_that_does_is_found(line: str) -> None:
    assert list(matched(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    [
        "stopped.reason == 'completed'",
        "ended.reason in ('cancelled', 'skipped')",
        "asked.why == 'rest_awaited'",
        "reason != ''",
        "judged.code == 'value_not_set'",
        "match asked:\n case ObservationRequested(why='tool'): pass",
        "message['type'] == 'http.request'",
    ],
)
def test_codes_are_no_texts(line: str) -> None:
    assert not list(matched(ast.parse(line)))


def test_a_constant_is_read_where_it_is() -> None:
    module = ModuleType("made")
    module.UNSENT = "the page has not sent"  # type: ignore[attr-defined]
    module.WELL = ("completed",)  # type: ignore[attr-defined]
    assert list(matched(ast.parse("UNSENT in story.detail"), module))
    assert not list(matched(ast.parse("story.reason in WELL"), module))
