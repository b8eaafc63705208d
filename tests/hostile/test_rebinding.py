"""A name that is public when it is looked at and private when it is gone to: nobody gets there."""

import re
from collections.abc import Callable, Iterator
from random import Random

import pytest

from rutter.events.policy import Policy
from tests.hostile.canaries import Canaries
from tests.hostile.proxy_process import Listener, ProxyProcess, say
from tests.hostile.rebinding_proxy import Plan
from tests.support.example_counts import count

PUBLIC = "93.184.215.14"
NAME = "rebinding.canary.test"
OPEN = Policy("1")  # every public host, and nothing that is private


@pytest.fixture(scope="module")
def site() -> Iterator[Listener]:
    with Listener() as running:
        yield running


@pytest.fixture(scope="module")
def plan(
    tmp_path_factory: pytest.TempPathFactory, site: Listener, request: pytest.FixtureRequest
) -> Plan:
    port = int(site.at.rpartition(":")[2])
    asks_again: str = getattr(request, "param", "")
    return Plan(str(tmp_path_factory.mktemp("names")), {PUBLIC: port}, asks_again)


@pytest.fixture(scope="module")
def proxy(plan: Plan) -> Iterator[ProxyProcess]:
    with ProxyProcess(plan.command()) as running:
        yield running


@pytest.fixture
def canaries() -> Iterator[Canaries]:
    with Canaries([("canary", "")]) as running:
        yield running


@pytest.fixture
def resolving(plan: Plan, proxy: ProxyProcess, site: Listener, canaries: Canaries) -> "Start":
    """A door of the proxy while the name has these answers. `CANARY` is the canary's address."""
    site.clear()

    def start(*answers: list[str], policy: Policy = OPEN) -> Resolving:
        host, port = canaries.addresses["canary"]
        plan.answer(NAME, *([each.replace("CANARY", host) for each in some] for some in answers))
        return Resolving(proxy, policy, port, plan)

    return start


class Resolving:
    def __init__(self, proxy: ProxyProcess, policy: Policy, port: int, plan: Plan) -> None:
        self._proxy = proxy
        self._door = proxy.open(policy)
        self._at = f"{NAME}:{port}"
        self._plan = plan
        self._before = len(plan.dialled())
        self._known = len(proxy.blocked)

    def get(self, times: int = 1) -> list[str]:
        """What is answered to so many requests on one connection."""
        said = f"GET http://{self._at}/one HTTP/1.1\r\nHost: {self._at}\r\n\r\n" * times
        return self._answers(said)

    def tunnel(self) -> list[str]:
        return self._answers(f"CONNECT {self._at} HTTP/1.1\r\nHost: {self._at}\r\n\r\nGET / x")

    def close(self) -> None:
        self._proxy.close_door(self._door)

    def dialled(self) -> list[str]:
        return self._plan.dialled()[self._before :]

    def rules(self) -> list[str]:
        self._proxy.counts(self._door)
        return [blocked.rule for blocked in self._proxy.blocked[self._known :]]

    def _answers(self, said: str) -> list[str]:
        heard = say(self._door, said.encode()).decode("latin-1")
        return re.findall(r"HTTP/1\.1 (\d+) ", heard)


Start = Callable[..., Resolving]


def test_public_first_and_private_then(resolving: Start, canaries: Canaries) -> None:
    proxy = resolving([PUBLIC], ["CANARY"])
    assert proxy.get() == ["200"]
    assert proxy.get() == ["403"]
    assert proxy.tunnel() == ["403"]
    assert proxy.dialled() == [PUBLIC]
    assert set(proxy.rules()) == {"private_address"}
    assert not canaries.hits


def test_public_and_private_in_one_answer(resolving: Start, canaries: Canaries) -> None:
    for answer in ([PUBLIC, "CANARY"], ["CANARY", PUBLIC]):
        proxy = resolving(answer)
        assert (proxy.get(), proxy.tunnel()) == (["403"], ["403"])
        assert not proxy.dialled()
    assert not canaries.hits


@pytest.mark.parametrize(
    "answer",
    [
        "CANARY",
        "::ffff:CANARY",
        "127.0.0.1",
        "::1",
        "::",
        "0.0.0.0",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fe80::1%lo",
        "169.254.169.254",
        "fd00::1",
        "10.0.0.1",
        "localhost",
        "",
    ],
)
def test_an_answer_that_is_not_public_is_not_dialled(
    resolving: Start, canaries: Canaries, answer: str
) -> None:
    proxy = resolving([answer])
    assert (proxy.get(), proxy.tunnel()) == (["403"], ["403"])
    assert not proxy.dialled()
    assert not canaries.hits


def test_no_answer_is_no_way(resolving: Start, canaries: Canaries) -> None:
    proxy = resolving([])
    assert (proxy.get(), proxy.tunnel()) == ([], ["502"])
    assert not proxy.dialled()
    assert not canaries.hits


def test_what_is_kept_open_goes_where_it_was_checked(
    resolving: Start, site: Listener, canaries: Canaries
) -> None:
    """Looked up once for a connection: the second answer is for nobody."""
    proxy = resolving([PUBLIC], ["CANARY"])
    assert proxy.get(times=3) == ["200", "200", "200"]
    assert proxy.dialled() == [PUBLIC]
    assert len(site.requests) == 3
    assert not canaries.hits


KINDS = (PUBLIC, PUBLIC, "CANARY", "::ffff:CANARY", "127.0.0.1", "10.0.0.1", "fe80::1%lo", "::")


def test_whatever_it_answers_by_turns_only_what_was_judged_is_dialled(
    resolving: Start, canaries: Canaries
) -> None:
    """One look-up for each connection: it decides, and where that leads is gone to."""
    rng = Random(11)
    for _ in range(count(100)):
        answers = [rng.choices(KINDS, k=rng.randint(1, 3)) for _ in range(rng.randint(1, 4))]
        proxy = resolving(*answers)
        for turn in range(len(answers) + 1):
            good = set(answers[min(turn, len(answers) - 1)]) == {PUBLIC}
            wanted = ["200", "200"] if good else ["403"]
            assert (proxy.tunnel() if rng.random() < 0.5 else proxy.get()) in (wanted, wanted[:1])
        assert set(proxy.dialled()) <= {PUBLIC}
        proxy.close()
    assert not canaries.hits


@pytest.mark.parametrize("plan", [NAME], indirect=True)
def test_the_control_that_looks_a_name_up_again_where_it_dials_reaches_the_canary(
    resolving: Start, canaries: Canaries
) -> None:
    assert resolving([PUBLIC], ["CANARY"]).get() == ["200"]
    assert canaries.hits


def test_naming_a_host_names_no_private_address(resolving: Start, canaries: Canaries) -> None:
    proxy = resolving(["CANARY"], policy=Policy("1", hosts=(NAME, f"*.{NAME}", "*.test")))
    assert (proxy.get(), proxy.tunnel()) == (["403"], ["403"])
    assert not canaries.hits


def test_naming_its_network_does(resolving: Start, canaries: Canaries) -> None:
    """So the tests above can fail."""
    proxy = resolving(["CANARY"], policy=Policy("1", hosts=(NAME, "127.66.0.0/16")))
    assert (proxy.get(), proxy.tunnel()) == (["200"], ["200", "200"])
    assert {hit.said for hit in canaries.hits} == {"", "GET /one HTTP/1.1", "GET / x"}
