"""The browser's only way out: a proxy of our own that judges every request by the policy."""
