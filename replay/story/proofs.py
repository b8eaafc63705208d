"""Proofs say step by step how sure it is that the application has what a session sent, and where
a run could look to prove more."""

import msgspec

from rutter.actors.rules.steps.proof_grades import lasting
from rutter.events.checks import ReadBack
from rutter.events.critic import ActionJudged, CompletionChecked, Grade, Proof, ReadBackFound
from rutter.events.runtime import SessionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Workflow

BY_PAGE = "what the page showed"  # what the Critic says where no answer of the server was seen


class ProofStory(msgspec.Struct, frozen=True):
    """A proof story tells of a step that sent something. `index` is its place in the workflow, or
    -1. `read_back` was found by itself, and was not in the workflow."""

    step: int
    index: int = -1
    grade: Grade = ""
    by: str = ""
    read_back: ReadBack | None = None

    @property
    def number(self) -> int:
        """As `workflows show` counts, where it is a step of a workflow."""
        return self.index + 1 if self.index >= 0 else self.step

    @property
    def words(self) -> str:
        if self.grade == "stored":
            return f"the application has it: {self.by}"
        if self.grade == "acknowledged":
            return f"taken, and not read back: {self.by}"
        return "nothing shows that the application has it"


class ProofsFold:
    """The fold hears a session and grades each step that sent something."""

    def __init__(self) -> None:
        self._workflow: Workflow | None = None
        self._proofs: dict[int, Proof] = {}
        self._found: dict[int, ReadBack] = {}

    def hear(self, event: AnyEvent) -> None:
        match event:
            case SessionStarted(workflow=workflow):
                self._workflow = workflow
            case ActionJudged(proof=Proof() as proof):
                self._proofs[proof.step] = proof
            case CompletionChecked(proofs=proofs):  # a later step may have proven an earlier one
                self._proofs |= {proof.step: proof for proof in proofs}
            case ReadBackFound(step=step, read_back=back):
                self._found[step] = back
            case _:
                pass

    @property
    def found(self) -> dict[int, ReadBack]:
        """Where what a step sent showed, by the step."""
        return dict(self._found)

    def told(self) -> list[ProofStory]:
        return [
            ProofStory(each.step, each.index, each.grade, each.by, self._proposed(each))
            for each in sorted(lasting(self._proofs.values()), key=lambda each: each.step)
        ]

    def _proposed(self, proof: Proof) -> ReadBack | None:
        steps = self._workflow.steps if self._workflow is not None else ()
        known = 0 <= proof.index < len(steps) and steps[proof.index].after.read_back is not None
        return None if known else self._found.get(proof.step)
