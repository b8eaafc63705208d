"""The protobuf encoder writes spans as OTLP, byte by byte.

The official encoder takes the SDK's span objects and builds a message object for every attribute;
made and encoded that way, spans cost several times what these functions do (bench/traces.py
measures both). The format is frozen: OTLP 1 only ever adds fields. Tests hold every byte to the
official encoder.
"""

from collections.abc import Sequence
from struct import Struct
from typing import Final

from rutter.replay.traces.mapping import MAPPING, RESOURCE, SCOPE
from rutter.replay.traces.span import Attributes, Link, Span, SpanEvent, Value

_TIMES = Struct("<BQBQ")  # start_time_unix_nano = 7 and end_time_unix_nano = 8, both fixed64
_TIME = Struct("<BQ")
_DOUBLE = Struct("<Bd")

# Local to this process, as far as anybody can tell: SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK.
_FLAGS = b"\x85\x01\x00\x01\x00\x00"
_LINK_FLAGS = b"\x35\x00\x01\x00\x00"

# Most attributes come back span after span, and are kept as they were written; what a page said
# does not, and is not worth keeping. By type, because True and 1 are equal and not the same.
MEMO_CHARS: Final = 48
MEMO_SIZE: Final = 4_096


def _varint(number: int) -> bytes:
    number &= 0xFFFF_FFFF_FFFF_FFFF  # int64: a negative one is its two's complement
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


_SMALL: Final = tuple(_varint(number) for number in range(2_048))
_keys: dict[str, bytes] = {}
_memos: dict[type, dict[tuple[str, Value], bytes]] = {
    kind: {} for kind in (str, bool, int, float, tuple)
}


def _size(length: int) -> bytes:
    return _SMALL[length] if length < 2_048 else _varint(length)


def encode_request(spans: Sequence[Span]) -> bytes:
    """One ExportTraceServiceRequest with these spans."""
    body = [_SCOPE]
    for span in spans:
        encoded = encode_span(span)
        body += (b"\x12", _size(len(encoded)), encoded)
    scope_spans = b"".join(body)
    resource_spans = b"".join((_RESOURCE, b"\x12", _size(len(scope_spans)), scope_spans))
    return b"".join((b"\x0a", _size(len(resource_spans)), resource_spans))


def encode_span(span: Span) -> bytes:
    """One Span message, its fields in the order of their numbers."""
    name = span.name.encode()
    parts = [b"\x0a\x10", span.trace_id, b"\x12\x08", span.span_id]
    if span.parent_id:
        parts += (b"\x22\x08", span.parent_id)
    parts += (b"\x2a", _size(len(name)), name, b"\x30", _SMALL[span.kind])
    parts.append(_TIMES.pack(0x39, span.start_ns, 0x41, span.end_ns))
    _attributes(parts, span.attributes)
    for event in span.events:
        encoded = _event(event)
        parts += (b"\x5a", _size(len(encoded)), encoded)
    for link in span.links:
        encoded = _link(link)
        parts += (b"\x6a", _SMALL[len(encoded)], encoded)
    status = _status(span.status, span.message)
    parts += (b"\x7a", _size(len(status)), status, _FLAGS)
    return b"".join(parts)


def _attributes(parts: list[bytes], attributes: Attributes) -> None:
    """Field 9 of a span: a KeyValue for each attribute."""
    for item in attributes.items():
        encoded = _memos[item[1].__class__].get(item)
        parts.append(_attribute(*item) if encoded is None else encoded)


def _attribute(key: str, value: Value) -> bytes:
    known = _keys.get(key)
    if known is None:
        name = key.encode()
        known = _keys[key] = b"".join((b"\x0a", _size(len(name)), name, b"\x12"))
    inner = _any_value(value)
    size = _size(len(inner))
    length = _size(len(known) + len(size) + len(inner))
    encoded = b"".join((b"\x4a", length, known, size, inner))
    if not isinstance(value, str) or len(value) <= MEMO_CHARS:
        memo = _memos[value.__class__]
        if len(memo) >= MEMO_SIZE:
            memo.clear()
        memo[key, value] = encoded
    return encoded


def _tagged(tag: bytes, attributes: Attributes) -> bytes:
    """The same under another field number: attributes of an event, a link, the resource."""
    parts: list[bytes] = []
    _attributes(parts, attributes)
    return b"".join(tag + part[1:] for part in parts)


def _any_value(value: Value) -> bytes:
    match value:
        case str():
            text = value.encode()
            return b"".join((b"\x0a", _size(len(text)), text))
        case bool():
            return b"\x10\x01" if value else b"\x10\x00"
        case int():
            return b"\x18" + (_SMALL[value] if 0 <= value < 2_048 else _varint(value))
        case float():
            return _DOUBLE.pack(0x21, value)
        case tuple():
            items = [_any_value(item) for item in value]
            array = b"".join(b"\x0a" + _size(len(item)) + item for item in items)
            return b"".join((b"\x2a", _size(len(array)), array))


def _event(event: SpanEvent) -> bytes:
    name = event.name.encode()
    head = (_TIME.pack(0x09, event.at_ns), b"\x12", _size(len(name)), name)
    return b"".join((*head, _tagged(b"\x1a", event.attributes)))


def _link(link: Link) -> bytes:
    why = _whys.get(link.why) or _tagged(b"\x22", {"rutter.link": link.why})
    return b"".join((b"\x0a\x10", link.trace_id, b"\x12\x08", link.span_id, why, _LINK_FLAGS))


def _status(code: int, message: str) -> bytes:
    if not message:
        return b"\x18" + _SMALL[code] if code else b""
    text = message.encode()
    return b"".join((b"\x12", _size(len(text)), text, b"\x18", _SMALL[code]))


def _constants() -> tuple[bytes, bytes]:
    """The resource and the scope, the same in every request."""
    resource = _tagged(b"\x0a", RESOURCE)
    name, version = SCOPE.encode(), MAPPING.encode()
    scope = b"".join((b"\x0a", _size(len(name)), name, b"\x12", _size(len(version)), version))
    return (
        b"".join((b"\x0a", _size(len(resource)), resource)),
        b"".join((b"\x0a", _size(len(scope)), scope)),
    )


_RESOURCE, _SCOPE = _constants()
_whys = {"cause": _tagged(b"\x22", {"rutter.link": "cause"})}
