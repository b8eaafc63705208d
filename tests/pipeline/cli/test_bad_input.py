"""What is wrong and what to do, in one line, with a documented code; and the log stays whole."""

import json
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from socket import socket

import pytest

from rutter.pipeline.demo_sites.chandlery import Site, order_script
from tests.support import scripted_logs
from tests.support.case_table import for_each
from tests.support.command_shell import ROOT, Ended, Rutter, check_logs, places_of

PASSWORD = "sheet bend & 9 fathoms"
READING: tuple[tuple[str, ...], ...] = (
    ("workflows",),
    ("sessions",),
    ("show", "last"),
    ("transitions",),
    ("metrics",),
)


def refused(ended: Ended, code: int, what: str, fix: str) -> None:
    """One line on stderr that says both, and nothing on stdout."""
    assert (ended.code, ended.out) == (code, ""), ended
    said, arrow, todo = ended.complaint.partition(" -> ")
    assert said.startswith("rutter: ")
    assert arrow
    assert re.search(what, said), said
    assert re.search(fix, todo), todo
    assert ended.err.isascii()


@pytest.fixture
def recorded(rutter: Rutter) -> Rutter:
    """A directory that knows `sign-in`, with a parameter and a secret, and `half` of an order."""
    scripted_logs.keep_locked(rutter.data / "log.db")
    return rutter


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The shop's order on a site that is not there: nothing here may get as far as a browser."""
    path = tmp_path / "order.json"
    path.write_text(json.dumps(order_script("http://127.0.0.1:9", password=PASSWORD)))
    return path


# -- which workflow, with which values -------------------------------------------------------------


FREE = "run --free --url http://127.0.0.1:9"
SAILING = tuple(FREE.split())
PROBABILITY = "the least that is suggested is a probability", "--suggest from 0 to 1"
# What is typed, what is wrong with it, and what to do.
REFUSED = [
    ("run refund", "no workflow 'refund'", "it knows: .*sign-in"),
    ("run", "which workflow", "rutter run NAME"),
    ("run half --set customer=Ann", "'half' version 1 was not recorded to its end", "--complete"),
    ("run sign-in", "'sign-in' needs user", "--set user=..."),
    ("run sign-in --set user=Ann", "needs the secret pin", "--secret pin=env:VARIABLE"),
    (
        "run sign-in --set user=Ann --set customer=Bob --secret pin=env:PIN",
        "no parameter 'customer'",
        "it has: user",
    ),
    ("run sign-in --set user", "not name=value", "--set name=value"),
    ("run sign-in --set =Ann", "not name=value", "--set name=value"),
    ("run sign-in --set 'user name=Ann'", "not name=value", "--set name=value"),
    ("run sign-in --set user=Ann --set user=Bob", "--set user is given twice", "once"),
    ("run sign-in --secret pin=env:RUTTER_TEST_NOT_SET", "RUTTER_TEST_NOT_SET is not set", ""),
    ("run sign-in --secret pin=prompt", "no terminal to ask", ""),
    *(
        (f"{FREE} --threshold {each}", "the threshold is a probability", "--threshold from 0 to 1")
        for each in ("1.5", "-0.1", "nan", "inf")
    ),
    *(
        (f"{command} --suggest {share}", *PROBABILITY)
        for command in ("run order", "fork last --at 1", "replay")
        for share in ("1.5", "-0.1", "nan")
    ),
    (
        "run look --free --url http://127.0.0.1:9",
        "a free run follows no workflow, and 'look' names one",
        "leave out --free",
    ),
    ("run --free", "needs a place to start", "--url"),
]


def test_what_cannot_be_run_is_refused_with_what_to_do(
    recorded: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIN", "0000")
    for typed, what, fix in REFUSED:
        refused(recorded(*shlex.split(typed)), 2, what, fix)


def test_a_workflow_before_anything_was_recorded(rutter: Rutter) -> None:
    refused(rutter("run", "order"), 2, "there is no log at", "record something first")
    assert not rutter.data.exists()


def test_a_secret_on_the_command_line(recorded: Rutter) -> None:
    ended = recorded("run", "sign-in", "--set", "user=Ann", "--secret", f"pin={PASSWORD}")

    refused(ended, 2, "does not belong on the command line", "pin=env:VARIABLE, file:PATH")
    assert PASSWORD not in ended.err


def test_a_secret_file_that_is_not_there(recorded: Rutter) -> None:
    ended = recorded("run", "sign-in", "--secret", "pin=file:/nowhere/secret")

    assert ended.code == 2
    assert "/nowhere/secret cannot be read" in ended.complaint


@pytest.mark.parametrize(
    ("flag", "value", "wrong"),
    [("predictor", "markov3", "invalid choice"), ("threshold", "half", "invalid float value")],
)
def test_a_choice_that_there_is_not(rutter: Rutter, flag: str, value: str, wrong: str) -> None:
    ended = rutter(*SAILING, f"--{flag}", value)

    assert ended.code == 2
    assert f"argument --{flag}: {wrong}: '{value}'" in ended.err


@for_each(
    "arguments, said",
    [
        (("shwo",), "there is no command 'shwo' -> did you mean show?\nsee: rutter --help"),
        (("workflows", "lst"), "'lst' -> did you mean list?\nsee: rutter workflows --help"),
        (("sail",), "there is no command 'sail'\nsee: rutter --help"),
        (("run", "x", "--paralel", "2"), "there is no --paralel here -> did you mean --parallel?"),
        (("show", "--parallel"), "there is no --parallel here\n"),  # which `run` has
        (
            ("record", "x"),
            "one of the arguments --url --script --from-step is required\nsee: rutter record",
        ),
    ],
)
def test_what_is_no_command_is_told_what_it_is_like(
    rutter: Rutter, arguments: tuple[str, ...], said: str
) -> None:
    ended = rutter(*arguments)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("rutter: ")
    assert said in ended.err


# -- scripts and answers ---------------------------------------------------------------------------


@for_each(
    "body, what",
    [
        (b"", "not a DevTools Recorder script"),
        (b"not json", "not a DevTools Recorder script"),
        (b"\xff\xfe{}", "not a DevTools Recorder script"),
        (b"[]", "not a DevTools Recorder script"),
        (b'{"title": "no steps"}', "missing required field `steps`"),
        (b'{"steps": [{"url": "x"}]}', "missing required field `type`"),
        (b'{"steps": [{"type": "click", "selectors": 7}]}', "selectors"),
        (b'{"steps": []}', "no step to do"),
        (b'{"steps": [{"type": "setViewport"}]}', "no step to do"),
        (b'{"steps": [{"type": "navigate"}]}', r"step 1 \(navigate\): it has no url"),
        (
            b'{"steps": [{"type": "navigate", "url": "http://x"}, {"type": "tripleClick"}]}',
            r"step 2 \(tripleClick\): this step is not supported",
        ),
        (
            b'{"steps": [{"type": "click", "selectors": [["xpath///a"]]}]}',
            r"step 1 \(click\): no selector of it is supported",
        ),
        (
            b'{"steps": [{"type": "customStep", "name": "extract", "parameters": {"name": "n"}}]}',
            "its parameters do not fit",
        ),
    ],
)
def test_a_malformed_script(rutter: Rutter, tmp_path: Path, body: bytes, what: str) -> None:
    path = tmp_path / "script.json"
    path.write_bytes(body)

    refused(rutter("record", "order", "--script", path), 2, what, "[a-z]")
    assert not rutter.data.exists()


@pytest.mark.parametrize("place", ["nowhere.json", "."])
def test_a_script_that_cannot_be_read(rutter: Rutter, tmp_path: Path, place: str) -> None:
    ended = rutter("record", "order", "--script", tmp_path / place)

    refused(ended, 2, "cannot be read", "check --script")


def test_a_password_in_a_script_is_not_recorded_in_the_clear(rutter: Rutter, script: Path) -> None:
    ended = rutter("record", "order", "--script", script)

    refused(ended, 2, r"step 4 \(change\): .*looks like a secret", "--secret password=env:VARIABLE")
    assert PASSWORD not in ended.err


@pytest.mark.parametrize("flag", ["--param", "--secret"])
def test_a_value_that_no_step_types(
    rutter: Rutter, script: Path, flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIN", PASSWORD)
    monkeypatch.setenv("OTHER", "never typed")
    other = "other=never typed" if flag == "--param" else "other=env:OTHER"
    ended = rutter(
        "record", "order", "--script", script, "--secret", "password=env:PIN", flag, other
    )

    refused(ended, 2, f"no step of the script types the value of {flag} other", "exactly")


@pytest.mark.parametrize("body", ["", "{}", "[1]", '[{"approve": true}]', '[{"approved": "yes"}]'])
def test_answers_that_are_none(recorded: Rutter, tmp_path: Path, body: str) -> None:
    path = tmp_path / "answers.json"
    path.write_text(body)
    ended = recorded(*SAILING, "--answers", path)

    refused(ended, 2, "not a list of answers", r'\[\{"approved": true\}')


def test_answers_that_cannot_be_read(recorded: Rutter, tmp_path: Path) -> None:
    ended = recorded(*SAILING, "--answers", tmp_path / "nowhere.json")

    refused(ended, 2, "cannot be read", "check --answers")


# -- the data directory ----------------------------------------------------------------------------


@for_each("arguments", [SAILING, *READING])
def test_a_log_of_another_version(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    log = tmp_path / "log.db"
    scripted_logs.keep_locked(log)
    _set_version(log, 2)
    before = log.read_bytes()
    ended = Rutter(tmp_path)(*arguments)

    refused(ended, 8, "has log format 2, this program reads format 1", "version of rutter")
    assert log.read_bytes() == before
    _set_version(log, 1)
    assert check_logs(tmp_path) > 0


def _set_version(log: Path, version: int) -> None:
    connection = sqlite3.connect(log, isolation_level=None)
    connection.execute(f"PRAGMA user_version={version}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


@for_each("arguments", [SAILING, *READING])
@for_each("kind", ["text", "database", "cut short"])
def test_a_file_that_is_no_log(tmp_path: Path, kind: str, arguments: tuple[str, ...]) -> None:
    log = tmp_path / "log.db"
    if kind == "text":
        log.write_text("Dear diary, today the log was something else entirely. " * 20)
    elif kind == "database":
        with sqlite3.connect(log) as db:
            db.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY)")
        db.close()
    else:
        scripted_logs.keep_locked(log)
        log.write_bytes(log.read_bytes()[:5_000])
    log.chmod(0o600)  # else that is told as well
    before = log.read_bytes()
    ended = Rutter(tmp_path)(*arguments)

    refused(ended, 8, "not a rutter log|cannot be read as a log", "--data")
    assert log.read_bytes() == before


def test_a_directory_in_use_by_another_process(recorded: Rutter) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(recorded.data)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        ended = recorded(*SAILING)
        refused(ended, 8, f"in use by process {holder.pid}", "wait until it is done")
        for arguments in READING:
            assert recorded(*arguments).code == 0
        holder.kill()

    assert recorded("sessions").code == 0


HOLDING = """
import sys
from pathlib import Path
from rutter.pipeline.config.data_directory import DataDirectory

DataDirectory(Path(sys.argv[1])).lock()
print("held", flush=True)
sys.stdin.read()
"""


def test_a_file_in_the_place_of_the_directory(tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.write_text("in the way")
    refused(Rutter(place)(*SAILING), 8, "cannot be created", "name another with --data")
    for arguments in READING:
        refused(Rutter(place)(*arguments), 2, "there is no log at", "name --data")

    assert place.read_text() == "in the way"


def test_errors_are_json_where_machines_read(recorded: Rutter) -> None:
    ended = recorded("run", "refund", "--json")

    assert ended.code == 2
    assert ended.json["error"] == "BadInput"
    assert ended.json["what"] == "there is no workflow 'refund'"
    assert ended.complaint.startswith("rutter: there is no workflow 'refund'")


def test_a_browser_that_is_not_there(recorded: Rutter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUTTER_CHROMIUM", "/nowhere/chromium")

    refused(recorded(*SAILING), 8, "/nowhere/chromium", "correct it, or unset it")


# -- on the way ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(password=PASSWORD) as site:
        yield site


@pytest.mark.browser
def test_a_site_that_cannot_be_reached(rutter: Rutter, tmp_path: Path) -> None:
    with socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        path = tmp_path / "script.json"
        go = {"type": "navigate", "url": f"http://127.0.0.1:{port}/"}
        path.write_text(json.dumps({"steps": [go]}))
        ended = rutter("record", "gone", "--script", path, "--allow", f"127.0.0.1:{port}")

    assert ended.code == 8
    assert f":{port}/ did not answer (nothing answers at that address)." in ended.out
    assert "Check the address and the network" in ended.out
    assert rutter.json("sessions")[0]["failure"] == "unreachable"


@pytest.mark.browser
def test_a_private_address_that_was_not_named(rutter: Rutter, site: Site, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"steps": [{"type": "navigate", "url": f"{site.base_url}/login"}]}))
    ended = rutter("record", "private", "--script", path)

    assert ended.code == 4
    assert "is private; name it with --allow 127.0.0.1" in ended.out
    assert ("GET", "/login") not in site.requests


@pytest.mark.browser
def test_a_selector_that_is_not_there(rutter: Rutter, site: Site, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    click = {"type": "click", "selectors": [["#nowhere"], ["aria/Nothing like it"], ["::invalid("]]}
    go = {"type": "navigate", "url": f"{site.base_url}/login"}
    path.write_text(json.dumps({"steps": [go, click]}))
    host = site.base_url.removeprefix("http://")
    ended = rutter("--verbose", "record", "missing", "--script", path, "--allow", host)

    assert ended.code == 3
    assert 'Step 2: there is no element "Nothing like it" on the page "' in ended.out
    assert "why: element_not_found: none of 3 ways" in ended.out
    for way in (
        "#nowhere: not there",
        "element 'Nothing like it': not there",
        "::invalid(: not a selector",
    ):
        assert f"looked for {way}" in ended.out
    assert re.search(r"Picture of the page: (\S+\.png)\n", ended.out)
    [flow] = rutter.json("workflows")
    assert (flow["complete"], flow["steps"]) == (0, 1)


@pytest.mark.browser
def test_a_literal_password_in_a_field_that_the_script_does_not_call_one(
    rutter: Rutter, site: Site, tmp_path: Path
) -> None:
    """The script's words give nothing away; the field itself does."""
    path = tmp_path / "script.json"
    fill = {"type": "change", "value": PASSWORD, "selectors": [["form div:nth-of-type(2) input"]]}
    go = {"type": "navigate", "url": f"{site.base_url}/login"}
    path.write_text(json.dumps({"steps": [go, fill]}))
    ended = rutter(
        "record", "sly", "--script", path, "--allow", site.base_url.removeprefix("http://")
    )

    assert ended.code == 4
    assert "a secret field takes a --secret, not a literal" in ended.out
    assert places_of(PASSWORD, rutter.data) == []
