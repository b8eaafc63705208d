"""Step rules judge checks, likeness, retries, pace and pauses of steps; any actor imports them."""
