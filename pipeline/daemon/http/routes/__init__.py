"""Routes answer requests, a module for each noun."""
