"""The policy bench measures one verdict on a resolved element, which every step pays for.

Fifty microseconds are aimed at; it is told beside that, and never asserted.
"""

from time import perf_counter_ns

from bench.tables import Cell, middle, print_table
from rutter.actors.rules.policy.policy import DEFAULT_POLICY, PolicyCase, is_irreversible, judge
from rutter.events.action import Action, ByCss, ByRole, Target, Text, Untrusted
from rutter.events.page import Resolved
from rutter.events.policy import Policy, PolicyRule
from rutter.events.workflow import Driver

ROUNDS = 2_001
AIM_US = 50
ORIGIN = "https://shop.example"
TARGET = Target((ByCss('[data-testid="review"]'), ByCss("#review"), ByRole("button", "Review")))
BUTTON = Resolved(
    tag="button",
    digest="0123456789abcdef",
    role="button",
    name=Untrusted("Review the order before it goes out"),
    text=Untrusted("Review the order before it goes out"),
    form_action=f"{ORIGIN}/orders/*",
    form_method="post",
    submits=True,
    origin=ORIGIN,
    icon=Untrusted("btn btn-primary icon-eye"),
)
LINK = Resolved(
    tag="a",
    digest="fedcba9876543210",
    role="link",
    name=Untrusted("Show all orders of this month"),
    href=f"{ORIGIN}/orders",
    origin=ORIGIN,
)
FIELD = Resolved(tag="input", digest="0f", role="textbox", name=Untrusted("Note"), origin=ORIGIN)
RULES = tuple(
    PolicyRule(f"rule {number}", "ask", actions=("click",), says=(f"word {number}",))
    for number in range(20)
)
ALLOWED = Policy("1", DEFAULT_POLICY.denylist, hosts=("shop.example",), public_hosts=False)
WRITTEN = Policy("2", DEFAULT_POLICY.denylist, hosts=("shop.example",), rules=RULES)


def _cases(policy: Policy, driver: Driver) -> dict[str, PolicyCase]:
    click = Action("click", target=TARGET)
    return {
        "a button that sends a form": PolicyCase(policy, click, driver, BUTTON),
        "a link": PolicyCase(policy, click, driver, LINK),
        "typing": PolicyCase(policy, Action("type", target=TARGET, value=Text("a")), driver, FIELD),
        "an address": PolicyCase(policy, Action("navigate", url=f"{ORIGIN}/orders/new"), driver),
    }


def _took_us(case: PolicyCase, rounds: int = ROUNDS) -> float:
    took = []
    for _ in range(rounds):
        began = perf_counter_ns()
        judge(case)
        is_irreversible(case)
        took.append((perf_counter_ns() - began) / 1_000)
    return middle(took)


def main() -> None:
    rows: list[tuple[Cell, ...]] = []
    for name, policy in (("built in", ALLOWED), ("and 20 written rules", WRITTEN)):
        for what, case in _cases(policy, "agent").items():
            rows.append((name, what, judge(case).effect, _took_us(case), AIM_US))
    print_table(
        "verdict, and whether it can be undone", ("rules", "what", "verdict", "us", "aim us"), rows
    )
