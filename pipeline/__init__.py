"""The pipeline runs it all: sequencer, sessions, daemon and command line. It imports all; nobody
imports it."""
