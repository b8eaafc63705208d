"""HTTP guards, routes and answers what the daemon is asked."""
