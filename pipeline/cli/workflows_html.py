"""`rutter workflows show NAME --html FILE` shows the steps of a workflow beside pictures of
them."""

from pathlib import Path

from rutter.events.errors import LogCorrupt
from rutter.events.page import Artifact
from rutter.events.workflow import Workflow
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.safe_files import write_named
from rutter.replay.documents.workflow_page import render


def write(workflow: Workflow, place: Path, settings: Settings, terminal: Terminal) -> int:
    artifacts = settings.directory.artifacts

    def load(artifact: Artifact) -> bytes | None:
        try:
            return artifacts.get(artifact)
        except LogCorrupt:  # it was erased, or has expired
            return None

    page = render(workflow, load)
    write_named(place, page, "--html")
    if terminal.as_json:
        pictures = [step.picture.sha256 if step.picture else None for step in workflow.steps]
        terminal.json({"workflow": workflow.name, "file": str(place), "pictures": pictures})
    terminal.say(f"[OK] {place}")
    return Exit.DONE


def tell_pictures(workflow: Workflow, settings: Settings, terminal: Terminal) -> None:
    """That there are some, and how to look at them."""
    count = sum(step.picture is not None for step in workflow.steps)
    if count and not terminal.as_json:
        look = settings.command(f"workflows show {workflow.name} --html FILE")
        terminal.say(f"pictures of {count} steps: {look}")
