"""What a look says beside the page: texts that were asked for, phrases, requests without answer;
pages that are opened aside and closed again; what a page says late to a person's step."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from rutter.actors.executor.actor import Executor
from rutter.actors.observer.actor import GONE, INLINE, Observer
from rutter.actors.observer.person_recorder import LATE_LOOKS, PersonRecorder
from rutter.actors.world.browser.page_listener import WindowListener
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import MAX_TABS, Window
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import Action, Text, Untrusted
from rutter.events.artifacts import ArtifactStore
from rutter.events.chain import GENESIS
from rutter.events.codec import pack
from rutter.events.critic import FilesRequested
from rutter.events.envelope import Envelope
from rutter.events.errors import BrowserGone
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    PersonActed,
    QueryAnswered,
    QueryFailed,
    TargetResolved,
)
from rutter.events.observer import FilesSeen, PageObserved, PopupOpened, Shown
from rutter.events.planner import ObservationRequested
from rutter.events.policy import Policy
from rutter.events.run_settings import RunSettings
from rutter.events.runtime import RecordingFinished, SessionStarted
from rutter.events.service_pack import Service, Sign, StateRule
from rutter.events.validator import ActionStarted, PlanAdmitted, QueryStarted
from rutter.events.vocabulary import AnyEvent
from tests.support.browser_fixtures import OneWindow, show
from tests.support.page_server import PATIENT, PageServer
from tests.support.policies import HERE
from tests.support.shop_facts import css

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

SECOND = 1_000
SETTINGS = RunSettings(
    service=Service(
        "shop",
        states=(
            StateRule("COMPLETE", (Sign("text", "Your ORDER is placed"),)),
            StateRule("FAILED", (Sign("text", "no such words anywhere"),)),
        ),
    )
)


class Hands:
    """An Executor and an Observer on one window, told what to do without anybody deciding."""

    def __init__(self, screen: Screen, artifacts: ArtifactStore) -> None:
        self.executor = Executor(screen, Bindings({}, {}), SETTINGS)
        self.observer = Observer(screen, artifacts)

    async def start(self) -> None:
        started = SessionStarted("run", "script", "", SETTINGS, Policy("1"))
        await tell(self.observer, started)

    async def find(self, action: Action) -> str:
        (found,) = await tell(self.executor, PlanAdmitted(1, 1, action, SECOND))
        assert isinstance(found, TargetResolved)
        return found.element.exact

    async def act(self, action: Action) -> list[AnyEvent]:
        digest = await self.find(action) if action.target is not None else ""
        (done,) = await tell(self.executor, ActionStarted(1, 1, action, digest=digest))
        return [done, *await tell(self.observer, done)]

    async def click(self, selector: str) -> PageObserved:
        return seen(await self.act(Action("click", target=css(selector))))

    async def query(self, action: Action) -> AnyEvent:
        digest = await self.find(action) if action.type == "extract" else ""
        (answer,) = await tell(self.executor, QueryStarted(1, 1, action, digest))
        return answer

    async def look(self, *texts: str, within_ms: int = 0, why: Any = "effect_awaited") -> Any:
        return seen(await tell(self.observer, ObservationRequested(why, within_ms, texts=texts)))


async def tell(actor: Executor | Observer, event: AnyEvent) -> list[AnyEvent]:
    envelope = Envelope(1, "run", 1, 0, "validator", 0, event, GENESIS)
    return [fact async for fact in actor.handle(envelope)]


def seen(facts: list[AnyEvent]) -> PageObserved:
    (observed,) = [fact for fact in facts if isinstance(fact, PageObserved)]
    return observed


@pytest.fixture
async def hands(window: Window, tmp_path: Path) -> Hands:
    screen = Screen(OneWindow(window), HERE)
    await screen.open()
    hands = Hands(screen, ArtifactStore(tmp_path / "artifacts"))
    await hands.start()
    return hands


# -- texts and phrases -----------------------------------------------------------------------------

SAYS = """<h1>Orders</h1>
<p>Your <b>order</b>
 is&nbsp;placed, with    number <i>#12</i>.</p>
<ul><li>Hemp rope</li><li>Anchor</li></ul>
<span style="display:block">Total</span><span style="display:block">40 EUR</span>
<p id=react></p><p hidden>Cancelled yesterday</p><p style="visibility:hidden">Refunded</p>
<label>Password <input type=password value=hunter-2></label>
<label>Note <input value="typed by hand"></label><textarea>in a field</textarea>
<p aria-hidden=true>For eyes alone</p><x-box></x-box>
<iframe srcdoc="<p>From the frame"></iframe>
<script>
  for (const part of ["Item ", "#", "7", "!"]) react.append(document.createTextNode(part));
  document.querySelector("x-box").attachShadow({ mode: "open" }).innerHTML = "In the <b>shadow</b>";
</script>"""


async def test_texts_are_found_as_they_are_shown_in_any_case_and_across_elements(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, SAYS)
    await tab.page.wait_for_load_state()  # of its frame
    there = (
        *("your order IS PLACED,\n with number #12.", "hemp rope anchor", "Total 40 eur"),
        *("item #7!", "for eyes alone", "in the shadow", "from the frame"),
    )
    missing = (
        *("cancelled yesterday", "refunded", "hunter-2", "(secret)", "typed by hand", "in a field"),
        *("unchecked", ""),
    )
    observed = await hands.look(*there, *missing)
    assert [entry.text for entry in observed.shown] == [*there, *missing]
    assert [entry.around is not None for entry in observed.shown] == [True] * 7 + [False] * 8
    first = observed.shown[0].around
    assert first.text.startswith("Orders Your order is placed, with number #12.")
    assert "hunter" not in repr([entry.around for entry in observed.shown])
    assert "your order is placed" in observed.phrases
    assert "no such words anywhere" not in observed.phrases
    assert (await hands.look()).shown == ()


async def test_what_is_asked_for_changes_nothing_of_the_page_that_is_told(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, SAYS)
    await tab.page.wait_for_load_state()
    bare = await tab.call("observe", within_ms=PATIENT)
    observed = await hands.look("Total")
    assert observed.page.digest == bare["digest"]
    assert "shown" not in bare
    assert len(bare["elements"]) == len(observed.page.elements)


async def test_what_is_told_of_long_pages_and_long_texts_stays_small(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    fill = "<p>" + "rope and anchor " * 20_000 + "</p>" + "<button>A button of it</button>" * 500
    await show(tab, server, f"<p>{'İ' * 50} needle {'x' * 3_000}</p>{fill}")
    texts = ("needle", "x" * 2_900, *(f"rope and anchor {n}" for n in range(30)))
    observed = await hands.look(*texts)
    assert len(observed.shown) == 20
    around = [entry.around for entry in observed.shown]
    assert "needle" in around[0].text
    assert max(len(entry.text) for entry in around if entry is not None) <= 200
    assert around[2:] == [None] * 18
    assert len(pack((observed.page, observed.shown, observed.phrases))) <= INLINE


async def test_a_text_that_comes_is_seen_when_the_page_changes(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    later = "setTimeout(() => document.body.append('It is done'), 200)"
    await show(tab, server, f'<button id=go onclick="{later}">Go</button>')
    await hands.click("#go")
    observed = await hands.look("it is done", within_ms=20 * SECOND)
    assert observed.shown == (Shown("it is done", Untrusted("Go It is done")),)


# -- requests that have no answer yet --------------------------------------------------------------


async def test_requests_made_since_the_input_and_not_answered_are_counted(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    html = """<button id=two onclick="fetch('/never?1'); const x = new XMLHttpRequest();
      x.open('GET', '/never?2'); x.send(); new Image().src = '/never?3'">Two</button>
    <button id=one onclick="fetch('/never?4', { signal: stop.signal })">One</button>
    <button id=stop onclick="stop.abort(); fetch('/another').then((a) => a.text())
      .then(() => document.title = 'answered')">Stop</button>
    <input id=typed oninput="fetch('/never?5')">
    <script>const stop = new AbortController(); fetch('/never?0')</script>"""
    await show(tab, server, html)
    assert (await hands.look()).pending == 0  # one is on its way, and nothing was done yet
    assert (await hands.click("#two")).pending == 2
    assert (await hands.look()).pending == 2
    assert (await hands.click("#one")).pending == 1
    await hands.click("#stop")
    await tab.page.wait_for_function("document.title === 'answered'")
    assert (await hands.look()).pending == 0
    facts = await hands.act(Action("type", target=css("#typed"), value=Text("rope")))
    assert seen(facts).pending == 1
    await show(tab, server, "<h1>Elsewhere</h1>")
    assert (await hands.look()).pending == 0


async def test_requests_without_end_are_counted_up_to_a_limit(
    hands: Hands, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rutter.actors.world.browser.traffic.MOST", 3)
    flood = "for (let n = 0; n < 6; n++) fetch('/never?' + n)"
    await show(tab, server, f'<button id=go onclick="{flood}">Go</button>')
    assert (await hands.click("#go")).pending == 3


async def test_a_request_that_begins_while_its_effect_is_awaited_counts(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    later = "setTimeout(() => { fetch('/never'); document.body.append('Saving') }, 300)"
    await show(tab, server, f'<button id=go onclick="{later}">Go</button>')
    assert (await hands.click("#go")).pending == 0
    observed = await hands.look("saving", within_ms=20 * SECOND)
    assert (observed.pending, observed.shown[0].around is not None) == (1, True)


async def test_requests_that_change_something_are_counted_whether_answered_or_not(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    html = """<button id=save onclick="navigator.sendBeacon('/another', 'seen');
      const x = new XMLHttpRequest(); x.open('POST', '/never?1'); x.send('rope');
      Promise.all([fetch('/another'), fetch('/another', { method: 'HEAD' }),
      fetch('/hop', { method: 'POST', body: 'anchor' })].map((a) => a.then((b) => b.text())))
      .then(() => document.title = 'answered')">Save</button>
    <button id=read onclick="fetch('/another')">Read</button>
    <script>fetch('/another', { method: 'POST', body: 'hello' })</script>"""
    await show(tab, server, html)
    assert (await hands.look()).sent == 0
    await hands.click("#save")
    await tab.page.wait_for_function("document.title === 'answered'")
    with anyio.fail_after(10):  # what the page knows the browser tells us a moment later
        while tab.traffic.pending > 1:
            await tab.call("sync", within_ms=PATIENT)
    observed = await hands.look()
    assert (observed.sent, observed.pending) == (2, 1)
    assert (await hands.click("#read")).sent == 0
    assert (await hands.click("#save")).sent == 2
    await show(tab, server, "<h1>Elsewhere</h1>")
    assert (await hands.look()).sent == 0


async def test_what_is_sent_between_two_looks_counts(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<button id=go>Go</button>")
    assert (await hands.click("#go")).sent == 0
    await tab.page.evaluate("fetch('/another', { method: 'POST', body: 'x' }).then(() => 0)")
    assert (await hands.look()).sent == 1


# -- how much of it is known -----------------------------------------------------------------------


async def test_the_status_of_the_document_in_front_is_told(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    assert (await hands.look()).status == 0
    for path, status in (("/another", 200), ("/broken", 500), ("/hop", 200)):
        await tab.navigate(server.url + path, within_ms=PATIENT)
        assert (await hands.look()).status == status, path
    await tab.page.evaluate("history.pushState(0, '', '/elsewhere')")
    assert (await hands.look()).status == 200


SEEN_FRAME = '<iframe src="{elsewhere}"></iframe>'


@pytest.mark.parametrize(
    ("html", "unread"),
    [
        (SAYS, False),
        (SEEN_FRAME, True),
        ('<iframe srcdoc="<iframe src={elsewhere}></iframe>"></iframe>', True),
        ('<iframe sandbox srcdoc="<p>Apart"></iframe>', True),
        ('<iframe src="{elsewhere}" width=1 height=1></iframe>', False),
        (f"<div hidden>{SEEN_FRAME}</div>", False),
        (f'<div style="visibility:hidden">{SEEN_FRAME}</div>', False),
        (f'<div style="position:absolute;left:-9999px">{SEEN_FRAME}</div>', False),
        (f'<div style="height:3000px"></div>{SEEN_FRAME}', True),
        ("<p>" + "rope " * 50_000 + "<p>" + "hemp " * 29_000, False),
        ("<p>" + "rope " * 50_000 + "<p>" + "hemp " * 31_000 + "<p>needle", True),
        ("<p>" + "rope " * 90_000, True),
        ("ropes <!---->" * 75_000 + "<p>needle", False),
        (
            "<p><script>let at = document.body; for (let n = 0; n < 1_600; n++) "
            "at = at.appendChild(document.createElement('b')); at.append('needle')</script>",
            True,
        ),
    ],
    ids=[
        *("same site", "another site", "in a frame", "sandboxed", "tiny", "not shown", "hidden"),
        *("out of reach", "below", "long", "too long", "in one piece", "in many", "too deep"),
    ],
)
async def test_that_not_all_of_the_text_could_be_read_is_told(
    hands: Hands, tab: Tab, server: PageServer, html: str, unread: bool
) -> None:
    elsewhere = f"{server.url.replace('127.0.0.1', 'localhost')}/another"
    await show(tab, server, html.replace("{elsewhere}", elsewhere))
    await tab.page.wait_for_load_state()
    observed = await hands.look("needle")
    assert observed.unread is unread
    if not unread:
        assert (observed.shown[0].around is not None) is ("needle" in html)


# -- observations ----------------------------------------------------------------------------------


async def test_an_observation_reads_waits_and_dispatches_nothing(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    spy = "<script>for (const kind of ['mousedown', 'keydown', 'input', 'focus'])"
    spy += " addEventListener(kind, () => document.title = 'touched', true);"
    spy += " setTimeout(() => later.hidden = false, 200)</script>"
    await show(tab, server, f"<h1>Orders</h1><p id=later hidden>Later</p>{spy}")
    read = await hands.query(Action("extract", target=css("h1"), name="heading"))
    assert isinstance(read, QueryAnswered)
    assert read.text == Untrusted("Orders")
    waited = await hands.query(Action("wait_for", target=css("#later"), ms=5 * SECOND))
    assert isinstance(waited, QueryAnswered)
    assert isinstance(await hands.query(Action("wait", ms=1)), QueryAnswered)
    missing = await hands.query(Action("wait_for", target=css("#never"), ms=20))
    assert isinstance(missing, QueryFailed)
    assert missing.code == "element_not_found"
    observed = seen(await tell(hands.observer, missing))
    assert (observed.why, observed.page.title) == ("after_action", Untrusted(""))


async def test_an_element_that_is_another_by_then_is_not_read(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<h1>Orders</h1>")
    action = Action("extract", target=css("h1"))
    await hands.find(action)
    (answer,) = await tell(hands.executor, QueryStarted(1, 1, action, "of another element"))
    assert isinstance(answer, QueryFailed)
    assert (answer.code, answer.message) == ("ref_invalid", "it is another element by now")
    envelope = Envelope(1, "run", 1, 0, "validator", 0, QueryStarted(2, 1, action), GENESIS)
    broken = hands.executor.failed(envelope, RuntimeError("a bug"))
    assert broken == QueryFailed(2, 1, "action_failed", "RuntimeError: a bug")


async def test_a_check_does_nothing_and_the_page_is_looked_at(
    hands: Hands, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, "<h1>Orders</h1>")
    done, *facts = await hands.act(Action("check"))
    assert isinstance(done, ActionDone)
    assert seen(facts).page.headings == (Untrusted("Orders"),)


async def test_files_are_looked_at_beside_the_page(hands: Hands) -> None:
    (answer,) = await tell(hands.observer, FilesRequested(3, (), 0))
    assert answer == FilesSeen(3, ())


# -- pages that are opened aside -------------------------------------------------------------------


def aside(url: str) -> Action:
    return Action("navigate", url=url, aside=True)


async def test_a_page_aside_is_in_front_until_it_is_over_and_leaves_no_trace(
    hands: Hands, window: Window, tab: Tab, server: PageServer
) -> None:
    link = '<a id=go href="/another" target=_blank>Go</a>'
    await show(tab, server, f"<h1>First</h1><input id=a>{link}")
    await tab.page.evaluate("document.cookie = 'who=me'")
    await hands.act(Action("type", target=css("#a"), value=Text("rope")))
    tell_it = "<script>document.body.append('you are ' + document.cookie)</script>"
    done, *facts = await hands.act(aside(server.show(f"<h1>Aside</h1>{link}{tell_it}")))
    assert isinstance(done, ActionDone)
    assert done.navigated
    assert not [fact for fact in facts if isinstance(fact, PopupOpened)]
    observed = await hands.look("you are who=me")
    assert (observed.page.tab, observed.page.tabs) == (1, 2)
    assert observed.page.headings == (Untrusted("Aside"),)
    assert observed.shown[0].around is not None

    assert (await hands.click("#go")).page.tabs == 3  # opened by it, and closed with it
    back = await hands.look(why="aside_over")
    assert (back.page.tab, back.page.tabs, back.why) == (0, 1, "requested")
    assert back.page.headings == (Untrusted("First"),)
    assert back.page.elements[1].value == Untrusted("rope")
    assert window.tabs == (tab,)
    opened = await hands.click("#go")
    assert (opened.page.tab, opened.page.tabs) == (1, 2)
    assert (await hands.look(why="aside_over")).page.tab == 1  # nothing was aside


async def test_what_is_looked_at_aside_is_never_from_the_cache(
    hands: Hands, window: Window, tab: Tab, server: PageServer
) -> None:
    for _ in range(2):
        await tab.navigate(f"{server.url}/kept", within_ms=PATIENT)
        assert (await hands.look("asked for 1 times")).shown[0].around is not None
    await hands.act(aside(f"{server.url}/kept"))
    assert (await hands.look("asked for 2 times")).shown[0].around is not None
    ask = "fetch('/kept').then((a) => a.text()).then((said) => document.title = said)"
    await hands.act(aside(server.show(f'<button id=go onclick="{ask}">Go</button>')))
    for times in (3, 4):
        await hands.click("#go")
        await window.tab.page.wait_for_function(f"document.title === 'asked for {times} times'")
        assert (await hands.look()).pending == 0


async def test_a_page_that_cannot_be_had_aside_is_a_failed_navigation(
    hands: Hands, window: Window, tab: Tab, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await show(tab, server, "<h1>First</h1>")
    for url in ("http://127.0.0.1:9/", "chrome://crash"):
        failed, *facts = await hands.act(aside(url))
        assert isinstance(failed, ActionFailed), url
        assert failed.code == "navigation_failed"
        assert seen(facts).page.headings == (Untrusted("First"),)
        assert window.tabs == (tab,)

    async def attach(self: Tab) -> None:
        raise BrowserGone("no page")

    with monkeypatch.context() as patch:
        patch.setattr(Tab, "attach", attach)
        failed, *facts = await hands.act(aside(f"{server.url}/another"))
    assert isinstance(failed, ActionFailed)
    assert (failed.code, failed.dispatched, failed.message) == (
        "navigation_failed",
        False,
        "no page",
    )
    assert isinstance((await hands.act(aside(f"{server.url}/another")))[0], ActionDone)


@pytest.mark.parametrize("how", ["crashes", "closes"])
async def test_a_page_that_dies_aside_shows_nothing_and_the_session_goes_on(
    hands: Hands, window: Window, tab: Tab, server: PageServer, how: str
) -> None:
    await show(tab, server, "<h1>First</h1><p>It was saved</p>")
    done, *_ = await hands.act(aside(f"{server.url}/another"))
    assert isinstance(done, ActionDone)
    await (window.tab.kill() if how == "crashes" else window.tab.page.close())
    observed = await hands.look("it was saved", within_ms=20)
    assert (observed.page, observed.shown) == (GONE, (Shown("it was saved"),))
    back = await hands.look(why="aside_over")
    assert (back.page.headings, back.page.tabs) == ((Untrusted("First"),), 1)


async def test_there_is_room_aside_when_there_is_none_for_another_page(
    hands: Hands, window: Window, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, '<h1>First</h1><a id=go href="/another" target=_blank>Go</a>')
    for _ in range(MAX_TABS - 1):
        await hands.act(Action("click", target=css("#go"), tab=0))
    assert len(window.tabs) == MAX_TABS
    done, *facts = await hands.act(aside(f"{server.url}/another"))
    assert isinstance(done, ActionDone)
    assert (seen(facts).page.tab, seen(facts).page.tabs) == (MAX_TABS, MAX_TABS + 1)
    assert (await hands.look(why="aside_over")).page.tab == MAX_TABS - 1


# -- what a page says late -------------------------------------------------------------------------


class Recording:
    """A Witness on one window, and what it has told so far."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self.facts: list[AnyEvent] = []
        self._more = anyio.Event()

    async def run(self, listener: WindowListener) -> None:
        witness = PersonRecorder(self._window, listener, {}, 1, ("it was saved",))
        async for fact in witness.facts():
            self.facts.append(fact)
            more, self._more = self._more, anyio.Event()
            more.set()

    async def until(self, kind: type[Any], count: int = 1) -> None:
        await self.told(lambda: sum(isinstance(fact, kind) for fact in self.facts) >= count)

    async def told(self, enough: Callable[[], bool]) -> None:
        with anyio.fail_after(15):
            while not enough():
                await self._more.wait()

    def looks(self) -> list[PageObserved]:
        """Since the last step."""
        last = max(n for n, fact in enumerate(self.facts) if isinstance(fact, PersonActed))
        return [fact for fact in self.facts[last:] if isinstance(fact, PageObserved)]


LATE = """<h1>Form</h1><button id=save onclick="setTimeout(() => note.innerHTML = 'Saving', 300);
  setTimeout(() => note.innerHTML = '<p role=status>It was saved', 1000)">Save</button>
<button id=busy onclick="note.innerHTML = ''; setInterval(() => document.title += '.', 20);
  setTimeout(() => note.innerHTML = '<p role=status>It was saved', 300)">Busy</button>
<button id=other onclick="document.body.append('more')">Other</button><div id=note></div>"""


async def test_what_a_page_says_late_is_seen_and_what_a_person_does_meanwhile_too(
    window: Window, tab: Tab, server: PageServer
) -> None:
    await show(tab, server, LATE)
    recording = Recording(window)
    listener = await window.listen(("it was saved",))
    async with anyio.create_task_group() as group:
        group.start_soon(recording.run, listener)
        await tab.page.click("#save")
        await recording.until(PageObserved, 3)
        *_, after, late = recording.looks()
        assert (after.why, after.page.alerts, after.phrases) == ("after_action", (), ())
        assert late.why == "requested"
        assert late.page.alerts == (Untrusted("It was saved"),)
        assert late.phrases == ("it was saved",)
        assert [look.status for look in (after, late)] == [200, 200]

        for _ in range(3):  # as fast as they can: nothing is lost
            await tab.page.click("#other")
        await recording.until(PersonActed, 4)
        before = [fact for fact in recording.facts if isinstance(fact, PageObserved)][3]
        assert (before.why, before.phrases) == ("before_input", ("it was saved",))
        assert (before.status, before.unread) == (200, False)

        await tab.page.click("#busy")  # from now on it changes all the time
        await recording.until(PersonActed, 5)
        said = (Untrusted("It was saved"),)
        await recording.told(lambda: any(seen.page.alerts == said for seen in recording.looks()))
        window.finish()
        await recording.until(RecordingFinished)
    assert len(recording.looks()) <= 1 + LATE_LOOKS + 1  # and one when it is over
    steps = [fact.step for fact in recording.facts if isinstance(fact, PersonActed)]
    assert steps == [1, 2, 3, 4, 5]
