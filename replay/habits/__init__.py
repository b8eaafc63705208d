"""Habits find what was done again and again and has no name yet; `pipeline` imports them."""
