"""The timer reports deadlines as an effector; only the composition root imports it."""
