"""Web pages of the daemon show a person what runs and ran, and hand over what they say."""
