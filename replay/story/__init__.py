"""Stories tell a session in plain words, step by step; `replay` and `pipeline` import them."""
