"""Proofs say step by step how sure it is that the application has what a session sent, and where
a run could look to prove more."""

import msgspec

from rutter.events.checks import ReadBack
from rutter.events.critic import Grade

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
