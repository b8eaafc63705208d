"""Benches measure each figure beside a limit, in the same run on the same machine."""
