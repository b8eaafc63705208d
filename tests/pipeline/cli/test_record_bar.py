"""The bar of `rutter record`, in a real window, by keys that a keyboard sends: nothing but keys."""

import subprocess
from pathlib import Path

import pytest

from tests.support import xvfb
from tests.support.command_shell import Rutter, check_logs, wait_for_line
from tests.support.page_server import PageServer

FORM = """<title>Form</title><h1>New order</h1><form onsubmit="return false">
<label>Customer <input id=customer></label> <label>Note <input id=note></label>
<label>Berth <input id=berth></label> <label>Item <input id=item></label>
<label>Count <input id=count></label> <label>Day <input id=day></label>
<label><input type=checkbox id=urgent> Urgent</label>
<button type=button id=save onclick="send()">Save</button></form>
<div id=said hidden role=status><h2>Order placed</h2>
<p>Order number: <b id=number></b></p><p>Total: <b id=total></b></p></div>
<script>
function send() {
  number.textContent = customer.value.length + 4700; // another one for each customer
  total.textContent = "EUR " + count.value * 12;
  said.hidden = false;
  document.title = "Placed";
}
</script>"""
PAGES = ("Form", "Placed")
BETWEEN = 12  # ms between two keys


class Keys:
    """A keyboard is all that this person has; the titles of windows say what has the focus."""

    def __init__(self, process: "subprocess.Popen[str]", display: str) -> None:
        self._process = process
        self._display = display

    def press(self, *keys: str) -> None:
        xvfb.xdotool(self._display, "key", "--delay", str(BETWEEN), *keys)

    def write(self, text: str) -> None:
        xvfb.xdotool(self._display, "type", "--delay", str(BETWEEN), text)

    def sees(self, title: str) -> None:
        xvfb.xdotool(self._display, "search", "--sync", "--name", title)

    def hears(self, said: str) -> None:
        wait_for_line(self._process.stdout, said)

    def begins(self) -> None:
        """The keys go to the page from here on; nobody but X knows when."""
        while not xvfb.focused(self._display).startswith(PAGES):
            pass  # the test's own time is the limit
        self.sees("^Recording - ")  # the bar knows that it has lost them

    def page(self) -> None:
        """Back to the page."""
        self.press("F8")
        self.begins()

    def bar(self, steps: int, *keys: str) -> None:
        """To the bar, which says how many steps there are, and what is pressed there."""
        self.press("F8")
        self.sees(f"^Recording: {steps} steps")
        self.press(*keys)

    def picks(self, steps: int, key: str, part: str, question: str) -> None:
        self.bar(steps, key)
        self.sees("^Recording: Wh")
        self.write(part)
        self.press("Return")
        self.sees(f"^Recording: {question}")
        self.press("Return")
        self.sees(f"^Recording: {steps + 1} steps")
        self.page()


@pytest.mark.browser
@pytest.mark.timeout(400)
def test_a_recording_by_keyboard_alone_and_its_run_gives_the_values_as_csv(
    rutter: Rutter, display: str, tmp_path: Path
) -> None:
    with PageServer() as server:
        env = {"DISPLAY": display, "PYTHONUNBUFFERED": "1"}
        process = rutter.spawn("record", "order", "--url", server.show(FORM), env=env)
        wait_for_line(process.stdout, "work in the window")
        keys = Keys(process, display)
        keys.begins()
        keys.press("Tab")
        keys.write("Aurora")
        keys.bar(2, "v")
        keys.sees("^Recording: This varies")
        keys.press("Return")  # by the name of its field
        keys.hears('this is "customer"')
        keys.page()
        keys.press("Tab")
        keys.write("a slip")
        keys.bar(3, "u")
        keys.hears("left out")
        keys.page()
        for typed in ("Waalhaven", "Rope", "3", "Monday"):
            keys.press("Tab")
            keys.write(typed)
        keys.press("Tab", "space", "Tab", "space")
        keys.hears("click 'Save'")
        keys.picks(8, "r", "number", "Read this")
        keys.picks(9, "r", "total", "Read this")
        keys.picks(10, "c", "placed", "Check this")
        keys.bar(11, "d")
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, out + err
        ran = rutter("run", "order", "--set", "customer=Juniper Tankers")
        assert ran.code == 0, ran
        csv = rutter("results", "last", "--format", "csv")
    assert csv.out.splitlines() == ["order_number,total", "4715,EUR 36"]
    shown = rutter("workflows", "show", "order").out
    assert "a slip" not in shown
    assert check_logs(tmp_path / "data") > 10


@pytest.mark.browser
@pytest.mark.timeout(400)
def test_a_recording_that_is_discarded_leaves_no_workflow(
    rutter: Rutter, display: str, tmp_path: Path
) -> None:
    with PageServer() as server:
        env = {"DISPLAY": display, "PYTHONUNBUFFERED": "1"}
        process = rutter.spawn("record", "order", "--url", server.show(FORM), env=env)
        wait_for_line(process.stdout, "work in the window")
        keys = Keys(process, display)
        keys.begins()
        keys.press("Tab")
        keys.write("Aurora")
        keys.bar(2, "x")
        keys.sees("^Recording: Discard")
        keys.press("Return")
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, out + err
    assert "[OK] discarded: nothing of it is known, and no workflow was made" in out
    assert "no workflows yet" in rutter("workflows").out
    assert rutter.json("transitions") == []
    assert check_logs(tmp_path / "data") > 10
