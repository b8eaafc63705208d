"""Sailing without wind: a scripted browser and a scripted model for tests."""
