"""Who decides: the six actors. Deciders are pure; effectors touch the world and choose nothing."""
