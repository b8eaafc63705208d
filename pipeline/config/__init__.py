"""Configuration says where things are and what is set; every subject of `pipeline` imports it."""
