"""A recorded person enters and sends values: here is where each must show when it is looked for.

They act and nobody asks before they do, so that only what the page sent tells which of their steps
it was. Pure.
"""

from collections.abc import Iterable, Mapping

import msgspec

from rutter.actors.critic.proof import SETS_OFF, EnteredValue, SessionProof, remember, to_look_for
from rutter.actors.rules.pages.address import origin_of
from rutter.actors.rules.pages.server_exchanges import is_open, is_own, taken
from rutter.actors.rules.workflows.templates import template
from rutter.events.executor import PersonActed
from rutter.events.page import Exchange


class SentStep(msgspec.Struct, frozen=True):
    """A step sent something, led to this page, and these values had been entered by then."""

    acted: PersonActed
    url: str
    sought: tuple[EnteredValue, ...]


class PersonsWork(msgspec.Struct, frozen=True):
    """A person did one thing last, and one that sent something."""

    acted: PersonActed | None = None
    sending: SentStep | None = None


def entered_by(
    proving: SessionProof, acted: PersonActed, values: Mapping[str, str]
) -> SessionProof:
    """With what they typed; without what they picked by its name, for that was there before."""
    proving = remember(proving, acted.action, None, acted.element, values)
    name = acted.element.name.text if acted.element is not None else ""
    if acted.action.type not in SETS_OFF or not name:
        return proving
    picked = (each.written for each in proving.entered if each.value in name)
    known = tuple(dict.fromkeys((*proving.known, *picked)))
    return msgspec.structs.replace(proving, known=known)


def sent_by(
    hand: PersonsWork, proving: SessionProof, url: str, exchanges: Iterable[Exchange]
) -> PersonsWork:
    """The page was seen: whether what they did last has sent something, and where it led. What is
    still being answered counts: the look that follows from it shows what came of it."""
    acted = hand.acted
    if acted is None or acted.action.type not in SETS_OFF:
        return hand
    signs_in = acted.element is not None and acted.element.signs_in
    known = hand.sending is not None and hand.sending.acted.step == acted.step
    took = any((is_open(each) or taken(each)) and is_own(each, url) for each in exchanges)
    sought = to_look_for(proving)
    if signs_in or not sought or not (known or took) or not origin_of(url):
        return hand
    return msgspec.structs.replace(hand, sending=SentStep(acted, url, sought))


def varied(
    proving: SessionProof, hand: PersonsWork, value: str, name: str
) -> tuple[SessionProof, PersonsWork]:
    """They said that this value varies: it is looked for by its name, in this run and later."""

    def named(each: EnteredValue) -> EnteredValue:
        return EnteredValue(template(name), each.value) if each.value == value.strip() else each

    entered, sending = tuple(map(named, proving.entered)), hand.sending
    if sending is not None:
        sought = tuple(map(named, sending.sought))
        sending = msgspec.structs.replace(sending, sought=sought)
        hand = msgspec.structs.replace(hand, sending=sending)
    return msgspec.structs.replace(proving, entered=entered), hand
