"""Many inputs: one run for each row of a file, none of them twice."""
