"""Secrets are bound, found and hidden here; effectors and `pipeline` import this."""
