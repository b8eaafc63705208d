"""A run whose element is gone, with a real browser: what it says is what the log says later."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_shell import Rutter
from tests.support.page_server import PageServer

pytestmark = pytest.mark.browser
PICTURE = "Picture of the page: "
BEFORE = (
    "<h1>Cart</h1><p>Total</p><button id=details type=button onclick=\"document.title='sent'\">"
)


@pytest.fixture
def pages() -> Iterator[PageServer]:
    with PageServer() as server:
        yield server


def test_a_button_that_is_gone_is_told_with_what_is_there_instead(
    rutter: Rutter, pages: PageServer, tmp_path: Path
) -> None:
    url = pages.show(f"<title>Cart</title>{BEFORE}Show details</button>")
    script = tmp_path / "script.json"
    click = {"type": "click", "selectors": [["#details"], ["aria/Show details"]]}
    script.write_text(json.dumps({"steps": [{"type": "navigate", "url": url}, click]}))
    allow = ("--allow", pages.url.removeprefix("http://"))
    assert rutter("record", "order", "--script", script, *allow).code == 0
    pages.replace(
        url,
        "<title>Cart</title><h1>Cart</h1><a href=/another>Show the detail</a>"
        "<button type=button>Print the cart</button>",
    )

    ended = rutter("--verbose", "run", "order")

    assert ended.code == 3, ended
    lines = [line.strip() for line in ended.out.splitlines()]
    assert lines[0] == "[FAIL] order: not finished"
    what = 'Step 2: there is no button "Show details" on the page "Cart".'
    assert lines[1].startswith(what)
    assert "looked for #details: not there" in lines
    [empty] = [line for line in lines if line.startswith("found instead: button 'Print the cart'")]
    assert "says something else" in empty
    assert f"the page was: 'Cart' at {url}" in lines
    [picture] = [line.removeprefix(PICTURE) for line in lines if PICTURE in line]
    assert Path(picture).read_bytes().startswith(b"\x89PNG")
    command = f"rutter --data {rutter.data} workflows edit order --target 2"
    changed = "If it was changed for good, do this step once on its new element"
    assert any(f"{changed}: {command}" in line for line in lines)

    assert (rutter.data / "tidied").exists(), "whether something has expired was looked at"
    shown = rutter("--verbose", "show", "last").out
    for line in lines[1:]:
        assert line in shown or line.startswith(("why: ", "if the page only", "Details: "))
    lesson = rutter.json("show", "last")["lesson"]
    assert (lesson["step"], Path(lesson["screenshot"])) == ("2", Path(picture).resolve())
    assert picture.endswith(".png"), "it opens in a viewer"
    assert f"found instead: {lesson['instead'][0]}" in lines
