"""The daemon keeps warm browsers behind one door that people, schedules and agents come through."""
