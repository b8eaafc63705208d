"""A table is rows as people see them on a page, each cell under a column's name."""

import msgspec

from rutter.events.action import Untrusted


class Table(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table has as many cells in each row as columns, and no two columns have one name.

    `left_off` counts the rows that are not here: more than are read at once, or than the page has
    loaded of what it says there are. `cut`: so was a cell that is too long, or a column.
    """

    columns: tuple[Untrusted, ...]
    rows: tuple[tuple[Untrusted, ...], ...] = ()
    caption: Untrusted = Untrusted()
    left_off: int = 0
    cut: bool = False
