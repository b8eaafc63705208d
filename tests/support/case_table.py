"""A table of cases is one test: it goes over every row, and names each that fails.

What pytest does for a test of its own, and to tell another process of it, takes longer than most
cases do. `for_each` stands where `pytest.mark.parametrize` would, for cases that leave nothing
behind: all rows of a table are given the same fixtures, but each a `tmp_path` of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import iscoroutinefunction, signature
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

Test = Callable[..., Any]
LONGEST = 100  # of what is said of a row: it is to find the row by


def for_each(names: str, table: Iterable[Any]) -> Callable[[Test], Test]:
    """Runs a test for all rows. With one name a row is its value, else the values of all names."""
    wanted = [name.strip() for name in names.split(",")]
    rows = [(row,) if len(wanted) == 1 else tuple(row) for row in table]
    cases = [dict(zip(wanted, row, strict=True)) for row in rows]
    if not cases:
        raise ValueError(f"{names}: a table without rows tests nothing")

    def over_the_table(test: Test) -> Test:
        @wraps(test)
        def at_once(*given: Any, **fixtures: Any) -> None:
            failed = FailedRows()
            for row in failed.among(cases, fixtures):
                with failed:
                    test(*given, **row)

        @wraps(test)
        async def in_a_loop(*given: Any, **fixtures: Any) -> None:
            failed = FailedRows()
            for row in failed.among(cases, fixtures):
                with failed:
                    await test(*given, **row)

        goes: Any = in_a_loop if iscoroutinefunction(test) else at_once
        whole = signature(test)
        left = [each for name, each in whole.parameters.items() if name not in wanted]
        goes.__signature__ = whole.replace(parameters=left)  # pytest gives it these
        return goes  # type: ignore[no-any-return]

    return over_the_table


class FailedRows:
    """Those of a table's rows that fail are kept until it is over, and are all told together."""

    def __init__(self) -> None:
        self._row: tuple[int, dict[str, Any]] = (0, {})
        self._failed: dict[str, BaseException] = {}

    def among(
        self, cases: list[dict[str, Any]], fixtures: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        for self._row in enumerate(cases, 1):
            number, case = self._row
            yield fixtures | _own_directory(number, fixtures) | case
        if self._failed:
            told = "\n".join([f"{len(self._failed)} of {len(cases)} fail", *self._failed])
            raise BaseExceptionGroup(told, list(self._failed.values()))

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        wrong: BaseException | None,
        at: TracebackType | None,
    ) -> bool:
        if not isinstance(wrong, (Exception, pytest.fail.Exception)):
            return False
        number, case = self._row
        values = ", ".join(f"{name}={value!r}" for name, value in case.items())
        name = f"row {number}: {values}"[:LONGEST]
        wrong.add_note(name)
        self._failed[name] = wrong
        return True


def _own_directory(number: int, fixtures: dict[str, Any]) -> dict[str, Path]:
    if (shared := fixtures.get("tmp_path")) is None:
        return {}
    (own := shared / f"row-{number}").mkdir()
    return {"tmp_path": own}
