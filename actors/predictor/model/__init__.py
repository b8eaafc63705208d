"""The Predictor's models count what followed what and say how sure they are; only the Predictor
imports them."""
