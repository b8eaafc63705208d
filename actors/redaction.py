"""Known secrets never reach an event, wherever the page puts them: in its URL, a field, its text.

The last thing before a fact is numbered. Deciders so see what the log holds.
"""

from collections.abc import Mapping
from urllib.parse import quote, quote_plus

import msgspec

from events.codec import decode, encode
from events.vocabulary import AnyEvent

SHORTEST = 4  # anything shorter is in every other word


class Redactor:
    """Replaces each secret's value, as it is and as URLs write it, by its name."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._written: dict[str, str] = {}
        for name, value in secrets.items():
            if len(value) >= SHORTEST:
                for form in (value, quote(value, safe=""), quote(value), quote_plus(value)):
                    self._written[form] = f"<secret {name}>"
        self._needles = tuple(form.encode() for form in self._written)
        # The longest first: one secret may be a part of another.
        self._longest = sorted(self._written, key=len, reverse=True)

    def __call__(self, event: AnyEvent) -> AnyEvent:
        payload = encode(event)
        if not any(needle in payload for needle in self._needles):
            return event
        plain = self._clean(msgspec.msgpack.decode(payload))
        return decode(msgspec.msgpack.encode(plain))

    def _clean(self, value: object) -> object:
        match value:
            case str():
                for form in self._longest:
                    value = value.replace(form, self._written[form])
                return value
            case list():
                return [self._clean(part) for part in value]
            case dict():
                return {self._clean(key): self._clean(part) for key, part in value.items()}
            case _:
                return value
