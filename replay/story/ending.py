"""An ending is gathered from what a session saw last, and from the step that it was at: what was
wanted there, with the values in it, and what was met."""

from collections.abc import Callable, Mapping

from rutter.actors.rules.pages.address import host_of, is_at
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.events.action import (
    ByBeside,
    ByRole,
    ByText,
    Parameter,
    Target,
    Text,
    Value,
    locator_text,
)
from rutter.events.checks import AlertSaid, Check, TextGone, TextVisible
from rutter.events.critic import ActionJudged
from rutter.events.executor import ActionFailed, QueryFailed, TargetMissing
from rutter.events.observer import DialogOpened, PageObserved, RequestBlocked
from rutter.events.page import Page
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import PlanProposed
from rutter.events.predictor import StepDue
from rutter.events.runtime import SessionStarted
from rutter.replay.fold import Fold, hears
from rutter.replay.story.told_session import Ending
from rutter.replay.story.wording import check_in_words, printable

ALERTS = 3
LONGEST = 120  # characters of what a page calls itself, or says


class EndingFold(Fold):
    """The fold hears a session, and knows at any time how it would end here."""

    def __init__(self) -> None:
        self._values: Mapping[str, str] = {}
        self._page = Page("")
        self._status = 0
        self._due: StepDue | None = None
        self._plan: PlanProposed | None = None
        self._missing: TargetMissing | None = None
        self._failed: ActionFailed | QueryFailed | None = None
        self._said = ""
        self._blocked = ""

        self._judged: ActionJudged | None = None
        self._dialog: DialogOpened | None = None

    @hears
    def _start(self, started: SessionStarted) -> None:
        self._values = started.values

    @hears
    def _see(self, seen: PageObserved) -> None:
        self._page, self._status = seen.page, seen.status

    @hears
    def _fall_due(self, due: StepDue) -> None:
        self._due = due

    @hears
    def _propose(self, plan: PlanProposed) -> None:
        self._plan, self._missing, self._failed, self._judged = plan, None, None, None
        self._said, self._dialog = "", None

    @hears
    def _miss(self, missing: TargetMissing) -> None:
        self._missing = missing

    @hears
    def _fail(self, failed: ActionFailed | QueryFailed) -> None:
        self._failed = failed

    @hears
    def _judge(self, judged: ActionJudged) -> None:
        self._judged = judged

    @hears
    def _answer(self, answer: ApprovalAnswered) -> None:
        self._said = answer.message

    @hears
    def _open_dialog(self, opened: DialogOpened) -> None:
        self._dialog = opened

    @hears
    def _block(self, blocked: RequestBlocked) -> None:
        self._blocked = blocked.host

    def ending(self) -> Ending:
        """As it would be, ended here."""
        plan, due, page = self._plan, self._due, self._page
        if due is not None and plan is not None and due.index == plan.index:
            due = None  # it was begun, or is looked at again after it failed
        step = due.step.action if due is not None else plan.action if plan is not None else None
        ending = Ending(
            due.index if due is not None else plan.index if plan is not None else -1,
            title=_shown(page.title.text),
            url=printable(page.url),
            status=self._status,
            place=self._place(due),
            alerts=[_shown(each.text) for each in page.alerts if each.text][:ALERTS],
            said=_shown(self._said),
            blocked=self._blocked if self._blocked == host_of(page.url)[1] else "",
        )
        if step is None:
            return ending
        ending.does, ending.address = step.type, printable(step.url or "")
        ending.reads = _shown(step.name or "")
        ending.role, name = _called(step.target)
        ending.name, ending.parameter = _shown(self._filled(name)), _parameter(name)
        ending.value, ending.value_of = self._value(step.value)
        if due is None:
            self._met(ending)
        return ending

    def _met(self, ending: Ending) -> None:
        """What came of the step that was begun."""
        if (missing := self._missing) is not None:
            ending.says = _shown(missing.says.text)
            several = (each.matches for each in missing.tries if each.result == "ambiguous")
            ending.several = max(several, default=0)
            results = {each.result for each in missing.tries}
            ending.hidden = "not_visible" in results and not results & {"ambiguous", "taken"}
        if (failed := self._failed) is not None:
            ending.met = _shown(failed.message)
        if isinstance(failed, ActionFailed):
            ending.over, ending.offers = _shown(failed.dialog), _shown(failed.offers)
        if (dialog := self._dialog) is not None:
            ending.asked, ending.answered = _shown(dialog.message.text), dialog.answer
        if self._judged is not None and self._judged.verdict != "confirmed":
            ending.sought = self._sought(self._judged)

    def _place(self, due: StepDue | None) -> str:
        """Where it should have been, if the page is another one."""
        plan, judged = self._plan, self._judged
        place = due.step.before if due is not None and due.unmet else None
        if due is None and plan is not None and judged is not None and plan.expects is not None:
            place = plan.expects.place
        if place is None or not place.origin or is_at(place, self._page.url):
            return ""
        return printable(place.path.replace("*", "..."))

    def _sought(self, judged: ActionJudged) -> str:
        """What is not so on the page, where one check of its kind decided."""
        plan = self._plan
        expects = plan.expects if plan is not None else None
        checks = list(plan.action.verify) if plan is not None else []
        checks += [*expects.checks, *expects.learned] if expects is not None else []
        found = [each for each in checks if each.__struct_config__.tag == judged.code]
        return _unmet(found[0], self._filled) if len(found) == 1 else ""

    def _value(self, value: Value | None) -> tuple[str, str]:
        """What is typed or chosen, and whose value it is. A secret is nobody's to see."""
        match value:
            case Text(text):
                return _shown(text), ""
            case Parameter(name):
                return _shown(self._values.get(name, "")), name
            case _:
                return "", ""

    def _filled(self, text: str) -> str:
        """With the values in it, where they are known."""
        return PLACEHOLDER.sub(lambda found: self._values.get(found[1], f"<{found[1]}>"), text)


def _called(target: Target | None) -> tuple[str, str]:
    """Of which kind the element is, and its name, as far as anybody knows them."""
    role = name = ""
    for locator in target.strategies if target is not None else ():
        if isinstance(locator, ByRole):
            role, name = role or locator.role, name or locator.name
        elif isinstance(locator, ByText | ByBeside):
            name = name or locator.text
    print_ = target.fingerprint if target is not None else None
    if print_ is not None:
        role, name = role or print_.role, name or print_.name.text
    if not name and target is not None and target.primary is not None:
        name = locator_text(target.primary)
    return role, name


def _parameter(text: str) -> str:
    """The parameter whose value stands in it."""
    found = PLACEHOLDER.search(text)
    return found[1] if found else ""


def _unmet(check: Check, filled: Callable[[str], str]) -> str:
    match check:
        case TextVisible(value):
            return _shown(f'the page does not show "{filled(value)}"')
        case TextGone(value):
            return _shown(f'the page still shows "{filled(value)}"')
        case AlertSaid(value):
            return _shown(f'the page does not say "{filled(value).replace("*", "...")}"')
        case _:
            return _shown(f"it is not so that {filled(check_in_words(check))}")


def _shown(text: str) -> str:
    plain = " ".join(text.split())
    return printable(plain if len(plain) <= LONGEST else plain[: LONGEST - 3] + "...")
