"""A batch row says which row of a file a run is for."""

import msgspec


class BatchRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row belongs to a `batch`, the same for all runs of its file and workflow; `again` says how
    often all of it was asked for anew. `number` counts from 1, without the header. `digest` is of
    what the row binds: a row that was changed is another one."""

    batch: str
    number: int
    digest: str
    again: int = 0
