"""A search looks for a value in everything that a run left, however it is dressed."""

import base64
import gzip
import html
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, quote_plus

import msgspec


def places_of(value: str, *places: Path | bytes | str) -> list[str]:
    """Where it is: files below each place, or the texts themselves."""
    dressed = tuple(_dressed(value))
    return [name for name, body in _bodies(places) if _holds(body, dressed)]


def _bodies(places: tuple[Path | bytes | str, ...]) -> Iterator[tuple[str, bytes]]:
    for number, place in enumerate(places):
        if isinstance(place, Path):
            for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
                yield f"name of {path}", str(path.name).encode()
                if path.is_file():
                    yield str(path), path.read_bytes()
        else:
            yield f"text {number}", place if isinstance(place, bytes) else place.encode()


def _holds(body: bytes, dressed: tuple[bytes, ...]) -> bool:
    return any(form in each for each in (body.lower(), *_unpacked(body)) for form in dressed)


def _unpacked(body: bytes) -> Iterator[bytes]:
    """What is packed inside: a whole file, and every stream that begins somewhere in it."""
    if body.startswith(b"\x1f\x8b"):
        yield gzip.decompress(body).lower()
    at = body.find(b"\x1f\x8b", 1)
    while at > 0:
        with suppress(zlib.error):
            yield zlib.decompressobj(31).decompress(body[at:], 1 << 20).lower()
        at = body.find(b"\x1f\x8b", at + 1)


def _dressed(value: str) -> Iterator[bytes]:
    plain = value.encode()
    forms = [value, quote(value), quote_plus(value), quote(value, safe=""), html.escape(value)]
    forms += [html.escape(html.escape(value)), msgspec.json.encode(value)[1:-1].decode()]
    forms += [value.replace("&", "\\u0026").replace("<", "\\u003c"), plain.hex()]
    yield from (form.lower().encode() for form in forms)
    yield from (value.lower().encode(coding) for coding in ("utf-16-le", "utf-16-be"))
    for shift in range(3):
        whole = base64.b64encode(b"x" * shift + plain).lower()
        yield whole[4 if shift else 0 : -4]
