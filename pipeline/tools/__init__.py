"""Tools are dispatched here, for whoever drives a session by calls."""
