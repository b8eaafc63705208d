"""What may be on a disk after the power went: everything synced, and any part of the rest.

A write that no sync followed is there, gone, or torn in sectors, whatever its neighbours did; a
name that no directory sync followed may be missing, a deleted one may be back. Bytes outside a
write never change, as SQLite assumes of every disk (powersafe overwrite).
"""

from pathlib import Path
from random import Random

from tests.crash.vfs import Op

SECTOR = 512


class File:
    """One inode: what is on the platter, and what is still on its way there."""

    def __init__(self) -> None:
        self.durable = bytearray()
        self.pending: list[Op] = []

    def sync(self) -> None:
        for op in self.pending:
            _apply(self.durable, op)
        self.pending.clear()

    def after_power_cut(self, keep: float, rng: Random) -> bytes:
        body = bytearray(self.durable)
        for op in self.pending:
            if rng.random() < keep:
                _apply(body, op)
            elif op.what == "write" and rng.random() < keep:
                _tear(body, op, rng)
        return bytes(body)


Names = dict[str, File | None]  # None: no longer there


class Disk:
    """One directory, as the recorded operations leave it."""

    def __init__(self) -> None:
        self._names: dict[str, File] = {}  # as the program sees it
        self._durable_names: dict[str, File] = {}
        self._pending_names: list[Names] = []  # each as a whole or not at all

    def apply(self, op: Op) -> None:
        match op.what:
            case "create":
                self._change({op.file: File()})
            case "delete":
                self._change({op.file: None})
            case "rename":
                self._change({op.file: None, op.to: self._names[op.file]})
            case "write" | "truncate":
                self._names[op.file].pending.append(op)
            case "sync":
                self._names[op.file].sync()
            case "sync_names":
                pass
        if op.names:
            for change in self._pending_names:
                _rename(self._durable_names, change)
            self._pending_names.clear()

    def _change(self, names: Names) -> None:
        _rename(self._names, names)
        self._pending_names.append(names)

    def cut_power(self, directory: Path, rng: Random) -> None:
        """Writes one of the many states that the disk may be found in."""
        keep = rng.choice((0.0, 0.5, 1.0, rng.random()))
        names = dict(self._durable_names)
        for change in self._pending_names:
            if rng.random() < keep:
                _rename(names, change)
        for name, file in names.items():
            (directory / name).write_bytes(file.after_power_cut(keep, rng))


def _rename(names: dict[str, File], change: Names) -> None:
    for name, file in change.items():
        if file is None:
            names.pop(name, None)
        else:
            names[name] = file


def _apply(body: bytearray, op: Op) -> None:
    if op.what == "truncate":
        del body[op.offset :]
        body.extend(bytes(op.offset - len(body)))
        return
    _put(body, op.offset, op.body)


def _tear(body: bytearray, op: Op, rng: Random) -> None:
    """Some of the sectors that a write touches hold it, the others what they held before."""
    start, end = op.offset, op.offset + len(op.body)
    for sector in range(start // SECTOR * SECTOR, end, SECTOR):
        if rng.random() < 0.5:
            low, high = max(start, sector), min(end, sector + SECTOR)
            _put(body, low, op.body[low - start : high - start])


def _put(body: bytearray, offset: int, piece: bytes) -> None:
    if len(body) < offset:
        body.extend(bytes(offset - len(body)))
    body[offset : offset + len(piece)] = piece
