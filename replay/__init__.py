"""What it meant: projections folded from the log, and decisions derived again from its facts."""
