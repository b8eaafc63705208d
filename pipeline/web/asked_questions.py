"""Asked questions wait for a person: each with its run, its step and the picture that was seen."""

import msgspec

from rutter.events.page import Artifact
from rutter.pipeline.daemon.daemon import Daemon
from rutter.pipeline.daemon.jobs.approvals import PendingQuestion
from rutter.pipeline.web.seen_run import SeenRun, see
from rutter.replay.story.told_session import StepStory


class AskedQuestion(msgspec.Struct, frozen=True):
    asked: PendingQuestion
    run: SeenRun

    @property
    def step(self) -> StepStory | None:
        """The step that it is about."""
        steps = self.run.story.steps
        return next((each for each in reversed(steps) if each.step == self.asked.step), None)

    @property
    def picture(self) -> Artifact | None:
        """What the person is asked about, framed; else what was recorded of the step."""
        if self.asked.picture:
            return Artifact(self.asked.picture, 0, "image/png")
        step = self.step
        return self.run.picture(step) if step is not None else None


def asked_questions(daemon: Daemon) -> list[AskedQuestion]:
    """Oldest first."""
    pending = daemon.questions.pending()
    return [AskedQuestion(each, see(daemon.settings, each.session)) for each in pending]
