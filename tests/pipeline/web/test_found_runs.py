"""Found runs: what is asked for, in pages that go on behind a key."""

from pathlib import Path

import pytest

from rutter.events.errors import BadInput
from rutter.pipeline.config import settings
from rutter.pipeline.queries.workflows_and_sessions import project
from rutter.pipeline.web.found_runs import RunFilter, find_runs, names_of
from tests.support.command_shell import Rutter


def found(rutter: Rutter, at_most: int = 50, **wanted: str | int) -> tuple[list[str], int]:
    with project(settings.load(str(rutter.data), env={})) as store:
        rows, more = find_runs(store, RunFilter(**wanted), at_most)  # type: ignore[arg-type]
    return [str(row["session"]) for row in rows], more


def test_runs_are_found_by_what_they_are(with_orders: Rutter, tmp_path: Path) -> None:
    every, more = found(with_orders)
    assert (len(every) > 2, more) == (True, 0)
    runs, _ = found(with_orders, driver="workflow")
    done, _ = found(with_orders, outcome="done", driver="workflow")
    assert (len(runs) >= 2, set(done) <= set(runs)) == (True, True)
    assert found(with_orders, outcome="no such")[0] == []
    assert found(with_orders, value="no such'; DROP TABLE sessions")[0] == []
    assert found(with_orders, value=every[0])[0] == [every[0]]
    assert found(with_orders, day="1999-01-01")[0] == []
    with pytest.raises(BadInput):
        found(with_orders, day="yesterday")
    with project(settings.load(str(with_orders.data), env={})) as store:
        assert "order" in names_of(store)


def test_a_page_goes_on_behind_the_last_row(with_orders: Rutter) -> None:
    every, _ = found(with_orders)
    pages, key = [], 0
    while True:
        page, key = found(with_orders, 2, before=key)
        pages += page
        if not key:
            break
    assert pages == every


def test_a_page_of_many_runs_is_found_by_the_key_and_not_by_looking_at_all(
    with_orders: Rutter,
) -> None:
    with project(settings.load(str(with_orders.data), env={})) as store:
        for asked in (RunFilter(), RunFilter(before=9), RunFilter(outcome="done", before=9)):
            where = " AND ".join(sql for sql, _ in asked.conditions()) or "1"
            values = [each for _, given in asked.conditions() for each in given]
            sql = f"EXPLAIN QUERY PLAN SELECT * FROM sessions WHERE {where} ORDER BY seq DESC"
            plan = " ".join(str(row["detail"]) for row in store.rows(sql, *values))
            assert "TEMP B-TREE" not in plan, plan
