"""Steps of each kind stand as their events tell them: what people see is made of these."""

from typing import Any

from rutter.events.action import Action, Untrusted
from rutter.events.advisor import (
    AdviceFailed,
    AdvicePrepared,
    AdviceReceived,
    Proposal,
    TokenUsage,
    VisionGiven,
)
from rutter.events.checks import FileExists, ReadBack, TextVisible
from rutter.events.critic import (
    ActionJudged,
    Evidence,
    FilesRequested,
    PageAssessed,
    ReadBackDue,
    StateDiffered,
    VisionSought,
)
from rutter.events.executor import QueryAnswered, QueryFailed, TargetResolved
from rutter.events.observer import DownloadFinished, FileSeen, FilesSeen
from rutter.events.page import Artifact
from rutter.events.planner import AdviceRequested, ObservationRequested
from rutter.events.tools import FileRead, ToolCalled
from rutter.events.validator import ActionApproved, ActionRejected, PlanAdmitted, QueryStarted
from rutter.events.vocabulary import AnyEvent
from tests.support import shop_facts

SAVE = shop_facts.click("#save")
READ = Action("extract", target=shop_facts.css("#n"), name="order_number")
WAIT = Action("wait_for", target=shop_facts.css("#there"))
CHECK = Action("check", verify=(TextVisible("Order sent"), FileExists("orders.csv")))
LOOK = ReadBack(shop_facts.ORIGIN + "/orders?of=me", (TextVisible("Order 7"),))
ASIDE = Action("navigate", url=LOOK.url, verify=LOOK.checks, aside=True)
SURE, DOUBTFUL = 1_000_000, 200_000
PROMPT = Artifact("5e" * 32, 4_400, "application/json")
Told = tuple[AnyEvent, ...]


def dom(checked: str, confidence: int = SURE, sample: str = "") -> Evidence:
    return Evidence("DOM", checked, confidence, Untrusted(sample) if sample else None)


def judged(number: int, verdict: Any = "confirmed", *evidence: Evidence, sure: int = SURE) -> Any:
    reason = "as_recorded" if verdict == "confirmed" else "text_visible 'Order 7': not shown"
    return ActionJudged(number, 1, verdict, reason, evidence, sure)


def acted(action: Action, number: int = 1, **more: Any) -> Told:
    """Planned, allowed and done; not judged yet."""
    driver = more.pop("driver", "workflow")
    return (
        shop_facts.plan(action, driver, number=number, **more),
        ActionApproved(number, "nothing_matched", "no rule is against it", "1"),
        shop_facts.intent(action, number),
        shop_facts.done(number),
        shop_facts.saw(shop_facts.page("/saved")),
    )


def read(number: int = 1, text: str = "1007", driver: Any = "workflow") -> Told:
    """An observation that found what it looked for."""
    return (
        shop_facts.plan(READ, driver, number=number, kind="observation"),
        PlanAdmitted(number, 1, READ, 3_000),
        TargetResolved(number, 1, shop_facts.element(name="Number")),
        QueryStarted(number, 1, READ, "e1"),
        QueryAnswered(number, 1, 2_000, Untrusted(text)),
        shop_facts.saw(shop_facts.page("/saved")),
        PageAssessed("COMPLETE"),
    )


def waited_in_vain(number: int = 1) -> Told:
    return (
        shop_facts.plan(WAIT, "workflow", number=number, kind="observation"),
        QueryStarted(number, 1, WAIT),
        QueryFailed(number, 1, "timeout", "3000 ms", 3_000_000),
        shop_facts.saw(shop_facts.page("/saved")),
    )


def read_back(number: int = 1, verdict: Any = "confirmed") -> Told:
    """A step whose verdict waits for a look elsewhere, which is the step after it."""
    sure = SURE if verdict == "confirmed" else DOUBTFUL
    return (
        *acted(SAVE, number),
        ReadBackDue(number, 1, LOOK),
        *acted(ASIDE, number + 1, kind="verification", read_back_of=number),
        judged(number + 1, verdict, dom("Order 7", sure, "Your Order 7 is"), sure=sure),
        judged(number, verdict, dom("/saved"), dom("Order 7", sure), sure=sure),
        ObservationRequested("aside_over", 0),
        shop_facts.saw(shop_facts.page("/saved")),
        PageAssessed("ACCOUNT_ACTIVE"),
    )


def checked(number: int = 1, verdict: Any = "failed") -> Told:
    """A verification of a text and a file that fails; a picture is asked and changes nothing."""
    file = FileSeen("orders.csv", exists=True, size=12)
    sure = SURE if verdict == "confirmed" else 650_000
    return (
        *acted(CHECK, number, kind="verification"),
        DownloadFinished(Untrusted("orders.csv"), failure="too large"),
        FilesRequested(number, (FileExists("orders.csv"),), 1_000),
        FilesSeen(number, (file, FileSeen("/etc/x", error="policy_denied", message="outside"))),
        VisionSought(number, 1, "Order sent"),
        VisionGiven(
            number,
            1,
            "VERIFIED",
            "scripted",
            "it says \N{SHIP}",
            took_ms=5,
            model="eyes-2",
            usage=TokenUsage(1_100, 20, 100, 50),
            cost_microdollars=3_600,
        ),
        judged(
            number,
            verdict,
            Evidence("FILE", "orders.csv", SURE),
            dom("Order sent", SURE if verdict == "confirmed" else DOUBTFUL),
            Evidence("VISION", "Order sent", 500_000),
            sure=sure,
        ),
        StateDiffered(number, 1, "COMPLETE", "RETENTION_OFFER"),
        PageAssessed("RETENTION_OFFER"),
    )


def repaired(number: int = 1) -> Told:
    """A step whose element is gone: a model is overloaded, then asked again, and says how. That is
    the step after it."""
    step = number + 1
    proposal = Proposal(
        SAVE, 900_000, "RETENTION_OFFER", "COMPLETE", reasoning=Untrusted("it is \N{SHIP} now")
    )
    return (
        shop_facts.plan(shop_facts.click("#old"), "workflow", number=number, index=0),
        ActionRejected(number, "target", "not there", "1", "execution_error"),
        AdviceRequested("a1", "repair", "anthropic", "m", step=step, index=0, note="it is gone"),
        AdvicePrepared("a1", PROMPT, 1_100),
        AdviceFailed("a1", "anthropic", "overloaded", True, "busy", 20),
        AdviceRequested("a2", "repair", "anthropic", "m", 2, step=step, index=0),
        AdvicePrepared("a2", PROMPT, 1_100, missing=("picture",)),
        AdviceReceived(
            "a2",
            "anthropic",
            "m-2",
            proposal=proposal,
            usage=TokenUsage(1_200, 80, 1_000),
            cost_microdollars=4_800,
            took_ms=700,
        ),
        *acted(SAVE, step, driver="model", index=0),
        judged(step),
    )


def file_read(error: Any = "") -> Told:
    """A file that was read for a call of a tool."""
    text = None if error else Untrusted("one\ntwo")
    return (
        ToolCalled("c1", "read_file", '{"path":"customers.csv"}'),
        FileRead("c1", text, error, "outside" if error else ""),
    )
