"""A told session holds what is told of it, of each of its steps, and what bears them out."""

import msgspec

from rutter.actors.rules.steps import proof_grades
from rutter.events.action import Kind, RenderMode
from rutter.events.causes import OTHER, Cause, PlanSource
from rutter.events.checks import ReadBack
from rutter.events.critic import Grade, Proof
from rutter.events.page import Artifact
from rutter.replay.story.advice import AdviceStory, VisionStory
from rutter.replay.story.phases import Phase
from rutter.replay.story.proofs import ProofStory
from rutter.replay.story.results import SentFile, TableRows

UNTIMED = 0.0  # how long what is not over took


class EvidenceStory(msgspec.Struct, omit_defaults=True):
    """An evidence story says what one source said (S2 5.1), as text that any terminal takes."""

    source: str
    checked: str
    confidence: float
    sample: str = ""

    def __str__(self) -> str:
        sample = f" (sample '{self.sample}')" if self.sample else ""
        return f"{self.source} '{self.checked}'{sample}, confidence {self.confidence:g}"


class StepAccount(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A step account is what the record of a step holds and its story tells alike.

    `verdict` is the Critic's; of an observation it is `answered` or `failed`, for nothing of it is
    judged, and `rejected` or `passed_over` of what was not begun. `index` is its place in a
    workflow or script, or -1. `advice` is what language models were asked before it was planned.
    What was predicted says which workflows it seems to be `within`, and how many likelier actions
    were `absent` from the page; `undone` is how a person took it back. `pauses` came while it was
    under way, or behind it. Where its element was not there, `looked_for` are its locators in
    words, and `instead` what was most like it. `waited_ms` is how long its element was waited for
    in vain. `proof` says in words how far it is proven that the application has what the step sent.
    `untyped`: a person said yes, and not in the word that was asked for.
    """

    kind: Kind = "action"
    source: PlanSource = "other"
    index: int = -1
    phases: list[Phase] = []
    url: str = ""
    probability: int | None = None
    within: list[str] = []
    absent: int = 0
    undone: str = ""
    attempts: int = 1
    element: str = ""
    role: str = ""
    found_by: str = ""
    waited_ms: int = 0
    healed: str = ""
    tried: list[str] = []
    looked_for: list[str] = []
    instead: list[str] = []
    verdict: str = ""
    reason: str = ""
    code: str = ""
    rule: str = ""
    untyped: bool = False
    approved: str = ""
    asked: str = ""
    proof: str = ""
    vision: VisionStory | None = None
    state: str = ""
    barrier: str = ""
    differed: str = ""
    files: list[str] = []
    downloads: list[str] = []
    dialogs: list[str] = []
    advice: list[AdviceStory] = []
    screenshot: Artifact | None = None
    extracted: str | None = None
    render_mode: RenderMode = "dom"
    pictures: tuple[Artifact, ...] = ()
    pauses: list[str] = []

    @property
    def done(self) -> bool:
        """It is known to have come to what it was for."""
        return self.verdict in ("confirmed", "answered")


class Ending(msgspec.Struct, omit_defaults=True):
    """An ending holds what a sentence about a session that failed is made of.

    That is the page that it was on, and of its step what was wanted, with the values in it.

    `index` is the place of the step in its workflow, or -1. `parameter` is whose value the name of
    the element has in it, `value_of` whose value was typed or chosen. `place` is where the step is
    done, if the page is another one. `says` is what the page says of there being nothing; `like`
    names what is most like what was wanted, `several` how many fit; `hidden`: it is there, and
    cannot be seen. What was to be read is kept as `reads`. `met` is what the Executor met,
    in words, `over` the dialog in the way, `offers` what a list has, `said` the answer of a person.
    `sought` is what a check looked for in vain. `address` is what was gone to; the page is of a
    host that was `blocked`. A dialog of the page `asked` something, and was `answered` so.
    """

    index: int = -1
    does: str = ""
    title: str = ""
    url: str = ""
    status: int = 0
    place: str = ""
    role: str = ""
    name: str = ""
    parameter: str = ""
    value: str = ""
    value_of: str = ""
    says: str = ""
    several: int = 0
    met: str = ""
    over: str = ""
    offers: str = ""
    alerts: list[str] = []
    said: str = ""
    sought: str = ""
    blocked: str = ""
    address: str = ""
    hidden: bool = False
    like: str = ""
    reads: str = ""
    asked: str = ""
    answered: str = ""


class StepStory(StepAccount):
    """A step story tells one step with everything that was decided about it.

    `step` is 0 for a file that was read for a call: it has no number.
    """

    step: int
    driver: str
    words: str
    why: str
    evidence: list[EvidenceStory] = []
    confidence: float | None = None
    read_backs: list["StepStory"] = []
    began_ns: int = 0
    took_ms: float = UNTIMED


class Story(msgspec.Struct, omit_defaults=True):
    """`error_code`, `retriable` and `hint` are there when it failed: of what kind the failure is,
    whether the same may be run again, and what to do (E5). `sent`: something that cannot be undone
    was done, or may have been. `tokens` and `cost_microdollars` are of all `model_calls` but the
    `unpriced` ones, whose cost is not known; `advice` is what led to no step. `led`: a model or the
    service led it to its `goal`; `gave_up` is what the model said when it did, `unmet` why the page
    did not bear out that it was done. `results` is what it read, `tables` the rows of what was one;
    `downloads` are files that it was sent. `forgotten`: what it taught no longer counts, and why.
    `pauses` are those before its first step. `expired` are the digests of what it named that went
    by a rule since. `page` is where it was when it ended, `expected` where it should have been, and
    `start` where it began, `ending` what is to be said of it. `proofs` are of the steps that sent
    something, `read_backs` where that showed when it was looked for, by the number of the step."""

    session: str = ""
    purpose: str = ""
    name: str = ""
    goal: str = ""
    led: bool = False
    dry_run: bool = False
    version: int | None = None
    values: dict[str, str] = {}
    started_ns: int = 0
    ended_ns: int = 0
    took_ms: float = 0.0
    reason: str = "running"
    failure: str = ""
    detail: str = ""
    cause: Cause = OTHER
    gave_up: str = ""
    unmet: str = ""
    steps: list[StepStory] = []
    results: dict[str, str] = {}
    tables: dict[str, TableRows] = {}
    downloads: list[SentFile] = []
    state: str = ""
    barrier: str = ""
    model_calls: int = 0
    tokens: int = 0
    cost_microdollars: int = 0
    unpriced: int = 0
    advice: list[AdviceStory] = []
    events: int = 0
    screenshot: Artifact | None = None
    unknown: str = ""
    sent: bool = False
    proofs: list[ProofStory] = []
    read_backs: dict[int, ReadBack] = {}
    erased: int = 0
    forgotten: str | None = None
    logins: list[str] = []
    unkept: list[str] = []
    pauses: list[str] = []
    expired: list[str] = []
    page: str = ""
    expected: str = ""
    start: str = ""
    ending: Ending | None = None
    error_code: str = ""
    retriable: bool | None = None
    hint: str = ""

    @property
    def proof(self) -> Grade | None:
        """How far all of what was sent is proven; nothing where nothing was sent."""
        return proof_grades.overall(Proof(each.step, grade=each.grade) for each in self.proofs)

    @property
    def lacking(self) -> ProofStory | None:
        """The step for whose sake a session that came to its end is not verified."""
        if self.cause.kind != "unproven":
            return None
        weak = [each for each in self.proofs if each.grade != "stored"]
        return min(weak, key=lambda each: each.grade != "", default=None)

    @property
    def calls(self) -> list[AdviceStory]:
        """All that language models were asked, in order."""
        return [*(call for step in self.steps for call in step.advice), *self.advice]

    @property
    def unanswered(self) -> dict[str, AdviceStory]:
        """The providers that did not answer in the end, each with the call that came to nothing."""
        latest = {call.provider: call for call in self.calls if call.ended != "waiting"}
        return {
            who: call for who, call in latest.items() if not call.answered and call.ended != "lost"
        }


def as_json(story: Story) -> dict[str, object]:
    """For machines: what it spent and how far it is proven is always there, nothing too."""
    spent = {name: getattr(story, name) for name in ("model_calls", "tokens", "cost_microdollars")}
    built: dict[str, object] = msgspec.to_builtins(story)
    return built | spent | {"proof": story.proof, "proofs": msgspec.to_builtins(story.proofs)}
