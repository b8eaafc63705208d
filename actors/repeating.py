"""What may be tried again, and when (F2, E7): one table for every driver."""

# Worth one more try when nothing had reached the page yet.
TRANSIENT = frozenset(
    {"timeout", "element_obscured", "element_not_visible", "action_failed", "navigation_failed"}
)
# These may be repeated even after input was dispatched: doing them twice is doing them once.
REPEATABLE = frozenset({"type", "select", "scroll", "navigate"})
