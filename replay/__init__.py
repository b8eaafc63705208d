"""Replay says what the log means: decisions derived again, stories, documents and tables;
`pipeline` imports it."""
