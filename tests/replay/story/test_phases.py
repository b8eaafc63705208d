"""S2 7: five phases for what acts, three for what only reads."""

from typing import get_args

from rutter.events.action import Kind
from rutter.events.critic import ActionJudged
from rutter.events.event import Event
from rutter.events.executor import QueryAnswered, TargetResolved
from rutter.events.validator import ActionApproved, ActionRejected
from rutter.replay.story.phases import PHASES, entered, heading
from tests.support import shop_facts
from tests.support.case_table import for_each


@for_each("kind", get_args(Kind))
def test_every_kind_has_its_phases(kind: Kind) -> None:
    assert [heading(phase, kind) for phase in PHASES[kind]] == (
        ["PHASE 1: PLAN", "PHASE 2: OBSERVE", "PHASE 3: COMMIT"]
        if kind == "observation"
        else [
            *("PHASE 1: PLAN", "PHASE 2: POLICY CHECK", "PHASE 3: ACT"),
            *("PHASE 4: VERIFY", "PHASE 5: COMMIT"),
        ]
    )


@for_each(
    "event",
    [
        TargetResolved(1, 1, shop_facts.element()),
        ActionApproved(1, "r", "because", "1"),
        ActionRejected(1, "r", "because", "1", "policy_denied"),
        shop_facts.judged(),
        QueryAnswered(1, 1, 5),
    ],
)
def test_nothing_takes_an_observation_through_policy_or_verification(event: Event) -> None:
    assert not {"POLICY CHECK", "ACT", "VERIFY"} & set(entered(event, "observation"))


def test_a_verdict_verifies_and_commits() -> None:
    assert entered(ActionJudged(1, 1, "failed", "r"), "action") == ("VERIFY", "COMMIT")


def test_what_is_of_no_phase_enters_none() -> None:
    assert entered(shop_facts.saw(shop_facts.page()), "action") == ()
