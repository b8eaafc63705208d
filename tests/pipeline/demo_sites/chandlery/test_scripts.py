"""The Recorder scripts of the bundled site, as data."""

import json
from typing import Any

from rutter.pipeline.demo_sites.chandlery import find_order_script, order_script

BASE = "http://127.0.0.1:8000"
RECORDER_STEPS = {"setViewport", "navigate", "click", "change", "keyDown", "keyUp", "customStep"}


def steps_of(script: dict[str, object]) -> list[dict[str, Any]]:
    copy: dict[str, list[dict[str, Any]]] = json.loads(json.dumps(script))
    return copy["steps"]


def test_the_order_script_is_long_enough_and_made_of_recorder_steps() -> None:
    steps = steps_of(order_script(BASE))
    assert len(steps) == 21
    assert {step["type"] for step in steps} == RECORDER_STEPS


def test_the_find_script_is_short() -> None:
    acting = [s for s in steps_of(find_order_script(BASE)) if s["type"] in ("click", "change")]
    assert len(acting) == 7


def test_typed_values_come_from_the_arguments() -> None:
    script = order_script(
        BASE, customer="Gannet Fisheries", product="fire-hose", quantity="9",
        delivery="2026-04-01", berth="Quay 1", note="None.", user="u", password="p",
    )  # fmt: skip
    changed = [step["value"] for step in steps_of(script) if step["type"] == "change"]
    assert changed == [
        "u", "p", "Gannet Fisheries", "fire-hose", "9", "2026-04-01", "Quay 1", "None.",
    ]  # fmt: skip
    found = steps_of(find_order_script(BASE, number="1004"))
    assert ["text/1004"] in found[-2]["selectors"]


def test_every_target_can_be_found_by_a_test_id_first() -> None:
    for script in (order_script(BASE), find_order_script(BASE)):
        for step in steps_of(script):
            if step["type"] in ("click", "change"):
                assert any(s[0].startswith("[data-testid=") for s in step["selectors"])
            if step["type"] == "customStep":
                assert step["parameters"]["selectors"][0][0].startswith("[data-testid=")


def test_the_row_that_is_opened_is_not_tied_to_a_customer() -> None:
    row = steps_of(order_script(BASE))[9]
    assert ['[data-testid="customer-link"]'] in row["selectors"]
    assert ['aria/Aurora Shipping[role="link"]'] in row["selectors"]
