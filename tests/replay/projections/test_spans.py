"""Spans as a table: the same ones that are exported."""

from rutter.replay.traces import spans_of
from tests.support.case_table import for_each
from tests.support.golden_logs import envelopes, names, older
from tests.support.golden_tables import projected

# The table is made of what is exported, span by span: of older logic those logs are enough that
# tests of other tables fold as well. Spans of all of them are looked at in tests/replay/traces.
LOGS = [*names(), *(name for name in older() if name.endswith(("order", "trouble")))]


@for_each("name", LOGS)
def test_the_table_holds_what_would_be_exported(name: str) -> None:
    with projected(name) as store:
        found = store.db.execute("SELECT trace_id, span_id, name FROM spans").fetchall()
    exported = [(s.trace_id.hex(), s.span_id.hex(), s.name) for s in spans_of(envelopes(name))]
    assert sorted(found) == sorted(exported)


@for_each("name", [n for n in (*names(), *older()) if n.endswith("order")])
def test_a_step_can_be_asked_for_with_sql(name: str) -> None:
    with projected(name) as store:
        slowest = store.db.execute(
            "SELECT name FROM spans WHERE name LIKE 'step %' ORDER BY end_ns - start_ns DESC"
        ).fetchone()
        (orphans,) = store.db.execute(
            "SELECT count(*) FROM spans WHERE parent_id != '' "
            "AND parent_id NOT IN (SELECT span_id FROM spans)"
        ).fetchone()
    assert slowest is not None
    assert orphans == 0
