"""Live views show a running session to whoever watches it."""
