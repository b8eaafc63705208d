"""A step merge joins one step of two recordings: what was edited and approved is kept, what only
one of them saw is no longer awaited. Joining a step with itself changes nothing."""

import msgspec

from rutter.actors.rules.workflows.alignment import answers_of, both_places, meets
from rutter.events.action import Action, Parameter, Secret, Text
from rutter.events.checks import PageState
from rutter.events.workflow import Expectation, Place, Step

SIGN_IN: PageState = "LOGIN_REQUIRED"


def joined(known: Step, new: Step, *, newest_first: bool = True) -> Step:
    """The known step, with what the new recording adds to it. `newest_first`: what is typed in both
    is what was typed last."""
    if known == new:
        return known
    action = _action(known.action, new.action)
    if newest_first and types_otherwise(known, new):
        action = msgspec.structs.replace(action, value=new.action.value)
    return msgspec.structs.replace(
        known,
        action=action,
        before=_before(known.before, new.before),
        after=joined_after(known.after, new.after),
        # Who recorded it last approved the element as it is now.
        standing_approval=new.standing_approval or known.standing_approval,
        state=_state(known.state, new.state),
        irreversible=known.irreversible or new.irreversible,
        picture=new.picture or known.picture,
    )


def joined_after(known: Expectation, new: Expectation) -> Expectation:
    """What both led to. What somebody stated of the known one holds, whatever was recorded since;
    where only the new one has something stated, that does."""
    if known == new:
        return known
    led = known.place is not None and new.place is not None and meets(known.place, new.place)
    if not led or known.place is None or new.place is None or known.moved != new.moved:
        place, moved = None, False
    else:
        place, moved = both_places(known.place, new.place), known.moved
    return Expectation(
        effect=known.effect and new.effect,
        moved=moved,
        place=place,
        headings=tuple(each for each in known.headings if each in new.headings),
        learned=tuple(each for each in known.learned if each in new.learned),
        checks=known.checks or new.checks,
        read_back=known.read_back or new.read_back,
        state=known.state if known.state == new.state else None,
    )


def types_otherwise(known: Step, new: Step) -> bool:
    """Two literals in one field: it seems to vary."""
    a, b = known.action.value, new.action.value
    return isinstance(a, Text) and isinstance(b, Text) and a != b


def _before(known: Place, new: Place) -> Place:
    return both_places(known, new) if meets(known, new) else known


def _state(known: PageState | None, new: PageState | None) -> PageState | None:
    """A sign-in stays one: no other step is due on such a page."""
    if known == new or SIGN_IN in (known, new):
        return known if known == new else SIGN_IN
    return None


def _action(known: Action, new: Action) -> Action:
    """A name for what is typed, or for what an element is found by, is kept whoever gave it."""
    better = _names(new) > _names(known) and _names(known) == 0
    chosen = new if better else known
    dialogs = known.dialogs + tuple(
        each for each in new.dialogs if (each.kind, each.message) not in answers_of(known.dialogs)
    )
    if not better and _is_elsewhere(known, new):
        chosen = msgspec.structs.replace(known, target=new.target)
    tab = known.tab if known.tab is not None else new.tab
    return msgspec.structs.replace(chosen, dialogs=dialogs, tab=tab)


def _names(action: Action) -> int:
    by_name = sum("${" in str(locator) for locator in action.locators)
    return by_name + isinstance(action.value, Parameter | Secret)


def _is_elsewhere(known: Action, new: Action) -> bool:
    """Its best locator leads there no longer: the page names it otherwise now."""
    if known.target is None or new.target is None or _names(known):
        return False
    return known.target.primary not in new.target.strategies
