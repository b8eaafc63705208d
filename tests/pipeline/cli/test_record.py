"""`rutter record NAME --url URL` as a person has it: a real window, real keys, live lines."""

import asyncio
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rutter.actors.world.browser.page_listener import WindowListener
from rutter.actors.world.browser.window import Window
from rutter.events.envelope import Envelope
from rutter.events.planner import PersonAwaited
from rutter.pipeline.app import App
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.demo_sites.chandlery import Site
from rutter.pipeline.demo_sites.sign_ins import USER
from tests.support import xvfb
from tests.support.command_shell import Rutter, check_logs, places_of, wait_for_line
from tests.support.page_server import PageServer

PASSWORD = "Zq7 anchor & chain"
# What was typed is the title of the window: there the test sees that the page has all of it.
TITLED = """<title>Nothing yet</title>
<label>User name <input oninput="document.title = value"></label>"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(password=PASSWORD) as running:
        yield running


@pytest.fixture
def rutter(tmp_path: Path) -> Rutter:
    return Rutter(tmp_path / "data")


def record(rutter: Rutter, url: str, display: str) -> "subprocess.Popen[str]":
    env = {"DISPLAY": display, "PYTHONUNBUFFERED": "1"}
    param = ("--param", "ship=Aurora")  # nobody types that
    process = rutter.spawn("record", "sign_in", "--url", url, *param, env=env)
    wait_for_line(process.stdout, "work in the window")
    # Beside everything, so that keys go to the page and not to the browser's own fields.
    xvfb.xdotool(display, "mousemove", "640", "900", "click", "1")
    return process


def press(display: str, *keys: str) -> None:
    xvfb.xdotool(display, "key", *keys)


def write(display: str, text: str) -> None:
    xvfb.xdotool(display, "type", "--delay", "20", text)


@pytest.mark.browser
def test_what_is_done_in_the_window_is_recorded_and_no_password_with_it(
    rutter: Rutter, site: Site, display: str, tmp_path: Path
) -> None:
    process = record(rutter, f"{site.base_url}/login", display)
    press(display, "Tab")
    write(display, USER)
    press(display, "Tab")
    write(display, PASSWORD)
    press(display, "Return")
    live = wait_for_line(process.stdout, "press Enter")
    press(display, "ctrl+w")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, out + err
    assert live == [
        f"   2  type '{USER}' into 'User name'",
        "   3  type <secret password> into 'Password'",
        "   4  press Enter",
    ]
    assert f"Step 2 will always type '{USER}'. To vary it: " in out
    assert "workflows edit sign_in --param 2=NAME" in out
    assert "'Aurora' was never typed, so ship is no parameter. Say which step types it: " in out
    assert "run sign_in --secret password=prompt" in out
    assert rutter("trace", "last", "--file", tmp_path / "data" / "trace.json").code == 0
    (tmp_path / "data" / "said.txt").write_text(out + err + "\n".join(live))
    assert places_of(PASSWORD, tmp_path / "data") == []
    assert check_logs(tmp_path / "data") > 20


@pytest.mark.browser
def test_ctrl_c_ends_the_recording_with_what_was_being_typed(
    rutter: Rutter, display: str, tmp_path: Path
) -> None:
    with PageServer() as server:
        process = record(rutter, server.show(TITLED), display)
        press(display, "Tab")
        write(display, "half a name")
        xvfb.xdotool(display, "search", "--sync", "--name", "^half a name")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, out + err
    assert "type 'half a name' into 'User name'" in out
    shown = rutter("workflows", "show", "sign_in")
    assert "half a name" in shown.out
    assert check_logs(tmp_path / "data") > 10


@pytest.mark.browser
def test_nobody_is_told_to_begin_before_what_they_do_is_heard(
    rutter: Rutter, site: Site, display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    awaited, order = asyncio.Event(), list[str]()
    listen, durable, say = Window.listen, App._durable, Terminal.say

    async def listen_late(window: Window, phrases: Sequence[str] = ()) -> WindowListener:
        await awaited.wait()
        listener = await listen(window, phrases)
        order.append("heard")
        return listener

    def told(app: App, envelope: Envelope) -> None:
        durable(app, envelope)
        if isinstance(envelope.event, PersonAwaited):
            awaited.set()

    def said(terminal: Terminal, line: str = "") -> None:
        say(terminal, line)
        if "work in the window" in line:
            order.append("told")
            signal.raise_signal(signal.SIGINT)  # at once, as somebody who thinks better of it

    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setattr(Window, "listen", listen_late)
    monkeypatch.setattr(App, "_durable", told)
    monkeypatch.setattr(Terminal, "say", said)
    ended = rutter("record", "sign_in", "--url", f"{site.base_url}/login")
    assert (order, ended.code) == (["heard", "told"], 0), ended
    assert "[OK] recorded sign_in" in ended.out


def test_without_a_screen_it_says_so(
    rutter: Rutter, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    ended = rutter("record", "x", "--url", site.base_url)
    assert ended.code == 2
    assert ended.complaint.startswith("rutter: there is no screen to open a window on")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--url", "ftp://harbour.example"], "'ftp://harbour.example' is not a web address"),
        (["--url", "not an address"], "'not an address' is not a web address"),
        (
            ["--url", "https://harbour.example", "--secret", "password=env:X"],
            "a secret is not given to a recording by hand",
        ),
        (["--from-step", "2"], "there is no log at"),
    ],
)
def test_what_makes_no_sense_is_refused_before_a_window_opens(
    rutter: Rutter, arguments: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":99")
    ended = rutter("record", "x", *arguments)
    assert ended.code == 2
    assert complaint in ended.complaint


@pytest.mark.parametrize("both", [True, False])
def test_by_hand_or_by_script_and_not_both(rutter: Rutter, both: bool) -> None:
    how = ["--url", "https://harbour.example", "--script", "x.json"] if both else []
    assert rutter("record", "x", *how).code == 2
