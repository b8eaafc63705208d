"""A real browser trusts the company's authority for what it vouches for, and for nothing else."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import msgspec
import pytest

from rutter.actors.world.browser.page_session import NavigationFailed
from rutter.events.errors import BadInput
from rutter.pipeline.browser import browser_maker
from rutter.pipeline.config.company_authority import company_authority
from rutter.pipeline.config.own_clients import BUNDLES
from rutter.pipeline.config.settings import Settings, load
from tests.support.certificate_tool import NEEDED
from tests.support.company_proxy import company_proxy
from tests.support.loopback import Loopback, QuietHandler, QuietServer
from tests.support.policies import HERE
from tests.support.tls_authority import Authority, authority, issued

pytestmark = [pytest.mark.anyio, NEEDED]

PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
SET = (*BUNDLES, *PROXIES, *map(str.lower, PROXIES))


def settings_of(place: Path, vouches: Authority) -> Settings:
    (place / "company.pem").write_bytes(vouches.pem)
    (place / "config.toml").write_text(f"[network]\nauthority = '{place}/company.pem'\n")
    (place / "config.toml").chmod(0o600)
    return load(str(place), env={})


class _Pages(QuietHandler, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response_only(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


@contextmanager
def site(vouches: Authority, name: str) -> Iterator[str]:
    server = QuietServer(("127.0.0.1", 0), _Pages)
    server.socket = issued(vouches, name).wrap_socket(server.socket, server_side=True)
    with Loopback(server) as running:
        yield f"https://localhost:{running.url.rpartition(':')[2]}/"


@pytest.mark.browser
async def test_a_browser_trusts_what_it_vouches_for_by_name_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SET:
        monkeypatch.setenv(name, "")  # as it is afterwards
    company = authority()
    with (
        site(company, "localhost") as known,
        site(company, "elsewhere.example") as misnamed,
        site(authority(), "localhost") as strange,
    ):
        async with browser_maker(settings_of(tmp_path, company))() as browser:
            tab = await browser.open_tab(HERE)
            assert await tab.navigate(known, within_ms=20_000)
            with pytest.raises(NavigationFailed, match="ERR_CERT_COMMON_NAME_INVALID"):
                await tab.navigate(misnamed, within_ms=20_000)
            with pytest.raises(NavigationFailed, match="ERR_CERT_AUTHORITY_INVALID"):
                await tab.navigate(strange, within_ms=20_000)


@pytest.mark.browser
async def test_a_site_that_only_the_company_knows_opens_behind_its_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is meant to be used: the variable that all programs have, and one line for the rest."""
    for name in SET:
        monkeypatch.setenv(name, "")  # as it is afterwards
    company = authority()
    with site(company, "shop.example") as shop:
        port = int(shop.rstrip("/").rpartition(":")[2])
        async with company_proxy({"shop.example:443": port}, "anna:Sea@gull") as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://anna:Sea%40gull@{proxy.where}")
            async with browser_maker(settings_of(tmp_path, company))() as browser:
                named = msgspec.structs.replace(HERE, hosts=("shop.example",))
                tab = await browser.open_tab(named)
                assert await tab.navigate("https://shop.example/", within_ms=20_000)
                with pytest.raises(NavigationFailed):
                    await tab.navigate("https://other.example/", within_ms=20_000)
    assert set(proxy.asked) == {"shop.example:443"}


def test_it_is_made_once_beside_the_public_ones_and_the_browser_finds_its_own_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(tmp_path, company := authority())
    made = company_authority(settings)
    assert made is not None
    monkeypatch.setenv("SSL_CERT_FILE", str(made.bundle))
    assert made == company_authority(settings)
    bundle = made.bundle.read_text()
    assert company.pem.decode() in bundle
    assert bundle.count("BEGIN CERTIFICATE") > 50
    assert (made.home / ".pki" / "nssdb" / "cert9.db").is_file()
    env = made.for_the_browser({"HOME": "/home/mate", "XDG_DATA_HOME": "/data", "LANG": "C"})
    assert env == {
        "HOME": str(made.home),
        "LANG": "C",
        "XAUTHORITY": "/home/mate/.Xauthority",
        "XDG_CACHE_HOME": "/home/mate/.cache",
        "XDG_CONFIG_HOME": "/home/mate/.config",
        "XDG_DATA_HOME": "/data",
    }


def test_without_the_tool_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(tmp_path, authority())
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(BadInput, match="certutil is not here") as missing:
        company_authority(settings)
    assert "libnss3-tools" in missing.value.fix
    monkeypatch.undo()
    assert shutil.which("certutil")
    assert company_authority(settings) is not None, "nothing of the first try is in the way"
