"""What each row's run is given: columns are parameters, and no secret comes from a file."""

from pathlib import Path

import pytest

from rutter.events.action import Action
from rutter.events.errors import BadInput
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.batches.row_values import (
    BoundRow,
    batch_of,
    bind_rows,
    columns_of,
    digest_of,
    read_mapping,
)
from rutter.pipeline.batches.sheet import BadRows, Sheet, read_sheet
from tests.support.case_table import for_each

FLOW = Workflow(
    "order",
    1,
    (Step(Action("navigate", url="https://shop.example/")),),
    parameters=("customer", "quantity"),
    secrets=("password",),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def sheet(folder: Path, text: str) -> Sheet:
    path = folder / "orders.csv"
    path.write_text(text)
    return read_sheet(path)


def bound(
    folder: Path, text: str, mapping: tuple[str, ...] = (), **constants: str
) -> list[BoundRow]:
    read = sheet(folder, text)
    columns = columns_of(read, FLOW, read_mapping(mapping), constants)
    return bind_rows(read, columns, constants, lambda values: None)


def test_a_column_binds_the_parameter_of_its_name(folder: Path) -> None:
    [row] = bound(folder, "quantity,customer,note\n5,Aurora,x\n")
    assert row.values == {"quantity": "5", "customer": "Aurora"}
    [same] = bound(folder, "customer,other,quantity\nAurora,y,5\n")
    assert same.digest == row.digest, "what binds nothing makes no other row"


@for_each(
    "text, mapping, constants, what, fix",
    [
        ("customer\nA\n", (), {}, "lacks the column quantity that 'order' needs", "--set"),
        ("x\nA\n", (), {}, "lacks the columns customer, quantity", "--set"),
        ("Customer,quantity\nA,1\n", (), {}, "lacks the column", "--map Customer=customer"),
        ("customer,quantity,password\nA,1,p\n", (), {}, "never come from", "--secret password"),
        ("customer,quantity,pw\nA,1,p\n", ("pw=password",), {}, "never come from", "--secret"),
        ("customer,quantity\nA,1\n", (), {"quantity": "2"}, "is a column and given with --set", ""),
        ("customer,quantity\nA,1\n", ("buyer=customer",), {}, "has no column 'buyer'", "it has"),
        ("customer,quantity\nA,1\n", ("customer=buyer",), {}, "no parameter 'buyer'", "it has"),
        ("customer,quantity,q\nA,1,2\n", ("q=quantity",), {}, "two columns bind 'quantity'", ""),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_name_before_anything_is_run(
    folder: Path,
    text: str,
    mapping: tuple[str, ...],
    constants: dict[str, str],
    what: str,
    fix: str,
) -> None:
    with pytest.raises(BadRows) as refused:
        bound(folder, text, mapping, **constants)
    assert what in refused.value.what
    assert fix in refused.value.fix


@for_each("pair", ["customer", "=customer", "buyer="])
def test_a_mapping_has_two_sides(pair: str) -> None:
    with pytest.raises(BadInput, match="is not COLUMN=PARAMETER"):
        read_mapping([pair])
    with pytest.raises(BadInput, match="twice"):
        read_mapping(["a=b", "a=c"])
    assert read_mapping(["a=b=c"]) == {"a=b": "c"}


def test_every_row_is_checked_and_the_first_that_is_wrong_is_named(folder: Path) -> None:
    read = sheet(folder, "customer,quantity\nA,1\nB,2\n")
    columns = columns_of(read, FLOW, {}, ())

    def check(values: object) -> None:
        if "B" in str(values):
            raise BadInput("it is too long", "shorten it")

    with pytest.raises(BadRows, match=r"orders.csv: row 2 \(line 3\): it is too long"):
        bind_rows(read, columns, {}, check)


def test_the_digest_is_of_the_values_alone() -> None:
    assert digest_of({"a": "1", "b": "2"}) == digest_of({"b": "2", "a": "1"})
    assert digest_of({"a": "1", "b": "2"}) != digest_of({"a": "12", "b": ""})


def test_a_batch_is_of_one_workflow_and_one_file(folder: Path) -> None:
    here, there = folder / "a.csv", folder / "b.csv"
    (folder / "link.csv").symlink_to(here)
    same = batch_of("order", here)
    assert batch_of("order", folder / "x" / ".." / "a.csv") == same
    assert batch_of("order", folder / "link.csv") == same
    others = [
        batch_of("order", there),
        batch_of("buy", here),
        batch_of("order", here, dry_run=True),
    ]
    assert len({same, *others}) == 4
