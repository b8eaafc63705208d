"""An outcome says what acting or reading came to, in terms made of the page's answers."""

from typing import Any, NamedTuple

import msgspec

from rutter.actors.rules.text.untrusted import plain
from rutter.events.action import Action, ByRef, Untrusted
from rutter.events.executor import ErrorCode
from rutter.events.page import Resolved, Try
from rutter.events.tables import Table


class ActionOutcome(NamedTuple):
    """An action came to this. `changed` means that nothing was done; `dialog` is in the way."""

    code: ErrorCode | None = None
    message: str = ""
    dispatched: bool = True
    navigated: bool = False
    value_set: bool | None = None
    extracted: str | None = None
    table: Table | None = None
    pages: int = 0
    unread: bool = False
    typed: str | None = None
    changed: Resolved | None = None
    dialog: str = ""
    offers: str = ""
    file: bool = False
    hung: bool = False


def refused_by(checked: dict[str, Any]) -> ActionOutcome | None:
    """The pre-check's no, as an outcome: nothing was dispatched."""
    if checked.get("changed"):
        try:
            changed = msgspec.convert(checked["changed"], Resolved)
        except msgspec.ValidationError as error:
            return ActionOutcome("action_failed", str(error), dispatched=False)
        return ActionOutcome(changed=changed, dispatched=False)
    if checked.get("code"):
        said, dialog = (str(checked.get(name, "")) for name in ("message", "dialog"))
        return ActionOutcome(checked["code"], said, dispatched=False, dialog=dialog)
    return None


def table_of(raw: dict[str, Any] | None) -> Table | None:
    """The rows of a table that was read; what a person would not see in them is not there."""
    if raw is None:
        return None

    def said(texts: list[str]) -> tuple[Untrusted, ...]:
        return tuple(plain(Untrusted(text)) for text in texts)

    rows = tuple(said(row) for row in raw["rows"])
    [caption] = said([raw["caption"]])
    return Table(said(raw["columns"]), rows, caption, raw["left_off"], raw["cut"])


def missing_by(action: Action, tries: tuple[Try, ...]) -> ErrorCode:
    results = {entry.result for entry in tries}
    if "ambiguous" in results:
        return "element_ambiguous"
    if "not_visible" in results:
        return "element_not_visible"
    locators = action.target.strategies if action.target is not None else ()
    if any(isinstance(locator, ByRef) for locator in locators):
        return "ref_invalid"
    return "element_not_found"
