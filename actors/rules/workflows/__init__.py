"""Workflow rules align, version and template recorded workflows; any actor imports them."""
