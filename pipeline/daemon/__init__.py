"""The daemon: warm browsers and one door that people, schedules and agents come through."""
