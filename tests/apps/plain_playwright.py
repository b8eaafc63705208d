"""A Recorder script as plain Playwright: locate, click or fill, no wait of its own."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Locator, Page, sync_playwright

_ARIA = re.compile(r'^(?P<name>.*?)(?:\[role="(?P<role>[^"]+)"\])?$', re.DOTALL)
LIMIT_MS = 10_000


class Cannot(Exception):
    """Nothing of the kind in a plain script."""


def main(script: Path, executable: str) -> int:
    flow = json.loads(script.read_text())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(LIMIT_MS)
        try:
            for number, step in enumerate(flow["steps"], 1):
                try:
                    do(page, step)
                except Error as error:
                    print(f"step {number} ({step['type']}): {str(error)[:400]}", file=sys.stderr)
                    return 3
        except Cannot as error:
            print(error, file=sys.stderr)
            return 2
        finally:
            browser.close()
    return 0


def do(page: Page, step: dict[str, Any]) -> None:
    button = {"secondary": "right", "auxiliary": "middle"}.get(step.get("button", ""), "left")
    match step["type"]:
        case "setViewport":
            page.set_viewport_size({"width": step["width"], "height": step["height"]})
        case "navigate":
            page.goto(step["url"])
        case "click":
            located(page, step).click(button=button)  # type: ignore[arg-type]
        case "doubleClick":
            located(page, step).dblclick(button=button)  # type: ignore[arg-type]
        case "hover":
            located(page, step).hover()
        case "change":
            change(located(page, step), step["value"])
        case "keyDown":
            page.keyboard.down(step["key"])
        case "keyUp":
            page.keyboard.up(step["key"])
        case "waitForElement":
            located(page, step).wait_for()
        case "scroll":
            page.mouse.wheel(step.get("x", 0), step.get("y", 0))
        case "customStep" if step["name"] == "rutter.drag":
            wanted = step["parameters"]
            there = {"selectors": wanted["to"], "frame": step.get("frame", [])}
            onto = {"target_position": wanted["position"]} if "position" in wanted else {}
            start = {"selectors": wanted["selectors"], "frame": step.get("frame", [])}
            located(page, start).drag_to(located(page, there), **onto)
        case _:
            raise Cannot(f"{step['type']} {step.get('name', '')}: no plain call does that")


def change(field: Locator, value: str) -> None:
    if field.evaluate("e => e.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.fill(value)


def located(page: Page, step: dict[str, Any]) -> Locator:
    """By what a person who writes it by hand would take: an id or CSS, then role, then text."""
    paths = [[each] if isinstance(each, str) else each for each in step["selectors"]]
    within: Any = page
    for number in step.get("frame", []):
        within = within.frame_locator("iframe").nth(number)
    styled = [path for path in paths if not path[0].startswith(("aria/", "text/", "xpath/"))]
    if styled:
        parts = [re.sub(r"^(pierce|css)/", "", part) for part in styled[0]]
        return within.locator(" ".join(parts)).first  # type: ignore[no-any-return]
    said = paths[0][-1]
    if said.startswith("text/"):
        return within.get_by_text(said[5:]).first  # type: ignore[no-any-return]
    parts_of = _ARIA.match(said[5:])
    assert parts_of is not None
    name, role = parts_of["name"], parts_of["role"]
    if role:
        return within.get_by_role(role, name=name, exact=True).first  # type: ignore[no-any-return]
    return within.get_by_label(name, exact=True).or_(within.get_by_text(name, exact=True)).first  # type: ignore[no-any-return]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
