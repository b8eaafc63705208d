"""The doctor says by which proxy of a company this machine goes out, and what it answers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from rutter.pipeline.cli import doctor
from tests.support.certificate_tool import NEEDED
from tests.support.command_shell import Rutter
from tests.support.tls_authority import authority


@contextmanager
def answering(status: int) -> Iterator[str]:
    class Proxy(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with HTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    ("status", "code", "says"),
    [
        (503, 0, "; names are looked up here"),
        (200, 0, "; names are looked up here"),
        (407, 8, ", the proxy, does not take this name and password (407)"),
    ],
)
def test_the_doctor_says_which_proxy_is_used_and_whether_it_takes_us(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch, status: int, code: int, says: str
) -> None:
    monkeypatch.setattr(doctor, "LOOKS", (doctor._network,))
    with answering(status) as where:
        monkeypatch.setenv("HTTPS_PROXY", f"http://anna:Seagull-4711@{where}")
        ended = rutter("doctor")
    assert ended.code == code, ended
    assert f"goes through {where} (HTTPS_PROXY)" in ended.out
    assert says in ended.out
    assert "4711" not in ended.out + ended.err


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "[OK]   network: reached directly"),
        ("http://127.0.0.1:9", "nobody answers at 127.0.0.1:9, the proxy"),
        ("socks5://127.0.0.1:9", "HTTPS_PROXY names no proxy that is spoken to by HTTP"),
        ("http://wpad.example/proxy.pac", "HTTPS_PROXY names a PAC file"),
    ],
)
def test_the_doctor_says_what_is_wrong_with_it(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch, value: str, says: str
) -> None:
    monkeypatch.setattr(doctor, "LOOKS", (doctor._network,))
    monkeypatch.setenv("HTTPS_PROXY", value)
    assert says in rutter("doctor").out


@NEEDED
def test_the_doctor_says_which_authority_is_trusted_as_well_and_what_is_missing(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(doctor, "LOOKS", (doctor._network,))
    monkeypatch.setenv("HTTPS_PROXY", "")
    pem = tmp_path / "company.pem"
    pem.write_bytes(authority().pem)
    monkeypatch.setenv("RUTTER_NETWORK_AUTHORITY", str(pem))
    assert f"[OK]   network: reached directly: no proxy of a company is named; trusts {pem}" in (
        rutter("doctor").out
    )
    pem.unlink()
    ended = rutter("doctor")
    assert (ended.code, "company.pem cannot be read" in ended.out) == (8, True), ended
