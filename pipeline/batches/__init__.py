"""Batches run a workflow once for each row of a file, and none of them twice."""
