"""The proxy with a resolver of the test's own: `python -m tests.hostile.rebinding_proxy PLAN`.

Names resolve as the plan says, one answer after the other. Public addresses stand for servers of
the test, so that nothing leaves this machine.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from rutter.actors.world.egress.proxy import main


class Plan(msgspec.Struct, frozen=True):
    """In `folder` each name has a file with its answers, of which the last is for ever, and
    `dialled` is told every address in turn. `stands_for`: a public address, and the port at which
    it is really to be found. `asks_again`: a name that is looked up anew where it is dialled, as
    whoever hands on a name does; it is a fault, on purpose."""

    folder: str
    stands_for: dict[str, int]
    asks_again: str = ""

    def command(self) -> tuple[str, ...]:
        plan = msgspec.json.encode(self).decode()
        return (sys.executable, "-m", "tests.hostile.rebinding_proxy", plan)

    def answer(self, name: str, *answers: list[str]) -> None:
        Path(self.folder, name).write_bytes(msgspec.json.encode(answers))

    def resolved(self, name: str) -> list[str]:
        file = Path(self.folder, name)
        answers = msgspec.json.decode(file.read_bytes(), type=list[list[str]])
        file.write_bytes(msgspec.json.encode(answers[1:] or answers))
        return answers[0]

    def dialled(self) -> list[str]:
        file = Path(self.folder, "dialled")
        return file.read_text().split() if file.exists() else []

    def note(self, address: str) -> None:
        with Path(self.folder, "dialled").open("a") as file:
            file.write(f"{address}\n")


def obey(plan: Plan) -> None:
    really_open = asyncio.open_connection

    async def resolve(host: str, port: int) -> Sequence[str]:
        return plan.resolved(host)

    async def open_connection(host: str, port: int, **more: Any) -> Any:
        if plan.asks_again:
            host = plan.resolved(plan.asks_again)[0]
        plan.note(host)
        if host in plan.stands_for:
            return await really_open("127.0.0.1", plan.stands_for[host], **more)
        return await really_open(host, port, **more)

    asyncio.open_connection = open_connection  # type: ignore[assignment]
    main(resolve)


if __name__ == "__main__":
    obey(msgspec.json.decode(sys.argv[1], type=Plan))
