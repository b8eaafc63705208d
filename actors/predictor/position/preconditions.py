"""A step's precondition is its recorded situation: its page, its place, no sign-in in between."""

from rutter.actors.rules.pages.address import place_of, stands_at
from rutter.actors.rules.pages.changes import PageMoment
from rutter.events.checks import PageState
from rutter.events.workflow import Step


def unmet(step: Step, look: PageMoment) -> str:
    """What of the recorded situation is missing now; empty when nothing is."""
    page = look.page
    wanted = step.action.tab
    if wanted is not None and wanted != page.tab:
        return f"recorded in tab {wanted + 1}, in front is tab {page.tab + 1} of {page.tabs}"
    if needs_no_place(step):
        return ""
    if not stands_at(step.before, page):
        here = place_of(page.url)
        recorded = f"{step.before.origin}{step.before.path}"
        return f"recorded at {recorded}, now at {here.origin}{here.path}"
    if _is_in_another(step.state, look.state):
        return f"recorded on a page that is {step.state}, this one is {look.state}"
    return ""


def needs_no_place(step: Step) -> bool:
    """A navigation needs no situation, nor does a look that was put in by hand."""
    put_in = step.action.type == "check" and not step.before.origin
    return step.action.type == "navigate" or put_in


def _is_in_another(recorded: PageState | None, now: PageState) -> bool:
    """A site may show a sign-in page under any address. Other states are told after the step: a
    notice about something else makes many a page look like another."""
    return now == "LOGIN_REQUIRED" and recorded not in (None, now)
