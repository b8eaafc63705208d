"""Downloads are the files that the pages of a window send: no larger than is allowed, told once."""

import asyncio
import contextlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import anyio
from playwright.async_api import BrowserContext
from playwright.async_api import Download as BrowserDownload
from playwright.async_api import Error as PlaywrightError

from rutter.actors.world.browser.window_load import WindowLoad
from rutter.actors.world.browser.window_session import WindowSession
from rutter.actors.world.egress.gate import Passage

DOWNLOAD_MB = 50  # kept whole in memory for a moment, and for ever on disk
MAX_TEXT = 200


class PageDownload(NamedTuple):
    """A page sent a file: where it is for now, or why it is not; and in which step."""

    name: str
    path: Path | None
    failure: str = ""
    step: int = 0


class WindowDownloads(WindowSession):
    """A window's downloads are what came, what is coming, and what the browser announced."""

    def __init__(
        self, context: BrowserContext, passage: Passage, crowd: WindowLoad, download_mb: int
    ) -> None:
        super().__init__(context, passage, crowd)
        self._max_download = download_mb << 20
        self._files_said: Counter[str] = Counter()
        self._files_seen: Counter[str] = Counter()
        self._files: list[PageDownload] = []
        self._sending: dict[asyncio.Task[None], BrowserDownload] = {}
        self._too_large: set[str] = set()

    def expect_download(self, url: str) -> None:
        self._files_said[url] += 1
        self._tell()

    def count_bytes(self, url: str, size: int) -> None:
        if size <= self._max_download or url in self._too_large:
            return
        self._too_large.add(url)
        for download in self._sending.values():
            if download.url == url:
                self._spawn(_cancelled(download))

    @property
    def files_begun(self) -> tuple[int, int]:
        """How many files were announced, and how many are on their way or were."""
        return self._files_said.total(), self._files_seen.total()

    async def download_begun(self, within_ms: int, before: tuple[int, int]) -> None:
        """Waits for the file that was asked for when `before` had begun to be on its way."""
        with anyio.move_on_after(within_ms / 1000):
            while self.files_begun == before:
                await self._changed.wait()

    async def downloads(self, within_ms: int) -> list[PageDownload]:
        """What was sent since it was last asked for; what is on its way is waited for."""
        with anyio.move_on_after(within_ms / 1000):
            while self._sending or self._files_said - self._files_seen:
                await self._changed.wait()
        files, self._files = self._files, []
        return files

    def _take_download(self, download: BrowserDownload, step: int) -> None:
        self._files_seen[download.url] += 1
        task = asyncio.ensure_future(self._receive(download, step))
        self._sending[task] = download
        if download.url in self._too_large:
            self._spawn(_cancelled(download))
        self._tell()

    async def _receive(self, download: BrowserDownload, step: int) -> None:
        name = download.suggested_filename[:MAX_TEXT]
        large = f"larger than {self._max_download >> 20} MB"
        try:
            path = await download.path()
            # It may be there before it was told.
            if (await anyio.Path(path).stat()).st_size > self._max_download:
                await download.delete()
                self._files.append(PageDownload(name, None, large, step))
            else:
                self._files.append(PageDownload(name, path, step=step))
        except (PlaywrightError, OSError) as error:  # the browser took it away with itself
            failure = large if download.url in self._too_large else str(error).splitlines()[0]
            self._files.append(PageDownload(name, None, failure[:MAX_TEXT], step))
        finally:
            self._sending = {
                task: other for task, other in self._sending.items() if other is not download
            }
            self._tell()


async def _cancelled(download: BrowserDownload) -> None:
    with contextlib.suppress(PlaywrightError):
        await download.cancel()
