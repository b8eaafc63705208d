"""The company's network as the configuration or the variables say it, and what is never shown."""

from pathlib import Path

import pytest

from rutter.actors.world.egress.company_proxy import CompanyProxy
from rutter.actors.world.secrets.redaction import forget, hushed
from rutter.events.errors import BadInput
from rutter.pipeline.config.company_network import company_network
from rutter.pipeline.config.reader import read_config
from rutter.pipeline.config.settings import load
from tests.support.case_table import for_each

HTTPS = {"HTTPS_PROXY": "http://proxy.example:3128"}


def said(env: dict[str, str], toml: str, place: Path) -> tuple[CompanyProxy | None, str]:
    (place / "config.toml").write_text(toml)
    (place / "config.toml").chmod(0o600)
    found = company_network(read_config(None, place, env), env)
    return found.proxy, found.said_by


@for_each(
    "env, toml, proxy, by",
    [
        ({}, "", None, ""),
        (HTTPS, "", CompanyProxy("proxy.example", 3128), "HTTPS_PROXY"),
        (
            {"https_proxy": "proxy.example:8080"},
            "",
            CompanyProxy("proxy.example", 8080),
            "https_proxy",
        ),
        (
            {"HTTP_PROXY": "http://proxy.example"},
            "",
            CompanyProxy("proxy.example", 80),
            "HTTP_PROXY",
        ),
        (
            {"ALL_PROXY": "https://p.example"},
            "",
            CompanyProxy("p.example", 443, tls=True),
            "ALL_PROXY",
        ),
        ({"HTTPS_PROXY": "", "http_proxy": "http://p:1/"}, "", CompanyProxy("p", 1), "http_proxy"),
        (HTTPS, "[network]\nproxy = 'none'", None, "network.proxy"),
        (HTTPS, "[network]\nproxy = 'http://other:8'", CompanyProxy("other", 8), "network.proxy"),
        (
            HTTPS,
            "[network]\nnames = 'proxy'",
            CompanyProxy("proxy.example", 3128, names_there=True),
            "HTTPS_PROXY",
        ),
        (
            {"WHERE": "http://anna:a%3Ab@p:1"},
            "[network]\nproxy = 'env:WHERE'",
            CompanyProxy("p", 1, credentials="YW5uYTphOmI="),
            "network.proxy",
        ),
        (
            {**HTTPS, "NO_PROXY": "localhost,.corp.example, 10.0.0.0/8 ,shop.example:8443"},
            "",
            CompanyProxy(
                "proxy.example",
                3128,
                direct=(
                    *("localhost", "*.localhost", "corp.example", "*.corp.example"),
                    *("10.0.0.0/8", "shop.example:8443", "*.shop.example:8443"),
                ),
            ),
            "HTTPS_PROXY",
        ),
        (
            {**HTTPS, "NO_PROXY": "corp.example"},
            "[network]\nno_proxy = ['*']",
            CompanyProxy("proxy.example", 3128, direct=("*",)),
            "HTTPS_PROXY",
        ),
    ],
)
def test_the_configuration_says_it_or_else_the_variables(
    tmp_path: Path, env: dict[str, str], toml: str, proxy: CompanyProxy | None, by: str
) -> None:
    assert said(env, toml, tmp_path) == (proxy, by)
    forget()


@for_each(
    "value, why",
    [
        ("socks5://anna:Seagull@proxy.example:1080", "names no proxy that is spoken to by HTTP"),
        ("http://anna:Seagull@", "names no proxy that is spoken to by HTTP"),
        ("http://proxy.example:Seagull", "names no proxy that is spoken to by HTTP"),
        (
            "http://wpad.example/Seagull/proxy.pac",
            "names a PAC file, which is a program; none is run",
        ),
    ],
)
def test_one_that_cannot_be_used_is_refused_and_not_repeated(
    tmp_path: Path, value: str, why: str
) -> None:
    with pytest.raises(BadInput, match=f"HTTPS_PROXY {why}") as refused:
        said({"HTTPS_PROXY": value}, "", tmp_path)
    assert "Seagull" not in f"{refused.value} {refused.value.fix}"


def test_its_password_is_printed_by_nobody(tmp_path: Path) -> None:
    env = {"HTTPS_PROXY": "http://anna:Sea%20gull-4711@proxy.example:3128"}
    assert said(env, "", tmp_path)[0] == CompanyProxy(
        "proxy.example", 3128, credentials="YW5uYTpTZWEgZ3VsbC00NzEx"
    )
    for text in (
        "Sea gull-4711",
        "Sea%20gull-4711",
        "YW5uYTpTZWEgZ3VsbC00NzEx",
        env["HTTPS_PROXY"],
    ):
        assert "4711" not in hushed(text)
        assert "NzEx" not in hushed(text)
    forget()


def test_a_password_does_not_stand_in_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[network]\nproxy = 'http://anna:Seagull@p.example:1'\n")
    (tmp_path / "config.toml").chmod(0o600)
    with pytest.raises(BadInput, match=r"network\.proxy") as refused:
        load(str(tmp_path), env={})
    assert "Seagull" not in str(refused.value)
    assert "env:" in refused.value.fix
