"""Our own clients of HTTP - models, webhooks, collectors of traces - go out as the browser does: by
the company's proxy, trusting its authority. All of them read the same variables."""

import base64
from collections.abc import Mapping
from urllib.parse import quote

from rutter.actors.world.egress.company_proxy import CompanyProxy
from rutter.pipeline.config.company_authority import company_authority
from rutter.pipeline.config.company_network import company_network
from rutter.pipeline.config.settings import Settings, environment, go_by

HERE = ("localhost", "127.0.0.1", "::1")  # a model or a collector of this machine
BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH")


def join_network(settings: Settings) -> None:
    """Before the first of them is made. What nobody has said anything of stays as it is."""
    go_by(variables(settings, environment()))


def variables(settings: Settings, env: Mapping[str, str]) -> dict[str, str]:
    network, found = company_network(settings.config, env), dict[str, str]()
    if network.proxy is not None:
        found |= _proxied(network.proxy)
    elif network.said_by:
        found |= _both({"NO_PROXY": "*"})
    if (authority := company_authority(settings)) is not None:
        found |= dict.fromkeys(BUNDLES, str(authority.bundle))
    return found


def _proxied(proxy: CompanyProxy) -> dict[str, str]:
    who = ""
    if proxy.credentials:
        name, _, password = base64.b64decode(proxy.credentials).decode().partition(":")
        who = f"{quote(name, safe='')}:{quote(password, safe='')}@"
    url = f"{'https' if proxy.tls else 'http'}://{who}{proxy.where}"
    left_out = [each for each in proxy.direct if not each.startswith("*.")]
    direct = ",".join(dict.fromkeys((*left_out, *HERE)))
    return _both({"HTTPS_PROXY": url, "HTTP_PROXY": url, "NO_PROXY": direct})


def _both(said: Mapping[str, str]) -> dict[str, str]:
    """In both spellings: of two that differ, each client believes another."""
    return {spelt: value for name, value in said.items() for spelt in (name, name.lower())}
