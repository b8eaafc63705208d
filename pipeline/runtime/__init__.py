"""The runtime numbers events, runs turns and keeps sessions; `app` joins it, and nothing below
knows it."""
