"""A recorded field or button whose form has changed: known again, asked about, or another one."""

import msgspec
import pytest

from rutter.actors.rules.policy.policy import stands
from rutter.actors.rules.steps.likeness import grounds
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Target
from rutter.events.page import Resolved
from rutter.events.workflow import StandingApproval
from tests.support import browser_fixtures
from tests.support.page_server import PATIENT, PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
window = browser_fixtures.one_window

FORM = """<h1>Note</h1><form method=post action=/notes/add><input type=hidden name=op value=store>
<label>Title <input id=title name=title></label> <button id=go>Save</button></form>"""
LABELLED = FORM.replace(
    "<button id=go>Save</button>", "<input type=submit id=go name=go value=Save>"
)
TWO = LABELLED.replace("</form>", "<input type=submit name=go value=Delete></form>")
SEARCH = """<h1>Find</h1><form method=get><label>Words <input id=title name=words></label>
<select name=kind><option>all</select> <button id=go>Find</button></form>"""
EDIT = FORM.replace("/notes/add", "/notes/edit/17").replace(
    "<label>", "<input type=hidden name=id value=17><label>"
)
# What was recorded, what is there now, which element; whether it is the recorded one, and whether
# what the recording approved is approved.
CASES = [
    (FORM, EDIT, "#title", "sure", True),
    (FORM, EDIT, "#go", "sure", True),
    (FORM, EDIT.replace("/notes/edit/17", "/notes/17/change/"), "#go", "sure", True),
    (FORM, FORM.replace("/notes/add", "/users/add"), "#title", "sure", True),
    (FORM, FORM.replace("/notes/add", "/users/add"), "#go", "unsure", False),
    (FORM, FORM.replace("/notes/add", "/notes/delete/17"), "#go", "unsure", False),
    (FORM, EDIT.replace("value=store", "value=delete"), "#go", "unsure", False),
    (FORM, FORM.replace("/notes/add", "https://evil.example/notes/add"), "#title", "unsure", True),
    (FORM, FORM.replace("/notes/add", "https://evil.example/notes/add"), "#go", "unsure", False),
    (FORM, FORM.replace("method=post", "method=get"), "#go", "unsure", False),
    (LABELLED, LABELLED.replace("value=Save", "value=Store"), "#go", "sure", False),
    (LABELLED, LABELLED.replace("value=Save", "value=Delete"), "#go", "sure", False),
    (TWO, LABELLED.replace("value=Save", "value=Delete"), "#go", "none", False),
    (TWO, TWO.replace("value=Save", "value=Store"), "#go", "none", False),
    (FORM, FORM.replace("Save", "Store"), "#go", "sure", False),
    (SEARCH, SEARCH.replace(">Find</b", ">Look up</b"), "#go", "sure", False),
    (SEARCH, SEARCH.replace("name=words", "name=other").replace("Find</b", "Go</b"), "#go", "none",
     False),
]  # fmt: skip


async def described(tab: Tab, server: PageServer, html: str, selector: str) -> Resolved:
    await tab.navigate(server.show(html), within_ms=PATIENT)
    ways = [{"by": "css", "selector": selector}]
    found = await tab.call("resolve", ways, PATIENT, within_ms=PATIENT)
    return msgspec.convert(found["element"], Resolved)


async def test_what_an_element_is_and_where_its_form_is_sent(tab: Tab, server: PageServer) -> None:
    wrong = []
    for number, (before, after, selector, known, approved) in enumerate(CASES):
        was = await described(tab, server, before, selector)
        now = await described(tab, server, after, selector)
        target = Target(was.ways, was.fingerprint)
        standing_approval = StandingApproval(was.origin, was.digest, was.identity)
        found = (grounds(target, now), stands(standing_approval, now))
        if found != (known, approved):
            wrong.append((number, selector, found, (known, approved)))
    assert wrong == []


# A form on the page that it is sent to, before and after that was renamed by the first save. What a
# script writes into a hidden field is no word as long as there is nothing.
SELF = """<h1>Note</h1><form method=post action=/notes/add><input type=hidden name=op value=store>
<input type=hidden name=body value=null>
<label>Title <input id=title name=title></label> <button id=go name=publish>Publish</button></form>
<script>history.replaceState(0, '', '/notes/add')</script>"""
SAVED = SELF.replace("/notes/add", "/library/17/pages").replace("value=null", 'value="[1]"')
AT_HOME = [
    (SAVED, "sure", True),
    (SAVED.replace("op value=store", "op value=delete"), "unsure", False),
    (SAVED.replace("name=title", "name=user"), "unsure", False),
    (SAVED.replace("method=post", "method=get"), "unsure", False),
    (SAVED.replace("Publish", "Delete"), "none", False),
    (SAVED.replace("action=/library/17/pages", "action=/library/17/drop"), "unsure", False),
    (SAVED.replace("action=", "action=https://evil.example"), "unsure", False),
    (SAVED.replace("name=publish", "name=publish formaction=/drop"), "unsure", False),
]


async def test_a_form_that_is_sent_to_the_page_it_is_on_is_the_same_when_that_is_renamed(
    tab: Tab, server: PageServer
) -> None:
    was = await described(tab, server, SELF, "#go")
    target = Target(was.ways, was.fingerprint)
    standing_approval = StandingApproval(was.origin, was.digest, was.identity, was.home)
    wrong = []
    for number, (html, known, approved) in enumerate(AT_HOME):
        now = await described(tab, server, html, "#go")
        assert not stands(
            standing_approval, now
        )  # nobody says that these are addresses of one page
        found = (grounds(target, now), stands(standing_approval, now, same_page=True))
        if found != (known, approved):
            wrong.append((number, found, (known, approved)))
    assert wrong == []


async def test_only_what_sends_a_form_has_a_home(tab: Tab, server: PageServer) -> None:
    homes = [
        (await described(tab, server, html, selector)).home
        for html, selector in ((SELF, "#title"), (FORM, "#go"), (SELF, "h1"), (SELF, "#go"))
    ]
    assert homes[:3] == ["", "", ""]
    assert homes[3]


async def test_an_approval_of_an_earlier_recording_is_for_its_digest(
    tab: Tab, server: PageServer
) -> None:
    was = await described(tab, server, FORM, "#go")
    earlier = StandingApproval(was.origin, was.digest)
    assert stands(earlier, await described(tab, server, FORM, "#go"))
    assert not stands(earlier, await described(tab, server, EDIT, "#go"))


async def test_the_roots_around_an_element_are_kept(tab: Tab, server: PageServer) -> None:
    deep = "<my-box><template shadowrootmode=open><i id=b>B</i></template></my-box>"
    page = f"<i id=out>O</i><iframe></iframe><iframe srcdoc='<i id=a>A</i>{deep}'></iframe>"
    kept = {}
    for selector in ("#out", "#a", "#b"):
        element = await described(tab, server, page, selector)
        kept[selector] = dict(element.fingerprint.attributes).get("within")
    assert kept == {"#out": None, "#a": "1", "#b": "1 s"}
