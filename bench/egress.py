"""The egress bench measures what the gate costs: the same pages in the same browser, through the
proxy and directly."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from time import perf_counter_ns

from playwright.async_api import Page

from bench.flow import HERE, paired_ratio, shared_browser
from bench.spans import ms
from bench.tables import Cell, middle, p90, print_table
from rutter.actors.world.egress.gate import Gate, OpenPassage

TIMES = 40
PARTS = 30
LARGE = 20 << 20
SMALL = b"<!doctype html><title>small</title><p>One document and nothing else."
MANY = SMALL + b"".join(
    f"<img src='/part/{number}' width=8 height=8>".encode() for number in range(PARTS)
)
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c63606060f80f00010401005fe5c34b0000000049454e44ae426082"
)


class Pages:
    """This very process serves pages, in next to no time."""

    def __init__(self) -> None:
        self.port = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1]
                kind, body = self._answer(path)
                length = str(len(body)).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncache-control: no-store\r\ncontent-type: "
                    + kind
                    + b"\r\ncontent-length: "
                    + length
                    + b"\r\n\r\n"
                    + body
                )
                await writer.drain()
        writer.close()

    def _answer(self, path: bytes) -> tuple[bytes, bytes]:
        if path == b"/large":
            return b"application/octet-stream", bytes(LARGE)
        if path.startswith(b"/part/"):
            return b"image/png", PIXEL
        return b"text/html", MANY if path == b"/many" else SMALL

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Pages]:
    pages = Pages()
    server = await asyncio.start_server(pages.handle, "127.0.0.1", 0)
    pages.port = server.sockets[0].getsockname()[1]
    try:
        yield pages
    finally:
        server.close()


async def load(page: Page, url: str) -> None:
    await page.goto(url, wait_until="load")


async def fetch(page: Page, url: str) -> None:
    """A large answer, in a document that is there already."""
    await page.evaluate("async (url) => (await (await fetch(url)).arrayBuffer()).byteLength", url)


WHAT: dict[str, tuple[str, Callable[[Page, str], Awaitable[None]], int]] = {
    "one document": ("/small", load, TIMES),
    f"a document with {PARTS} pictures": ("/many", load, TIMES),
    f"{LARGE >> 20} MB by fetch": ("/large", fetch, 8),
}


async def measure() -> dict[str, dict[str, list[float]]]:
    took: dict[str, dict[str, list[float]]] = {}
    async with serving() as pages, shared_browser() as browser, Gate() as gate:
        passage = await gate.open(HERE)
        behind = await browser.context_of(passage)
        direct = await browser.context_of(OpenPassage())
        sides = {"direct": await direct.new_page(), "proxy": await behind.new_page()}
        for page in sides.values():
            await page.goto(f"{pages.url}/small")
        for what, (path, how, times) in WHAT.items():
            took[what] = {side: [] for side in sides}
            for number in range(times + 1):
                for side in sorted(sides, reverse=bool(number % 2)):  # either is first as often
                    began_ns = perf_counter_ns()
                    await how(sides[side], pages.url + path)
                    if number:
                        took[what][side].append(ms(perf_counter_ns() - began_ns))
        counted = await passage.contacts()
        if not counted.hosts:
            raise RuntimeError("nothing went by the proxy: nothing was measured")
    return took


def main() -> None:
    rows: list[list[Cell]] = []
    for what, sides in asyncio.run(measure()).items():
        for side, times in sides.items():
            ratio = paired_ratio(times, sides["direct"])
            rows.append([f"{what}, {side}", middle(times), p90(times), min(times), ratio])
    print_table(
        f"loads in turns in one browser, up to {TIMES} each, ms (ratio to direct in the same turn)",
        ["what", "median", "p90", "best", "ratio"],
        rows,
    )


if __name__ == "__main__":
    main()
