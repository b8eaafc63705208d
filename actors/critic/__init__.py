"""The Critic judges what an action really did; only the composition root imports it."""
