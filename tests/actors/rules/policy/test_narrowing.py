"""A run may narrow the policy that it starts from, never widen it."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.rules.policy.hosts import address_refused, host_refused
from rutter.actors.rules.policy.narrowing import covered, may_go_to, may_load, narrowed
from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.events.errors import BadInput
from rutter.events.policy import Policy, PolicyRule
from tests.support.case_table import for_each
from tests.support.example_counts import examples

PATTERNS = (
    *("shop.example", "shop.example:8443", "*.shop.example", "*.shop.example:8443"),
    *("deep.a.shop.example", "*.a.shop.example", "localhost", "localhost:9", "*.internal"),
    *("db.internal", "10.1.2.3", "10.1.2.3:80", "10.0.0.0/8", "10.1.0.0/16", "[fd00::1]"),
    *("fd00::/8", "93.184.216.34", "93.184.0.0/16", "other.example"),
)
HOSTS = (
    *("shop.example", "a.shop.example", "deep.a.shop.example", "notshop.example", "localhost"),
    *("db.internal", "a.db.internal", "10.1.2.3", "10.200.0.1", "fd00::1"),
    *("93.184.216.34", "other.example"),
)
PORTS = (9, 80, 443, 8443)
ADDRESSES = ("127.0.0.1", "10.1.2.3", "10.200.0.1", "fd00::1", "93.184.216.34", "169.254.169.254")
RULES = (
    PolicyRule("a", "deny", actions=("click",)),
    PolicyRule("b", "ask", says=("refund",)),
    PolicyRule("c", "allow", drivers=("agent",)),
)


def some(of: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(of), unique=True, max_size=4).map(tuple)


policies = st.builds(
    Policy,
    version=st.sampled_from(("1", "2")),
    denylist=some(("buy", "pay", "delete")),
    hosts=some(PATTERNS),
    public_hosts=st.booleans(),
    resources=some(PATTERNS),
    public_resources=st.booleans(),
    rules=st.lists(st.sampled_from(RULES), unique=True).map(tuple),
    secret_origins=st.lists(
        st.tuples(st.sampled_from("pq"), st.sampled_from(("https://a", "https://b"))), unique=True
    ).map(tuple),
    approval_ms=st.sampled_from((0, 10, 500)),
    upload_mb=st.integers(1, 99),
    download_mb=st.integers(1, 99),
    detect_secrets=st.booleans(),
)


def reached(policy: Policy) -> set[tuple[str, int, bool]]:
    """What the proxy and the Validator would let pass, of everything that there is here."""
    return {
        (host, port, top_level)
        for host in HOSTS
        for port in PORTS
        for top_level in (True, False)
        if host_refused(policy, "http", host, port, top_level=top_level) is None
    }


def resolved(policy: Policy) -> set[tuple[str, int, str]]:
    return {
        (host, port, address)
        for host in HOSTS
        for port in PORTS
        for address in ADDRESSES
        if host_refused(policy, "http", host, port, top_level=False) is None
        and address_refused(policy, host, port, address) is None
    }


def typed_on(policy: Policy, secret: str, origin: str) -> bool:
    homes = [home for name, home in policy.secret_origins if name == secret]
    return not homes or origin in homes


def waits(policy: Policy) -> float:
    return policy.approval_ms or float("inf")


def modest(base: Policy, wish: Policy) -> Policy:
    """The wish without hosts that are refused by themselves: most of them would be."""
    return msgspec.structs.replace(
        wish,
        hosts=tuple(host for host in wish.hosts if may_go_to(base, host)),
        resources=tuple(host for host in wish.resources if may_load(base, host)),
    )


@examples(120)
@given(policies, policies, st.booleans())
def test_whatever_the_narrowed_policy_allows_the_base_allows(
    base: Policy, wish: Policy, greedy: bool
) -> None:
    try:
        result = narrowed(base, wish if greedy else modest(base, wish))
    except BadInput:
        return
    assert reached(result) <= reached(base)
    assert resolved(result) <= resolved(base)
    assert set(base.denylist) | set(wish.denylist) == set(result.denylist)
    assert set(base.rules) <= set(result.rules)
    assert not {rule for rule in result.rules if rule.effect == "allow"} - set(base.rules)
    assert waits(result) <= min(waits(base), waits(wish))
    assert result.upload_mb <= base.upload_mb
    assert result.download_mb <= base.download_mb
    assert result.detect_secrets or not base.detect_secrets
    for secret in "pq":
        for origin in ("https://a", "https://b", "https://c"):
            if typed_on(result, secret, origin):
                assert typed_on(base, secret, origin)
                assert typed_on(wish, secret, origin)


@examples(60)
@given(policies)
def test_who_wishes_for_the_same_gets_the_same(base: Policy) -> None:
    assert narrowed(base, base) == base


@examples(60)
@given(policies, policies)
def test_what_was_narrowed_once_is_not_narrowed_by_the_same_wish_again(
    base: Policy, wish: Policy
) -> None:
    try:
        once = narrowed(base, modest(base, wish))
        again = narrowed(once, modest(once, wish))
    except BadInput:
        return
    assert reached(again) <= reached(once)


@given(st.sampled_from(PATTERNS), st.sampled_from(PATTERNS))
def test_a_pattern_that_is_covered_means_nothing_more(wide: str, narrow: str) -> None:
    if covered([wide], narrow):
        bare = Policy("1", public_hosts=False, public_resources=False)
        wider = msgspec.structs.replace(bare, hosts=(wide,))
        assert reached(msgspec.structs.replace(bare, hosts=(narrow,))) <= reached(wider)


@for_each(
    "wide, narrow, held",
    [
        ("shop.example", "shop.example:8443", True),
        ("shop.example:8443", "shop.example", False),
        ("*.shop.example", "a.shop.example", True),
        ("*.shop.example", "*.a.shop.example", True),
        ("*.shop.example", "shop.example", False),
        ("shop.example", "*.shop.example", False),
        ("*.shop.example", "*.shop.example:80", True),
        ("10.0.0.0/8", "10.1.2.3:80", True),
        ("10.0.0.0/8", "10.1.0.0/16", True),
        ("10.1.0.0/16", "10.0.0.0/8", False),
        ("10.1.2.3", "10.1.2.3/32", False),
        ("0.0.0.0/0", "::1", False),
        ("SHOP.example.", "shop.example", True),
        ("shop.example", "http://shop.example", False),
    ],
)
def test_what_a_pattern_means(wide: str, narrow: str, held: bool) -> None:
    assert covered([wide], narrow) is held


def test_public_hosts_are_those_that_no_private_name_or_address_is() -> None:
    assert may_go_to(DEFAULT_POLICY, "shop.example")
    assert may_go_to(DEFAULT_POLICY, "*.shop.example")
    for private in ("localhost", "10.1.2.3", "*.internal", "db.internal", "8.8.0.0/16", "[::1]"):
        assert not may_go_to(DEFAULT_POLICY, private)
        assert not may_load(DEFAULT_POLICY, private)


def test_a_host_outside_of_the_allowlist_is_refused_by_its_name() -> None:
    base = Policy("1", hosts=("shop.example",), public_hosts=False)
    wish = msgspec.structs.replace(base, hosts=("shop.example:8443", "evil.example"))
    with pytest.raises(BadInput, match=r"evil\.example is not among the allowed hosts") as caught:
        narrowed(base, wish)
    assert "policy.allowed_domains" in caught.value.fix


def test_an_empty_allowlist_lets_nobody_anywhere() -> None:
    base = Policy("1", public_hosts=False, public_resources=False)
    with pytest.raises(BadInput):
        narrowed(base, msgspec.structs.replace(base, hosts=("shop.example",)))
    with pytest.raises(BadInput):
        narrowed(base, msgspec.structs.replace(base, resources=("cdn.example",)))
    assert reached(narrowed(base, DEFAULT_POLICY)) == set()


def test_a_folder_outside_of_the_folders_is_refused() -> None:
    base = Policy("1", folders=("/srv/out",))
    inside = msgspec.structs.replace(base, folders=("/srv/out/a",))
    assert narrowed(base, inside).folders == ("/srv/out/a",)
    for folder in ("/srv", "/srv/output", "/srv/out/../etc"):
        with pytest.raises(BadInput, match="none of the allowed folders"):
            narrowed(base, msgspec.structs.replace(base, folders=(folder,)))


def test_a_secret_whose_homes_do_not_meet_is_refused_and_not_let_out() -> None:
    base = Policy("1", secret_origins=(("p", "https://a"),))
    with pytest.raises(BadInput, match="'p' belongs to other origins"):
        narrowed(base, msgspec.structs.replace(base, secret_origins=(("p", "https://b"),)))
    assert narrowed(base, DEFAULT_POLICY).secret_origins == (("p", "https://a"),)
