"""Hosts that a recording spoke to: listed, confirmed once, and then its workflow's own."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import msgspec
import pytest

from rutter.actors.rules.policy.hosts import address_refused
from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.events.errors import BadInput
from rutter.events.observer import Contact, HostsContacted, RequestBlocked
from rutter.events.policy import Policy
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Workflow
from rutter.pipeline.cli import record, recorded_hosts
from rutter.pipeline.cli.recorded_hosts import ContactedHost, chosen, meetings, settle_hosts
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config import settings
from rutter.replay.story.told_session import StepStory, Story
from tests.support import scripted_logs
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter
from tests.support.shop_facts import click, step

FLOW = Workflow(
    "order", 1, (step(click("#a")),), hosts=("shop.example",), resources=("*.cdn.example",)
)
CONTACTS = (
    Contact("a.cdn.example", 443),
    Contact("sso.example", 443, top_level=True),
    Contact("shop.example", 443, top_level=True, requests=9),
    Contact("stats.example", 8443),
    Contact("::1", 9000),
    Contact("b.cdn.example", 443, top_level=True),
    Contact("no host", 80),
)


class Desk(Terminal):
    """A terminal at which somebody sits and gives these answers."""

    def __init__(self, *answers: str, as_json: bool = False) -> None:
        super().__init__(as_json=as_json)
        self.answers = list(answers)
        self.asked: list[str] = []

    @property
    def interactive(self) -> bool:
        return bool(self.answers)

    def ask(self, question: str) -> str:
        self.asked.append(question)
        return self.answers.pop(0)


def test_each_host_is_met_once_those_that_were_gone_to_first() -> None:
    met = meetings(CONTACTS, FLOW, ["[::1]:9000"])
    assert met == [
        ContactedHost("sso.example", top_level=True, named=False, known=False),
        ContactedHost("shop.example", top_level=True, named=True, known=True),
        # That it may be loaded from does not mean that it may be gone to.
        ContactedHost("b.cdn.example", top_level=True, named=False, known=False),
        ContactedHost("a.cdn.example", top_level=False, named=True, known=True),
        ContactedHost("stats.example:8443", top_level=False, named=False, known=False),
        ContactedHost("[::1]:9000", top_level=False, named=True, known=False),
    ]


@for_each(
    "answer, left",
    [
        ("yes", "abc"),
        (" Y ", "abc"),
        ("no", ""),
        ("", ""),
        ("2", "ac"),
        ("1, 3", "b"),
        ("1 2 3", ""),
        ("4", None),
        ("0", None),
        ("maybe", None),
        ("-1", None),
        ("1-2", None),
        ("99999", None),
    ],
)
def test_an_answer_is_yes_no_or_what_to_leave_out(answer: str, left: str | None) -> None:
    unnamed = [ContactedHost(host, top_level=False, named=False, known=False) for host in "abc"]
    found = chosen(answer, unnamed)
    assert (None if found is None else "".join(each.pattern for each in found)) == left


# -- with a workflow -------------------------------------------------------------------------------


@pytest.fixture
def recorded(rutter: Rutter, monkeypatch: pytest.MonkeyPatch) -> Rutter:
    scripted_logs.keep(rutter.data / "log.db")
    said = HostsContacted(
        (
            Contact("shop.example", 443, top_level=True),
            Contact("sso.example", 443, top_level=True),
            Contact("cdn.example", 443),
            Contact("10.0.0.7", 8000),
        ),
        others=2,
    )
    monkeypatch.setattr(recorded_hosts, "said_in", lambda *_: [said])
    return rutter


def settle(rutter: Rutter, desk: Terminal, *named: str, consent: bool = False) -> Workflow:
    loaded = settings.load(str(rutter.data), env={})
    return settle_hosts("order", "x", loaded, desk, named=named, consent=consent)


def test_who_says_yes_makes_a_new_version_that_may_use_them(
    recorded: Rutter, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk("perhaps", "yes")
    flow = settle(recorded, desk, "10.0.0.7")
    assert len(desk.asked) == 2
    assert flow.version == 2
    assert flow.hosts == ("shop.example", "sso.example")
    assert flow.resources == ("10.0.0.7:8000", "cdn.example")
    out = capsys.readouterr().out
    assert "Sites used: shop.example, sso.example (not allowed yet)." in out
    assert "Loaded from: cdn.example (not allowed yet), 10.0.0.7:8000." in out
    assert "2 more hosts, which are not listed and not allowed" in out
    shown = recorded("workflows", "show", "order").out
    assert "may go to: shop.example, sso.example" in shown
    assert "may load from: 10.0.0.7:8000, cdn.example" in shown


def test_what_is_left_out_stays_out_and_is_told_with_the_command(
    recorded: Rutter, capsys: pytest.CaptureFixture[str]
) -> None:
    flow = settle(recorded, Desk("1 3"))
    assert (flow.hosts, flow.resources) == (("shop.example",), ("cdn.example",))
    err = capsys.readouterr().err
    assert "not allowed in its runs: sso.example, 10.0.0.7:8000" in err
    assert "workflows edit order --host sso.example --resource 10.0.0.7:8000" in err


def test_without_a_terminal_nothing_is_allowed_that_nobody_named(
    recorded: Rutter, capsys: pytest.CaptureFixture[str]
) -> None:
    flow = settle(recorded, Desk())
    assert (flow.version, flow.hosts, flow.resources) == (1, ("shop.example",), ())
    assert "--host sso.example --resource cdn.example" in capsys.readouterr().err


@pytest.mark.parametrize("as_json", [False, True])
def test_consent_on_the_command_line_needs_no_terminal(
    recorded: Rutter, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    flow = settle(recorded, Desk(as_json=as_json), consent=True)
    assert flow.hosts == ("shop.example", "sso.example")
    assert flow.resources == ("cdn.example", "10.0.0.7:8000")
    if as_json:
        assert capsys.readouterr().out == ""


def test_what_is_settled_is_not_asked_again(recorded: Rutter) -> None:
    settle(recorded, Desk("yes"))
    desk = Desk("no")
    assert settle(recorded, desk).version == 2
    assert desk.asked == []


def test_hosts_are_allowed_and_dropped_by_an_edit(recorded: Rutter) -> None:
    edit = ("workflows", "edit", "order")
    flow = recorded.json(*edit, "--host", "sso.example", "--resource", "*.cdn.example")
    assert (flow["hosts"], flow["resources"]) == (
        ["shop.example", "sso.example"],
        ["*.cdn.example"],
    )
    kept = recorded.json(*edit, "--optional", "2")
    assert (kept["hosts"], kept["resources"]) == (flow["hosts"], flow["resources"])
    moved = recorded.json(*edit, "--host", "*.cdn.example", "--drop-host", "sso.example")
    assert (moved["hosts"], moved.get("resources")) == (["shop.example", "*.cdn.example"], None)
    for flags, wrong in (
        (("--drop-host", "shop.example"), "its steps are on shop.example"),
        (("--drop-host", "none.example"), "does not name none.example"),
        (("--host", "https://x.example"), "is no host"),
        (("--resource", "*"), "is no host"),
        (("--host", "a.example", "--drop-host", "a.example"), "added and dropped"),
    ):
        ended = recorded(*edit, *flags)
        assert ended.code == 2
        assert wrong in ended.complaint


# -- what was blocked ------------------------------------------------------------------------------


def test_what_a_run_was_kept_from_is_told_with_the_command_that_allows_it(
    recorded: Rutter, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = [
        RequestBlocked("cdn.example", 443, "script", 2, "host"),
        RequestBlocked("sso.example", 443, "document", 1, "host"),
        RequestBlocked("cdn.example", 443, "image", 5, "host"),
        RequestBlocked("evil.example", 443, "image", 9, "userinfo"),
        RequestBlocked("a.example", 443, "image", 1, "host"),
        RequestBlocked("b.example", 81, "image", 1, "host"),
    ]
    monkeypatch.setattr(recorded_hosts, "said_in", lambda *_: blocked)
    loaded = settings.load(str(recorded.data), env={})
    story = Story(session="run-1", purpose="run", name="order")
    recorded_hosts.tell_blocked(story, loaded, Terminal())
    out = capsys.readouterr().out
    assert "not allowed (how often): cdn.example (7), sso.example (1), a.example (1) and" in out
    assert (
        "workflows edit order --resource cdn.example --host sso.example "
        "--resource a.example --resource b.example:81\n"
    ) in out
    free = Story(session="free-1", purpose="free")
    recorded_hosts.tell_blocked(free, loaded, Terminal())
    assert "run --free ... --allow cdn.example" in capsys.readouterr().out


def test_where_the_failed_step_led_is_a_host_to_go_to(
    recorded: Rutter, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = [
        RequestBlocked(host, 443, "", 1, "host")
        for host in ("sso.example", "o.example", "e.example")
    ]
    monkeypatch.setattr(recorded_hosts, "said_in", lambda *_: blocked)
    loaded = settings.load(str(recorded.data), env={})
    failed = StepStory(3, "workflow", "go to https://sso.example/in", "workflow_step_3_of_4")
    story = Story(session="run-1", purpose="run", name="order", steps=[failed])
    recorded_hosts.tell_blocked(story, loaded, Terminal())
    out = capsys.readouterr().out
    assert "--host sso.example --resource o.example --resource e.example" in out


def test_a_name_that_leads_to_a_private_address_is_told_as_it_is(
    recorded: Rutter, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    named = msgspec.structs.replace(LISTED, hosts=("jira.corp.example", "ads.example"))
    blocked = []
    for host, address in (
        ("jira.corp.example", "10.1.2.3"),
        ("ads.example", "0.0.0.0"),
        ("ads.example", "::"),
    ):
        refused = address_refused(named, host, 443, address)
        assert refused is not None
        blocked.append(RequestBlocked(host, 443, "image", 1, *refused))
    monkeypatch.setattr(recorded_hosts, "said_in", lambda *_: blocked)
    loaded = settings.load(str(recorded.data), env={})
    recorded_hosts.tell_blocked(
        Story(session="run-1", purpose="run", name="order"), loaded, Terminal()
    )
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "     Not allowed: jira.corp.example resolves to 10.1.2.3, which is private; "
        "name that too with --allow 10.1.2.3",
        "     Not allowed: ads.example is blocked by this machine's resolver",
    ]


# -- where a recording begins ----------------------------------------------------------------------

LISTED = Policy("1", hosts=("shop.example",), public_hosts=False)


def test_whoever_types_an_address_is_asked_only_where_the_allowlist_lacks_it() -> None:
    assert record.base_for("http://127.0.0.1:9/", DEFAULT_POLICY, Desk()) is DEFAULT_POLICY
    assert record.base_for("https://shop.example/x", LISTED, Desk()) is LISTED
    star = Policy("1", hosts=("*",))
    assert record.base_for("https://any.example/", star, Desk()) is star
    with pytest.raises(BadInput, match="not among the allowed hosts"):
        record.base_for("http://127.0.0.1:9/", star, Desk())
    desk = Desk("yes")
    policy = record.base_for("https://new.example/x", LISTED, desk)
    assert policy.hosts == ("shop.example", "new.example")
    assert desk.asked[0].startswith("record at new.example? it is not among the allowed hosts")


@for_each("answers", [(), ("no",), ("",), ("perhaps",)])
def test_without_a_yes_there_is_no_recording_there(answers: tuple[str, ...]) -> None:
    with pytest.raises(BadInput, match="not among the allowed hosts"):
        record.base_for("https://new.example/x", LISTED, Desk(*answers))


def test_a_log_without_the_fact_asks_nothing_and_says_so(
    rutter: Rutter, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted_logs.keep(rutter.data / "log.db")
    desk = Desk("yes")
    assert settle(rutter, desk).version == 1
    assert desk.asked == []
    err = capsys.readouterr().err
    assert "the workflow has no confirmed hosts" in err
    assert "record it again, or name them: " in err
    assert "workflows edit order --host HOST" in err


# -- with a browser --------------------------------------------------------------------------------


class _Page(BaseHTTPRequestHandler):
    """A page with a picture from another host, and a second page."""

    picture = ""

    def do_GET(self) -> None:
        front = f"<h1>Start</h1><img src='{self.picture}'><a id=go href='/two'>Two</a>"
        body = (front if self.path == "/" else "<h1>Two</h1>").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        _Page.picture = f"http://localhost:{server.server_port}/x.png"
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.browser
def test_what_a_recording_spoke_to_is_what_its_runs_may_reach(
    rutter: Rutter, site: int, tmp_path: Path
) -> None:
    here, there = f"127.0.0.1:{site}", f"localhost:{site}"
    steps = [
        {"type": "navigate", "url": f"http://{here}/"},
        {"type": "click", "selectors": [["#go"]]},
    ]
    script = tmp_path / "two.json"
    script.write_text(json.dumps({"title": "two", "steps": steps}))
    ended = rutter("record", "two", "--script", script, "--allow", here, "--allow", there)
    assert ended.code == 0, ended
    assert f"Sites used: {here}. Runs may open only these." in ended.out
    assert f"Loaded from: {there}." in ended.out
    flow = rutter.json("workflows", "show", "two")
    assert (flow["version"], flow["hosts"], flow["resources"]) == (2, [here], [there])
    assert rutter("workflows", "edit", "two", "--drop-host", there).code == 0
    assert rutter("run", "two").code == 0
    with SqliteReader(rutter.data / "log.db") as reader:
        blocked = [each.event for each in reader.read(kinds=["RequestBlocked"])]
    assert [(each.host, each.port) for each in blocked if isinstance(each, RequestBlocked)] == [
        ("localhost", site)
    ]
