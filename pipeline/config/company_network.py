"""The company's network says by which proxy the world is reached from here.

The keys `network.` of the configuration say it, else the variables that other programs go by. One
that cannot be used is an error where somebody goes out, not where they only look back.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote, urlsplit

import msgspec

from rutter.actors.rules.policy.hosts import read_pattern
from rutter.actors.world.egress.company_proxy import CompanyProxy
from rutter.actors.world.secrets.redaction import hide
from rutter.events.errors import BadInput
from rutter.pipeline.config.reader import Config
from rutter.pipeline.config.secret_sources import read_secrets
from rutter.pipeline.config.tables import is_source

VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
NONE = "none"
FIX = "write http://HOST:PORT, or none (network.proxy); see docs/egress.md"
PORTS = {"http": 80, "https": 443}


class CompanyNetwork(msgspec.Struct, frozen=True):
    """A network has a `proxy`, where `said_by` says so."""

    proxy: CompanyProxy | None = None
    said_by: str = ""


def company_network(config: Config, env: Mapping[str, str]) -> CompanyNetwork:
    """Its password is printed by nobody from here on. Raises `BadInput`."""
    said, said_by = _said(config, env)
    if said in ("", NONE):
        return CompanyNetwork(None, said_by)
    listed = config.listed("network.no_proxy")
    left_out = (_variable("NO_PROXY", env)[0].split(",")) if listed is None else listed
    return CompanyNetwork(_proxy(said, said_by, tuple(_patterns(left_out)), config), said_by)


def _said(config: Config, env: Mapping[str, str]) -> tuple[str, str]:
    said = config.text("network.proxy")
    if is_source(said):
        return read_secrets([f"proxy={said}"], env, _nobody)["proxy"].strip(), "network.proxy"
    if said:
        return said, "network.proxy"
    return next((found for each in VARIABLES if (found := _variable(each, env))[0]), ("", ""))


def _variable(name: str, env: Mapping[str, str]) -> tuple[str, str]:
    """In either spelling."""
    found = next((each for each in (name, name.lower()) if env.get(each)), name)
    return env.get(found, "").strip(), found


def _proxy(said: str, said_by: str, direct: tuple[str, ...], config: Config) -> CompanyProxy:
    """Not repeated in what is said of it: it may hold a password."""
    if said.partition("?")[0].endswith(".pac"):
        raise BadInput(f"{said_by} names a PAC file, which is a program; none is run", FIX)
    try:
        read = urlsplit(said if "://" in said else f"http://{said}")
        host, port = read.hostname, read.port or PORTS[read.scheme]
    except (ValueError, KeyError):
        read, host, port = urlsplit(""), None, 0
    if not host or read.scheme not in PORTS:
        raise BadInput(f"{said_by} names no proxy that is spoken to by HTTP", FIX)
    credentials = ""
    if read.username is not None:
        name, password = unquote(read.username), unquote(read.password or "")
        credentials = base64.b64encode(f"{name}:{password}".encode()).decode()
        known = {"proxy_password": password, "proxy_credentials": credentials}
        hide({each: value for each, value in known.items() if value})
    there = config.text("network.names") == "proxy"
    return CompanyProxy(host, port, read.scheme == "https", credentials, direct, there)


def _patterns(left_out: Iterable[str]) -> Iterator[str]:
    """`NO_PROXY` means what is below a name as well, with a dot before it or without."""
    for each in map(str.strip, left_out):
        name = each.removeprefix("*.").removeprefix(".")
        if each == "*":
            yield each
        elif (pattern := read_pattern(name)) is not None:
            yield name
            if pattern.network is None and read_pattern(f"*.{name}") is not None:
                yield f"*.{name}"


def _nobody(question: str) -> str:
    raise BadInput(
        "nobody is here to type the company's proxy", "give network.proxy another source"
    )
