"""A TLS front stands before a server of a test: it is then reached by HTTP/2, or by HTTP/1.1."""

import subprocess
import tempfile
from pathlib import Path
from typing import Self

from playwright._impl._driver import compute_driver_executable

from tests.support.tls_authority import Authority

SCRIPT = Path(__file__).with_suffix(".js")


class TlsFront:
    """Open from the moment it is made, for a server on this port; `url` is where."""

    def __init__(self, authority: Authority, port: int) -> None:
        node, _ = compute_driver_executable()
        with tempfile.NamedTemporaryFile(suffix=".pem") as chain:
            chain.write(authority.pem + authority.key)
            chain.flush()
            self._process = subprocess.Popen(
                [node, str(SCRIPT), chain.name, str(port)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert self._process.stdout is not None
            self.port = int(self._process.stdout.readline())
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"https://{self.host}"

    def close(self) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
