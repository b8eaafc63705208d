"""The tools on real pages: what they do, every error that they answer, and nothing that leaks."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from rutter.actors.advisor.page_context import AgentContext, gather_context
from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.rules.tools.key_names import MODIFIERS, NAMED, key_named
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.screen import OpensWindows
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.actors.world.egress.gate import Gate
from rutter.events.artifacts import ArtifactStore
from rutter.events.critic import ActionJudged
from rutter.events.executor import ActionDone
from rutter.events.observer import DownloadFinished
from rutter.events.policy import Policy
from rutter.events.predictor import TransitionLearned
from rutter.events.runtime import SessionStarted
from rutter.events.tools import ToolCalled
from rutter.pipeline.app import App
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.sessions import session_started
from rutter.pipeline.tools.dispatcher import ToolResponse, Tools, open_tools
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

PATIENT = dict.fromkeys(TOOLS, 60_000)  # a busy machine is no reason to fail
FORM = """
<title>Form</title><h1>Form</h1>
<label>Name <input id=name value="Ann"></label>
<label>Size <select id=size><option value=s>Small<option value=l>Large</select></label>
<button id=go onclick="document.title = document.querySelector('#name').value">Go</button>
<a href="/another">Elsewhere</a>
"""


class Hurried(Clock):
    """The real time, but nobody waits between two tries."""

    async def sleep_ms(self, ms: int) -> None:
        assert ms in (1_000, 2_000)


@pytest.fixture
async def app(replayed: Replayed, tmp_path: Path) -> AsyncIterator[App]:
    log = await replayed.sqlite(tmp_path / "log.db")
    artifacts = ArtifactStore(tmp_path / "artifacts")
    async with App.open(log, artifacts=artifacts, clock=Hurried()) as running:
        yield running


def at(server: PageServer, html: str, **more: Any) -> SessionStarted:
    host = server.url.removeprefix("http://")
    return session_started.tool_session(server.show(html), allow=[host], **more)


@asynccontextmanager
async def opened(
    app: App, chromium: OpensWindows, started: SessionStarted, **more: Any
) -> AsyncIterator[Tools]:
    more.setdefault("timeouts_ms", PATIENT)
    async with open_tools(app, chromium, started, **more) as tools:
        yield tools


class Watched:
    """A browser whose last page can be told to change by itself, between two calls."""

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium
        self._window: Window | None = None

    async def open_window(self, policy: Policy) -> Window:
        self._window = await self._chromium.open_window(policy)
        return self._window

    async def change(self, script: str) -> None:
        assert self._window is not None
        await self._window.tab._page.evaluate(script)

    async def close_front(self) -> None:
        """The page in front closes itself; it is gone when this returns."""
        assert self._window is not None
        page = self._window.tab._page
        async with page.expect_event("close"):
            await page.evaluate("setTimeout(close)")

    async def gather(self) -> AgentContext:
        assert self._window is not None
        return await gather_context(self._window.tab, part_ms=60_000)


def refs(answer: ToolResponse) -> dict[str, str]:
    """The refs of an answer's snapshot, by the name of their element."""
    assert answer.snapshot is not None
    return {each["name"]: each["ref"] for each in answer.body()["snapshot"]["elements"]}


def of(answer: ToolResponse, name: str) -> dict[str, Any]:
    assert answer.snapshot is not None
    [found] = [each for each in answer.body()["snapshot"]["elements"] if each["name"] == name]
    return dict(found)


def errors(answer: ToolResponse) -> tuple[str, str]:
    return answer.error, answer.error_code


# -- what they do ---------------------------------------------------------------------------------


async def test_a_page_is_seen_filled_and_left(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    async with opened(app, chromium, at(server, FORM)) as tools:
        seen = await tools.call("get_snapshot")
        assert seen.success, seen
        filled = await tools.call("browser_fill", {"ref": refs(seen)["Name"], "value": "Aurora"})
        assert of(filled, "Name")["value"] == "Aurora"
        more = {"ref": refs(filled)["Name"], "value": " Ltd", "clear_first": False}
        added = await tools.call("browser_fill", more)
        assert of(added, "Name")["value"] == "Aurora Ltd"
        chosen = await tools.call("browser_select", {"ref": refs(added)["Size"], "value": "Large"})
        assert chosen.success, chosen
        clicked = await tools.call("browser_click", {"ref": refs(chosen)["Go"]})
        assert clicked.snapshot is not None
        assert clicked.body()["snapshot"]["page"]["title"] == "Aurora Ltd"
        left = await tools.call("browser_click", {"ref": refs(clicked)["Elsewhere"]})
        assert left.snapshot is not None
        assert left.body()["snapshot"]["page"]["url"] == f"{server.url}/another"


async def test_an_answer_has_a_picture_of_the_page(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    async with opened(app, chromium, at(server, FORM)) as tools:
        answer = await tools.call("get_snapshot")
    picture = base64.b64decode(answer.body()["snapshot"]["screenshot"])
    assert picture.startswith(b"\x89PNG")
    assert "screenshot" not in answer.body(screenshots=False)["snapshot"]


async def test_text_is_read_keys_are_pressed_and_time_is_given(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    html = """<h1>One two three</h1>
    <input aria-label=It autofocus onkeydown="document.title = event.key">"""
    async with opened(app, chromium, at(server, html)) as tools:
        seen = await tools.call("get_snapshot")
        read = await tools.call("extract", {"ref": refs(seen)["One two three"]})
        pressed = await tools.call("press", {"key": "ArrowDown"})
        waited = await tools.call("wait", {"ms": 1})
    assert (read.success, read.result) == (True, "One two three")
    assert pressed.success
    assert waited.success
    assert waited.snapshot is not None
    assert waited.body()["snapshot"]["page"]["title"] == "ArrowDown"


async def test_a_page_is_scrolled_and_the_answer_shows_where_to(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    html = "<h1>Top</h1><div style='height: 3000px'></div><button>Deep</button>"
    async with opened(app, chromium, at(server, html)) as tools:
        down = await tools.call("browser_scroll", {"direction": "down", "amount": 700})
        bottom = await tools.call("browser_scroll", {"direction": "bottom"})
        again = await tools.call("browser_scroll", {"direction": "bottom"})
        top = await tools.call("browser_scroll", {"direction": "top"})
        to = await tools.call("browser_scroll", {"ref": refs(top)["Top"]})
    assert down.snapshot is not None
    assert down.body()["snapshot"]["viewport"]["scroll_y"] == 700
    assert "Deep" not in refs(down)
    assert "Deep" in refs(bottom)
    assert (again.success, again.message) == (True, "nothing_changed")
    assert to.success


async def test_the_whole_page_is_seen_when_it_is_asked_for(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    html = "<h1>Top</h1><div style='height: 3000px'></div><button>Deep</button>"
    async with opened(app, chromium, at(server, html)) as tools:
        near = await tools.call("get_snapshot")
        whole = await tools.call("get_snapshot", {"viewport_only": False})
        to = await tools.call("browser_scroll", {"ref": refs(whole)["Deep"]})
    assert list(refs(near)) == ["Top"]
    assert "offscreen" in of(whole, "Deep")["state"]
    assert "visible" in of(to, "Deep")["state"]


async def test_a_site_that_leads_on_was_reached(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    async with opened(app, chromium, at(server, FORM)) as tools:
        answer = await tools.call("navigate", {"url": f"{server.url}/hop"})
    assert answer.success
    assert answer.snapshot is not None
    assert answer.body()["snapshot"]["page"]["url"] == f"{server.url}/another"


@pytest.mark.parametrize("path", ["/file", "/to-file", "/slow-file"])
async def test_an_address_that_sends_a_file_is_asked_for_once(
    app: App, chromium: Chromium, server: PageServer, path: str
) -> None:
    before = len(server.asked)
    async with opened(app, chromium, at(server, FORM)) as tools:
        seen = await tools.call("get_snapshot")
        server.release()
        answer = await tools.call("navigate", {"url": f"{server.url}{path}"})
        again = await tools.call("browser_click", {"ref": refs(answer)["Go"]})
        said = await events_of(app.log, tools.session)
    [sent] = [each for each in said if isinstance(each, DownloadFinished)]
    judged = [each for each in said if isinstance(each, ActionJudged)]
    assert (sent.failure, judged[1].verdict, judged[1].code) == ("", "confirmed", "download")
    assert answer.success
    assert again.success
    assert answer.snapshot is not None
    assert seen.snapshot is not None
    assert answer.snapshot.page.url == seen.snapshot.page.url
    assert [each for each in server.asked[before:] if each == path] == [path]


async def test_what_was_done_is_learned_without_refs(
    app: App, replayed: Replayed, tmp_path: Path, chromium: Chromium, server: PageServer
) -> None:
    async with opened(app, chromium, at(server, FORM)) as tools:
        seen = await tools.call("get_snapshot")
        filled = await tools.call("browser_fill", {"ref": refs(seen)["Name"], "value": "Aurora"})
        await tools.call("browser_click", {"ref": refs(filled)["Go"]})
        said = await events_of(app.log, tools.session)
    learned = [each.signature for each in said if isinstance(each, TransitionLearned)]
    assert learned[1:] == [
        '{"selector":"#name","text":"Aurora","type":"type"}',
        '{"selector":"#go","type":"click"}',
    ]


# -- every error ----------------------------------------------------------------------------------


async def test_an_element_that_is_disabled_is_not_clicked(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    html = "<button disabled>Go</button><input aria-label=Name disabled>"
    async with opened(app, chromium, at(server, html)) as tools:
        seen = await tools.call("get_snapshot")
        clicked = await tools.call("browser_click", {"ref": refs(seen)["Go"]})
        filled = await tools.call("browser_fill", {"ref": refs(clicked)["Name"], "value": "x"})
    for answer in (clicked, filled):
        assert errors(answer) == ("element_disabled", "execution_error")
        assert not answer.retriable
        assert answer.snapshot is not None


async def test_an_element_that_is_covered_is_not_clicked(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    html = """<button onclick="document.title = 'clicked'">Go</button>
    <div style="position: fixed; inset: 0; background: white">over it all</div>"""
    async with opened(app, chromium, at(server, html)) as tools:
        seen = await tools.call("get_snapshot", {"viewport_only": False})
        answer = await tools.call("browser_click", {"ref": refs(seen)["Go"]})
    assert errors(answer) == ("element_obscured", "execution_error")
    assert answer.retriable
    assert answer.snapshot is not None
    assert answer.body()["snapshot"]["page"]["title"] != "clicked"


async def test_an_element_that_was_hidden_since_is_not_clicked(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    watched = Watched(chromium)
    async with opened(app, watched, at(server, FORM)) as tools:
        seen = await tools.call("get_snapshot")
        await watched.change("document.querySelector('#go').style.visibility = 'hidden'")
        answer = await tools.call("browser_click", {"ref": refs(seen)["Go"]})
    assert errors(answer) == ("element_not_visible", "execution_error")
    assert "Go" not in refs(answer)


async def test_an_element_that_is_gone_is_a_stale_ref_with_a_fresh_snapshot(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    watched = Watched(chromium)
    async with opened(app, watched, at(server, FORM)) as tools:
        seen = await tools.call("get_snapshot")
        await watched.change("document.querySelector('#go').remove()")
        gone = await tools.call("browser_click", {"ref": refs(seen)["Go"]})
        left = await tools.call("browser_click", {"ref": refs(gone)["Elsewhere"]})
        stale = await tools.call("browser_click", {"ref": refs(seen)["Elsewhere"]})
    assert errors(gone) == ("ref_invalid", "validation_error")
    assert "Go" not in refs(gone)
    assert left.success
    assert errors(stale) == ("ref_invalid", "validation_error")


async def test_a_document_that_came_by_itself_makes_every_ref_stale(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    watched = Watched(chromium)
    async with opened(app, watched, at(server, FORM)) as tools:
        seen = await tools.call("get_snapshot")
        await watched.change("document.write('<h1>Rewritten</h1>'); document.close()")
        answer = await tools.call("browser_click", {"ref": refs(seen)["Go"]})
    assert errors(answer) == ("ref_invalid", "validation_error")
    assert list(refs(answer)) == ["Rewritten"]


async def test_a_ref_of_a_page_that_closed_is_not_taken_for_one_of_the_page_behind_it(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    popup = server.show("<h1>Popup</h1><button>Continue</button>")
    html = f"""<title>Opener</title><button onclick="window.open('{popup}')">Open</button>
    <button onclick="document.title = 'archived'">Archive</button>"""
    watched = Watched(chromium)
    async with opened(app, watched, at(server, html)) as tools:
        seen = await tools.call("get_snapshot")
        front = await tools.call("browser_click", {"ref": refs(seen)["Open"]})
        assert refs(front)["Continue"] == refs(seen)["Archive"] == "@e1"
        await watched.close_front()
        stale = await tools.call("browser_click", {"ref": "@e1"})
        right = await tools.call("browser_click", {"ref": refs(stale)["Archive"]})
    assert errors(stale) == ("ref_invalid", "validation_error")
    assert stale.body()["snapshot"]["page"]["title"] == "Opener"
    assert right.body()["snapshot"]["page"]["title"] == "archived"


async def test_a_look_that_no_caller_is_told_of_leaves_the_refs_as_they_are(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    watched = Watched(chromium)
    async with opened(app, watched, at(server, FORM)) as tools:
        seen = await tools.call("get_snapshot")
        await watched.change("document.querySelector('h1').remove()")
        await watched.gather()
        clicked = await tools.call("browser_click", {"ref": refs(seen)["Go"]})
    assert clicked.success
    assert clicked.body()["snapshot"]["page"]["title"] == "Ann"


async def test_a_key_that_is_none_does_not_end_the_session(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    html = """<input aria-label=It autofocus value=one onselect="document.title = 'all of it'">"""
    async with opened(app, chromium, at(server, html)) as tools:
        none = await tools.call("press", {"key": "ß"})
        selected = await tools.call("press", {"key": "Ctrl+a"})
        seen = await tools.call("get_snapshot")
    assert errors(none) == ("invalid_params", "validation_error")
    assert selected.success
    assert seen.body()["snapshot"]["page"]["title"] == "all of it"


async def test_every_key_that_is_allowed_is_one_that_the_browser_knows(tab: Tab) -> None:
    signs = [chr(sign) for sign in range(ord(" "), ord("~") + 1)]
    for key in [*signs, *NAMED, *MODIFIERS, "KeyA", "Digit1", "ControlOrMeta+z", "Control++"]:
        assert key_named(key) == key
        await tab.press(key, within_ms=60_000)


@pytest.mark.parametrize(
    "hangs",
    ["const end = Date.now() + 900; while (Date.now() < end);", "while (true);"],
    ids=["a while", "for ever"],
)
async def test_a_page_that_hangs_is_a_timeout_and_can_be_left(
    app: App, chromium: Chromium, server: PageServer, hangs: str
) -> None:
    html = f'<button onclick="{hangs}">Hang</button>'
    timeouts = {**PATIENT, "browser_click": 100}
    async with opened(app, chromium, at(server, html), timeouts_ms=timeouts) as tools:
        seen = await tools.call("get_snapshot")
        answer = await tools.call("browser_click", {"ref": refs(seen)["Hang"]})
        after = await tools.call("navigate", {"url": f"{server.url}/another"})
    assert errors(answer) == ("timeout", "tool_timeout")
    assert not answer.retriable
    assert answer.snapshot is not None
    assert after.success


async def test_an_address_that_never_answers_is_a_timeout(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    timeouts = {**PATIENT, "navigate": 300}
    async with opened(app, chromium, at(server, FORM), timeouts_ms=timeouts) as tools:
        answer = await tools.call("navigate", {"url": f"{server.url}/never"})
    assert errors(answer) == ("timeout", "tool_timeout")
    assert answer.snapshot is not None
    assert answer.body()["snapshot"]["page"]["title"] == "Form"


async def test_a_network_that_is_not_there_is_tried_three_times(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    nowhere = "127.0.0.1:9"
    host = server.url.removeprefix("http://")
    started = session_started.tool_session(server.show(FORM), allow=[host, nowhere])
    async with opened(app, chromium, started) as tools:
        answer = await tools.call("navigate", {"url": f"http://{nowhere}/"})
        said = await events_of(app.log, tools.session)
    assert errors(answer) == ("action_failed", "execution_error")
    assert answer.retriable
    assert [each.attempt for each in said if isinstance(each, ToolCalled)] == [1, 2, 3]


async def test_an_option_that_is_not_there_is_told_with_those_that_are(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    async with opened(app, chromium, at(server, FORM)) as tools:
        seen = await tools.call("get_snapshot")
        answer = await tools.call("browser_select", {"ref": refs(seen)["Size"], "value": "Huge"})
    assert errors(answer) == ("action_failed", "execution_error")
    assert "Small, Large" in answer.message


async def test_arguments_that_do_not_fit_are_invalid(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    async with opened(app, chromium, at(server, FORM)) as tools:
        answer = await tools.call("browser_scroll", {})
    assert errors(answer) == ("invalid_params", "validation_error")
    assert answer.snapshot is not None


POSTS = "<form method=post action=/none><button>Order it</button></form>"


@pytest.mark.parametrize(
    ("answers", "error"),
    [([PersonAnswer(False, "not today")], "human_rejected"), (None, "policy_denied")],
)
async def test_a_form_is_not_sent_without_a_persons_yes(
    app: App, chromium: Chromium, server: PageServer, answers: list[PersonAnswer] | None, error: str
) -> None:
    person = ScriptedPerson(answers) if answers is not None else None
    async with opened(app, chromium, at(server, POSTS), answers=person) as tools:
        seen = await tools.call("get_snapshot")
        answer = await tools.call("browser_click", {"ref": refs(seen)["Order it"]})
    assert errors(answer) == (error, "policy_denied")
    assert (answer.message == "User feedback: not today") == (error == "human_rejected")
    assert not any(asked.startswith("/none") for asked in server.asked)


async def test_an_address_that_was_not_named_is_denied(
    app: App, chromium: Chromium, server: PageServer
) -> None:
    async with opened(app, chromium, at(server, FORM)) as tools:
        answer = await tools.call("navigate", {"url": "http://127.0.0.1:9/"})
        script = await tools.call("navigate", {"url": "javascript:alert(1)"})
    assert errors(answer) == errors(script) == ("policy_denied", "policy_denied")


async def test_a_browser_that_is_gone_is_an_answer(app: App, server: PageServer) -> None:
    executable = find_chromium()
    assert executable is not None
    async with (
        Chromium(executable, Gate()) as mortal,
        opened(app, mortal, at(server, FORM)) as tools,
    ):
        await tools.call("get_snapshot")
        await mortal.close()
        answer = await tools.call("get_snapshot")
        after = await tools.call("get_snapshot")
    assert errors(answer) == errors(after) == ("browser_gone", "tool_unavailable")
    assert tools.ended is not None
    assert (tools.ended.reason, tools.ended.failure) == ("interrupted", "browser_lost")


# -- what must not leak ---------------------------------------------------------------------------

PASSWORD = "corr3ct h0rse&battery"


async def test_a_password_that_is_given_as_a_literal_is_nowhere_on_disk(
    app: App, chromium: Chromium, server: PageServer, tmp_path: Path
) -> None:
    html = "<label>Password <input type=password></label><label>Name <input></label>"
    async with opened(app, chromium, at(server, html)) as tools:
        seen = await tools.call("get_snapshot")
        answer = await tools.call(
            "browser_fill", {"ref": refs(seen)["Password"], "value": PASSWORD}
        )
        plain = await tools.call("browser_fill", {"ref": refs(answer)["Name"], "value": "Aurora"})
        said = await events_of(app.log, tools.session)
    assert errors(answer) == ("policy_denied", "policy_denied")
    assert plain.success
    assert [each.typed for each in said if isinstance(each, ActionDone) and each.typed] == [
        "Aurora"
    ]
    written = [
        PASSWORD.encode(),
        base64.b64encode(PASSWORD.encode()),
        quote(PASSWORD).encode(),
        PASSWORD.encode("utf-16-le"),
    ]
    for file in tmp_path.rglob("*"):
        body = file.read_bytes() if file.is_file() else b""
        assert not any(form in body for form in written), file
