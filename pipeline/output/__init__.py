"""Output tells people what came of a session, and writes files that are handed out."""
