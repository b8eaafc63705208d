"""The command line: `rutter`. Each command is a module of its name; `parser` joins them."""
