"""The Advisor asks language models what the Planner wants asked; only the composition root imports
it."""
