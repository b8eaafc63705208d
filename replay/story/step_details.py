"""Step details stand below a step wherever it is shown: on a terminal and in a report alike."""

from collections.abc import Iterator

from rutter.events.run_settings import MILLION
from rutter.replay.story.told_session import StepStory
from rutter.replay.story.wording import UNDONE, absent_in_words


def unjudged(step: StepStory) -> str:
    """What is said of a step that came to nothing yet."""
    return "not answered" if step.kind == "observation" else "not judged"


def details(step: StepStory) -> Iterator[str]:
    """Why, how it was found, who allowed it, how it went, and on what evidence."""
    why = step.why
    if step.probability is not None:
        why = f"{why} (p={step.probability / MILLION:.2f})"
    told = [f"{step.driver}: {why}"]
    if step.found_by:
        told.append(f"found by {step.found_by}")
    if step.healed:
        told.append(f"healed: {step.healed}")
    if step.rule:
        told.append(f"gate: {step.rule}, {step.approved or step.reason}")
    if step.asked:
        told.append(f"asked: {step.asked}")
    yield "; ".join(told)
    yield from _foreseen(step)
    for advice in step.advice:
        yield f"advice: {advice}"
    if step.phases:
        sure = "" if step.confidence is None else f"; confidence {step.confidence:g}"
        yield f"{step.kind}: {' -> '.join(step.phases)}{sure}"
    if step.verdict and not step.done:
        for tried in step.tried:
            yield f"looked for {tried}"
    yield from _afterwards(step)


def _foreseen(step: StepStory) -> Iterator[str]:
    """Of what was predicted: which workflow it may be, and what could not be done there."""
    if step.within:
        yield f"it may be {' or '.join(step.within)}"
    if step.absent:
        yield absent_in_words(step.absent)


def _afterwards(step: StepStory) -> Iterator[str]:
    for dialog in step.dialogs:
        yield f"the page asked: {dialog}"
    for download in step.downloads:
        yield f"downloaded: {download}"
    for file in step.files:
        yield f"file {file}"
    if step.proof:
        yield f"proof: {step.proof}"
    for evidence in step.evidence:
        yield f"evidence: {evidence}"
    if step.vision is not None:
        yield f"vision: {step.vision}"
    if step.state and step.state != "UNKNOWN":
        yield f"state: {step.state}"
    if step.barrier:
        yield f"barrier: {step.barrier}"
    if step.render_mode == "ghost":
        kept = ", ".join(each.sha256[:12] for each in step.pictures)
        yield f"read from a picture of the page (ghost): {kept}".removesuffix(": ")
    if step.differed:
        yield f"state differed: {step.differed}"
    if step.undone:
        # What was refused was never done: there is nothing to take back.
        how = "refused" if step.undone == UNDONE["refused"] else "taken back"
        yield f"{how}: {step.undone}"
    yield from step.pauses
