"""The gate keeps the proxy process, proves it before a browser uses it, opens a passage for each
session. Without it there is no browser."""

import asyncio
import contextlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from rutter.actors.world.egress.company_proxy import CompanyProxy
from rutter.actors.world.egress.gate_messages import (
    MAX_KINDS,
    OTHERS,
    AskCounts,
    Blocked,
    ClosePort,
    ContactCounts,
    EndKept,
    OpenPort,
    Order,
    OrderFailed,
    PortOpened,
    RefusedRequests,
    line,
    read_report,
)
from rutter.events.errors import BrowserGone
from rutter.events.policy import Policy

# Not from where we happen to be: another `actors` could lie there.
COMMAND = (sys.executable, "-P", "-m", "rutter.actors.world.egress")
ANSWER_S = 10  # to start, and to answer; it does nothing that takes long
END_S = 2  # then it is killed
MAX_LINE = 1 << 20
NOTHING = Policy("0", public_hosts=False, public_resources=False)
PROOF = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"

Answer = TypeVar("Answer", PortOpened, ContactCounts)


class Contacts(NamedTuple):
    """The session reached these hosts so often; so many more requests went to hosts beyond them.
    Those of `by_name` were judged by their names alone: the company's proxy looked them up."""

    hosts: dict[tuple[str, int], int]
    others: int = 0
    by_name: frozenset[tuple[str, int]] = frozenset()


class Passage(Protocol):
    """A passage leads one session out."""

    server: str  # what the browser is given as its proxy; empty: there is none

    @property
    def blocked(self) -> Counter[Blocked]:
        """What was refused and not taken yet. Raises `BrowserGone` when the proxy is gone."""

    async def contacts(self) -> Contacts: ...

    async def why_not(self, host: str, port: int) -> str:
        """Why that was not reached, as far as it is known."""

    def when_lost(self, tell: Callable[[], None]) -> None:
        """Who is told when the proxy ends while this is open."""

    async def end_kept(self) -> None:
        """What is asked for next by TLS goes by a connection of its own: by one that has served a
        browser may ask twice."""

    async def close(self) -> None: ...


class OpensPassages(Protocol):
    @property
    def alive(self) -> bool: ...

    async def start(self) -> None: ...

    async def open(self, policy: Policy) -> Passage: ...

    async def close(self) -> None: ...


class Gate:
    """A gate is the proxy process of one browser, which goes out `through` the company's, if any.
    `barred` are ports of this machine that no session reaches, whatever its policy names.
    `command` is what a test runs in its place."""

    def __init__(
        self,
        command: Sequence[str] = COMMAND,
        *,
        barred: Callable[[], Sequence[int]] = tuple,
        through: CompanyProxy | None = None,
    ) -> None:
        self._through = through
        self._command = command
        self._barred = barred
        self._process: asyncio.subprocess.Process | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._hung = False
        self._waiting: dict[int, asyncio.Future[PortOpened | ContactCounts | OrderFailed]] = {}
        self._passages: dict[int, ProxyPassage] = {}
        self._number = 0

    @property
    def alive(self) -> bool:
        return self._hearing is not None and not self._hearing.done() and not self._hung

    async def start(self) -> None:
        """The process, and the proof that it lets through and refuses as it is told."""
        if self.alive:
            return
        await self.close()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                limit=MAX_LINE,
                start_new_session=True,  # Ctrl-C is for us: it must outlive the browser
            )
        except OSError as error:
            raise _gone(f"did not start ({error.strerror})") from error
        self._hearing = asyncio.ensure_future(self._hear(self._process))
        try:
            await self._prove()
        except BaseException:
            await self.close()
            raise

    async def open(self, policy: Policy) -> "ProxyPassage":
        opened = await self._asked(
            lambda number: OpenPort(number, policy, tuple(self._barred()), self._through),
            PortOpened,
        )
        passage = ProxyPassage(self, opened.port)
        self._passages[opened.port] = passage
        return passage

    async def close(self) -> None:
        """Ends it by closing its input; it is killed when that does not help."""
        process, self._process = self._process, None
        hearing, self._hearing = self._hearing, None
        self._hung = False
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()
            try:
                async with asyncio.timeout(END_S):
                    await process.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if hearing is not None:
            await hearing
        self._passages.clear()

    async def __aenter__(self) -> "Gate":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # -- what a passage asks for ---------------------------------------------------------------

    async def counts(self, port: int) -> ContactCounts:
        return await self._asked(lambda number: AskCounts(number, port), ContactCounts)

    async def end_kept(self, port: int) -> None:
        await self._asked(lambda number: EndKept(number, port), ContactCounts)

    async def shut(self, port: int) -> None:
        if self._passages.pop(port, None) is not None and self.alive:
            await self._asked(lambda number: ClosePort(number, port), ContactCounts)

    # -- the conversation ----------------------------------------------------------------------

    async def _asked(self, order: Callable[[int], Order], kind: type[Answer]) -> Answer:
        process = self._process
        if process is None or not self.alive:
            raise _gone("is not running")
        assert process.stdin is not None
        self._number += 1
        number = self._number
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            process.stdin.write(line(order(number)))
            async with asyncio.timeout(ANSWER_S):
                answer = await waiting
        except TimeoutError as error:
            self._give_up(process)
            raise _gone("does not answer") from error
        except (OSError, RuntimeError) as error:
            raise _gone("does not hear") from error
        finally:
            self._waiting.pop(number, None)
        if isinstance(answer, OrderFailed):
            raise _gone(f"cannot do that now ({answer.why})")
        if not isinstance(answer, kind):
            raise _gone("answers something else")
        return answer

    def _give_up(self, process: asyncio.subprocess.Process) -> None:
        """What hangs is ended, so that the next who asks gets another one."""
        self._hung = self._hung or process is self._process
        with contextlib.suppress(ProcessLookupError):
            process.kill()

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        """What the proxy says, until it says no more."""
        assert process.stdout is not None
        try:
            while said := await process.stdout.readline():
                self._note(said)
        except (OSError, ValueError, msgspec.MsgspecError):
            self._give_up(process)  # it speaks another language: then it is no proxy of ours
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(_gone("ended"))
            for passage in tuple(self._passages.values()):
                passage.end()

    def _note(self, said: bytes) -> None:
        match read_report(said):
            case RefusedRequests(port) as told:
                if (passage := self._passages.get(port)) is not None:
                    passage.note(told)
            case answer:
                waiting = self._waiting.get(answer.number)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)

    # -- the proof -----------------------------------------------------------------------------

    async def _prove(self) -> None:
        """What is named is reached and what is not is refused, by requests of our own."""
        asked = 0

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            asked += 1
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(PROOF)
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        try:
            port = server.sockets[0].getsockname()[1]
            named = msgspec.structs.replace(NOTHING, hosts=(f"127.0.0.1:{port}",))
            allowed, refused = await self._fetched(named, port), await self._fetched(NOTHING, port)
        finally:
            server.close()
        passes = allowed.startswith(b"HTTP/1.1 200") and allowed.endswith(b"ok") and asked == 1
        holds = refused.startswith(b"HTTP/1.1 403") and b"\r\nx-rutter-refused:" in refused
        if not (passes and holds):
            raise _gone("lets through or refuses what it should not")

    async def _fetched(self, policy: Policy, port: int) -> bytes:
        passage = await self.open(policy)
        request = f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        try:
            async with asyncio.timeout(ANSWER_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", passage.port)
                try:
                    writer.write(request.encode() + b"Connection: close\r\n\r\n")
                    return await reader.read()
                finally:
                    writer.close()
        except OSError as error:
            raise _gone("cannot be reached") from error
        finally:
            await passage.close()


class ProxyPassage:
    """A proxy's passage is a port of its own, with the policy of one session."""

    def __init__(self, gate: Gate, port: int) -> None:
        self._gate = gate
        self._blocked: Counter[Blocked] = Counter()
        self._why_not: dict[tuple[str, int], str] = {}
        self._tell_lost: Callable[[], None] | None = None
        self.port = port
        self.server = f"http://127.0.0.1:{port}"

    @property
    def blocked(self) -> Counter[Blocked]:
        if not self._gate.alive:
            raise _gone("ended")
        return self._blocked

    async def contacts(self) -> Contacts:
        counts = await self._gate.counts(self.port)
        hosts = {(host, port): times for host, port, times in counts.contacts}
        return Contacts(hosts, counts.others, frozenset(counts.by_name))

    async def end_kept(self) -> None:
        await self._gate.end_kept(self.port)

    async def close(self) -> None:
        await self._gate.shut(self.port)

    def when_lost(self, tell: Callable[[], None]) -> None:
        self._tell_lost = tell

    def end(self) -> None:
        """The proxy is gone, and this way out with it."""
        if self._tell_lost is not None:
            self._tell_lost()

    async def why_not(self, host: str, port: int) -> str:
        await self._gate.counts(self.port)  # all that was told before it is here then
        return self._why_not.get((host, port), "")

    def note(self, told: RefusedRequests) -> None:
        for kind, times in told.blocked:
            known = kind in self._blocked or len(self._blocked) < MAX_KINDS
            self._blocked[kind if known else OTHERS] += times
        reasons = {(kind.host, kind.port): kind.reason for kind, _ in told.blocked}
        reasons |= {(host, port): why for host, port, why in told.failed}
        if len(self._why_not) > MAX_KINDS:
            self._why_not.clear()  # what failed last is what is asked about
        self._why_not |= reasons


class NoGate:
    """Controls and benches use no gate: their browser may go anywhere."""

    alive = True

    async def start(self) -> None:
        """There is nothing to start."""

    async def open(self, policy: Policy) -> "OpenPassage":
        return OpenPassage()

    async def close(self) -> None:
        """There is nothing to end."""


class OpenPassage:
    """An open passage refuses and counts nothing."""

    server = ""

    def __init__(self) -> None:
        self.blocked: Counter[Blocked] = Counter()

    async def contacts(self) -> Contacts:
        return Contacts({})

    async def why_not(self, host: str, port: int) -> str:
        return ""

    def when_lost(self, tell: Callable[[], None]) -> None:
        """There is nothing to lose."""

    async def end_kept(self) -> None:
        """Nothing is kept here."""

    async def close(self) -> None:
        """There is nothing to close."""


def _gone(how: str) -> BrowserGone:
    return BrowserGone(f"the proxy, the browser's only way out, {how}", "run: rutter doctor")
