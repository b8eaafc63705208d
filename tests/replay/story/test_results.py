"""What a session brought home is what its events say, and nothing else."""

from rutter.events.action import Action, Untrusted
from rutter.events.chain import GENESIS
from rutter.events.envelope import Envelope
from rutter.events.executor import ActionDone, QueryAnswered
from rutter.events.observer import DownloadFinished, PageObserved
from rutter.events.page import Artifact
from rutter.events.tables import Table
from rutter.events.validator import QueryStarted
from rutter.events.vocabulary import AnyEvent
from rutter.replay.steps import KINDS, steps_in
from rutter.replay.story.results import SessionResults, TableRows, as_json, numbered, rows_in_words
from tests.support import shop_facts
from tests.support.step_kinds import READ

SHEET = Artifact("5e" * 32, 4_400, "text/csv")
ORDERS = Table(
    (Untrusted("number"), Untrusted("customer")),
    ((Untrusted("1001"), Untrusted("Aurora")), (Untrusted("1002"), Untrusted("Juniper"))),
    Untrusted("Open orders"),
    left_off=3,
)


def gathered(*events: AnyEvent) -> SessionResults:
    """Of a session that was begun and then told these."""
    told = (shop_facts.recording_of(), *events)
    return steps_in(
        Envelope(n, "run-1", n, 0, "executor", 0, event, GENESIS) for n, event in enumerate(told, 1)
    ).results


def read(
    number: int,
    text: str,
    name: str | None = "total",
    *,
    index: int = -1,
    table: Table | None = None,
) -> tuple[AnyEvent, ...]:
    action = Action("extract", target=shop_facts.css("#n"), name=name)
    return (
        shop_facts.plan(action, number=number, index=index),
        QueryStarted(number, 1, action),
        QueryAnswered(number, 1, 5, Untrusted(text), table),
    )


def test_what_was_read_is_there_by_its_name() -> None:
    found = gathered(*read(1, "1007", "order_number"), *read(2, "12.50"), *read(3, "more", None))
    assert found.values == {"order_number": "1007", "total": "12.50", "text": "more"}
    assert (found.session, found.workflow) == ("run-1", "order")


def test_a_step_that_was_read_again_counts_once_and_two_steps_of_one_name_are_two() -> None:
    again = gathered(*read(1, "old", index=4), *read(2, "new", index=4))
    assert again.values == {"total": "new"}
    both = gathered(*read(1, "one", index=4), *read(2, "two", index=5), *read(3, "three"))
    assert both.values == {"total": "one", "total_2": "two", "total_3": "three"}


def test_what_older_logs_read_by_an_action_is_a_result_too() -> None:
    found = gathered(
        shop_facts.plan(READ),
        shop_facts.intent(READ),
        ActionDone(1, 1, 5, extracted=Untrusted("7")),
    )
    assert found.values == {"order_number": "7"}


def test_a_table_is_rows_under_their_columns() -> None:
    found = gathered(*read(1, "number customer 1001 Aurora", "orders", table=ORDERS), *read(2, "9"))
    rows = [["1001", "Aurora"], ["1002", "Juniper"]]
    assert found.tables == {"orders": TableRows(["number", "customer"], rows, "Open orders", 3)}
    assert found.texts == {"total": "9"}
    told = as_json(found)
    assert told["values"] == {"total": "9"}
    assert told["tables"] == {
        "orders": {
            "columns": ["number", "customer"],
            "rows": [
                {"number": "1001", "customer": "Aurora"},
                {"number": "1002", "customer": "Juniper"},
            ],
            "caption": "Open orders",
            "left_off": 3,
            "cut": False,
        }
    }
    said = rows_in_words(found.tables["orders"])
    assert said == "2 rows of number, customer (3 more were not read)"


def test_a_file_that_was_sent_is_told_kept_or_not() -> None:
    found = gathered(
        DownloadFinished(Untrusted("orders.csv"), SHEET, step=3),
        DownloadFinished(Untrusted("big.iso"), None, "larger than 50 MB"),
    )
    assert [(each.name, each.artifact, each.failure) for each in found.downloads] == [
        ("orders.csv", SHEET, ""),
        ("big.iso", None, "larger than 50 MB"),
    ]
    assert as_json(found)["downloads"][0]["artifact"]["size"] == 4_400  # type: ignore[index]


def test_a_session_that_brought_nothing_is_empty() -> None:
    assert not gathered()
    assert as_json(gathered()) == {
        "session": "run-1",
        "workflow": "order",
        "values": {},
        "tables": {},
        "downloads": [],
    }


def test_the_kinds_that_are_read_are_all_that_count() -> None:
    told = [
        shop_facts.recording_of(),
        *read(1, "1007"),
        PageObserved(shop_facts.page(), "requested"),
        DownloadFinished(Untrusted("a")),
    ]
    envelopes = [
        Envelope(n, "run-1", n, 0, "executor", 0, event, GENESIS) for n, event in enumerate(told, 1)
    ]
    some = [each for each in envelopes if type(each.event).__name__ in KINDS]
    assert len(some) == len(envelopes) - 1
    assert steps_in(some).results == steps_in(envelopes).results


def test_names_are_told_apart() -> None:
    assert numbered(["a", "a", "b", "a_2", "a"]) == ["a", "a_2", "b", "a_2_2", "a_3"]
    assert numbered(["a", "b"], taken=["a"]) == ["a_2", "b"]
