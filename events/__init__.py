"""What happened: the typed events, their codec and the append-only log that keeps them."""
