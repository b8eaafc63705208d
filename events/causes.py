"""Causes say as types where a step came from, how it was judged, and why a run ended.

The text beside each of them is for people. Nothing decides by a text, and none is taken apart: what
somebody needs of it is a field here. Logs of before have the texts alone; `upcast` reads those.
"""

from typing import Literal, get_args

import msgspec

from rutter.events.executor import ErrorCode

# What led to a step. Empty in logs of before; `other` is what nothing of them tells.
PlanSource = Literal[
    "",
    "script",
    "workflow",
    "read_back",
    "earlier_run",  # a look whether an earlier session did it
    "opening",
    "service_script",
    "prediction",
    "suggestion",  # a prediction that a person is to decide about
    "advice",
    "tool",
    "person",
    "other",
]
# The check that decided against a step, by its type.
CheckKind = Literal[
    "text_visible",
    "text_gone",
    "url",
    "alert",
    "value_set",
    "element_state",
    "page_state",
    "download",
    "answered",
    "file_exists",
    "file_contains",
    "file_size",
]
CHECKS = frozenset[str](get_args(CheckKind))
# What a verdict rests on: what the page did, what the Executor met, or the check that failed.
VerdictCode = (
    Literal[
        "",
        "as_it_was",
        "as_recorded",
        "answered_with",  # a status that says no
        "checked",
        "input_dispatched",
        "led_elsewhere",
        "looked",
        "no_change_as_recorded",
        "nothing_changed",
        "observed",
        "other_place",
        "over_before_it_was_seen",
        "page_changed",
        "page_moved",
        "place_reached",
        "read_back",
        "says_failed",
        "signed_in_already",  # a kept login made the way to the sign-in lead on
        "something_was_sent_and_nothing_is_shown",
        "stayed_on_the_page",
        "the_page_came_anew_as_it_was",
        "the_request_was_not_answered",
        "the_server_has_not_answered",
        "value_not_set",
        "other",
    ]
    | CheckKind
    | ErrorCode
)
CauseKind = Literal[
    "other",  # its reason and failure say all that there is
    "dry_run",  # it was only tried, and stopped before what it would have done: `why`
    "discarded",  # a person did not want what was recorded
    "person_done",  # a person was done with recording: `by` what
    "requested",  # somebody stopped it: `by` whom
    "done_before",  # an earlier session had done what was left
    "login_expired",  # of `origin`
    "signed_out",
    "unrecorded",  # what is in the way was met in no recording
    "barrier",  # of the kind `code`, known by what `why` says
    "no_predictions",
    "unsure",  # the likeliest step has this `share` of certainty, in millionths
    "value_unknown",
    "no_model",  # none may be asked
    "no_criteria",  # nobody said what shows that it is done
    "no_sign",  # and of what was said, nothing shows
    "unproven",
    "unsent",
    "unanswered",
]


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a run ended, or its end is not verified. `code` is what its last step met, `index` the
    place of the step that its text names."""

    kind: CauseKind = "other"
    code: str = ""
    index: int = -1
    origin: str = ""
    share: int = 0
    by: str = ""
    why: str = ""


OTHER = Cause()
