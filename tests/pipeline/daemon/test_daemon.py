"""The daemon on the bundled site, asked over HTTP as people and programs ask it."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from rutter.events.person import ApprovalAnswered
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.demo import ALONE
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from tests.support.daemon_on_site import Anchored, anchored
from tests.support.recorded_site import Harbour, is_wanted

pytestmark = [pytest.mark.browser, pytest.mark.anyio]


@pytest.fixture
async def ship(harbour: Harbour, recorded: Path, tmp_path: Path) -> AsyncIterator[Anchored]:
    async with anchored(harbour, tmp_path / "data", recorded=recorded) as served:
        yield served


async def until(so: Callable[[], Any]) -> Any:
    """Waits for what is on its way."""
    with anyio.fail_after(30):
        while not (found := so()):
            await anyio.sleep(0.01)
    return found


async def test_a_workflow_is_run_as_a_job_and_its_session_can_be_asked_about(
    ship: Anchored,
) -> None:
    job = await ship.run()
    assert job["status"] in ("queued", "running")
    ended = await ship.ended(job["job_id"])
    assert (ended["reason"], ended["by"], ended["trigger"]) == ("completed", "person", "api")
    [order] = ship.site.placed
    assert is_wanted(order)

    session = ended["session"]
    story = (await ship.ask("GET", f"/sessions/{session}")).json
    assert (story["reason"], story["results"]["order_number"]) == ("completed", str(order.number))
    replayed = (await ship.ask("GET", f"/sessions/{session}/replay")).json
    assert replayed["divergence"] is None
    assert replayed["decisions"] > 100
    spans = (await ship.ask("GET", f"/sessions/{session}/trace")).json
    assert spans["resourceSpans"]
    steps = (await ship.ask("GET", f"/sessions/{session}/steps")).json
    assert [each["status"] for each in steps] == ["ok"] * len(steps)
    assert len(steps) >= 19


async def test_the_same_key_is_the_same_job_and_another_job_is_a_conflict(ship: Anchored) -> None:
    first = await ship.run(key="monday")
    again = await ship.run(key="monday")
    assert again["job_id"] == first["job_id"]
    other = {"kind": "workflow", "workflow": "order", "values": {**ALONE, "customer": "Other"}}
    refused = await ship.ask("POST", "/jobs", other, headers={"Idempotency-Key": "monday"})
    assert (refused.status, refused.json["error"]) == (409, "conflict")
    await ship.ended(first["job_id"])
    assert len(ship.site.placed) == 1


async def test_events_are_told_as_they_happen_and_from_where_one_left_off(ship: Anchored) -> None:
    job = await ship.run()
    told = (await ship.ask("GET", f"/jobs/{job['job_id']}?wait=true")).json
    stream = await ship.ask("GET", f"/sessions/{told['session']}/events")
    assert stream.headers["content-type"].startswith("text/event-stream")
    events = read_events(stream.body)
    assert events[0][1] == "SessionStarted"
    assert events[-1][1] == "SessionEnded"
    with SqliteReader(ship.data / "log.db") as reader:
        logged = [each.seq for each in reader.read(session=told["session"])]
    assert [seq for seq, _, _ in events] == logged

    middle = logged[len(logged) // 2]
    rest = await ship.ask(
        "GET", f"/sessions/{told['session']}/events", headers={"Last-Event-ID": str(middle)}
    )
    assert [seq for seq, _, _ in read_events(rest.body)] == [
        each for each in logged if each > middle
    ]


def read_events(body: bytes) -> list[tuple[int, str, dict[str, Any]]]:
    found = []
    for block in body.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "data" in fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


async def test_what_is_wrong_with_a_job_is_said_before_it_is_taken_on(ship: Anchored) -> None:
    bad: list[tuple[dict[str, Any], int, str]] = [
        ({"kind": "workflow", "workflow": "nope"}, 400, "there is no workflow 'nope'"),
        ({"kind": "workflow", "workflow": "order"}, 400, "needs customer"),
        ({"kind": "workflow", "workflow": "order", "version": 7}, 400, "no version 7"),
        ({"kind": "agent_run", "goal": "cancel it"}, 403, "no language model may lead a run"),
        ({"kind": "free", "url": "ftp://x/"}, 400, "not a web address"),
        ({"kind": "odd"}, 400, "odd"),
    ]
    for body, status, said in bad:
        reply = await ship.ask("POST", "/jobs", body)
        assert (reply.status, said in reply.json["message"]) == (status, True), reply
    wraith = await ship.ask(
        "POST", "/api/wraith", {"goal": "cancel it", "url": "http://x.example/"}
    )
    assert (wraith.status, wraith.json["error_code"]) == (403, "policy_denied")
    assert (await ship.ask("GET", "/jobs")).json == []


async def test_an_agent_drives_a_session_by_calls_and_a_person_says_no(ship: Anchored) -> None:
    opened = await ship.ask(
        "POST", "/sessions", {"url": f"{ship.site.base_url}/login"}, scope="agent"
    )
    assert opened.status == 201, opened
    session = opened.json["session"]
    calls = f"/sessions/{session}/tools"
    seen = (await ship.ask("POST", f"{calls}/get_snapshot", {}, scope="agent")).json
    assert seen["success"] is True
    stale = (await ship.ask("POST", f"{calls}/browser_click", {"ref": "@e999"}, scope="agent")).json
    assert (stale["error"], stale["error_code"]) == ("ref_invalid", "validation_error")
    assert stale["snapshot"]["elements"]

    async def refuse() -> None:
        [asked] = await until(lambda: ship.daemon.questions.pending(session))
        place = f"/approvals/{session}/{asked.approval}"
        barred = await ship.ask("POST", place, {"approved": True}, scope="agent")
        assert (barred.status, barred.json["error"]) == (403, "person_needed")
        said = await ship.ask("POST", place, {"approved": False, "message": "not today"})
        assert said.status == 200
        assert (await ship.ask("POST", place, {"approved": True})).status == 404  # once

    async with anyio.create_task_group() as group:
        group.start_soon(refuse)
        wanted = {"action": "order something", "reason": "it was asked for"}
        answer = await ship.ask("POST", f"{calls}/request_human_approval", wanted, scope="agent")
    assert answer.json["approved"] is False
    assert "not today" in str(answer.json["message"])
    closed = await ship.ask("DELETE", f"/sessions/{session}", scope="agent")
    assert (closed.status, closed.json["reason"]) == (200, "cancelled")
    after = (await ship.ask("POST", f"{calls}/get_snapshot", {}, scope="agent")).json
    assert after["error"] == "unavailable"
    with SqliteReader(ship.data / "log.db") as reader:
        [answered] = [
            each.event
            for each in reader.read(session=session)
            if isinstance(each.event, ApprovalAnswered)
        ]
    assert (answered.approved, answered.by) == (False, "daemon")


async def test_a_yes_says_by_its_number_what_to_press_where_a_step_is_covered(
    ship: Anchored,
) -> None:
    ship.site.switches = Switches(cookies=True)
    job = await ship.run()
    [pending] = await until(ship.daemon.questions.pending)
    [asked] = (await ship.ask("GET", "/approvals")).json
    assert (asked["kind"], asked["workflow"], asked["values"]) == ("choice", "order", ALONE)
    picture = await ship.ask("GET", f"/artifacts/{asked['picture']}")
    assert picture.body.startswith(b"\x89PNG")
    place = f"/approvals/{pending.session}/{pending.approval}"
    refused = await ship.ask("POST", place, {"approved": True})
    assert (refused.status, "must say which element" in refused.json["message"]) == (400, True)

    accept, *_ = [each for each in asked["choices"][:2] if "Accept all" in each["words"]]
    said = {"approved": True, "choice": accept["number"]}
    assert (await ship.ask("POST", place, said)).status == 200
    assert (await ship.ended(job["job_id"]))["reason"] == "completed"
    assert len(ship.site.placed) == 1


async def test_an_agent_names_no_private_host_that_nobody_configured(ship: Anchored) -> None:
    for wish in (
        {"url": "http://127.0.0.1:1/"},
        {"url": ship.url},
        {"url": f"{ship.site.base_url}/", "allow": ["10.0.0.1"]},
        {"url": f"{ship.site.base_url}/", "allow": ["*"]},
        {"url": f"{ship.site.base_url}/", "allow": ["192.168.0.0/16"]},
    ):
        reply = await ship.ask("POST", "/sessions", wish, scope="agent")
        assert (reply.status, reply.json["error"]) == (403, "policy_denied"), wish
    free = {"kind": "free", "url": "http://localhost:1/"}
    assert (await ship.ask("POST", "/jobs", free, scope="agent")).status == 403


async def test_a_session_is_stopped_in_a_true_state(ship: Anchored) -> None:
    opened = await ship.ask("POST", "/sessions", {"url": f"{ship.site.base_url}/login"})
    session = opened.json["session"]
    assert (await ship.ask("POST", f"/sessions/{session}/stop", scope="agent")).status == 403
    stopped = await ship.ask("POST", f"/sessions/{session}/stop")
    assert (stopped.status, stopped.json["reason"]) == (200, "cancelled")
    assert (await ship.ask("POST", f"/sessions/{session}/stop")).status == 404


async def test_a_daemon_that_stops_ends_what_runs_as_interrupted(
    harbour: Harbour, recorded: Path, tmp_path: Path
) -> None:
    async with anchored(harbour, tmp_path / "data", recorded=recorded) as ship:
        opened = await ship.ask("POST", "/sessions", {"url": f"{ship.site.base_url}/login"})
        session = opened.json["session"]
    with SqliteReader(tmp_path / "data" / "log.db") as reader:
        last = list(reader.read(session=session))[-1].event
    assert getattr(last, "reason", "") == "interrupted"
    assert not (tmp_path / "data" / "daemon.json").exists()


async def test_metrics_are_the_seeds_json_or_prometheus_text(ship: Anchored) -> None:
    plain = (await ship.ask("GET", "/metrics")).json
    assert plain["first_order_transitions"] > 0
    assert {"prediction_accuracy", "recent_actions", "db_path", "uptime_seconds"} <= plain.keys()
    text = await ship.ask("GET", "/metrics", headers={"Accept": "text/plain"})
    assert text.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert b"# TYPE rutter_sessions gauge\nrutter_sessions 0\n" in text.body
    top = (await ship.ask("GET", "/transitions/top?k=2")).json
    assert len(top) == 2
    assert top[0]["count"] >= top[1]["count"]


async def test_a_run_is_paused_and_goes_on_and_nothing_begins_in_between(ship: Anchored) -> None:
    job = await ship.run()
    session = (await ship.ask("GET", f"/jobs/{job['job_id']}?wait=true")).json["session"]
    assert (await ship.ask("POST", f"/sessions/{session}/pause", scope="agent")).status == 403
    paused = await ship.ask("POST", f"/sessions/{session}/pause")
    assert (paused.status, paused.json["reason"]) == (200, "paused")
    again = await ship.ask("POST", f"/sessions/{session}/pause")
    assert (again.status, again.json["error"]) == (400, "bad_input")
    [row] = [each for each in (await ship.ask("GET", "/sessions")).json if not each["ended_ns"]]
    assert (row["session"], row["paused"]) == (session, "the person")
    resumed = await ship.ask("POST", f"/sessions/{session}/resume")
    assert resumed.status == 200
    assert (await ship.ended(job["job_id"]))["reason"] == "completed"
    [order] = ship.site.placed
    assert is_wanted(order)
