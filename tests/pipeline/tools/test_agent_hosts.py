"""What an agent may name: public hosts, and private ones that somebody configured."""

import pytest

from rutter.events.errors import BadInput, PolicyDenied
from rutter.events.policy import Policy
from rutter.pipeline.tools.agent_hosts import check_agents_reach
from tests.support.case_table import for_each

OPEN = Policy("1")
LISTED = Policy("1", hosts=("127.0.0.1:8000", "desk.local", "10.0.0.0/8"))


@for_each(
    "url",
    [
        *("http://127.0.0.1/", "http://127.1:8080/", "http://localhost:8080/"),
        *("http://a.localhost/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://0x7f.1/"),
        *("http://2130706433/", "http://0.0.0.0/", "http://10.0.0.1/", "http://192.168.1.1/"),
        *("http://169.254.169.254/latest/meta-data", "http://router.local/"),
    ],
)
def test_a_private_host_that_nobody_configured_is_refused(url: str) -> None:
    with pytest.raises(PolicyDenied, match="an agent may not name"):
        check_agents_reach(OPEN, url)


def test_a_private_host_is_what_was_configured_with_its_port_and_nothing_beside_it() -> None:
    check_agents_reach(LISTED, "http://127.0.0.1:8000/login")
    check_agents_reach(LISTED, "http://desk.local/")
    check_agents_reach(LISTED, "http://10.2.3.4:9000/")
    check_agents_reach(LISTED, allow=["127.0.0.1:8000"])
    for url in ("http://127.0.0.1:8001/", "http://localhost:8000/", "http://127.0.0.1/"):
        with pytest.raises(PolicyDenied):
            check_agents_reach(LISTED, url)


@for_each("host", ["*", "10.0.0.0/8", "localhost", "127.0.0.1:9", "*.local"])
def test_no_list_of_an_agent_opens_what_is_private_or_everything(host: str) -> None:
    with pytest.raises(PolicyDenied):
        check_agents_reach(OPEN, "https://shop.example/", [host])


def test_public_hosts_may_be_named_and_nonsense_is_said_to_be_that() -> None:
    check_agents_reach(OPEN, "https://shop.example/", ["cdn.example", "*.shop.example"])
    with pytest.raises(BadInput, match="not a web address"):
        check_agents_reach(OPEN, "file:///etc/passwd")
    with pytest.raises(BadInput):
        check_agents_reach(OPEN, "https://shop.example/", ["not a host"])
