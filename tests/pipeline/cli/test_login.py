"""`rutter login`: kept once, used by later runs, asked for anew when it expired; and nowhere to be
read but by whoever has the key."""

import errno
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rutter.events.logins import LoginKept, LoginUsed
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.logins import login_store, sealed_file
from rutter.pipeline.logins.login_store import LoginStore
from rutter.pipeline.logins.sealed_file import key_of, new_lock
from tests.support import keyrings, xvfb
from tests.support.command_shell import Rutter
from tests.support.login_site import PASSWORD, LoginSite
from tests.support.recorded_site import AtTerminal
from tests.support.secret_search import places_of
from tests.support.shop_logins import SHOP, keep

PASSPHRASE = "eleven turns of marline"
CUSTOMERS = (("nav-customers", "Customers"),)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A passphrase where the configuration says, and no keyring."""
    monkeypatch.setattr(sealed_file, "COST", sealed_file.GuessCost(n=128))
    monkeypatch.setenv("LOGIN_WORD", PASSPHRASE)
    monkeypatch.setenv("RUTTER_LOGINS_KEY", "env:LOGIN_WORD")
    with keyrings.using(keyrings.none()):
        yield


def shelf(rutter: Rutter) -> LoginStore:
    return LoginStore(rutter.data / "logins")


def locked() -> sealed_file.SealingKey:
    return key_of(new_lock("passphrase"), PASSPHRASE.encode())


# -- without a browser -----------------------------------------------------------------------------


def test_what_is_kept_is_listed_and_forgotten(rutter: Rutter) -> None:
    assert "no logins are kept" in rutter("login", "--list").out
    keep(shelf(rutter), passphrase=PASSPHRASE)
    keep(shelf(rutter), "http://127.0.0.1:8000", passphrase=PASSPHRASE)

    listed = rutter.json("login", "--list")
    assert [each["origin"] for each in listed["logins"]] == ["http://127.0.0.1:8000", SHOP]
    assert set(listed["logins"][0]) == {"origin", "kept_at", "key", "digest"}
    shown = rutter("login", "--list").out
    assert "passphrase" in shown
    assert SHOP in shown

    assert rutter("login", "--forget", f"{SHOP}/account").code == 0
    assert rutter.json("login", "--forget", "127.0.0.1:8000") == {
        "forgotten": ["http://127.0.0.1:8000"]
    }
    again = rutter("login", "--forget", SHOP)
    assert again.code == 2
    assert again.complaint.startswith(f"rutter: no login is kept for {SHOP} -> ")


def test_one_that_cannot_be_read_is_listed_with_what_to_do(rutter: Rutter) -> None:
    keep(shelf(rutter), passphrase=PASSPHRASE)
    bad = keep(shelf(rutter), "https://other.example", passphrase=PASSPHRASE).path
    bad.write_bytes(b"rutter login 1\n{")

    ended = rutter("login", "--list")

    assert ended.code == 8
    assert SHOP in ended.out
    assert str(bad) in ended.complaint
    assert [each["file"] for each in rutter("--json", "login", "--list").json["unreadable"]]


def test_one_whose_time_nobody_can_read_keeps_no_other_from_being_listed(rutter: Rutter) -> None:
    """Its head is read before anything says that it is true."""
    keep(shelf(rutter), passphrase=PASSPHRASE)
    bad = keep(shelf(rutter), "https://other.example", passphrase=PASSPHRASE).path
    latest = b'"kept_at_ns":9223372036854775807,'
    bad.write_bytes(re.sub(rb'"kept_at_ns":\d+,', latest, bad.read_bytes(), count=1))
    assert "2262-04-11T23:47:16Z" in rutter("login", "--list").out
    bad.write_bytes(bad.read_bytes().replace(latest, b'"kept_at_ns":9000000000000000000000,', 1))

    ended = rutter("login", "--list")

    assert ended.code == 8
    assert SHOP in ended.out
    assert str(bad) in ended.complaint


def free(rutter: Rutter, *more: str) -> str:
    """A run that would begin where the login is; it is refused before there is any browser."""
    ended = rutter("run", "--free", "--url", f"{SHOP}/desk", *more)
    assert ended.code in (2, 8)
    assert ended.out == ""
    assert not (rutter.data / "log.db").exists()
    return ended.complaint


def test_a_wrong_passphrase_is_told_in_one_line(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(shelf(rutter), passphrase=PASSPHRASE)
    monkeypatch.setenv("LOGIN_WORD", "twelve turns of it")

    said = free(rutter)

    assert said.startswith(f"rutter: what env:LOGIN_WORD holds does not open the login for {SHOP}")
    assert f"-> sign in again: rutter --data {rutter.data} login {SHOP}" in said
    assert "twelve" not in said


def test_with_nobody_there_and_no_keyring_it_says_what_to_configure(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(shelf(rutter), passphrase=PASSPHRASE)
    monkeypatch.delenv("RUTTER_LOGINS_KEY")

    assert "logins.key = env:VARIABLE" in free(rutter)
    script = rutter.data.parent / "in.json"
    script.write_text(json.dumps({"steps": [{"type": "navigate", "url": f"{SHOP}/login"}]}))
    by_script = rutter("login", "https://other.example", "--script", script)
    assert by_script.code == 2
    assert "logins.key = env:VARIABLE" in by_script.complaint


@pytest.mark.parametrize("harm", ["cut", "changed", "moved", "readable"])
def test_a_file_that_is_not_as_it_was_kept_is_told_in_one_line(rutter: Rutter, harm: str) -> None:
    kept = keep(shelf(rutter), passphrase=PASSPHRASE)
    if harm == "cut":
        kept.path.write_bytes(kept.body[:-20])
    elif harm == "changed":
        kept.path.write_bytes(kept.body[:-1] + bytes([kept.body[-1] ^ 1]))
    elif harm == "moved":
        other = keep(shelf(rutter), "https://other.example", passphrase=PASSPHRASE)
        other.path.replace(kept.path)
    else:
        kept.path.chmod(0o644)

    said = free(rutter)

    assert str(kept.path) in said
    assert " -> " in said


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "which site?"),
        (("http://shop.example",), "whoever listens on the way to shop.example"),
        (("nonsense://x",), "that is no site"),
        ((SHOP, "--until", "nowhere=x"), "there is no such place on a page"),
        ((SHOP, "--secret", "a=env:B"), "what is typed by hand needs no --secret"),
        ((SHOP, "--script", "none.json", "--until", "url=/desk"), "a script knows its own end"),
        ((SHOP, "--script", "none.json"), "none.json"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    rutter: Rutter, arguments: tuple[str, ...], complaint: str
) -> None:
    ended = rutter("login", *arguments)

    assert ended.code == 2
    assert complaint in ended.complaint


def test_a_window_needs_a_screen(rutter: Rutter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)

    assert "rutter login SITE --script FILE" in rutter("login", SHOP).complaint


@pytest.mark.parametrize("value", ["bowline-on-a-bight", "vault:x/y", "prompt@https://x.example"])
def test_the_passphrase_itself_has_no_place_in_the_configuration(
    rutter: Rutter, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUTTER_LOGINS_KEY", value)

    ended = rutter("login", "--list")

    assert ended.code == 2
    assert "says no place" in ended.complaint
    assert value not in ended.err


# -- with one --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def harbour() -> Iterator[LoginSite]:
    with LoginSite() as running:
        yield running


@pytest.fixture
def site(harbour: LoginSite) -> LoginSite:
    harbour.reset()
    return harbour


@pytest.fixture
def ashore(tmp_path: Path) -> Path:
    """Files that a person would have."""
    (tmp_path / "password.txt").write_text(PASSWORD)
    (tmp_path / "yes.json").write_text(json.dumps([{"approved": True, "phrase": "confirm"}] * 9))
    return tmp_path


def written(ashore: Path, script: object) -> Path:
    path = ashore / "script.json"
    path.write_text(json.dumps(script))
    return path


def flags(ashore: Path) -> tuple[str, ...]:
    password = f"password=file:{ashore / 'password.txt'}"
    return ("--secret", password, "--answers", str(ashore / "yes.json"))


def facts(rutter: Rutter, kind: type[LoginUsed] | type[LoginKept]) -> list[str]:
    with SqliteReader(rutter.data / "log.db") as reader:
        found = [each.event for each in reader.read() if isinstance(each.event, kind)]
    return [each.digest for each in found if isinstance(each, LoginUsed | LoginKept)]


@pytest.mark.browser
def test_signed_in_once_later_runs_are_and_nothing_of_it_is_in_the_clear(
    rutter: Rutter, site: LoginSite, ashore: Path
) -> None:
    site.renews = True  # a login that was not kept again would be worth nothing from the second on
    script = written(ashore, site.script(sign_in=True))
    kept = rutter("login", f"{site.base_url}/login", "--script", script, *flags(ashore))
    assert (kept.code, kept.err) == (0, "")
    assert kept.out.startswith(f"[OK] kept the login for {site.base_url}, encrypted (passphrase)")
    assert "no workflows yet" in rutter("workflows").out

    site.shows = True
    look = written(ashore, site.script(sign_in=False, then=CUSTOMERS))
    said = [rutter("record", "look", "--script", look, "--allow", site.host, "--screenshots")]
    said += [rutter("run", "look"), rutter("show", "last"), rutter("--json", "show", "last")]
    said += [rutter("report", "last", "--out", rutter.data / "report.html")]
    assert [each.code for each in said] == [0] * 5, said
    assert site.signed_in == 1
    assert f"signed in by the login for {site.base_url}, kept " in said[2].out
    assert facts(rutter, LoginUsed) == facts(rutter, LoginKept)[:2]
    assert len(set(facts(rutter, LoginKept))) == 3

    site.expire_sessions()
    expired = rutter("run", "look")
    assert expired.code == 5
    assert f"The kept login for {site.base_url} has expired." in expired.out, expired.out
    assert f"rutter --data {rutter.data} login {site.base_url}" in expired.out
    assert rutter("replay").code == 0

    assert len(set(site.tokens)) >= 3
    spoken = [text for each in (kept, *said, expired) for text in (each.out, each.err)]
    for secret in (PASSWORD, PASSPHRASE, *site.tokens):
        assert places_of(secret, rutter.data, *spoken) == []
    # It was not for want of anything to find: the page said it, and the search finds what is there.
    assert b"<secret kept_1>" in (rutter.data / "log.db").read_bytes()
    login = shelf(rutter).find(site.base_url)
    assert login is not None
    opened = shelf(rutter).open(login, key_of(login.head.lock, PASSPHRASE.encode()))
    (rutter.data / "planted.json").write_text(json.dumps(opened.cookies))
    assert any(places_of(token, rutter.data) for token in site.tokens)


@pytest.mark.browser
def test_a_workflow_that_signs_in_goes_on_behind_that_where_it_is_signed_in(
    rutter: Rutter, site: LoginSite, ashore: Path
) -> None:
    site.passes_on = True
    script = written(ashore, site.script(sign_in=True, then=CUSTOMERS))
    recorded = rutter("record", "look", "--script", script, "--allow", site.host, *flags(ashore))
    assert recorded.code == 0, recorded
    kept = shelf(rutter).keep(site.base_url, site.a_login(), locked())
    assert kept is not None

    signed_in = rutter("run", "look", *flags(ashore)[:2])
    assert signed_in.code == 0, signed_in
    assert ", 2 of 5 steps (3 sign-in steps were not needed), " in signed_in.out
    assert rutter.json("show", "last")["steps"][0]["code"] == "signed_in_already"
    [ran] = rutter.json("sessions", "--last", "1")
    assert (ran["proposed"], ran["done"]) == (2, 2), ran
    assert site.signed_in == 1

    site.expire_sessions()  # and where it is not, it does as it was recorded, and is kept again
    assert "look: done, 5 steps" in rutter("run", "look", *flags(ashore)[:2]).out
    assert site.signed_in == 2
    now = shelf(rutter).find(site.base_url)
    assert now is not None
    assert now.digest != kept.digest


@pytest.mark.browser
@pytest.mark.parametrize("trouble", ["wrong password", "full disk"])
def test_a_sign_in_that_cannot_be_kept_leaves_what_was(
    rutter: Rutter, site: LoginSite, ashore: Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shelf(rutter).keep(site.base_url, site.a_login(), locked())
    assert before is not None
    script = site.script(sign_in=True)
    if trouble == "wrong password":
        (ashore / "password.txt").write_text("granny knot")
        script["steps"][2]["value"] = "granny knot"
    else:
        full = OSError(errno.ENOSPC, "No space left on device")

        def refuse(*_: object) -> None:
            raise full

        monkeypatch.setattr(login_store, "write_whole", refuse)

    ended = rutter("login", site.base_url, "--script", written(ashore, script), *flags(ashore))

    code, why = (6, "the last page asks") if trouble == "wrong password" else (8, "no space left")
    assert ended.code == code
    assert f"the login for {site.base_url} was not kept: {why}" in ended.err
    assert shelf(rutter).find(site.base_url) == before


def sign_in(display: str) -> None:
    """Beside everything first, so that keys go to the page and not to the browser's own fields."""
    xvfb.xdotool(display, "mousemove", "640", "900", "click", "1", "key", "Tab")
    xvfb.xdotool(display, "type", "--delay", "20", "mate")
    xvfb.xdotool(display, "key", "Tab")
    xvfb.xdotool(display, "type", "--delay", "20", PASSWORD)
    xvfb.xdotool(display, "key", "Return")
    xvfb.xdotool(display, "search", "--sync", "--name", "^Desk")


@pytest.mark.browser
@pytest.mark.parametrize("how", ["enter", pytest.param("closed", marks=pytest.mark.extended)])
def test_a_person_signs_in_and_says_that_they_are_done(
    rutter: Rutter, site: LoginSite, display: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("RUTTER_LOGINS_KEY")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    with AtTerminal(rutter, "login", f"{site.base_url}/login") as at:
        for question in ("8 characters or more: ", "the same again: "):
            at.read_until(question)
            at.type(f"{PASSPHRASE}\n")
        assert at.process.stdout is not None
        assert at.process.stdout.readline().startswith(
            f"sign in to {site.base_url}/login in the window"
        )
        if how == "enter":
            at.type("\n")
            at.read_until("the page still asks to sign in")
        sign_in(display)
        if how == "enter":
            at.type("\n")
        else:
            xvfb.xdotool(display, "key", "ctrl+w")
        code, out = at.end()

    assert code == 0, out + at.seen
    kept = shelf(rutter).find(site.base_url)
    assert kept is not None
    state = shelf(rutter).open(kept, key_of(kept.head.lock, PASSPHRASE.encode()))
    assert [each["value"] for each in state.cookies] == site.tokens
    for secret in (PASSWORD, PASSPHRASE, *site.tokens):
        assert places_of(secret, rutter.data, out, at.seen) == []
    assert not (rutter.data / "log.db").exists()  # of what they did there, nothing is recorded
