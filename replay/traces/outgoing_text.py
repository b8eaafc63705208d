"""Outgoing text is bounded, and no URL in it keeps its query or its user."""

import re
from typing import Final

TEXT: Final = 200  # characters of page text or of a message in one attribute

_QUERY = re.compile(r"(://[^\s?#]*)[?#]\S*")
_USER = re.compile(r"://[^\s/?#@]*@")


def said(text: str) -> str:
    if "://" in text:
        text = _USER.sub("://", _QUERY.sub(r"\1", text[: 2 * TEXT]))
    return text[:TEXT]
