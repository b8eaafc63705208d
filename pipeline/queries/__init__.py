"""Queries find workflows, sessions and events beside a running process."""
