"""The person answers questions as an effector; only the composition root imports it."""
