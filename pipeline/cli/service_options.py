"""Flags tell a command of the service that it works on and of the files that it may look at."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from rutter.events.errors import BadInput
from rutter.events.workflow import Criteria, Indicator
from rutter.pipeline.sessions.service_file import PLACES, bundled, indicator, read_service
from rutter.pipeline.sessions.session_started import Given

PACKS = ", ".join(bundled())


def add_options(it: argparse.ArgumentParser, *, ends: bool = True) -> None:
    """`ends`: whether it can be said by what a page shows the end of the work."""
    it.add_argument(
        "--service",
        type=Path,
        metavar="FILE.toml|NAME",
        help="what is known of the site: its states, the signs of its ends, its own ways; a file, "
        f"or by name one that comes along: {PACKS}",
    )
    it.add_argument(
        "--folder",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="files are checked in it and below, and nowhere else",
    )
    for status in ("success", "failure") if ends else ():
        it.add_argument(
            f"--{status}",
            action="append",
            default=[],
            metavar="WHERE=TEXT",
            help=f"a sign of {status} on the page; WHERE is one of {', '.join(PLACES)}",
        )


def read_given(options: argparse.Namespace) -> Given:
    """What the flags say; signs that are typed stand beside those of the file."""
    known = read_service(options.service) if options.service is not None else None
    named = known.criteria if known is not None and known.criteria is not None else Criteria()
    success = (*_signs(getattr(options, "success", ()), "--success"), *named.success)
    failure = (*_signs(getattr(options, "failure", ()), "--failure"), *named.failure)
    return Given(
        service=known.service if known is not None else None,
        criteria=Criteria(success, failure) if success or failure else None,
        folders=tuple(map(_folder, options.folder)),
    )


def _folder(path: Path) -> str:
    """Where the folder is from wherever one looks. Links in it are kept: a check names its files
    as the person does."""
    try:
        place = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 - without following links
        there = place.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise BadInput(f"{path} cannot be found ({error})", "check --folder") from error
    if not there:
        raise BadInput(f"{path} is no directory", "check --folder")
    return str(place)


def _signs(pairs: Sequence[str], flag: str) -> tuple[Indicator, ...]:
    signs = []
    for pair in pairs:
        where, _, says = pair.partition("=")
        signs.append(indicator(where, says, f"{flag} {pair}"))
    return tuple(signs)
