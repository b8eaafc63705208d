"""The Observer reads pages and what a person does on them; only the composition root imports it."""
