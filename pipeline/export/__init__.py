"""An export makes a file of a learned workflow that others can run: Recorder JSON, or a Playwright
script."""
