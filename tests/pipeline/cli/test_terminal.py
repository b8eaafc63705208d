"""What people see: on a terminal what its encoding has, elsewhere ASCII; and how long to wait."""

import io

import pytest

from rutter.events.errors import BadInput
from rutter.pipeline.cli.options import read_patience
from rutter.pipeline.cli.terminal import TerminalConsole
from tests.support.case_table import for_each

SAID = "Speichern f\u00fcr \u65e5\u672c\x1b[31m"


@for_each(
    "encoding, is_terminal, shown",
    [
        ("utf-8", True, "Speichern f\u00fcr \u65e5\u672c\\x1b[31m"),
        ("cp1252", True, "Speichern f\u00fcr \\u65e5\\u672c\\x1b[31m"),
        ("ascii", True, "Speichern f\\xfcr \\u65e5\\u672c\\x1b[31m"),
        ("utf-8", False, "Speichern f\\xfcr \\u65e5\\u672c\\x1b[31m"),
    ],
)
def test_a_terminal_shows_what_its_encoding_has(
    encoding: str, is_terminal: bool, shown: str
) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert TerminalConsole(file=file, force_terminal=is_terminal).shown(SAID) == shown


@for_each(
    "said, ms", [(None, 0), ("10s", 10_000), ("10", 10_000), ("1.5 s", 1_500), ("250ms", 250)]
)
def test_patience_is_a_time(said: str | None, ms: int) -> None:
    assert read_patience(said) == ms


@for_each("said", ["", "0", "10ms", "2m", "61s", "-1s", "soon"])
def test_what_is_no_time_to_wait_is_refused(said: str) -> None:
    with pytest.raises(BadInput, match="--patience"):
        read_patience(said)
