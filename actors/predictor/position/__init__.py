"""The Predictor finds where in a workflow a run stands; only the Predictor imports this."""
