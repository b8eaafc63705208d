"""Given links and web sessions, and a clock that is moved: what opens, how long, for whom."""

import pytest

from rutter.pipeline.daemon.http.access import AccessRule
from rutter.pipeline.daemon.http.asgi import RequestHead
from rutter.pipeline.daemon.http.guard import Caller, Guard, own_addresses
from rutter.pipeline.daemon.http.refusals import HttpRefusal
from rutter.pipeline.daemon.http.tokens import Tickets, Tokens
from rutter.pipeline.daemon.http.web_sessions import (
    LINKS,
    OPENING,
    SESSIONS,
    WebSessions,
    cookie_name,
)
from tests.support.case_table import for_each
from tests.support.guarded_app import AGENT, PERSON, Spy

HOST, OWN = "127.0.0.1:8080", "http://127.0.0.1:8080"
TABLE = (
    AccessRule("GET", "/web/**", "person", web=True),
    AccessRule("POST", "/jobs", "agent", web=True),
    AccessRule("WS", "/moving", "person", web=True),
)


class Hands:
    """The hands of a clock."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def web(hands: Hands) -> WebSessions:
    return WebSessions(now_s=hands)


def code(web: WebSessions) -> str:
    path = web.link()
    assert path.startswith(OPENING)
    return path.removeprefix(OPENING)


def opened(web: WebSessions) -> str:
    value = web.open(code(web))
    assert value is not None
    return value


def test_a_link_opens_once_and_in_time(web: WebSessions, hands: Hands) -> None:
    first, late = code(web), code(web)
    assert web.open(first)
    assert web.open(first) is None
    hands.now_s = web.link_s
    assert web.open(late) is None
    assert web.open("x" * 43) is None


def test_a_session_lasts_as_long_as_it_may_and_ends_when_it_is_revoked(
    web: WebSessions, hands: Hands
) -> None:
    one, two = opened(web), opened(web)
    assert (web.of(["", one]), web.of([two])) != (None, None)
    assert web.of([]) is web.of(["x"]) is web.of([""]) is None
    link = code(web)
    assert web.revoke() == 2
    assert (web.of([one, two]), web.open(link)) == (None, None)
    last = opened(web)
    hands.now_s += web.session_s
    assert web.of([last]) is None
    assert web.revoke() == 0


def test_links_and_sessions_do_not_grow_without_end(web: WebSessions) -> None:
    codes = [code(web) for _ in range(LINKS + 1)]
    assert web.open(codes[0]) is None
    values = [opened(web) for _ in range(SESSIONS + 1)]
    assert web.of([values[0]]) is None
    assert web.of([values[1]]) is not None


@for_each(
    "authority, tls, name, secure",
    [
        (HOST, False, "rutter_8080", False),
        ("[::1]:8081", False, "rutter_8081", False),
        ("rutter.lan", False, "rutter_80", False),
        ("rutter.lan", True, "__Host-rutter", True),
    ],
)
def test_the_cookie_is_for_this_daemon_alone_and_for_no_script(
    web: WebSessions, authority: str, tls: bool, name: str, secure: bool
) -> None:
    said = web.set_cookie("v", authority, tls=tls)
    assert cookie_name(authority, tls=tls) == name
    assert said.startswith(f"{name}=v; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict")
    assert ("; Secure" in said, "Domain" in said) == (secure, False)


# -- at the guard ----------------------------------------------------------------------------------


def judged(
    web: WebSessions, method: str, path: str, *headers: tuple[str, str], host: str = HOST
) -> Caller | str:
    guard = Guard(
        Spy(),
        addresses=own_addresses(8080, ["https://rutter.lan"]),
        tokens=Tokens(PERSON, AGENT),
        tickets=Tickets(),
        table=TABLE,
        web=web,
    )
    said = [(name.encode(), value.encode()) for name, value in (("host", host), *headers)]
    head = RequestHead(method == "WS", method, path.encode(), path, b"", said)
    found = guard.judge(head)
    return found.error if isinstance(found, HttpRefusal) else found


@for_each(
    "method, path, more, expected",
    [
        ("GET", "/web/now", {}, "person"),
        ("HEAD", "/web/now", {}, "person"),
        ("GET", "/web/now", {"sec-fetch-site": "none"}, "person"),
        ("GET", "/web/now", {"sec-fetch-site": "cross-site"}, "foreign_origin"),
        ("GET", "/web/now", {"sec-fetch-site": "same-site"}, "foreign_origin"),  # another port
        ("GET", "/web/now", {"origin": "http://127.0.0.1:9000"}, "foreign_origin"),
        ("GET", "/web/now", {"host": "evil.test:8080"}, "wrong_host"),
        ("GET", "/sessions", {}, "token_needed"),  # in no row
        ("POST", "/changes", {"csrf": "own", "origin": OWN}, "token_needed"),
        ("POST", "/jobs", {"csrf": "own", "origin": OWN}, "person"),
        ("POST", "/jobs", {"csrf": "own"}, "csrf_needed"),  # no origin is none of ours
        ("POST", "/jobs", {"csrf": "own", "origin": "null"}, "foreign_origin"),
        ("POST", "/jobs", {"csrf": "other", "origin": OWN}, "csrf_needed"),
        ("POST", "/jobs", {"csrf": "", "origin": OWN}, "csrf_needed"),
        ("POST", "/jobs", {"origin": OWN}, "csrf_needed"),
        ("POST", "/jobs", {"origin": OWN, "csrf": "own", "content-type": "text/plain"}, "not_json"),
        ("WS", "/moving", {"origin": OWN}, "csrf_needed"),
        ("GET", "/web/now", {"authorization": f"Bearer {AGENT}"}, "person_needed"),
        ("GET", "/web/now", {"authorization": f"Bearer {PERSON}"}, "person"),
    ],
)
def test_a_cookie_reads_and_changes_with_the_second_secret_from_here_alone(
    web: WebSessions, method: str, path: str, more: dict[str, str], expected: str
) -> None:
    value = opened(web)
    session = web.of([value])
    assert session is not None
    csrf = {"own": session.csrf, "other": opened(web)}
    host = more.get("host", HOST)
    headers = [("cookie", f"a=b; {cookie_name(HOST, tls=False)}={value}")]
    for name, said in more.items():
        if name == "csrf":
            headers.append(("x-rutter-csrf", csrf.get(said, said)))
        elif name != "host":
            headers.append((name, said))
    assert judged(web, method, path, *headers, host=host) == expected


def test_behind_tls_only_the_cookie_that_no_other_host_can_set_is_one(web: WebSessions) -> None:
    value = opened(web)
    for name, expected in (("__Host-rutter", "person"), ("rutter_8080", "token_needed")):
        said = ("cookie", f"{name}={value}")
        assert judged(web, "GET", "/web/now", said, host="rutter.lan") == expected
