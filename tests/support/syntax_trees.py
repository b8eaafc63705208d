"""The statements of a module, found without its expressions, which are nine tenths of a tree."""

import ast
from collections.abc import Iterator

PARTS = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Each statement, however deep in others it stands."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for part in PARTS:
            for each in getattr(node, part, ()):
                yield each
                waiting.append(each)
