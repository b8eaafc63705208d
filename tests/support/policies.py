"""Policies are for tests that open pages of their own: this machine, and nothing else."""

from rutter.events.policy import Policy

HERE = Policy(
    "1", hosts=("127.0.0.1", "localhost"), public_hosts=False, public_resources=False
)  # fmt: skip
