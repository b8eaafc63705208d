"""Events say what happened: typed structs, their codec and the append-only log that keeps them."""
