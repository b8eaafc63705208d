"""The Planner chooses what to do next and when to stop; only the composition root imports it."""
