"""What the daemon starts is told nothing by a signal to its group."""

import asyncio
import os
import subprocess
import sys
from typing import Any

from rutter.pipeline.daemon.browsers.process_groups import run_apart

WHERE = (sys.executable, "-c", "import os; print(os.getsid(0), os.getpid())")


async def session_of_child(**more: Any) -> tuple[int, int]:
    child = await asyncio.create_subprocess_exec(*WHERE, stdout=subprocess.PIPE, **more)
    said, _ = await child.communicate()
    session, process = map(int, said.split())
    return session, process


def test_a_process_that_is_started_has_a_session_of_its_own() -> None:
    found: list[tuple[int, int]] = []

    async def main() -> None:
        found.append(await session_of_child())

    run_apart(main())
    [(session, process)] = found
    assert session == process


def test_whoever_says_otherwise_is_not_overruled() -> None:
    found: list[tuple[int, int]] = []

    async def main() -> None:
        found.append(await session_of_child(start_new_session=False))

    run_apart(main())
    assert found[0][0] == os.getsid(0)
