"""Notices tell people and machines who are not looking what happened."""
