"""Demo sites serve bundled applications on loopback, for the demo and for tests."""
