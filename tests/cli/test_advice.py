"""What a failed run says: where, what the page says, and what to do next."""

from pathlib import Path

import pytest

from events.action import Action, ByRole, Target
from events.checks import Said, TextVisible
from events.workflow import Expectation, Standing, Step, Workflow
from pipeline.cli.sailing import report, tell_unproven
from pipeline.cli.terminal import Terminal
from pipeline.settings import Settings
from replay.story import EvidenceStory, StepStory, Story
from tests.cli.logbook import keep


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    keep(tmp_path / "log.db")
    return Settings(data=tmp_path)


def failed(reason: str, verdict: str = "failed", **more: object) -> Story:
    step = StepStory(
        step=20,
        driver="workflow",
        words="click 'Place order'",
        why="workflow_step_17_of_19",
        verdict=verdict,
        reason=reason,
        evidence=[EvidenceStory("DOM", "saved", 0.2, "Out of rope")],
    )
    detail = f"{verdict}: {reason}"
    told = {"name": "order", "reason": "failed", "failure": "verification_failed", **more}
    return Story(session="s", detail=detail, steps=[step], **told)  # type: ignore[arg-type]


def told(story: Story, settings: Settings, capsys: pytest.CaptureFixture[str]) -> str:
    assert report(story, settings, Terminal(), done="") == 6
    return capsys.readouterr().out


def test_a_failure_names_the_step_as_the_workflow_does_and_what_the_page_says(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    out = told(failed("alert 'saved': the page does not say it"), settings, capsys)
    assert "at step 17 (click 'Place order')" in out
    assert "the page says: Out of rope" in out
    assert "rutter workflows edit order --no-expect 17" in out


def test_what_may_have_happened_is_looked_at_before_it_is_run_again(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    story = failed("the_server_has_not_answered", "unknown", unknown="nobody knows")
    out = told(story, settings, capsys)
    assert "next: look whether it was done before you run it again" in out
    assert "--no-expect" not in out


def test_a_run_that_may_have_done_something_is_continued_by_its_session(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = failed("no answer", "unknown", unknown="nobody knows", purpose="run")
    cut = Story(session="s", purpose="run", name="order", reason="interrupted")
    for story in (unknown, cut):
        report(story, settings, Terminal(), done="")
        [advice] = [line for line in capsys.readouterr().out.splitlines() if "next: " in line]
        assert advice.endswith("run order --from s")


def test_no_screenshot_helps_with_a_file(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    out = told(failed("file_exists 'a.txt': there is no such file"), settings, capsys)
    assert "next: look at the file" in out


# -- what a recording does not prove ---------------------------------------------------------------

PLACE = Action("click", target=Target((ByRole("button", "Place order"),)))


def unproven(after: Expectation, capsys: pytest.CaptureFixture[str]) -> str:
    step = Step(PLACE, after=after, standing=Standing("https://shop.example", "d"))
    tell_unproven(Workflow("order", 1, (step,)), Settings(data=Path()), Terminal())
    return capsys.readouterr().out


def test_a_step_that_only_its_address_proves_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    out = unproven(Expectation(moved=True), capsys)
    assert "step 1 (click 'Place order') is known by the page it leads to alone" in out
    assert "workflows edit order --read-back '1=URL CHECK'" in out
    assert "that something changed alone" in unproven(Expectation(), capsys)


@pytest.mark.parametrize(
    "after",
    [Expectation(learned=(Said("saved", whole=True),)), Expectation(checks=(TextVisible("x"),))],
)
def test_a_step_that_something_proves_is_not(
    after: Expectation, capsys: pytest.CaptureFixture[str]
) -> None:
    assert unproven(after, capsys) == ""
