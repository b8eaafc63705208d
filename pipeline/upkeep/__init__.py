"""Upkeep inspects, backs up, expires and erases what a data directory holds."""
