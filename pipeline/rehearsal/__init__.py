"""A rehearsal runs a session with a scripted browser and a scripted model, for tests."""
