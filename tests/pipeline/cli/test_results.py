"""`rutter results`: what a session read and downloaded, in every form, out of the log."""

import csv
import json
from pathlib import Path

import pytest

from rutter.events.action import Action, Untrusted
from rutter.events.artifacts import ArtifactStore
from rutter.events.executor import QueryAnswered
from rutter.events.observer import DownloadFinished
from rutter.events.page import Artifact
from rutter.events.runtime import SessionEnded
from rutter.events.tables import Table
from rutter.events.validator import QueryStarted
from rutter.events.vocabulary import AnyEvent
from tests.support import shop_facts
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter
from tests.support.timed_log import Ledger

BODY = b"number;total\r\n1001;5\r\n"


def texts(*said: str) -> tuple[Untrusted, ...]:
    return tuple(map(Untrusted, said))


ORDERS = Table(
    texts("number", "[b]customer", "\u8239"),
    tuple(texts(str(1000 + at), "=cmd|' /C calc'!A0", "Pier \xe9") for at in range(1, 26)),
    Untrusted("Open orders"),
    left_off=3,
)


def read(number: int, name: str, text: str, table: Table | None = None) -> tuple[AnyEvent, ...]:
    action = Action("extract", target=shop_facts.css("#n"), name=name)
    return (
        shop_facts.plan(action, number=number),
        QueryStarted(number, 1, action),
        QueryAnswered(number, 1, 5, Untrusted(text), table),
    )


@pytest.fixture
def sailed(tmp_path: Path) -> Rutter:
    """Three sessions: one that read and was sent much, one that read two tables, one nothing."""
    rutter = Rutter(tmp_path / "data")
    rutter.data.mkdir()
    kept = ArtifactStore(rutter.data / "artifacts").put(BODY, "text/csv")
    gone = Artifact("ab" * 32, 7, "text/plain")
    ended = SessionEnded("completed")
    with Ledger(rutter.data / "log.db") as log:
        log.write(shop_facts.recording_of(), session="much")
        log.write(*read(1, "order_number", "1007"), *read(2, "total", "-12.50"), session="much")
        log.write(*read(3, "orders", "number 1001 ...", ORDERS), session="much")
        log.write(
            DownloadFinished(Untrusted("../orders.csv"), kept, step=3),
            DownloadFinished(Untrusted("orders.csv"), kept, step=3),
            DownloadFinished(Untrusted("gone.txt"), gone, step=3),
            DownloadFinished(Untrusted("big.iso"), None, "larger than 50 MB", step=3),
            ended,
            session="much",
        )
        log.write(shop_facts.recording_of(), session="tables")
        log.write(*read(1, "a", "", ORDERS), *read(2, "b", "", ORDERS), ended, session="tables")
        log.write(shop_facts.recording_of(), ended, session="nothing")
    return rutter


def test_people_see_tables(sailed: Rutter) -> None:
    ended = sailed("results", "much")
    assert ended.code == 0, ended
    lines = ended.out.splitlines()
    assert lines[0] == "much: order"
    assert "order_number  1007" in lines
    assert any(
        line.startswith("orders (Open orders): 25 rows of number, [b]customer") for line in lines
    )
    assert any(line.startswith("number  [b]customer") for line in lines)
    assert "(3 more were not read)" in ended.out
    assert "... 5 more: rutter" in ended.out
    assert "gone.txt 7 no longer kept" in [" ".join(line.split()) for line in lines]
    assert any(line.startswith("big.iso") and "larger than 50 MB" in line for line in lines)
    assert ended.out.isascii()


def test_machines_read_json(sailed: Rutter) -> None:
    told = sailed.json("results", "much")
    assert told["values"] == {"order_number": "1007", "total": "-12.50"}
    assert told["tables"]["orders"]["left_off"] == 3
    assert told["tables"]["orders"]["rows"][0]["\u8239"] == "Pier \xe9"
    assert [each["name"] for each in told["downloads"]][1:3] == ["orders.csv", "gone.txt"]
    assert sailed("results", "much", "--format", "json").json == told


def test_csv_is_one_table_and_no_cell_is_a_formula(sailed: Rutter) -> None:
    values = sailed("results", "much", "--format", "csv").out
    assert values == "order_number,total\r\n1007,-12.50\r\n"
    rows = sailed("results", "much", "--format", "csv", "--table", "orders").out
    header, first, *_ = csv.reader(rows.splitlines(keepends=True))
    assert header == ["number", "[b]customer", "\u8239"]
    assert first == ["1001", "'=cmd|' /C calc'!A0", "Pier \xe9"]
    plain = sailed("results", "much", "--format", "csv", "--table", "orders", "--formulas").out
    assert "1001,=cmd|" in plain


@for_each(
    "arguments, complaint",
    [
        (("nothing", "--format", "csv"), "nothing read nothing"),
        (("tables", "--format", "csv"), "several tables do not fit into one CSV -> add --table"),
        (("much", "--format", "csv", "--table", "x"), "read no table 'x' -> it read: orders"),
        (("much", "--table", "orders"), "--table is for --format csv"),
        (("nobody",), "there is no session 'nobody'"),
    ],
)
def test_what_cannot_be_shown_so_is_said(
    sailed: Rutter, arguments: tuple[str, ...], complaint: str
) -> None:
    ended = sailed("results", *arguments)
    assert ended.code == 2
    assert complaint in ended.complaint


def test_a_session_that_read_nothing_says_how_it_would(sailed: Rutter) -> None:
    ended = sailed("results")
    assert (ended.code, "--extract 'STEP=NAME SELECTOR'" in ended.out) == (0, True)


def test_a_folder_holds_everything_and_nothing_in_it_is_written_over(
    sailed: Rutter, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "orders.csv").write_text("mine")
    ended = sailed("results", "much", "--out", out)
    assert ended.code == 0, ended
    assert sorted(each.name for each in out.iterdir()) == [
        *("orders-2.csv", "orders-3.csv", "orders.csv", "results.csv", "results.json")
    ]
    assert (out / "orders.csv").read_text() == "mine"
    assert (out / "orders-2.csv").read_bytes().startswith(b"number,[b]customer,\xe8\x88\xb9\r\n")
    assert (out / "orders-3.csv").read_bytes() == BODY, "both downloads are this one"
    assert (out / "results.csv").read_bytes() == b"order_number,total\r\n1007,-12.50\r\n"
    assert json.loads((out / "results.json").read_bytes()) == sailed.json("results", "much")
    assert "not written: gone.txt: no longer kept" in ended.out
    assert "not written: big.iso: larger than 50 MB" in ended.out

    before = {each: each.read_bytes() for each in out.iterdir()}
    told = sailed("--json", "results", "much", "--out", out).json
    assert {each: each.read_bytes() for each in out.iterdir()} == before, "it is there already"
    assert [Path(each["path"]).name for each in told if "path" in each][:2] == [
        "results.json",
        "results.csv",
    ]


def test_one_form_alone_may_be_written(sailed: Rutter, tmp_path: Path) -> None:
    assert sailed("results", "much", "--out", tmp_path / "out", "--format", "json").code == 0
    assert {each.name for each in (tmp_path / "out").iterdir()} == {"results.json", "orders.csv"}


def test_a_folder_that_is_a_file_is_refused(sailed: Rutter, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    ended = sailed("results", "much", "--out", tmp_path / "out")
    assert ended.code == 2
    assert "cannot be written to" in ended.complaint


def test_a_run_tells_a_table_in_one_line(sailed: Rutter) -> None:
    ended = sailed("show", "much")
    assert "result: orders = 25 rows of number, [b]customer" in ended.out
    told = sailed.json("show", "much")
    assert told["tables"]["orders"]["columns"][0] == "number"
    assert told["downloads"][0]["name"] == "../orders.csv"
