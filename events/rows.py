"""Which row of a file a run is for: what a run of many has in common with the next one."""

import msgspec


class BatchRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """`batch` is of the file and its workflow, the same in every run of both; `again` says how
    often all of it was asked for anew. `number` counts from 1, without the header. `digest` is of
    what the row binds: a row that was changed is another one."""

    batch: str
    number: int
    digest: str
    again: int = 0
