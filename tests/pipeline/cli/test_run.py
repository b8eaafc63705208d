"""Recording and sailing through the command, on the bundled site with everything that goes wrong.

Nothing here is believed because the command said so: what counts is what the site has stored. The
log of every test is derived again when the test ends, and the password is looked for in all of it.
"""

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TypeVar

import psutil
import pytest

from rutter.events.critic import OutcomeUnknown
from rutter.events.event import Event
from rutter.events.observer import DialogOpened
from rutter.events.page import Artifact
from rutter.events.person import ApprovalAnswered
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.demo import ALONE
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.demo_sites.chandlery import Switches
from tests.support.command_shell import Rutter, check_logs, places_of, wait_for_line
from tests.support.recorded_site import PASSWORD, AtTerminal, Harbour, Ship, is_wanted, once

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def recorded(harbour: Harbour, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The order recorded once, by a script and a scripted person, for all tests here."""
    rutter = Rutter(tmp_path_factory.mktemp("recorded") / "data")
    ended = rutter(*harbour.record(), "--answers", harbour.yes)
    assert ended.code == 0, ended
    assert ended.out.startswith("[OK] recorded order, 19 steps, ")
    return rutter.data


@pytest.fixture
def ship(harbour: Harbour, recorded: Path, tmp_path: Path) -> Iterator[Ship]:
    ship = Ship.launch(harbour, recorded, tmp_path / "data")
    yield ship
    check_logs(ship.rutter.data)
    assert places_of(PASSWORD, ship.rutter.data) == []


Kind = TypeVar("Kind", bound=Event)


def events(ship: Ship, kind: type[Kind]) -> list[Kind]:
    """Everything of this kind in the log, oldest first."""
    with SqliteReader(ship.rutter.data / "log.db") as reader:
        return [each.event for each in reader.read() if isinstance(each.event, kind)]


# -- as it should be -------------------------------------------------------------------------------


def test_a_workflow_watched_once_is_run_alone_with_other_values(ship: Ship) -> None:
    ended = ship.run()

    assert (ended.code, ended.err) == (0, "")
    [order] = ship.site.placed
    assert is_wanted(order)
    assert ended.out.startswith("[OK] order: done, 19 steps, ")
    assert f"order_number = {order.number}" in ended.out
    assert "model call" not in ended.out


def test_what_it_did_is_json_where_machines_read(ship: Ship) -> None:
    ended = ship.run("--json")

    assert (ended.code, ended.err) == (0, "")
    assert ended.json == ship.story()
    assert ended.json["results"] == {"order_number": str(ship.site.placed[0].number)}
    assert (ended.json["reason"], ended.json["values"]) == ("completed", ALONE)


def test_a_dry_run_places_nothing(ship: Ship) -> None:
    ended = ship.run("--dry-run")

    assert ended.code == 0
    assert ship.site.placed == ()
    sent = [path for method, path in ship.site.requests if method == "POST"]
    assert sent == ["/login"]  # past the door, and no further than the first form behind it
    assert "Stopped before step 16 (click 'Review order'): would have done it" in ended.out


def test_every_run_teaches(ship: Ship) -> None:
    counts = [{row["count"] for row in ship.rutter.json("transitions", "--top", "99")}]
    for _ in range(2):
        assert ship.run().code == 0
        counts.append({row["count"] for row in ship.rutter.json("transitions", "--top", "99")})

    assert counts == [{1}, {2}, {3}]
    assert len(ship.site.placed) == 2


# -- a site that misbehaves ------------------------------------------------------------------------


def test_a_slow_site_is_waited_for(ship: Ship) -> None:
    ship.site.switches = Switches(slow_ms=400)

    assert ship.run().code == 0
    assert [is_wanted(order) for order in ship.site.placed] == [True]


def test_a_covered_button_is_not_clicked(ship: Ship) -> None:
    ship.site.switches = Switches(covered=True)
    ended = ship.run("--verbose")

    assert ended.code == 6
    assert ship.site.placed == ()
    assert 'Step 17: the button "Place order" cannot be used: something covers' in ended.out
    assert "why: element_obscured: " in ended.out
    assert re.search(r"run it again later \(rutter .*run order --from \S+\)", ended.out)
    picture = ship.story()["screenshot"]
    place = DataDirectory(ship.rutter.data).artifacts.path(Artifact(picture["sha256"], 0))
    [link] = re.findall(r"Picture of the page: (\S+\.png)\n", ended.out)
    assert Path(link).resolve() == place
    assert place.read_bytes().startswith(b"\x89PNG")
    lines = ended.err.splitlines()
    assert lines.count("PHASE 4: VERIFY") == 18  # 16 steps, one look, and the last, once
    assert "[OK] APPROVED: click 'Review order' (approved by its recording)" in lines
    assert "Action 18 failed after retry. Aborting plan." in lines


def test_a_dialog_is_dismissed_and_nothing_is_taken_for_done(ship: Ship) -> None:
    ship.site.switches = Switches(dialog=True)
    ended = ship.run()

    assert ended.code == 6
    assert ship.site.placed == ()
    [dialog] = events(ship, DialogOpened)
    assert (dialog.kind, dialog.answer) == ("confirm", "dismissed")
    assert dialog.message.text == "Place this order?"
    assert ship.story()["steps"][-1]["verdict"] != "confirmed"


def test_a_button_that_does_nothing_is_not_taken_for_done(ship: Ship) -> None:
    """It lost its form: only a person says that it is the one, and then it is not believed."""
    ship.site.switches = Switches(dead_button=True)
    assert ship.run().code == 5
    ended = ship.run("--answers", ship.harbour.yes)

    assert ended.code == 6
    assert ship.site.placed == ()
    assert "(verification_failed) at step 17 (click 'Place order')" in ended.out


@pytest.mark.parametrize("switches", [Switches(silent_fail=True), Switches(lying_toast=True)])
def test_a_site_that_lies_is_not_believed(ship: Ship, switches: Switches) -> None:
    ship.site.switches = switches
    ended = ship.run()

    assert ended.code in (3, 6)
    assert ship.site.placed == ()
    assert ended.out.startswith("[FAIL]")


def test_a_login_that_is_lost_is_not_done(ship: Ship) -> None:
    ship.site.switches = Switches(expired_login=True)
    ended = ship.run()

    assert ended.code in (3, 6)
    assert ship.site.placed == ()
    assert ended.out.startswith("[FAIL]")


# -- a site that changed ---------------------------------------------------------------------------


def test_a_moved_site_has_no_standing_approval(ship: Ship) -> None:
    """Every button is another element than the one that was approved: a person is asked."""
    ship.site.switches = Switches(moved=True)
    ended = ship.run()

    assert ended.code == 5
    assert ship.site.placed == ()
    assert "Run it at a terminal, where it can ask you: " in ended.out
    told = ship.story("last")
    assert told["steps"][-1]["found_by"] == "button 'Sign in'"


def test_a_moved_site_is_found_by_names_or_lost_but_never_taken_for_another(ship: Ship) -> None:
    ship.site.switches = Switches(moved=True)
    ended = ship.run("--answers", ship.harbour.yes)

    assert ended.code in (0, 3)
    assert len(ship.site.placed) <= 1
    assert all(is_wanted(order) for order in ship.site.placed)
    assert ended.code != 0 or len(ship.site.placed) == 1


def test_look_alikes_order_nothing_else_whatever_a_person_says(ship: Ship) -> None:
    ship.site.switches = Switches(moved=True, relabelled=True)
    ended = ship.run("--answers", ship.harbour.yes)

    assert ended.code in (0, 3)
    assert all(is_wanted(order) for order in ship.site.placed)
    assert len(ship.site.placed) == (ended.code == 0)


@pytest.mark.parametrize("asked", [True, False])
def test_place_on_hold_is_not_place_order(ship: Ship, asked: bool) -> None:
    """The site changes under the run, right before the button that counts. The one that took its
    place is found, and a person is asked about it; nobody to ask, nothing is placed."""
    changed = Switches(moved=True, relabelled=True)
    ship.site.when = once("/drafts/", lambda: setattr(ship.site, "switches", changed))
    ended = ship.run("--answers", ship.harbour.yes) if asked else ship.run()

    assert ended.code == (0 if asked else 5)
    assert all(is_wanted(order) for order in ship.site.placed)
    assert len(ship.site.placed) == asked
    [step] = [each for each in ship.story("last")["steps"] if each.get("index") == 16]
    assert step["asked"]
    assert "Submit purchase" in step["healed"]


def test_a_button_with_other_words_asks(ship: Ship) -> None:
    ship.site.switches = Switches(relabelled=True)
    ended = ship.run()

    assert ended.code == 5
    assert ship.site.placed == ()
    assert "no person is here to answer" in ended.out


# -- people ----------------------------------------------------------------------------------------


def test_a_form_is_not_recorded_without_a_person(ship: Ship) -> None:
    ended = ship.rutter(*ship.harbour.record("half"))

    assert ended.code == 5
    assert ("POST", "/login") not in ship.site.requests
    assert "Nobody could be asked" in ended.out or "say yes or no" in ended.out
    [half] = [row for row in ship.rutter.json("workflows") if row["name"] == "half"]
    assert (half["complete"], half["steps"]) == (0, 3)
    again = ship.rutter(*ship.harbour.run("half"))
    assert again.code == 2
    assert "'half' version 1 was not recorded to its end" in again.complaint
    assert "rutter workflows edit half --complete" in again.complaint


def test_a_person_who_says_no_has_the_last_word(ship: Ship, tmp_path: Path) -> None:
    no = tmp_path / "no.json"
    no.write_text(json.dumps([{"approved": False, "message": "not on a Sunday"}]))
    ended = ship.rutter(*ship.harbour.record("refused"), "--answers", no)

    assert ended.code == 4
    assert ': "not on a Sunday".' in ended.out
    assert ("POST", "/login") not in ship.site.requests


def test_a_person_at_the_terminal_is_asked_and_answers(ship: Ship) -> None:
    with AtTerminal(ship.rutter, *ship.harbour.record("by-hand")) as terminal:
        for question in (1, 2):
            terminal.read_until(" [yes / no, or why not]", question)
            terminal.type("yes\n")
        terminal.read_until(" [type 'confirm']")
        terminal.type("confirm\n")
        code, out = terminal.end()

    assert code == 0
    assert out.startswith("[OK] recorded by-hand, 19 steps, ")
    answered = [(each.approved, each.by) for each in events(ship, ApprovalAnswered)]
    assert answered == [(True, "scripted")] * 3 + [(True, "terminal")] * 3


def test_ctrl_c_at_a_question_ends_it(ship: Ship) -> None:
    with AtTerminal(ship.rutter, *ship.harbour.record("by-hand")) as terminal:
        terminal.read_until(" [yes / no, or why not]")
        terminal.type("\x03")
        code, _ = terminal.end()

    assert code == 7
    assert ("POST", "/login") not in ship.site.requests
    assert ship.rutter.json("sessions")[0]["reason"] == "cancelled"


# -- stopped on the way ----------------------------------------------------------------------------


def test_ctrl_c_ends_the_session_and_its_browser(ship: Ship) -> None:
    """To the whole group, as a terminal sends it: the browser hears it too."""
    process = ship.rutter.spawn(*ship.harbour.run(), "--verbose")
    with process:
        wait_for_line(process.stderr, "Customer search")
        family = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate()

    assert process.returncode == 7
    assert re.match(
        r"\[FAIL\] order \(.*\): stopped\n     Stopped .*; nothing was changed\.\n", out
    )
    assert len(family) > 1
    assert psutil.wait_procs(family, timeout=10)[1] == []
    assert ship.rutter.json("sessions")[0]["reason"] == "cancelled"
    assert ship.site.placed == ()


def test_killed_while_it_placed_an_order_the_outcome_is_unknown_and_it_is_not_repeated(
    ship: Ship,
) -> None:
    process = ship.rutter.spawn(*ship.harbour.run())
    family: list[psutil.Process] = []

    def kill() -> None:
        family.extend(psutil.Process(process.pid).children(recursive=True))
        process.kill()

    with process:
        ship.site.when = once("/drafts/", kill, "POST")
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    for orphan in psutil.wait_procs(family, timeout=10)[1]:
        orphan.kill()
    [running] = [row for row in ship.rutter.json("sessions") if row["reason"] is None]
    assert [is_wanted(order) for order in ship.site.placed] == [True]

    dry = ship.run("--dry-run")
    assert dry.code == 0
    assert dry.err == f"closed as interrupted: {running['session']}\n"
    told = ship.story(running["session"])
    assert (told["reason"], told["unknown"]) == (
        "interrupted",
        "interrupted before its outcome was judged",
    )
    [unknown] = events(ship, OutcomeUnknown)
    assert unknown.step == 18  # a look came before it
    assert len(ship.site.placed) == 1

    again = ship.run()  # nobody is there to say whether it happened
    assert again.code == 5
    assert len(ship.site.placed) == 1


def test_a_browser_that_dies_ends_the_run(ship: Ship) -> None:
    def kill() -> None:
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):  # one that is dead and not yet reaped
                if "chrom" in child.name() and "--type=" not in " ".join(child.cmdline()):
                    child.kill()

    ship.site.when = once("/orders/new", kill)
    ended = ship.run()

    assert ended.code == 7
    assert "(browser_lost)" in ended.out
    assert "Check on the site whether it was done. If not, run it again" in ended.out
    assert ship.site.placed == ()


def test_a_run_goes_on_when_nobody_reads_what_it_says(ship: Ship) -> None:
    process = ship.rutter.spawn(*ship.harbour.run(), "--verbose")
    with process:
        wait_for_line(process.stderr, "PHASE 3: ACT")
        assert process.stderr is not None
        process.stderr.close()
        assert process.stdout is not None
        out = process.stdout.read()

    assert process.returncode == 0
    assert out.startswith("[OK] order: done")
    assert [is_wanted(order) for order in ship.site.placed] == [True]


def test_reading_ends_quietly_when_nobody_reads(ship: Ship) -> None:
    process = ship.rutter.spawn("show", "last")
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""

    assert process.returncode == 0


# -- where the model is sure -----------------------------------------------------------------------


def test_a_free_run_follows_what_it_learned_and_stops_before_what_it_cannot_take_back(
    ship: Ship,
) -> None:
    before = ship.rutter.json("metrics")
    ended = ship.rutter(*ship.harbour.free())

    assert ended.code in (4, 5)
    assert ship.site.placed == ()
    assert ("POST", "/login") not in ship.site.requests
    first, user, password, refused = ship.story()["steps"]
    assert (first["driver"], first["words"]) == ("script", f"go to {ship.site.base_url}/login")
    for step in (user, password):
        assert (step["driver"], step["verdict"]) == ("prediction", "confirmed")
        assert step["why"].startswith("confidence_above_threshold_0.")
        assert 700_000 <= step["probability"] < 1_000_000  # it was watched once, and knows that
    assert password["words"] == "type <secret password> into 'Password'"
    assert refused["verdict"] == "rejected"
    counted = ship.rutter.json("metrics")
    # Two more, and both came: what it did. Where it began, it was told.
    for name in ("total_predictions", "correct_predictions"):
        assert counted[name] - before[name] == 2
    assert counted["unsafe_filtered"] == 1


def test_a_person_lets_a_free_run_do_what_was_recorded_on_this_very_element(ship: Ship) -> None:
    """What the denylist names is asked about there, and goes no further than its limits (E1)."""
    ended = ship.rutter(*ship.harbour.free(), "--answers", ship.harbour.yes)

    assert ended.code == 3
    assert "max_steps at step 12" in ended.out
    [sign_in] = [each for each in ship.story("last")["steps"] if each["words"] == "click 'Sign in'"]
    assert (sign_in["rule"], sign_in["verdict"]) == ("denylist", "confirmed")
    assert ship.site.placed == ()


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("foresight", " % sure of what comes next."),
        ("markov2", "Nothing like this page was ever recorded"),
    ],
)
def test_a_free_run_where_nothing_was_learned_is_lost(ship: Ship, model: str, why: str) -> None:
    url = f"{ship.site.base_url}/login?never=seen"
    start = ("--url", url, "--allow", ship.harbour.host, "--predictor", model)
    ended = ship.rutter("run", "--free", *start)

    assert ended.code == 3
    assert why in ended.out


# -- what a page may say ---------------------------------------------------------------------------


class HostilePage(BaseHTTPRequestHandler):
    """A page whose every word is trouble; its one button changes it."""

    said = ""

    def do_GET(self) -> None:
        word = json.dumps(self.said)  # escapes what UTF-8 cannot hold
        body = (
            "<!doctype html><meta charset=utf-8><h1></h1><button id=b type=button></button>"
            f"<script>const said = {word}; document.title = said;"
            "const [h, b] = [document.querySelector('h1'), document.querySelector('button')];"
            "h.textContent = b.textContent = said; b.onclick = () => h.textContent += said;"
            "</script>"
        ).encode()
        self.send_response_only(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.mark.parametrize(
    "said",
    [
        "\x1b[31m\x1b]0;owned\x07 \u202eesrever\u2066 :warning: [/b] [bold] \u2713 \\[x] ${x}",
        "half a ship \ud83d",
        "x" * 199 + "\U0001f6a2",  # half of it, where a name is cut at 200
    ],
    ids=["control", "half", "cut in half"],
)
def test_a_hostile_page_is_worked_on_and_told_in_plain_ascii(
    rutter: Rutter, tmp_path: Path, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostilePage, "said", said)
    server = ThreadingHTTPServer(("127.0.0.1", 0), HostilePage)
    host = f"127.0.0.1:{server.server_address[1]}"
    steps = [
        {"type": "navigate", "url": f"http://{host}/"},
        {"type": "click", "selectors": [["#b"]]},
        {
            "type": "customStep",
            "name": "extract",
            "parameters": {"name": "heading", "selectors": [["h1"]]},
        },
    ]
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"steps": steps}))
    with server:
        serving = Thread(target=server.serve_forever, args=(0.02,))
        serving.start()
        ended = rutter("record", "hostile", "--script", script, "--allow", host, "--verbose")
        server.shutdown()
        serving.join()

    assert ended.code == 0, ended
    shown = rutter("show", "last")
    for text in (ended.out, ended.err, shown.out, rutter("workflows", "show", "hostile").out):
        assert text.isascii()
        assert all(line.isprintable() for line in text.split("\n"))
    read = rutter.json("show", "last")["results"]["heading"]
    assert "".join(filter(str.isprintable, said[:20].split()[0])) in read


# -- what was stated -------------------------------------------------------------------------------


def test_what_was_stated_is_checked_and_read_back_and_no_end_is_believed_without_a_sign(
    ship: Ship,
) -> None:
    stated = ship.rutter(
        "workflows", "edit", "order",
        "--verify", "16=text_visible:Nothing is ordered until you place it.",
        "--expect", "17=url:/orders/",
        "--read-back", "17=/orders text_visible:${customer}",
    )  # fmt: skip
    assert stated.code == 0, stated
    assert ship.run("--success", "title=Orders").code == 0
    [order] = ship.site.placed
    assert is_wanted(order)
    words = [step["words"] for step in ship.story()["steps"]]
    assert any("Nothing is ordered" in each for each in words)

    unsure = ship.run("--success", "heading=Never", "--answers", ship.harbour.yes)
    assert unsure.code == 6
    assert "signs of success" in unsure.out


# -- forking -------------------------------------------------------------------------------------


def test_a_fork_sails_again_under_its_own_name_and_asks_before_it_orders_twice(
    ship: Ship,
) -> None:
    assert ship.run().code == 0
    old = ship.story()["session"]
    fork = ("fork", old, "--at", "3", *ship.harbour.secret)

    alone = ship.rutter(*fork)
    assert alone.code == 5
    assert len(ship.site.placed) == 1

    asked = ship.rutter(*fork, "--set", "customer=Aurora Shipping", "--answers", ship.harbour.yes)
    assert asked.code == 0
    assert [order.customer for order in ship.site.placed][-1] == "Aurora Shipping"
    started = events(ship, SessionStarted)[-1]
    assert (started.forked_from, started.forked_at) == (old, 3)


def test_a_fork_may_go_on_freely(ship: Ship) -> None:
    assert ship.run().code == 0
    ended = ship.rutter("fork", "last", "--at", "3", "--free", *ship.harbour.secret)
    assert ended.code in (3, 4, 5)  # it stops where it is not sure, or may not
    assert len(ship.site.placed) == 1
    assert ship.story()["purpose"] == "free"
