"""Workflows are imported, edited, compared and forgotten here."""
