"""The pages of a session: which is in front, what they ask, what they send, what they are given."""

import asyncio
from pathlib import Path
from typing import Any

import anyio
import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.observer.actor import Observer
from rutter.actors.world.browser.page_session import PageTimeout
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import MAX_TABS, TOO_MANY, Window
from rutter.actors.world.browser.window_downloads import PageDownload
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import Action, DialogAnswer, Fingerprint, Parameter, Text, Untrusted
from rutter.events.artifacts import ArtifactStore
from rutter.events.chain import GENESIS
from rutter.events.envelope import Envelope
from rutter.events.errors import BrowserGone
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    LookalikesFound,
    QueryAnswered,
    TargetMissing,
    TargetResolved,
)
from rutter.events.observer import (
    DialogOpened,
    DownloadFinished,
    ObservationFailed,
    PageObserved,
    PopupOpened,
)
from rutter.events.planner import LookalikesRequested, ObservationRequested
from rutter.events.run_settings import RunSettings
from rutter.events.validator import ActionStarted, PlanAdmitted, QueryStarted
from rutter.events.vocabulary import AnyEvent
from tests.support.browser_fixtures import OneWindow, show
from tests.support.page_server import PATIENT, PageServer
from tests.support.policies import HERE
from tests.support.shop_facts import css

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

SECOND = 1_000


class Hands:
    """An Executor and an Observer on one window, told what to do without anybody deciding."""

    def __init__(self, screen: Screen, artifacts: ArtifactStore, values: dict[str, str]) -> None:
        self.executor = Executor(screen, Bindings(values, {}), RunSettings())
        self.observer = Observer(screen, artifacts)

    async def act(self, action: Action, step: int = 1) -> list[AnyEvent]:
        """Found, done, and what the Observer says of it."""
        digest = ""
        if action.target is not None:
            (found,) = await tell(self.executor, PlanAdmitted(step, 1, action, SECOND))
            if isinstance(found, TargetMissing):
                return [found]
            assert isinstance(found, TargetResolved)
            digest = found.element.exact
        (done,) = await tell(self.executor, ActionStarted(step, 1, action, digest=digest))
        return [done, *await tell(self.observer, done)]

    async def click(self, selector: str, step: int = 1, **more: Any) -> list[AnyEvent]:
        return await self.act(Action("click", target=css(selector), **more), step)


async def tell(actor: Executor | Observer, event: AnyEvent) -> list[AnyEvent]:
    envelope = Envelope(1, "run", 1, 0, "validator", 0, event, GENESIS)
    return [fact async for fact in actor.handle(envelope)]


@pytest.fixture
async def hands(window: Window, tmp_path: Path) -> Hands:
    screen = Screen(OneWindow(window), HERE)
    await screen.open()
    return Hands(screen, ArtifactStore(tmp_path / "artifacts"), {"document": str(tmp_path / "a")})


def seen(facts: list[AnyEvent]) -> PageObserved:
    (observed,) = [fact for fact in facts if isinstance(fact, PageObserved)]
    return observed


OPENS = '<h1>First</h1><a id=go href="/another" target=_blank>Go</a><button id=b>B</button>'


# -- pages that pages open --------------------------------------------------------------


@pytest.mark.parametrize(
    "html",
    [
        OPENS,
        "<button id=go onclick=\"window.open('/another')\">Go</button>",
        "<button id=go onclick=\"window.open().location = '/another'\">Go</button>",
        '<form action="/another" target=_blank><button id=go>Go</button></form>',
    ],
    ids=["link", "script", "script, address later", "form"],
)
async def test_a_page_that_a_click_opened_is_the_one_that_is_seen(
    hands: Hands, tab: Tab, server: PageServer, html: str
) -> None:
    await show(tab, server, html)
    facts = await hands.click("#go")
    page = seen(facts).page
    assert isinstance(facts[0], ActionDone)
    assert facts[0].navigated
    assert (page.tab, page.tabs) == (1, 2)
    opened = [fact for fact in facts if isinstance(fact, PopupOpened)]
    assert [(fact.tab, fact.repeats) for fact in opened] == [(1, 1)]
    extract = Action("extract", target=css("h1"), name="h")
    (found,) = await tell(hands.executor, PlanAdmitted(2, 1, extract, SECOND))
    assert isinstance(found, TargetResolved)
    (read,) = await tell(hands.executor, QueryStarted(2, 1, extract, found.element.exact))
    assert isinstance(read, QueryAnswered)
    assert read.text == Untrusted("Another")


async def test_a_page_that_closes_gives_way_to_the_one_that_opened_it(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    popup = server.show('<h1>Popup</h1><button id=close onclick="window.close()">Close</button>')
    await show(tab, server, f"<h1>First</h1><button id=go onclick=\"window.open('{popup}')\">Go")
    assert seen(await hands.click("#go")).page.headings == (Untrusted("Popup"),)
    facts = await hands.click("#close")
    assert isinstance(facts[0], ActionDone)
    page = seen(facts).page
    assert page.headings == (Untrusted("First"),)
    assert (page.tab, page.tabs) == (0, 1)


async def test_an_action_is_done_on_the_page_that_it_names(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, OPENS)
    await hands.click("#go")
    page = seen(await hands.click("#b", tab=0)).page
    assert (page.tab, page.tabs, page.headings) == (0, 2, (Untrusted("First"),))
    requested = ObservationRequested("tab_wanted", SECOND, tab=1)
    page = seen(await tell(hands.observer, requested)).page
    assert (page.tab, page.headings) == (1, (Untrusted("Another"),))


async def test_a_page_that_does_not_open_is_missed_in_time(
    hands: Hands, window: Window, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, OPENS)
    (missing,) = await hands.click("#go", tab=3)
    assert isinstance(missing, TargetMissing)
    assert missing.code == "timeout"
    with pytest.raises(PageTimeout, match="page 7 was not open within 10 ms"):
        await window.show(7, within_ms=10)


async def test_a_page_that_opens_while_one_waits_is_a_change(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    later = "setTimeout(() => window.open('/another'), 300)"
    await show(tab, server, f'<h1>First</h1><button id=go onclick="{later}">Go</button>')
    await hands.click("#go")
    requested = ObservationRequested("effect_awaited", 20 * SECOND)
    page = seen(await tell(hands.observer, requested)).page
    assert page.headings == (Untrusted("Another"),)


async def test_one_page_too_many_is_closed_and_counted(
    hands: Hands, window: Window, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, OPENS)
    opened = []
    for _ in range(MAX_TABS + 1):
        facts = await hands.click("#go", tab=0)
        opened += [fact.tab for fact in facts if isinstance(fact, PopupOpened)]
    assert opened == [*range(1, MAX_TABS), TOO_MANY, TOO_MANY]
    assert len(window.tabs) == MAX_TABS


async def test_pages_without_end_are_a_few_facts(
    hands: Hands, window: Window, tab: Tab, server: PageServer
) -> None:
    flood = "for (let i = 0; i < 200; i++) window.open('/another?' + i)"
    await show(tab, server, f'<button id=go onclick="{flood}">Go</button>')
    facts = await hands.click("#go")
    opened = [fact for fact in facts if isinstance(fact, PopupOpened)]
    assert len(opened) <= 5
    assert sum(fact.repeats for fact in opened) == 200
    assert len(window.tabs) <= MAX_TABS
    assert seen(facts).page.headings == (Untrusted("Another"),)


async def test_a_page_that_opened_before_it_was_waited_for_counts_too(
    hands: Hands, window: Window, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await show(tab, server, OPENS)
    settle = tab.settle

    async def settle_late(*, within_ms: int) -> bool:
        await window.show(1, within_ms=PATIENT)
        return await settle(within_ms=within_ms)

    monkeypatch.setattr(tab, "settle", settle_late)
    done = (await hands.click("#go"))[0]
    assert isinstance(done, ActionDone)
    assert done.navigated


# -- pages that close or die at the wrong moment -----------------------------------------------


def close_when(monkeypatch: pytest.MonkeyPatch, called: str) -> None:
    """Every page is closed as soon as this function of the library is called in it."""
    call = Tab.call

    async def call_in_closed(self: Tab, function: str, *given: object, within_ms: int) -> object:
        if function == called:
            await self.page.close()
        return await call(self, function, *given, within_ms=within_ms)

    monkeypatch.setattr(Tab, "call", call_in_closed)


async def test_a_page_that_closes_while_it_is_waited_for_leaves_the_others(
    hands: Hands, window: Window, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await show(tab, server, OPENS)
    close_when(monkeypatch, "parsed")
    facts = await hands.click("#go")
    assert isinstance(facts[0], ActionDone)
    assert seen(facts).page.headings == (Untrusted("First"),)
    assert window.tabs == (tab,)


async def test_a_page_that_closes_itself_leaves_the_others(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    popup = server.show("<script>window.close()</script>")
    await show(tab, server, f"<h1>First</h1><button id=go onclick=\"window.open('{popup}')\">Go")
    for _ in range(3):
        assert isinstance((await hands.click("#go"))[0], ActionDone)


async def test_a_page_that_closes_as_it_is_brought_to_the_front_is_missed(
    hands: Hands, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await show(tab, server, OPENS)
    await hands.click("#go")
    await hands.click("#b", tab=0)
    bring = Tab.show

    async def show_closed(self: Tab, *, within_ms: int) -> None:
        if self is not tab:
            await self.page.close()
        await bring(self, within_ms=within_ms)

    monkeypatch.setattr(Tab, "show", show_closed)
    (missing,) = await hands.click("h1", tab=1)
    assert isinstance(missing, TargetMissing)
    assert missing.code == "ref_invalid"


async def test_a_page_that_closes_while_it_is_searched_has_nothing_alike(
    hands: Hands, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await show(tab, server, OPENS)
    await hands.click("#go")
    close_when(monkeypatch, "lookalikes")
    request = LookalikesRequested(1, 1, Fingerprint(tag="h1"))
    assert await tell(hands.executor, request) == [LookalikesFound(1, 1)]


async def test_a_page_that_dies_while_a_change_is_awaited_is_one_error(
    window: Window, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<h1>First</h1>")
    waiting = asyncio.ensure_future(window.change(20 * SECOND))
    await tab.kill()
    with pytest.raises(BrowserGone, match="the page crashed"):
        await waiting


async def test_a_page_that_cannot_be_read_is_a_failed_observation(
    hands: Hands, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await show(tab, server, "<h1>First</h1>")
    call = tab.call

    async def call_and_garble(function: str, *given: object, within_ms: int) -> object:
        return {**await call(function, *given, within_ms=within_ms), "dropped": 1.5}

    monkeypatch.setattr(tab, "call", call_and_garble)
    (failed,) = await tell(hands.observer, ObservationRequested("tool", 10))
    assert isinstance(failed, ObservationFailed)
    assert failed.code == "action_failed"


# -- dialogs --------------------------------------------------------------


async def test_dialogs_are_answered_in_the_order_that_the_action_says(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    ask = "document.title = [confirm('A?'), prompt('B?'), confirm('C?'), confirm('D?')]"
    await show(tab, server, f'<button id=go onclick="{ask}">Go</button>')
    answers = (DialogAnswer(True), DialogAnswer(True, "rope"), DialogAnswer(False))
    facts = await hands.click("#go", dialogs=answers)
    asked = [fact for fact in facts if isinstance(fact, DialogOpened)]
    assert seen(facts).page.title == Untrusted("true,rope,false,false")
    assert [(fact.message.text, fact.answer) for fact in asked] == [
        ("A?", "accepted"),
        ("B?", "accepted"),
        ("C?", "dismissed"),
        ("D?", "dismissed"),
    ]


async def test_an_answer_is_for_its_own_question(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    ask = "document.title = [confirm('Delete the account?'), confirm('Cancel order 17?')]"
    await show(tab, server, f'<button id=go onclick="{ask}">Go</button>')
    yes = DialogAnswer(True, kind="confirm", message="cancel order #?")
    assert seen(await hands.click("#go", dialogs=(yes,))).page.title == Untrusted("false,true")


async def test_answers_that_were_not_used_are_not_kept_for_the_next_action(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    html = (
        "<button id=a>A</button><button id=b onclick=\"document.title = confirm('B?')\">B</button>"
    )
    await show(tab, server, html)
    await hands.click("#a", dialogs=(DialogAnswer(True),))
    assert seen(await hands.click("#b")).page.title == Untrusted("false")


async def test_a_page_is_left_when_the_answer_says_so(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    ask = "<script>onbeforeunload = (event) => event.preventDefault()</script>"
    await show(tab, server, f'<a id=go href="/another">Go</a><button id=b>B</button>{ask}')
    facts = await hands.click("#go", dialogs=(DialogAnswer(True),))
    assert seen(facts).page.url == f"{server.url}/another"


# -- files --------------------------------------------------------------


@pytest.mark.parametrize(
    "html",
    [
        '<a id=go href="/file">Go</a>',
        '<a id=go href="/file" download>Go</a>',
        '<a id=go href="/file" target=_blank>Go</a>',
    ],
    ids=["attachment", "download link", "in another page"],
)
async def test_a_file_that_a_click_asked_for_is_kept(
    hands: Hands, tab: Tab, server: PageServer, tmp_path: Path, html: str
) -> None:
    await show(tab, server, f"<h1>First</h1>{html}")
    facts = await hands.click("#go")
    (file,) = [fact for fact in facts if isinstance(fact, DownloadFinished)]
    assert (file.name, file.failure) == (Untrusted("a.txt"), "")
    assert file.artifact is not None
    assert file.artifact.media == "text/plain"
    assert ArtifactStore(tmp_path / "artifacts").get(file.artifact) == b"a file"
    assert seen(facts).page.headings == (Untrusted("First"),)


async def test_a_file_that_is_too_large_is_not_kept(
    hands: Hands, window: Window, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "_max_download", 1_000_000)
    body = "new Blob(['x'.repeat(40_000_000)])"
    link = f"const a = document.createElement('a'); a.href = window.URL.createObjectURL({body});"
    html = f"<button id=go onclick=\"{link} a.download = 'large.bin'; a.click()\">Go</button>"
    await show(tab, server, html)
    facts = await hands.click("#go")
    facts += await tell(hands.observer, ObservationRequested("tool", 200))
    facts += await hands.click("#go") if not _files(facts) else []
    (file, *_) = _files(facts)
    assert (file.name, file.artifact) == (Untrusted("large.bin"), None)
    assert file.failure == "larger than 0 MB"


def _files(facts: list[AnyEvent]) -> list[DownloadFinished]:
    return [fact for fact in facts if isinstance(fact, DownloadFinished)]


LATER = "setTimeout(() => { location = '/file' }, 1500)"


async def test_a_file_that_comes_after_the_step_is_told_with_the_look_that_waits_for_it(
    hands: Hands, tab: Tab, server: PageServer, tmp_path: Path
) -> None:
    await show(tab, server, f'<h1>First</h1><button id=go onclick="{LATER}">Go</button>')
    assert not _files(await hands.click("#go", step=7))
    with anyio.fail_after(30):  # and not after all the time that it might have waited
        told = await tell(hands.observer, ObservationRequested("effect_awaited", 60 * SECOND))
    file, observed = told
    assert isinstance(file, DownloadFinished)
    assert isinstance(observed, PageObserved)
    assert (file.name, file.step, file.failure) == (Untrusted("a.txt"), 7, "")
    assert file.artifact is not None
    assert ArtifactStore(tmp_path / "artifacts").get(file.artifact) == b"a file"
    (again,) = await tell(hands.observer, ObservationRequested("effect_awaited", 20))
    assert isinstance(again, PageObserved)


async def test_a_look_waits_no_longer_for_a_file_than_it_was_given_and_its_step_is_kept(
    hands: Hands, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rutter.actors.observer.actor.DOWNLOAD_MS", 20)
    await show(tab, server, '<a id=go href="/slow-file">Go</a><button id=other>Other</button>')
    assert not _files(await hands.click("#go", step=7))
    with anyio.fail_after(30):
        for within_ms in (0, 200):
            requested = ObservationRequested("effect_awaited", within_ms)
            (observed,) = await tell(hands.observer, requested)
            assert isinstance(observed, PageObserved)
    assert not _files(await hands.click("#other", step=8))
    server.release()
    with anyio.fail_after(30):
        told = await tell(hands.observer, ObservationRequested("effect_awaited", 60 * SECOND))
    assert [(file.name, file.step) for file in _files(told)] == [(Untrusted("slow.txt"), 7)]


async def test_files_beyond_the_few_that_are_kept_are_named_and_counted(
    hands: Hands, window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [tmp_path / f"{number}.txt" for number in range(7)]
    sent = [PageDownload(place.name, place, step=3) for place in places]
    for file in sent:
        assert file.path is not None
        file.path.write_text(file.name)

    async def downloads(within_ms: int) -> list[PageDownload]:
        return sent

    monkeypatch.setattr(window, "downloads", downloads)
    told = _files(await tell(hands.observer, ActionDone(1, 1, 0)))
    assert [file.name.text for file in told] == [
        *(f"{number}.txt" for number in range(5)),
        "5.txt, 6.txt",
    ]
    assert [file.artifact is not None for file in told] == [True] * 5 + [False]
    assert told[-1].failure == "2 more than are kept at once"
    assert {file.step for file in told} == {3}
    assert not any(file.path and file.path.exists() for file in sent)


@pytest.mark.parametrize("shown", ["", "style=display:none"])
async def test_a_file_is_given_to_an_input(
    hands: Hands, tab: Tab, server: PageServer, tmp_path: Path, shown: str
) -> None:
    (tmp_path / "a").write_text("rope")
    tell_it = "files[0].text().then((text) => document.title = text)"
    await show(tab, server, f'<input type=file id=go {shown} onchange="{tell_it}">')
    action = Action("type", target=css("#go"), value=Parameter("document"))
    facts = await hands.act(action)
    assert isinstance(facts[0], ActionDone)
    assert facts[0].value_set
    page = seen(await tell(hands.observer, ObservationRequested("effect_awaited", 200))).page
    assert page.title == Untrusted("rope")


async def test_a_file_that_is_not_there_is_told_and_nothing_is_done(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<input type=file id=go onchange=\"document.title = 'changed'\">")
    facts = await hands.act(Action("type", target=css("#go"), value=Text("/nowhere/a")))
    assert isinstance(facts[0], ActionFailed)
    assert (facts[0].code, facts[0].dispatched) == ("action_failed", False)
    assert facts[0].message == "there is no file '/nowhere/a'"
    assert seen(facts).page.title == Untrusted("")


# -- fields of every kind --------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "value", "held"),
    [
        ("<input id=go type=checkbox>", "true", True),
        ("<input id=go type=checkbox checked>", "off", True),
        ("<input id=go type=checkbox checked>", "yes", True),
        ("<label><input id=go type=checkbox hidden>Yes</label>", "on", True),
        ("<input id=go type=radio name=a>", "true", True),
        ("<input id=go type=radio name=a checked>", "false", False),
        ("<input id=go type=checkbox onclick='event.preventDefault()'>", "true", False),
        ("<input id=go type=color>", "#00FF00", True),
        ("<input id=go type=range max=10>", "20", False),
        ("<input id=go type=date>", "yesterday", False),
        ("<div id=go contenteditable>a</div>", "two\nlines", True),
    ],
)
async def test_a_field_takes_a_value_in_its_own_way(
    hands: Hands, tab: Tab, server: PageServer, html: str, value: str, held: bool
) -> None:
    await show(tab, server, html)
    facts = await hands.act(Action("type", target=css("#go"), value=Text(value)))
    assert isinstance(facts[0], ActionDone), facts[0]
    assert facts[0].value_set is held


@pytest.mark.parametrize(
    ("html", "value"),
    [("<input id=go type=checkbox>", "maybe"), ("<p id=go>Text", "more"), ("<b id=go>B</b>", "")],
)
async def test_what_takes_no_such_value_is_left_alone(
    hands: Hands, tab: Tab, server: PageServer, html: str, value: str
) -> None:
    await show(tab, server, html)
    facts = await hands.act(Action("type", target=css("#go"), value=Text(value)))
    assert isinstance(facts[0], ActionFailed)
    assert (facts[0].code, facts[0].dispatched) == ("action_failed", False)


@pytest.mark.parametrize(
    ("value", "chosen"), [("a\nc", "a,c"), ("Bee", "b"), ("a", "a"), ("a\nx", None)]
)
async def test_a_list_that_takes_several_holds_exactly_those(
    hands: Hands, tab: Tab, server: PageServer, value: str, chosen: str | None
) -> None:
    options = "<option>a<option value=b selected>Bee<option>c"
    tell_it = "document.title = [...selectedOptions].map((o) => o.value)"
    await show(tab, server, f'<select id=go multiple onchange="{tell_it}">{options}</select>')
    facts = await hands.act(Action("select", target=css("#go"), value=Text(value)))
    assert isinstance(facts[0], ActionDone if chosen else ActionFailed)
    # Nothing is fired where nothing changes.
    assert seen(facts).page.title == Untrusted("" if chosen in (None, "b") else str(chosen))
