"""A table on a real page, read as rows: what people see in it, under the names of its columns."""

import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.actors.world.secrets.bindings import Bindings
from rutter.actors.world.secrets.redaction import Redactor
from rutter.events.action import Action, ByCss, Target
from rutter.events.executor import QueryAnswered
from rutter.events.run_settings import RunSettings
from rutter.events.tables import Table
from rutter.events.validator import PlanAdmitted, QueryStarted
from tests.support.browser_fixtures import OneWindow, tell
from tests.support.page_server import PATIENT, PageServer
from tests.support.policies import HERE

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

PAGE = """<style>.gone { display: none } .faint { visibility: collapse }</style>
<table id=plain><caption>Open <b>orders</b></caption>
  <thead><tr><th>Number<th>Customer<th></thead>
  <tfoot><tr><td colspan=2>Total<td>9</tfoot>
  <tbody><tr><td>1001<td>Aurora<td>4<tr><td>1002<td> Juniper
    Tankers <td>5<tr class=gone><td>0<td>hidden<td>0<tr class=faint><td>0<td>folded<td>0</tbody>
</table>
<table id=headless><tr><td>a<td>b<tr><td>c<td>d</table>
<table id=first-row><tr><td><th>Q1<th>Q1<tr><th>North<td>1<td>2</table>
<table id=spanned><thead>
  <tr><th rowspan=2>Port<th colspan=2>2026<tr><th>March<th>April</thead>
  <tr><td rowspan=2>Waalhaven<td>1<td>2<tr><td colspan=2>3
  <tr><td rowspan=0>Botlek<td>5<td>6<tr><td>7<td>8</table>
<table id=nested><tr><th>Ship<th>Cargo<tr><td>Aurora<td>
  <table><tr><th>Kind<th>Tons<tr><td>Rope<td>5</table></table>
<table id=fields><tr><th>Name<th>Value<tr><td>Note<td><input value="by hand"><tr><td>Pin
  <td><input type=password value=hunter-2><tr><td>Kind<td><select><option>Rope<option selected>Chain
  </select><tr><td>Urgent<td><input type=checkbox checked><tr><td>Flag<td><img alt=Dutch></table>
<div id=grid role=grid aria-rowcount=40 aria-label="Ships at berth"><div role=rowgroup>
  <div role=row><span role=columnheader>Ship</span><span role=columnheader>Berth</span></div></div>
  <div role=row><span role=gridcell>Aurora</span><span role=gridcell>7</span></div>
  <div role=row><span role=rowheader>Juniper</span><span role=gridcell><i role=presentation>8</i>
  </span></div></div>
<div id=wrapped role=table><table role=presentation><tr role=row><th role=columnheader>A
  <tr role=row><td role=cell>1</table></div>
<table id=layout role=presentation><tr><td>a<td>b</table>
<table id=empty></table>
<table id=odd><tr><th>a\u200b<th>a<th>${x}<tr><td>\u202eno\u202c<td>x
  <td>AKIAIOSFODNN7EXAMPLE</table>"""
LONG = """<table id=long><thead><tr><th>n<th>text</thead><tbody></tbody></table>
<table id=wide><tr></tr></table><script>
  const body = document.querySelector("#long tbody");
  const text = (n) => "x".repeat(n ? 5 : 900);
  for (let n = 0; n < 3000; n++) body.insertRow().innerHTML = `<td>${n}<td>${text(n)}`;
  const row = document.querySelector("#wide tr");
  for (let n = 0; n < 300; n++) row.insertCell().textContent = n;
  row.cells[0].rowSpan = 65000; row.cells[1].colSpan = 1000;
</script>"""
HEADS = """<table id=heads><thead><tr><th>x</thead></table><script>
  const heads = document.querySelector("thead");
  for (let n = 0; n < 2_000; n++) heads.insertRow().innerHTML = `<td rowspan=9>${n}`;
</script>"""
HEAVY = """<table id=heavy><tbody></tbody></table><script>
  const rows = `<tr><td>${"y".repeat(400)}`.repeat(900);
  document.querySelector("tbody").innerHTML = rows;
</script>"""


@pytest.fixture
async def executor(window: Window) -> Executor:
    screen = Screen(OneWindow(window), HERE)
    await screen.open()
    return Executor(screen, Bindings({}, {}), RunSettings())


async def answer(executor: Executor, selector: str) -> QueryAnswered:
    action = Action("extract", target=Target((ByCss(selector),)), name="t")
    found = await tell(executor, PlanAdmitted(1, 1, action, PATIENT))
    told = await tell(executor, QueryStarted(1, 1, action, found.element.exact))
    assert isinstance(told, QueryAnswered), told
    return told


async def table(executor: Executor, selector: str) -> Table:
    told = await answer(executor, selector)
    assert told.table is not None
    assert all(len(row) == len(told.table.columns) for row in told.table.rows)
    return told.table


def columns(read: Table) -> list[str]:
    return [each.text for each in read.columns]


def rows(read: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in read.rows]


async def test_tables_are_read_as_people_read_them(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await tab.navigate(server.show(PAGE), within_ms=PATIENT)
    plain = await table(executor, "#plain")
    assert (columns(plain), plain.caption.text) == (
        ["Number", "Customer", "column_3"],
        "Open orders",
    )
    assert rows(plain) == [
        ["1001", "Aurora", "4"],
        ["1002", "Juniper Tankers", "5"],
        ["Total", "", "9"],
    ]
    assert (plain.left_off, plain.cut) == (0, False)

    headless = await table(executor, "#headless")
    assert (columns(headless), rows(headless)) == (
        ["column_1", "column_2"],
        [["a", "b"], ["c", "d"]],
    )

    first = await table(executor, "#first-row")
    assert (columns(first), rows(first)) == (["column_1", "Q1", "Q1_2"], [["North", "1", "2"]])

    spanned = await table(executor, "#spanned")
    assert columns(spanned) == ["Port", "2026 / March", "2026 / April"]
    assert rows(spanned) == [
        ["Waalhaven", "1", "2"],
        ["Waalhaven", "3", ""],
        ["Botlek", "5", "6"],
        ["Botlek", "7", "8"],
    ]

    nested = await table(executor, "#nested")
    assert (columns(nested), rows(nested)) == (["Ship", "Cargo"], [["Aurora", "Kind Tons Rope 5"]])
    inner = await table(executor, "#nested table")
    assert (columns(inner), rows(inner)) == (["Kind", "Tons"], [["Rope", "5"]])

    fields = await table(executor, "#fields")
    assert [cells[1] for cells in rows(fields)] == [
        *("by hand", "(secret)", "Chain", "checked", "Dutch")
    ]

    grid = await table(executor, "#grid")
    assert (columns(grid), rows(grid)) == (["Ship", "Berth"], [["Aurora", "7"], ["Juniper", "8"]])
    assert (grid.caption.text, grid.left_off) == ("Ships at berth", 37), "it says that it has 39"

    wrapped = await table(executor, "#wrapped")
    assert (columns(wrapped), rows(wrapped)) == (["A"], [["1"]])
    assert rows(await table(executor, "#odd")) == [["no", "x", "AKIAIOSFODNN7EXAMPLE"]]
    assert columns(await table(executor, "#odd")) == ["a", "a_2", "${x}"]

    told = await answer(executor, "#layout")
    assert (told.table, told.text and told.text.text) == (None, "a b")
    held = Redactor({"ship": "Aurora Sh", "name": "Juniper Tankers"})(
        await answer(executor, "#plain")
    )
    assert isinstance(held, QueryAnswered)
    assert held.table is not None
    assert rows(held.table)[1] == ["1002", "<secret name>", "5"]


async def test_what_is_too_much_is_left_off_and_said(
    executor: Executor, tab: Tab, server: PageServer
) -> None:
    await tab.navigate(server.show(LONG), within_ms=PATIENT)
    long = await table(executor, "#long")
    assert (len(long.rows), long.left_off, long.cut) == (1000, 2000, True)
    assert rows(long)[0] == ["0", "x" * 500 + "..."]
    assert rows(long)[-1] == ["999", "xxxxx"]
    wide = await table(executor, "#wide")
    assert (len(wide.columns), len(wide.rows), wide.cut) == (60, 1, True)
    assert rows(wide)[0][:3] == ["0", "1", ""]
    await tab.navigate(server.show(HEADS), within_ms=PATIENT)
    heads = await table(executor, "#heads")
    assert (len(heads.columns), len(heads.rows), heads.left_off) == (9, 1000, 991)
    await tab.navigate(server.show(HEAVY), within_ms=PATIENT)
    heavy = await table(executor, "#heavy")
    assert 0 < len(heavy.rows) < 300
    assert heavy.left_off == 900 - len(heavy.rows)
