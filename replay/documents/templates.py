"""Templates make pages and pictures: whatever is put into them is escaped, and a name that nobody
gave is an error."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def templates(*packages: str) -> "Environment":
    """What lies in `templates/` of these packages, the first that has it."""
    # Only now: most commands make no page, and start without it.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
