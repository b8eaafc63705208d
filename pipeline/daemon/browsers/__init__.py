"""Browsers are kept warm here and shared fairly."""
