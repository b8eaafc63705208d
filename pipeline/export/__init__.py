"""A learned workflow as a file that others can run: Recorder JSON, or a Playwright script."""

from collections.abc import Callable, Mapping

from events.workflow import Workflow
from pipeline.export.playwright import playwright_script
from pipeline.export.recorder import recorder_script

FORMATS: Mapping[str, Callable[[Workflow, Mapping[str, str]], str]] = {
    "recorder": recorder_script,
    "playwright": playwright_script,
}

__all__ = ["FORMATS", "playwright_script", "recorder_script"]
