"""The Executor finds elements and acts on them; only the composition root imports it."""
