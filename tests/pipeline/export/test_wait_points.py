"""Exported scripts do not outrun the page: what it hands on, sends or shows later is waited for."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, sync_playwright

from rutter.events.action import Action, ByCss, ByRole, Strategy, Target, Text
from rutter.events.checks import Check, ServerAnswered
from rutter.events.workflow import Expectation, Step, Workflow
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.export.playwright_script import playwright_script
from rutter.pipeline.export.wait_conditions import (
    LEAVING,
    answered_expression,
    enter_expression,
    held_expression,
    left_expression,
    mark_expression,
    rest_expression,
)
from tests.pipeline.export.test_exported_scripts import Ran
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def do(kind: str, *ways: Strategy, learned: tuple[Check, ...] = (), **more: object) -> Step:
    action = Action(kind, target=Target(ways) if ways else None, **more)  # type: ignore[arg-type]
    return Step(action=action, after=Expectation(learned=learned), irreversible=bool(learned))


def ran(tmp_path: Path, *steps: Step) -> Ran:
    script = tmp_path / "flow.py"
    source = playwright_script(Workflow("flow", 1, steps), {})
    script.write_text(source.replace("WITHIN_S = 10.0", "WITHIN_S = 3.0"))
    return Ran(script)


# -- the script for Playwright ---------------------------------------------------------------------


def test_what_is_saved_a_moment_after_the_last_letter_is_saved(
    server: PageServer, tmp_path: Path
) -> None:
    home = server.show(
        "<input id=q oninput=\"clearTimeout(this.later); this.later = setTimeout(() => fetch('/none"
        "?saved=' + this.value), 400)\">"
    )
    typed = do("type", ByCss("#q"), value=Text("rope"))
    assert ran(tmp_path, do("navigate", url=home), typed).code == 0
    assert "/none?saved=rope" in server.asked


def test_what_the_server_does_not_take_is_not_done(server: PageServer, tmp_path: Path) -> None:
    home = server.show(
        "<button id=go onclick=\"fetch('/broken'); document.title = 'Saved'\">Save</button>"
    )
    learned = (ServerAnswered(f"GET {server.url}/broken"),)
    ended = ran(tmp_path, do("navigate", url=home), do("click", ByCss("#go"), learned=learned))
    assert ended.code == 1
    assert "the server did not take" in ended.err


def test_a_field_that_listens_to_keys_hears_them(server: PageServer, tmp_path: Path) -> None:
    home = server.show(
        "<input id=q onkeyup='go.disabled = !this.value'><button id=go disabled "
        "onclick=\"fetch('/none?keys=' + q.value)\">Go</button>"
    )
    typed = do("type", ByCss("#q"), value=Text("rope"))
    assert ran(tmp_path, do("navigate", url=home), typed, do("click", ByCss("#go"))).code == 0
    assert "/none?keys=rope" in server.asked


def test_what_lies_where_the_button_will_lie_is_not_clicked(
    server: PageServer, tmp_path: Path
) -> None:
    """A wizard shows its next page in its own time; the buttons stay where they are."""
    home = server.show(
        "<div id=bar><b></b><button onclick=\"fetch('/none?clicked=' + textContent)\">Back</button>"
        "</div><script>setTimeout(() => bar.querySelector('button').textContent = 'Next', 900)"
        "</script>"
    )
    place = "#bar > button:nth-of-type(1)"
    next_one = do("click", ByCss(place), ByRole("button", "Next"))
    assert ran(tmp_path, do("navigate", url=home), next_one).code == 0
    assert [each for each in server.asked if "clicked=" in each] == ["/none?clicked=Next"]


# -- what the Recorder's file waits for ------------------------------------------------------------


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium())
        yield browser.new_page()
        browser.close()


def holds(page: Page, expression: str, within_ms: int = 5_000) -> bool:
    """Whether it comes to be so, asked again with every frame, as Chrome's replayer does."""
    page.set_default_timeout(within_ms)
    try:
        page.wait_for_function(expression)
    except TimeoutError:
        return False
    return True


def test_a_page_rests_when_nothing_changes_or_moves(server: PageServer, page: Page) -> None:
    page.goto(server.show("<p id=p>0</p><script>let n = 0</script>"))
    page.evaluate("() => { const i = setInterval(() => ++n > 5 ? clearInterval(i) : p.append(n)"
                  ", 60) }")  # fmt: skip
    assert holds(page, rest_expression(1, 500))
    assert page.evaluate("n") > 5


def test_what_is_owed_is_waited_for_and_must_be_answered_well(
    server: PageServer, page: Page
) -> None:
    page.goto(server.show("<p>Here"))
    kinds = f"PUT {server.url}/kept | PUT {server.url}/other/*"
    assert holds(page, mark_expression(1))
    assert not holds(page, answered_expression(1, kinds), 300)
    page.evaluate("() => { setTimeout(() => fetch('/kept?x=1'), 400) }")
    assert holds(page, rest_expression(2, 0, [(1, kinds)]))
    assert holds(page, answered_expression(1, kinds), 300)

    assert holds(page, mark_expression(3))
    page.evaluate("fetch('/broken').then(() => 0)")
    assert not holds(page, answered_expression(3, f"PUT {server.url}/broken"), 300)


def test_a_field_that_was_mixed_up_is_put_right_and_one_that_takes_nothing_is_found_out(
    server: PageServer, page: Page
) -> None:
    page.goto(server.show("<input id=a value=brhte><input id=b oninput='this.value = 1'>"))
    assert holds(page, held_expression(1, [["#a"]], "berth"))
    assert page.input_value("#a") == "berth"
    assert not holds(page, held_expression(2, [["#b"]], "berth"), 1_500)
    assert holds(page, held_expression(3, [["#gone"]], "berth"))
    assert holds(page, held_expression(4, [["#a"]], None))


def test_an_editor_takes_a_text_once(server: PageServer, page: Page) -> None:
    page.goto(server.show("<div id=e contenteditable>old</div>"))
    assert holds(page, enter_expression(1, [["#e"]], "new"))
    assert page.inner_text("#e") == "new"


def test_the_page_is_there_anew_before_it_is_looked_at(server: PageServer, page: Page) -> None:
    here = server.show("<p>Here")
    page.goto(here)
    for url in ("", f"{here}#part", f"{server.url}/another"):
        before = server.asked.count(here.removeprefix(server.url))
        assert holds(page, LEAVING)
        assert holds(page, left_expression(url))
        again = server.asked.count(here.removeprefix(server.url)) > before
        assert again or page.url == url
        assert page.url == (url or here)
