"""Wording is read from the `wording.toml` of a site: a table for each look that it can have."""

import tomllib
from importlib.resources import files

Words = dict[str, dict[str, str]]


def read_words(package: str) -> Words:
    return tomllib.loads(files(package).joinpath("wording.toml").read_text("utf-8"))
