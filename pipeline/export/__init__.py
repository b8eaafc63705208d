"""A learned workflow as a file that others can run: Recorder JSON, or a Playwright script."""
