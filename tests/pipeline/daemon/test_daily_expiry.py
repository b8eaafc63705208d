"""What has expired goes by itself when a daemon starts, and whoever asks for it is told so."""

from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.artifact_survey import expired_digests
from tests.support.command_shell import Rutter
from tests.support.daemon_on_site import anchored
from tests.support.recorded_site import Harbour

pytestmark = [pytest.mark.browser, pytest.mark.anyio]


async def test_a_daemon_lets_go_of_what_has_expired_and_says_so(
    harbour: Harbour, directory: DataDirectory, tmp_path: Path
) -> None:
    async with anchored(harbour, directory.root) as ship:
        with anyio.fail_after(60):
            while not directory.tidied.exists():
                await anyio.sleep(0.01)
        with SqliteReader(directory.log) as reader:
            expired = sorted(expired_digests(reader))
        assert len(expired) == 3
        gone = await ship.ask("GET", f"/artifacts/{expired[0]}")
        assert gone.status == 404
        assert "has expired (keep.screenshots_days = 30)" in gone.json["message"]
        never = await ship.ask("GET", f"/artifacts/{'0' * 64}")
        assert "there is no artifact" in never.json["message"]
        told = (await ship.ask("GET", "/sessions/run-1")).json
        assert set(told["expired"]) < set(expired)

        rutter = Rutter(directory.root)
        ended = await anyio.to_thread.run_sync(lambda: rutter("log", "tidy"))
        assert (ended.code, ended.out.splitlines()[0]) == (0, "[OK] nothing has expired")
        ended = await anyio.to_thread.run_sync(lambda: rutter("export", "--all", tmp_path / "all"))
        assert ended.code == 0, ended
