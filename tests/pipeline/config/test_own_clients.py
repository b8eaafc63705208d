"""Our own clients behind a company's proxy: they go by it, and trust the company's authority."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from rutter.actors.world.models.anthropic import AnthropicModel
from rutter.actors.world.models.messages import ModelFailed, Prompt
from rutter.actors.world.models.ollama import OllamaModel
from rutter.actors.world.models.openai import OpenAIModel
from rutter.events.errors import BadInput
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.company_authority import company_authority
from rutter.pipeline.config.own_clients import join_network, variables
from rutter.pipeline.config.settings import load
from rutter.pipeline.config.trace_target import HTTP, TraceTarget
from rutter.pipeline.daemon.notify.webhooks import Courier, Letter, RetryPace
from rutter.pipeline.traces.sdk_exporter import open_sink
from tests.support.certificate_tool import NEEDED
from tests.support.company_proxy import CompanyProxyServer, company_proxy
from tests.support.tls_authority import authority, issued

pytestmark = pytest.mark.anyio

NAME = "api.example"
URL = f"https://{NAME}"
SPELT = [
    each for name in ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY") for each in (name, name.lower())
]
TRUST = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is set here is as it was afterwards."""
    for name in (*SPELT, *TRUST):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return tmp_path


def configured(place: Path, text: str) -> None:
    (place / "config.toml").write_text(text)
    (place / "config.toml").chmod(0o600)


@asynccontextmanager
async def inside(place: Path) -> AsyncIterator[tuple[CompanyProxyServer, list[str]]]:
    """A server that only the company's proxy leads to, and only its authority vouches for."""
    asked: list[str] = []
    company = authority()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked.append((await reader.readuntil(b"\r\n")).decode().split(" ")[1])
            writer.write(b"HTTP/1.1 401 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError, ssl.SSLError):
            writer.transport.abort()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=issued(company, NAME))
    port = server.sockets[0].getsockname()[1]
    async with company_proxy({f"{NAME}:443": port}, "anna:Sea:gull/4711") as proxy:
        (place / "company.pem").write_bytes(company.pem)
        configured(place, f"[network]\nauthority = '{place}/company.pem'\nproxy = 'env:OURS'\n")
        os.environ["OURS"] = f"http://anna:Sea%3Agull%2F4711@{proxy.where}"
        try:
            yield proxy, asked
        finally:
            server.close()
            del os.environ["OURS"]


async def by_model(model: AnthropicModel | OpenAIModel | OllamaModel) -> str:
    with pytest.raises(ModelFailed) as failed:
        await model.complete(Prompt("", ()), within_ms=20_000)
    await model.aclose()
    return failed.value.message


async def by_webhook() -> str:
    courier = Courier(f"{URL}/hook", b"", Clock(), RetryPace(attempts=1))
    courier.start()
    courier.put(Letter("one", b"{}"))
    await courier.stop(20)
    return courier.statistics().why


async def by_collector() -> str:
    sink = open_sink(TraceTarget(HTTP, f"{URL}/v1/traces"))
    delivery = await anyio.to_thread.run_sync(sink.deliver, [])
    sink.close()
    return delivery.why


CLIENTS: dict[str, Callable[[], object]] = {
    "anthropic": lambda: by_model(AnthropicModel("m", "key", base_url=URL)),
    "openai": lambda: by_model(OpenAIModel("m", "key", base_url=URL)),
    "ollama": lambda: by_model(OllamaModel("m", base_url=URL)),
    "webhook": by_webhook,
    "collector": by_collector,
}


@NEEDED
@pytest.mark.parametrize("client", CLIENTS)
async def test_each_client_goes_by_the_proxy_and_trusts_the_authority(
    place: Path, client: str
) -> None:
    async with inside(place) as (proxy, asked):
        settings = load(str(place), env={})
        join_network(settings)
        said = await CLIENTS[client]()  # type: ignore[misc]
    assert proxy.asked == [f"{NAME}:443"], said
    assert len(asked) == 1, said
    assert "401" in said or "does not accept the key" in said
    assert "4711" not in said


async def test_what_is_of_this_machine_is_asked_directly_and_none_means_none(place: Path) -> None:
    env = {"HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": "corp.example"}
    said = variables(load(str(place), env={}), env)
    assert said["NO_PROXY"] == said["no_proxy"] == "corp.example,localhost,127.0.0.1,::1"
    assert said["http_proxy"] == said["HTTPS_PROXY"] == "http://proxy.example:3128"
    assert variables(load(str(place), env={}), {}) == {}
    configured(place, "[network]\nproxy = 'none'\n")
    assert variables(load(str(place), env={}), env) == {"NO_PROXY": "*", "no_proxy": "*"}


@pytest.mark.parametrize("holds", ["", "no certificate", "a server's certificate"])
async def test_an_authority_that_is_none_is_refused(place: Path, holds: str) -> None:
    pem = authority().pem.decode() if "server" in holds else holds
    (place / "company.pem").write_text(pem.replace("MII", "MIX", 1))
    configured(place, f"[network]\nauthority = '{place}/company.pem'\n")
    with pytest.raises(BadInput, match=r"network\.authority: .* certificates of authorities"):
        company_authority(load(str(place), env={}))
