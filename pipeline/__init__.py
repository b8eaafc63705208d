"""How it runs: sequencer, sessions, daemon and command line. Imports all; nobody imports it."""
