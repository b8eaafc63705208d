"""Learned events are the facts of which `Knowledge` is the fold, and nothing else is."""

from rutter.events.event import Event
from rutter.events.predictor import (
    EffectsLearned,
    EndLearned,
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)

LEARNED: frozenset[type[Event]] = frozenset(
    {
        TransitionLearned,
        TransitionUndone,
        EndLearned,
        EffectsLearned,
        WorkflowLearned,
        WorkflowDeleted,
        WorkflowRenamed,
        SessionForgotten,
    }
)
