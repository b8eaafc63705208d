"""The bundled site has a workflow recorded on it through the command, ready to be run."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from rutter.pipeline.cli.demo import ALONE, WATCHED
from rutter.pipeline.demo_sites.chandlery import Order, Site, order_script
from rutter.pipeline.demo_sites.chandlery.seed import ORDERS
from rutter.pipeline.demo_sites.request import SiteRequest, SiteResponse
from tests.support.command_shell import COMMAND, ROOT, Ended, Rutter

PASSWORD = "sheet bend & 9 fathoms"
WANTED = {**ALONE, "quantity": 12, "priority": "urgent", "placed": True}


class WatchedSite(Site):
    """The site does something when a page is asked for."""

    def __init__(self) -> None:
        super().__init__(password=PASSWORD)
        self.when: Callable[[SiteRequest], None] | None = None

    def respond(self, request: SiteRequest, target: str) -> SiteResponse:
        if self.when is not None:
            self.when(request)
        return super().respond(request, target)

    def reset(self) -> None:
        super().reset()
        self.when = None

    @property
    def placed(self) -> tuple[Order, ...]:
        """The orders that were not there from the beginning, on hold or not."""
        return self.orders[len(ORDERS) :]

    def placed_as(self, note: str) -> int:
        """How many orders have this note."""
        return sum(order.note == note for order in self.placed)


def once(path: str, do: Callable[[], None], method: str = "GET") -> Callable[[SiteRequest], None]:
    """Does it when a path that starts so is asked for the first time."""
    left = [do]

    def when(request: SiteRequest) -> None:
        if left and request.method == method and request.path.startswith(path):
            left.pop()()

    return when


class Harbour:
    """A harbour is a site and the files that a person would have: script, password, answers."""

    def __init__(self, root: Path, site: WatchedSite) -> None:
        self.site = site
        self.script = root / "order.json"
        self.password = root / "password.txt"
        self.yes = root / "yes.json"
        script = order_script(site.base_url, password=PASSWORD, **WATCHED)
        self.script.write_text(json.dumps(script))
        self.password.write_text(PASSWORD + "\n")
        self.yes.write_text(
            json.dumps([{"approved": True, "message": "it is mine", "phrase": "confirm"}] * 12)
        )

    @property
    def host(self) -> str:
        return self.site.base_url.removeprefix("http://")

    @property
    def secret(self) -> tuple[str, str]:
        return "--secret", f"password=file:{self.password}"

    def record(self, name: str = "order") -> tuple[str, ...]:
        params = [part for key, value in WATCHED.items() for part in ("--param", f"{key}={value}")]
        script = ("--script", str(self.script), "--allow", self.host)
        return ("record", name, *script, *params, *self.secret)

    def run(self, name: str = "order", values: Mapping[str, str] = ALONE) -> tuple[str, ...]:
        sets = [part for key, value in values.items() for part in ("--set", f"{key}={value}")]
        return ("run", name, *sets, *self.secret)

    def free(self) -> tuple[str, ...]:
        start = ("--free", "--url", f"{self.site.base_url}/login", "--allow", self.host)
        return ("run", *start, *self.run()[2:])


class Ship:
    """A ship is one test's own copy of the data directory in which `order` was recorded."""

    def __init__(self, harbour: Harbour, rutter: Rutter) -> None:
        self.harbour = harbour
        self.site = harbour.site
        self.rutter = rutter

    @classmethod
    def launch(cls, harbour: Harbour, recorded: Path, data: Path) -> Self:
        harbour.site.reset()
        shutil.copytree(recorded, data)
        return cls(harbour, Rutter(data))

    def run(self, *more: str | Path) -> Ended:
        return self.rutter(*self.harbour.run(), *more)

    def story(self, session: str = "last") -> Any:
        return self.rutter.json("show", session)


def is_wanted(order: Order) -> bool:
    """The very order that the run was given."""
    return all(getattr(order, name) == value for name, value in WANTED.items())


# It takes the terminal that it finds on its stdin as its own, so that Ctrl-C reaches it.
_AT_TERMINAL = f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); {COMMAND[2]}"


class AtTerminal:
    """A terminal is around the command: what it asks is read here, and answered."""

    def __init__(self, rutter: Rutter, *arguments: str) -> None:
        self._keyboard, screen = os.openpty()
        self.process = subprocess.Popen(
            [COMMAND[0], "-c", _AT_TERMINAL, "--data", str(rutter.data), *arguments],
            cwd=ROOT,
            env={**os.environ, "TERM": "xterm"},
            stdin=screen,
            stdout=subprocess.PIPE,
            stderr=screen,
            text=True,
            start_new_session=True,
        )
        os.close(screen)
        self.seen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._keyboard)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def read_until(self, wanted: str, times: int = 1) -> None:
        """Reads the screen until it has shown this so many times."""
        while self.seen.count(wanted) < times:
            try:
                self.seen += os.read(self._keyboard, 4096).decode()
            except OSError as error:
                raise AssertionError(f"{wanted!r} was never shown: {self.seen!r}") from error

    def type(self, keys: str) -> None:
        os.write(self._keyboard, keys.encode())

    def end(self) -> tuple[int, str]:
        """Its code and what it wrote on stdout."""
        out, _ = self.process.communicate()
        return self.process.returncode, out
