"""The page's scripts are made of the files of `page/`."""

import secrets  # noqa: TID251 - in no event: only pages are kept from guessing it
from functools import cache
from importlib import resources

import msgspec

from rutter.actors.rules.pages.barrier_marks import asked_of_page

PARTS = (
    "asking", "reading", "snapshot", "makeup", "finding", "likeness", "tables", "markdown",
    "beside", "acting", "covering", "resting", "watching", "gesturing", "listening", "picking",
)  # fmt: skip

# By what the two worlds of a page know each other; no page can guess it.
NAME = f"rutter-{secrets.token_hex(16)}"


@cache
def library() -> str:
    """The page's side as one script: the parts of `page/`, in order, in one closure."""
    page = resources.files("rutter.actors.world.browser").joinpath("page")
    parts = [page.joinpath(f"{part}.js").read_text("utf-8") for part in PARTS]
    whole = page.joinpath("frame.js").read_text("utf-8").replace("/* PARTS */", "\n".join(parts))
    marks = msgspec.json.encode(asked_of_page()).decode()
    return whole.replace("/* NAME */", NAME).replace("/* MARKS */ null", marks)


@cache
def schedule() -> str:
    """What runs in the page's own world, to know what its scripts put off."""
    page = resources.files("rutter.actors.world.browser").joinpath("page")
    return page.joinpath("scheduled.js").read_text("utf-8").replace("/* NAME */", NAME)


@cache
def listened() -> str:
    page = resources.files("rutter.actors.world.browser").joinpath("page")
    return page.joinpath("listened.js").read_text("utf-8")
