"""A bundled site serves in a process of its own, with its switches as flags, until Ctrl-C."""

import subprocess
import sys
from http.client import HTTPConnection
from signal import SIGINT
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("site", "flags", "shown"),
    [
        ("chandlery", ["--moved"], "User name"),
        ("gaffsail", ["--relabelled", "sign_in"], "Log me in"),
    ],
)
def test_a_site_says_where_it_is_and_serves_until_it_is_interrupted(
    site: str, flags: list[str], shown: str
) -> None:
    command = [sys.executable, "-m", f"rutter.pipeline.demo_sites.{site}", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        said = served.stdout.readline()
        where = urlsplit(said.split()[0])
        connection = HTTPConnection(where.netloc, timeout=10)
        connection.request("GET", where.path)
        answer = connection.getresponse()
        page = answer.read().decode()
        connection.close()
        served.send_signal(SIGINT)
    assert (answer.status, served.returncode) == (200, 0)
    assert shown in page
    assert f"--allow {where.netloc}" in said


def test_a_switch_that_does_not_exist_is_refused() -> None:
    command = [sys.executable, "-m", "rutter.pipeline.demo_sites.gaffsail", "--relabelled", "never"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 2
    assert "--relabelled is one of" in refused.stderr
