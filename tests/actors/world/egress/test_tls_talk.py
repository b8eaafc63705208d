"""What a talk by TLS owes is known by its records alone: whichever version, however it is cut."""

import ssl
from contextlib import suppress
from typing import NamedTuple

import pytest

from rutter.actors.world.egress.tls_talk import BROKEN, TlsTalk
from tests.support.case_table import for_each
from tests.support.tls_authority import authority

AUTHORITY = authority()
ASKED = b"POST /order HTTP/1.1\r\nHost: localhost\r\ncontent-length: 3\r\n\r\na=1"
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n" + bytes(100)
ACKNOWLEDGED = bytes(9)  # the settings of HTTP/2


class Ends:
    """Both ends of a talk, and who listens between them."""

    def __init__(self, version: ssl.TLSVersion, cut: int) -> None:
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        trusting.minimum_version = trusting.maximum_version = version
        self._to_server, self._to_browser = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._from_browser, self._from_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.browser = trusting.wrap_bio(self._to_browser, self._from_browser)
        self.server = AUTHORITY.server().wrap_bio(
            self._to_server, self._from_server, server_side=True
        )
        self._cut = cut
        self.talk = TlsTalk()
        self.held = b""

    def greet(self) -> None:
        for _ in range(4):
            for end in (self.browser, self.server):
                with suppress(ssl.SSLWantReadError):
                    end.do_handshake()
                self.carry()

    def carry(self) -> None:
        for piece in self._pieces(self._from_browser.read()):
            self.talk.browser_says(piece)
            self._to_server.write(piece)
        for piece in self._pieces(self._from_server.read()):
            now, later = self.talk.server_says(piece)
            self._to_browser.write(self.held + now)
            self.held = later

    def _pieces(self, said: bytes) -> list[bytes]:
        return [said[at : at + self._cut] for at in range(0, len(said), self._cut)]

    def ask(self, said: bytes) -> None:
        self.browser.write(said)
        self.carry()

    def answer(self, said: bytes) -> None:
        self.server.write(said)
        self.carry()

    def say_goodbye(self) -> None:
        with suppress(ssl.SSLWantReadError):
            while True:
                self.server.read()
        with pytest.raises(ssl.SSLWantReadError):
            self.server.unwrap()
        self.carry()

    def hear(self) -> None:
        """All that comes before the end."""
        while True:
            self.browser.read()

    def break_off(self) -> None:
        self._to_browser.write(BROKEN)


class Case(NamedTuple):
    """What the browser (`>`) and the server (`<`) say."""

    said: tuple[tuple[str, bytes], ...]
    owed: bool


CASES = {
    "greeted": Case((), False),
    "asked": Case(((">", ASKED),), True),
    "answered": Case(((">", ASKED), ("<", ANSWER)), False),
    "asked again": Case(((">", ASKED), ("<", ANSWER), (">", ASKED)), True),
    "a few frames": Case(((">", ASKED), ("<", bytes(26))), True),
    "several at once": Case(((">", ASKED), (">", ACKNOWLEDGED), (">", ASKED), ("<", ANSWER)), True),
}
VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@for_each("cut", [1, 7, 1 << 16])
@for_each("version", VERSIONS)
@for_each("name", CASES)
def test_a_server_that_leaves_with_an_answer_owed_breaks_off(
    name: str, version: ssl.TLSVersion, cut: int
) -> None:
    case, ends = CASES[name], Ends(version, cut)
    ends.greet()
    for side, said in case.said:
        (ends.ask if side == ">" else ends.answer)(said)
    assert ends.talk.owed == case.owed
    assert ends.talk.kept is not case.owed or name == "greeted"
    ends.say_goodbye()
    assert ends.talk.owed == case.owed, "a goodbye answers nothing"
    if case.owed:
        ends.break_off()
        with pytest.raises(ssl.SSLError) as broken:
            ends.hear()
        assert not isinstance(broken.value, ssl.SSLZeroReturnError | ssl.SSLWantReadError)
    else:
        assert not ends.held


@for_each("data", [b"GET / HTTP/1.1\r\n\r\n", bytes(3), b"\x17\x03\x03\0\x13"])
def test_what_is_not_tls_is_left_as_it_is(data: bytes) -> None:
    talk = TlsTalk()
    talk.browser_says(data)
    assert talk.server_says(b"\x15\x03\x03\0\x02\x01\0") == (b"\x15\x03\x03\0\x02\x01\0", b"")
    assert not talk.owed


def test_who_is_not_greeted_hears_why() -> None:
    talk = TlsTalk()
    talk.browser_says(b"\x16\x03\x01\0\x01\x01")
    refused = b"\x15\x03\x03\0\x02\x02\x28"
    assert talk.server_says(refused) == (refused, b"")
    assert not talk.owed
