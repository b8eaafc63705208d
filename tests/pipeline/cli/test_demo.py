"""`rutter demo`: the whole loop on the bundled site, as often as one likes."""

import re

import pytest

from rutter.pipeline.cli.demo import ALONE, PREDICTED, RIGHT, WATCHED
from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD
from tests.support.command_shell import Rutter, places_of

pytestmark = pytest.mark.browser


def test_the_demo_twice_in_the_same_directory(rutter: Rutter) -> None:
    first = rutter("demo")
    assert (first.code, first.err) == (0, "")
    assert first.out.isascii()
    assert "1. Watch: a script of 19 steps is recorded as 'order'" in first.out
    assert "2. Run it alone: 'order' version 1, other values" in first.out
    assert "3. Predict: no workflow is named; the next step is, before it is done" in first.out
    assert first.out.count("[OK]") == 57
    assert "[FAIL]" not in first.out
    assert first.out.count(" sure of what comes next: ") == 18
    assert first.out.count("-> yes (scripted)") == 3 + 5
    assert first.out.count("allowed, because you did it yourself when recording") == 3
    assert f"click '{WATCHED['customer']}'" in first.out
    assert f"click '{ALONE['customer']}'" in first.out
    assert re.search(rf"order 1008 for {ALONE['customer']}: {ALONE['note']}", first.out)
    assert re.search(rf"order 1009 for {PREDICTED['customer']}: {PREDICTED['note']}", first.out)
    assert re.search(r"\d+ decisions of 4 sessions, no divergence", first.out)
    right = re.search(r"prediction_accuracy +([\d.]+)", first.out)
    assert right is not None
    assert float(right[1]) > RIGHT
    assert "0 model calls, $0.00" in first.out
    assert f"log: {rutter.data / 'demo' / 'log.db'}" in first.out

    second = rutter("--json", "demo")
    assert (second.code, second.err) == (0, "")
    assert second.json["alone"]["version"] == 2
    assert second.json["metrics"]["prediction_accuracy"] > RIGHT  # at the address that was learned
    assert second.json["log"] == str(rutter.data / "demo" / "log.db")
    for story in (second.json["watched"], second.json["alone"]):
        assert story["reason"] == "completed"
        assert [step["verdict"] for step in story["steps"]] == [
            *["confirmed"] * 17,
            "answered",
            "confirmed",
        ]
    assert second.json["alone"]["values"] == ALONE

    demo = Rutter(rutter.data / "demo")
    assert [row["version"] for row in demo.json("workflows")] == [1, 2]
    command = re.search(r"look at it: rutter --data (\S+) show (\S+)", first.out)
    assert command is not None
    assert command[1] == str(demo.data)
    assert demo("show", command[2]).code == 0
    assert places_of(DEFAULT_PASSWORD, rutter.data) == []
