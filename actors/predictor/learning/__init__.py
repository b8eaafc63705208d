"""The Predictor learns workflows and transitions from what was confirmed; only the Predictor
imports this."""
