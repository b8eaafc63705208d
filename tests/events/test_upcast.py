"""Old shapes are lifted on reading; their bytes stay, and nothing of a newer shape is misread."""

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events import codec, sqlite_schema, upcast
from rutter.events.action import Action
from rutter.events.causes import CHECKS, OTHER, Cause, CauseKind
from rutter.events.chain import GENESIS, link
from rutter.events.checks import Check
from rutter.events.codec import decode, encode
from rutter.events.critic import ActionJudged, CompletionChecked
from rutter.events.envelope import kind
from rutter.events.errors import EventUnknown, LogCorrupt
from rutter.events.jobs import JobEnded
from rutter.events.observer import RequestBlocked
from rutter.events.planner import ObservationRequested, PlanProposed, PlanWithheld, RunStopped
from rutter.events.runtime import SessionEnded, StopReason
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.upcast import ENDS, RETIRED, SOURCES, Raw, Successor, current_tag, stored_tags
from rutter.events.vocabulary import AnyEvent
from rutter.replay.integrity import check
from tests.support.case_table import for_each
from tests.support.chain_links import check_link

KNOWN = {kind(event) for event in get_args(AnyEvent)}
# The bytes of a `LookRequested`, as they were written: {event, why: "effect", wait_ms: 250}.
GOLDEN = bytes.fromhex(
    "83a56576656e74ad4c6f6f6b526571756573746564a3776879a6656666656374a7776169745f6d73ccfa"
)
TODAY = ObservationRequested("effect_awaited", 250)


@pytest.fixture
def old_log(tmp_path: Path) -> Path:
    """A log whose second event was written by an older program."""
    path = tmp_path / "log.db"
    sqlite_schema.create_file(path)
    previous = GENESIS
    with sqlite3.connect(path) as connection:
        stored = [("PlanWithheld", encode(PlanWithheld("x"))), ("LookRequested", GOLDEN)]
        for n, (name, payload) in enumerate(stored, 1):
            header: dict[str, Any] = {"session": "a", "n": n, "at_ns": n, "actor": "critic"}
            previous = link(previous, **header, cause=0, kind=name, payload=payload)
            row = (n, *header.values(), 0, name, payload, previous)
            connection.execute("INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?)", row)
    connection.close()
    return path


def test_the_golden_bytes_are_what_they_are_said_to_be() -> None:
    assert msgspec.msgpack.decode(GOLDEN) == {
        "event": "LookRequested",
        "why": "effect",
        "wait_ms": 250,
    }


def test_an_event_of_a_retired_shape_is_read_in_todays() -> None:
    assert decode(GOLDEN) == TODAY


@for_each(
    "old, new", [("place", "place_unmet"), ("effect", "effect_awaited"), ("end", "end_awaited")]
)
def test_every_reason_has_its_full_words(old: str, new: str) -> None:
    raw = {"event": "LookRequested", "why": old, "wait_ms": 1}
    assert decode(msgspec.msgpack.encode(raw)) == ObservationRequested(new, 1)  # type: ignore[arg-type]


def test_a_log_with_it_keeps_its_bytes_and_its_chain(old_log: Path) -> None:
    with SqliteReader(old_log) as reader:
        rows = list(reader.rows())
        first, second = reader.read()
    assert rows[1][6:8] == ("LookRequested", GOLDEN)
    assert second.event == TODAY
    assert check(rows).ok
    check_link(first.hash, second, GOLDEN)


def test_it_is_found_by_the_name_that_it_has_today(old_log: Path) -> None:
    with SqliteReader(old_log) as reader:
        found = [envelope.n for envelope in reader.read(kinds=["ObservationRequested"])]
    assert found == [2]


@pytest.mark.anyio
async def test_the_writer_reads_it_too(old_log: Path) -> None:
    log = await SqliteLog.open(old_log)
    try:
        read = [envelope.event async for envelope in log.read(kinds=[kind(ObservationRequested)])]
    finally:
        await log.close()
    assert read == [TODAY]


def test_a_row_that_is_not_what_it_is_stored_as_is_still_found(old_log: Path) -> None:
    with sqlite3.connect(old_log) as connection:
        connection.execute("UPDATE events SET kind = 'LookRequested' WHERE seq = 1")
    connection.close()
    with SqliteReader(old_log) as reader, pytest.raises(LogCorrupt, match="event 1: stored as"):
        list(reader.read())


def test_an_unknown_tag_is_told_with_its_position(old_log: Path) -> None:
    payload = msgspec.msgpack.encode({"event": "ObservationRequested.9", "why": "moon"})
    with sqlite3.connect(old_log) as connection:
        connection.execute("UPDATE events SET payload = ? WHERE seq = 2", (payload,))
    connection.close()
    with SqliteReader(old_log) as reader, pytest.raises(EventUnknown) as told:
        list(reader.read())
    assert told.value.what.startswith("event 2: event type 'ObservationRequested.9' is not known")
    assert "newer" in told.value.fix


@pytest.mark.parametrize(
    "raw",
    [
        {"why": "effect"},
        {"why": "moon", "wait_ms": 1},
        {"why": [], "wait_ms": 1},
        {"why": "effect", "wait_ms": "long"},
    ],
    ids=["missing", "unknown", "unhashable", "type"],
)
def test_a_retired_shape_that_does_not_fit_is_told_as_corrupt(raw: Raw) -> None:
    with pytest.raises(LogCorrupt, match="LookRequested") as told:
        decode(msgspec.msgpack.encode({"event": "LookRequested", **raw}))
    assert not isinstance(told.value, EventUnknown)


scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=9)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=6)


@given(st.sampled_from(sorted(RETIRED)), st.dictionaries(st.text(max_size=7), values, max_size=4))
def test_nothing_under_a_retired_tag_makes_the_decoder_raise_anything_else(
    tag: str, fields: Raw
) -> None:
    with suppress(LogCorrupt):
        decode(msgspec.msgpack.encode({**fields, "event": tag}))


class TestTheTable:
    def test_every_retired_tag_leads_to_one_that_is_known(self) -> None:
        for tag in RETIRED:
            assert tag not in KNOWN
            assert current_tag(tag) in KNOWN

    def test_a_tag_that_is_not_retired_is_called_what_it_is(self) -> None:
        assert {current_tag(tag) for tag in KNOWN} == KNOWN

    def test_every_name_that_an_event_was_stored_under_is_looked_for(self) -> None:
        assert set(stored_tags(["ObservationRequested", "PlanWithheld"])) == {
            "ObservationRequested",
            "LookRequested",
            "PlanWithheld",
        }
        assert stored_tags(["PlanWithheld"]) == ["PlanWithheld"]

    def test_a_shape_that_changed_twice_is_lifted_twice(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A field renamed, then split: step by step, each step knowing only its neighbour."""

        def renamed(raw: Raw) -> Raw:
            return {"wait": raw["pause"]}

        def split(raw: Raw) -> Raw:
            why, ms = raw["wait"].split(":")
            return {"why": why, "within_ms": int(ms)}

        steps = {
            "PauseWanted": Successor("WaitWanted", renamed),
            "WaitWanted": Successor("ObservationRequested", split),
        }
        monkeypatch.setattr(upcast, "RETIRED", steps)
        monkeypatch.setattr(codec, "RETIRED", steps)
        for raw in (
            {"event": "PauseWanted", "pause": "effect_awaited:250"},
            {"event": "WaitWanted", "wait": "effect_awaited:250"},
        ):
            assert decode(msgspec.msgpack.encode(raw)) == TODAY
        assert set(stored_tags(["ObservationRequested"])) == {*steps, "ObservationRequested"}


class TestSentencesOfBefore:
    """What a type says today, old logs say in words: each entry of the tables has its example."""

    @for_each(
        "reason, source",
        [
            ("opening", "opening"),
            ("script_step_2_of_9", "script"),
            ("workflow_step_12_of_12_as_select", "workflow"),
            ("read_back_of_step_4", "read_back"),
            ("whether_step_3_was_done_by_run-1", "earlier_run"),
            ("way_LOGIN_REQUIRED_1", "service_script"),
            ("confidence_above_threshold_0.82", "prediction"),
            ("confidence_to_suggest_0.62", "suggestion"),
            ("advice_repair_a1", "advice"),
            ("tool_browser_click", "tool"),
            ("done by a person", "person"),
            ("because", "other"),
        ],
    )
    def test_where_a_step_came_from(self, reason: str, source: str) -> None:
        plan = decode(encode(PlanProposed(1, 1, "script", Action("click"), reason)))
        assert isinstance(plan, PlanProposed)
        assert (plan.source, plan.reason) == (source, reason)
        assert [each for each in SOURCES if reason.startswith(each)] or source == "other"

    @for_each(
        "reason, code",
        [
            ("value_not_set", "value_not_set"),
            ("element_obscured", "element_obscured"),
            ("text_read", "observed"),
            ("answered_with_503", "answered_with"),
            ("page_state: it says that it failed", "says_failed"),
            ("page_state CHECKOUT: it is LOGIN_REQUIRED", "page_state"),
            ("alert 'Sent': it is not there", "alert"),
            ('read_back: text_visible "it\'s": it is not there, at /x', "text_visible"),
            ("read_back: other_place, at /x", "read_back"),
            ("seen", "other"),
        ],
    )
    def test_what_a_verdict_rests_on(self, reason: str, code: str) -> None:
        judged = decode(encode(ActionJudged(1, 1, "failed", reason)))
        assert isinstance(judged, ActionJudged)
        assert (judged.code, judged.reason) == (code, reason)

    ends = (
        ("completed_unverified", "dry run: it sends", Cause("dry_run", why="it sends")),
        (
            "completed_unverified",
            "nothing shows that the application has what was sent by step 12, 14",
            Cause("unproven", index=11),
        ),
        (
            "completed_unverified",
            "the page has not sent what it sent when this was recorded: POST /x",
            Cause("unsent"),
        ),
        (
            "completed_unverified",
            "something that was sent has no answer yet",
            Cause("unanswered"),
        ),
        (
            "completed_unverified",
            "no criteria of success are configured: it cannot be verified",
            Cause("no_criteria"),
        ),
        ("completed_unverified", "none of 2 signs of success is on the page", Cause("no_sign")),
        (
            "completed",
            "step 3 of 4 was done by run-1: /x shows it",
            Cause("done_before", index=2),
        ),
        (
            "completed",
            "the person was done (window_closed)",
            Cause("person_done", by="window_closed"),
        ),
        ("cancelled", "stopped by ann: enough", Cause("requested", by="ann")),
        (
            "needs_person",
            "the login for https://a.example has expired: step 1 of 2: elsewhere",
            Cause("login_expired", index=0, origin="https://a.example"),
        ),
        (
            "needs_person",
            "the site asks to sign in: step 1 of 2: elsewhere",
            Cause("signed_out", index=0),
        ),
        (
            "needs_person",
            "click 'the login for https://evil.example has expired: '",
            Cause("other"),
        ),
        (
            "retry_exhausted",
            "element_obscured: covered by a, for 3.0 s, which is in none of the recordings",
            Cause("unrecorded", code="element_obscured"),
        ),
        ("lost", "no_predictions_available", Cause("no_predictions")),
        ("lost", "confidence_too_low_0.42", Cause("unsure", share=420_000)),
        ("lost", "value_unknown_0.90", Cause("value_unknown")),
        (
            "lost",
            "no model may be asked, and nothing is known of a page that is UNKNOWN",
            Cause("no_model"),
        ),
        ("lost", "element_not_found: nothing is like it", Cause(code="element_not_found")),
        (
            "verification_failed",
            "failed: file_exists 'a.csv': it is not there",
            Cause(code="file_exists"),
        ),
        ("lost", "dry run: which it was not", Cause("other")),
        ("failed", "it rained", Cause("other")),
    )

    @for_each("of, detail, cause", ends)
    def test_why_it_ended(self, of: Any, detail: str, cause: Cause) -> None:
        ends: tuple[Any, Any] = (of, "") if of in get_args(StopReason) else ("failed", of)
        reason, failure = ends
        for ended in (
            RunStopped(reason, failure, detail),
            SessionEnded(reason, failure, detail),
            JobEnded("j", reason, failure, detail),
        ):
            read = decode(encode(ended))
            assert read == msgspec.structs.replace(ended, cause=cause)
            assert decode(encode(read)) == read
        if of == "completed_unverified":
            checked = decode(encode(CompletionChecked(False, detail)))
            assert checked == CompletionChecked(False, detail, cause=cause)

    def test_every_end_has_an_example(self) -> None:
        assert {each.kind for each in ENDS} == {cause.kind for *_, cause in self.ends} - {"other"}
        new = {"barrier", "discarded"}  # no log of before knows it
        assert {each.kind for each in ENDS} == set(get_args(CauseKind)) - {"other"} - new

    def test_what_a_resolver_blocks_has_a_rule_of_its_own(self) -> None:
        said = "ads.example resolves to 0.0.0.0, which is private"
        old = RequestBlocked("ads.example", 443, rule="private_address", reason=said)
        assert decode(encode(old)) == msgspec.structs.replace(old, rule="unspecified_address")

    def test_what_is_tagged_is_not_read_again(self) -> None:
        claimed = RunStopped("completed_unverified", detail="dry run: says a model", cause=OTHER)
        assert decode(encode(claimed)) == claimed

    def test_the_kinds_of_checks_are_those_that_there_are(self) -> None:
        assert {each.__struct_config__.tag for each in get_args(Check)} == CHECKS
