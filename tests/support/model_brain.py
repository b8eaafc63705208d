"""A policy plays the model: it reads what it is sent and answers as a model would.

It has no list of answers and knows no site. It weighs the words of every control against the goal,
looks at what its last call came to, and does not repeat what failed. `Quirks` are how models go
wrong.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from rutter.actors.world.models.messages import ResultsTurn
from rutter.events.checks import PageState
from tests.support.prompt_reader import (
    Line,
    Sight,
    goal_of,
    marked,
    read_page,
    told,
    unmarked,
    words_of,
)
from tests.support.provider_server import Answer, Call, Heard

Aim = Literal["cancel", "pause"]

# What a control says: of leaving, of going on, of what is to be left, of staying, of other things.
LEAVING = words_of("cancel cancellation end leave leaving unsubscribe terminate")
ONWARD = words_of("continue proceed next no decline still finish confirm yes now")
THING = words_of("membership plan subscription account")
STAYING = words_of("stay keep pause break half free offer accept back take restart")
OTHER = words_of("changes download profile watching later films series help sign log out password")
PAUSING = words_of("pause break")
RETURNING = words_of("keep back")
CLOSING = words_of("close dismiss got ok x")
ELSE = words_of("other another else")  # what a person says who wants the same by another button
_REJECTED = re.compile("human_rejected|User feedback")
BLANK = ("choose", "select", "please")
MOST_CLICKS = 2  # of one control on one page
ENOUGH_DENIALS = 2
SURE, UNSURE = 0.92, 0.41


@dataclass(frozen=True)
class Quirks:
    """A quirk happens once, `several_calls` in every answer, `says_only` that many times."""

    wrong_first: bool = False  # presses what only sounds right
    too_early: bool = False  # claims success before anything was done
    unsure_first: bool = False  # is not certain of its first proposal
    several_calls: bool = False  # wants two things done at once
    skips_confirmation: bool = False  # claims the end, or goes there, in place of the last step
    says_only: int = 0  # talks and calls nothing


class Move(NamedTuple):
    """A move is what to do next: an element with what is done to it, or no element."""

    kind: Literal["click", "fill", "select", "look", "done", "give_up", "goto"]
    line: Line | None = None
    value: str = ""
    why: str = ""
    aside: bool = False  # only clears the way


class Past(NamedTuple):
    """The prompt tells what the last call came to."""

    tool: str = ""
    error: str = ""
    message: str = ""
    acknowledged: bool = True


@dataclass
class Reader:
    """A reader, `Reader(Quirks(...))`, is a brain for `WireServer`. One a session: it remembers."""

    quirks: Quirks = Quirks()
    aim: Aim = "cancel"
    asked: int = 0
    _quirked: set[str] = field(default_factory=set)
    _clicks: Counter[tuple[str, str]] = field(default_factory=Counter)
    _failed: set[tuple[str, str]] = field(default_factory=set)
    _filled: set[tuple[str, str]] = field(default_factory=set)
    _last: tuple[str, Move] | None = None
    _led: list[str] = field(default_factory=list)
    _been: list[str] = field(default_factory=list)
    _denials: int = 0
    _given_up: str = ""
    _obscured: bool = False
    _unsure_of_page: bool = False

    def __call__(self, heard: Heard) -> Answer:
        self.asked += 1
        if self.asked == 1 and PAUSING & words_of(goal_of(heard)):
            self.aim = "pause"
        sight = read_page(heard)
        if sight.url and sight.url not in self._been:
            self._been.append(sight.url)
        if self.asked <= self.quirks.says_only:
            return self._answer(heard, "I would look for the button that ends the membership.")
        if "verdict" in heard.tools:
            verdict = {"said": "UNKNOWN", "message": "the picture does not tell"}
            return self._answer(heard, calls=(Call("verdict", verdict),))
        if "browser_action" in heard.tools:
            return self._propose(heard, sight)
        self._learn(_past(heard))
        return self._act(heard, sight)

    # -- a conversation by tools ------------------------------------------------------------------

    def _learn(self, past: Past) -> None:
        """Takes in what the last call came to."""
        self._obscured = past.error == "element_obscured"
        if self._last is None:
            return
        key, move = self._last
        at = (key, move.line.name if move.line else "")
        if past.error:
            self._filled.discard(at)
        match past.error:
            case "human_rejected":
                self._heed(past.message)
            case "element_obscured" | "timeout" | "ref_invalid":
                self._clicks[at] -= 1  # nothing was done
            case "":
                if past.message == "nothing_changed":
                    self._failed.add(at)
                if not past.acknowledged:
                    self._denials += 1
                    self._unsure_of_page = True
            case _:
                self._failed.add(at)

    def _heed(self, message: str) -> None:
        """What a person said against it."""
        said = message.removeprefix("User feedback: ")
        if ELSE & words_of(said):
            if self._last is not None and self._last[1].line is not None:
                self._failed.add((self._last[0], self._last[1].line.name))
        elif PAUSING & words_of(said):
            self.aim = "pause"
        else:
            self._given_up = f"a person said no: {said}"

    def _act(self, heard: Heard, sight: Sight) -> Answer:
        move = self._quirk(sight) or self._choose(heard, sight)
        self._last = (sight.key, move)
        if move.line is not None:
            self._clicks[sight.key, move.line.name] += 1
        calls = [self._call(move, heard)]
        if self.quirks.several_calls:
            calls.append(Call("get_snapshot", {}))
        return self._answer(heard, move.why, tuple(calls))

    def _call(self, move: Move, heard: Heard) -> Call:
        ref = move.line.ref if move.line else ""
        match move.kind:
            case "click":
                return Call("browser_click", {"ref": ref})
            case "fill":
                return Call("browser_fill", {"ref": ref, "value": move.value})
            case "select":
                return Call("browser_select", {"ref": ref, "value": move.value})
            case "look":
                return Call("get_snapshot", {"viewport_only": False})
            case "goto" if "navigate" in heard.tools:
                return Call("navigate", {"url": move.value})
            case "done" | "goto":
                return Call("complete_task", {"status": "success", "reason": move.why})
            case "give_up":
                return Call("complete_task", {"status": "failed", "reason": move.why})

    # -- one action by browser_action -------------------------------------------------------------

    def _propose(self, heard: Heard, sight: Sight) -> Answer:
        text = told(heard)
        why = marked(text, "Why you are asked")
        errors = "\n".join((unmarked(text), why, marked(text, "What went wrong")))
        tried = marked(text, "What was tried, and must not be tried again")
        if not tried:
            self._led.clear()
        self._obscured = "obscured" in errors or "covered" in errors
        if _REJECTED.search(errors):
            self._heed(next(each for each in errors.splitlines() if _REJECTED.search(each)))
        move = self._quirk(sight) or self._choose(heard, sight, marked(text, "The recorded step"))
        if move.line is not None and not self._obscured and _was_tried(move.line, tried, errors):
            self._failed.add((sight.key, move.line.name))
            move = self._choose(heard, sight, marked(text, "The recorded step"))
        self._last = (sight.key, move)
        call = Call("browser_action", self._arguments(heard, sight, move, tried))
        return self._answer(heard, calls=(call,) * (2 if self.quirks.several_calls else 1))

    def _arguments(self, heard: Heard, sight: Sight, move: Move, tried: str) -> dict[str, Any]:
        state = state_of(sight)
        said: dict[str, Any] = {"state": state, "reasoning": move.why, "target": {}}
        said["confidence"] = SURE if move.kind in ("click", "fill", "select") else UNSURE
        if self.quirks.unsure_first and self._once("unsure_first"):
            said["confidence"] = UNSURE
        if move.line is not None:
            said["action_type"] = move.kind
            said["target"], *others = self._targets(sight, move.line, tried)
            if others:
                said["fallback_targets"] = others
            if move.kind != "click":
                said["value"] = move.value
            if state == "FINAL_CONFIRMATION" and self.aim == "cancel":
                said["expected_state"] = "COMPLETE"
        elif move.kind == "goto":
            said |= {"action_type": "navigate", "value": move.value, "confidence": SURE}
        else:
            said |= {"action_type": "wait", "value": "1000"}
        if "The recorded step" in told(heard):
            said["does_step"] = _does(marked(told(heard), "The recorded step"), move)
        return said

    def _targets(self, sight: Sight, line: Line, tried: str) -> list[dict[str, str]]:
        """Ways to the element, the first of a kind that did not lead before."""
        ways = {"aria": {"aria_role": line.role, "aria_name": line.name}}
        if selector := sight.selector(line):
            ways["css"] = {"css": selector}
        ways["text"] = {"text": line.name}
        kinds = sorted(ways, key=lambda kind: (kind in self._led, _in_words(ways[kind]) in tried))
        self._led.append(kinds[0])
        return [ways[kind] for kind in kinds]

    # -- what to do -------------------------------------------------------------------------------

    def _once(self, quirk: str) -> bool:
        first = quirk not in self._quirked
        self._quirked.add(quirk)
        return first

    def _quirk(self, sight: Sight) -> Move | None:
        state = state_of(sight)
        begun = state not in ("LOGIN_REQUIRED", "UNKNOWN")
        if self.quirks.too_early and begun and self._once("too_early"):
            return Move("done", why="The membership is cancelled.")
        final = state == "FINAL_CONFIRMATION"
        if self.quirks.skips_confirmation and final and self._once("skips_confirmation"):
            url = f"{sight.url.rpartition('/')[0]}/done"
            return Move("goto", value=url, why="The last step is not needed: it is cancelled.")
        alike = [each for each in sight.of("button", "link") if _sounds_right(each)]
        if self.quirks.wrong_first and alike and self._once("wrong_first"):
            return Move("click", alike[0], why=f"{alike[0].name!r} cancels it.")
        return None

    def _choose(self, heard: Heard, sight: Sight, step: str = "") -> Move:
        if self._given_up:
            return Move("give_up", why=self._given_up)
        if self._unsure_of_page or not sight.lines:
            self._unsure_of_page = False
            return Move("look", why="What the page is now has to be seen first.")
        return (
            self._end(sight, heard)
            or self._uncover(sight)
            or self._recorded_field(sight, step)
            or self._sign_in(sight, told(heard))
            or self._answer_survey(sight, heard)
            or self._press(sight)
            or self._back(sight, heard)
            or self._no_way(sight)
        )

    def _end(self, sight: Sight, heard: Heard) -> Move | None:
        state = state_of(sight)
        if self.aim == "pause" and "is paused" in sight.says:
            return Move("give_up", why="It is paused, as the person wanted, and not cancelled.")
        match state:
            case "COMPLETE" if self._denials < ENOUGH_DENIALS:
                return Move("done", why="The page says that the membership is cancelled.")
            case "COMPLETE":
                return Move("give_up", why="The page says cancelled, but that is not accepted.")
            case "ACCOUNT_CANCELLED":
                return Move("give_up", why="The membership is cancelled already.")
            case "THIRD_PARTY_BILLING":
                return Move("give_up", why="A partner bills it: it has to be cancelled there.")
            case "FAILED":
                return Move("give_up", why="The page says that it could not be cancelled.")
            case _:
                return None

    def _uncover(self, sight: Sight) -> Move | None:
        if not self._obscured:
            return None
        inside = sight.inside("dialog") or sight.inside("alertdialog") or list(sight.lines)
        for line in inside:
            if line.role in ("button", "link") and CLOSING & line.words:
                return Move("click", line, why="Something covers it: closed first.", aside=True)
        return None

    def _recorded_field(self, sight: Sight, step: str) -> Move | None:
        """A recorded step that types or selects: the field that is most like it."""
        found = re.search(r"\b(type|select) (.*?) (?:into|in) (.*)", step)
        if not found:
            return None
        wanted = words_of(found[3])
        fields = sight.of("textbox", "searchbox", "combobox", "listbox")
        if not fields:
            return None
        best = max(fields, key=lambda line: len(line.words & wanted))
        kind: Literal["fill", "select"] = "fill" if found[1] == "type" else "select"
        return Move(kind, best, found[2].strip('"'), "The field of the recorded step.")

    def _sign_in(self, sight: Sight, text: str) -> Move | None:
        secrets = [each for each in sight.of("textbox") if "password" in each.words]
        if not secrets:
            return None
        if "${password}" not in text:
            return Move("give_up", why="Somebody has to sign in first.")
        for line in sight.of("textbox"):
            if (sight.key, line.name) not in self._filled:
                self._filled.add((sight.key, line.name))
                name = "password" if line in secrets else "email"
                return Move("fill", line, f"${{{name}}}", "Signing in.")
        for line in sight.of("button"):
            if line.words & {"sign", "log"} and self._may(sight, line):
                return Move("click", line, why="Signing in.")
        return Move("give_up", why="What is known does not sign in.")

    def _answer_survey(self, sight: Sight, heard: Heard) -> Move | None:
        radios = sight.of("radio")
        if radios and not any("checked" in each.said.split() for each in radios):
            best = next((each for each in radios if "expensive" in each.words), radios[0])
            return Move("click", best, why="Any reason will do.")
        for line in sight.of("combobox", "listbox"):
            if line.value and not line.value.casefold().startswith(BLANK):
                continue
            return Move("select", line, _option(sight, heard), "Any reason will do.")
        return None

    def _press(self, sight: Sight) -> Move | None:
        best = max(
            (each for each in sight.of("button", "link", "menuitem") if self._may(sight, each)),
            key=lambda line: self._weight(line, sight),
            default=None,
        )
        if best is None or self._weight(best, sight) <= 0:
            return None
        return Move("click", best, why=f"{best.name!r} leads on.")

    def _may(self, sight: Sight, line: Line) -> bool:
        at = (sight.key, line.name)
        known = at in self._failed or self._clicks[at] >= MOST_CLICKS
        return not known and "disabled" not in line.said.split()

    def _weight(self, line: Line, sight: Sight) -> int:
        words = line.words
        if self.aim == "pause":
            if PAUSING & words:
                return 10
            if state_of(sight) == "FINAL_CONFIRMATION":
                back = 4 * bool(RETURNING & words) + bool(THING & words)
                return back - 5 * bool((LEAVING | OTHER) & words)
        leaves = bool(LEAVING & words)
        to = 3 * leaves + (1 + leaves) * bool(THING & words) + 2 * bool(ONWARD & words)
        return to - 4 * bool(STAYING & words) - 5 * bool(OTHER & words)

    def _back(self, sight: Sight, heard: Heard) -> Move | None:
        """From a page that leads nowhere to the one before it, once."""
        may = {"navigate", "browser_action"} & set(heard.tools)
        before = self._been[: self._been.index(sight.url)] if sight.url in self._been else []
        if not may or not before or not self._once(f"back from {sight.url}"):
            return None
        return Move("goto", value=before[-1], why="This page does not lead there: back.")

    def _no_way(self, sight: Sight) -> Move:
        at = (sight.key, "")
        self._clicks[at] += 1
        if self._clicks[at] <= 1:
            return Move("look", why="What is needed may be further down.")
        return Move("give_up", why="There is nothing on the page that leads to the goal.")

    def _answer(self, heard: Heard, text: str = "", calls: tuple[Call, ...] = ()) -> Answer:
        spent = len(told(heard)) // 4 + 300 * len(heard.tools)
        out = 20 + sum(len(call.text) for call in calls) // 4 + len(text) // 4
        return Answer(text=text, calls=calls, input=spent, output=out)


# -- reading -------------------------------------------------------------------------------------


def state_of(sight: Sight) -> PageState:
    """What a reader would call the page."""
    says, names = sight.says, {each.name.casefold() for each in sight.lines}
    buttons = {word for each in sight.of("button", "link") for word in each.words}
    if any("password" in each.words for each in sight.of("textbox")):
        return "LOGIN_REQUIRED"
    if "unable to" in says or "could not" in says or "went wrong" in says:
        return "FAILED"
    if "billed through" in says:
        return "THIRD_PARTY_BILLING"
    if any("cancelled" in words_of(each) for each in sight.headings):
        return "COMPLETE"
    if "restart membership" in names:
        return "ACCOUNT_CANCELLED"
    if sight.of("radio", "combobox"):
        return "EXIT_SURVEY"
    if "finish cancellation" in says or "please confirm" in says:
        return "FINAL_CONFIRMATION"
    if {"stay", "free", "half", "offer"} & buttons:
        return "RETENTION_OFFER"
    return "ACCOUNT_ACTIVE" if LEAVING & buttons else "UNKNOWN"


def _sounds_right(line: Line) -> bool:
    """A look-alike: says what is wanted, and something else."""
    return bool((LEAVING | ONWARD | THING) & line.words) and bool((OTHER | PAUSING) & line.words)


def _past(heard: Heard) -> Past:
    last = heard.turns[-1]
    if not isinstance(last, ResultsTurn):
        return Past()
    first = last.outcomes[0]
    try:
        body = json.loads(first.text.partition("\nresult:")[0])
    except ValueError:
        return Past(first.tool, "action_failed" if first.failed else "", first.text)
    denied = body.get("acknowledged") is False
    error, message = body.get("error") or "", body.get("message") or ""
    return Past(first.tool, error, message, not denied)


def _option(sight: Sight, heard: Heard) -> str:
    """One that is there, where the prompt tells which are; else what such lists mostly have."""
    said = _past(heard).message
    named = [each.strip() for each in said.rpartition(":")[2].split(",")] if "," in said else []
    known = [each for each in (*sight.options(), *named) if not each.casefold().startswith(BLANK)]
    return known[0] if known else "Too expensive"


def _in_words(way: dict[str, str]) -> str:
    """As the prompt tells what was tried: `aria link/Cancel membership`."""
    match way:
        case {"aria_role": role, "aria_name": name}:
            return f"aria {role}/{name}"
        case {"css": selector}:
            return f"css {selector}"
        case _:
            return f"text {way.get('text', '')}"


def _was_tried(line: Line, tried: str, errors: str) -> bool:
    """It was found and did not do; what was only not found may be found another way."""
    at_all = _in_words({"aria_role": line.role, "aria_name": line.name}) in tried
    return at_all and not re.search(r"not[_ ]found|missing|no element|obscured", errors)


def _does(step: str, move: Move) -> bool:
    """Whether it is what the recorded step did: the same kind of thing, and not only on the way."""
    if move.aside or move.line is None:
        return False
    answers = ("radio", "combobox", "listbox", "checkbox")
    recorded = step.splitlines()[0] if step else ""
    was_answer = bool(re.search(r"\b(radio|combobox|listbox|checkbox|select) ", recorded))
    if move.kind == "fill" or " type " in f" {recorded} ":
        return move.kind == "fill" and "type " in recorded
    return was_answer == (move.line.role in answers)
