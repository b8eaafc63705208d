"""The command line: `rutter`. Parsing in `parser`, one module a group of commands."""
