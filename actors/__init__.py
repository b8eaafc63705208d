"""Actors decide and act: a folder for each actor, `rules` that several go by, `world` that
effectors touch."""
