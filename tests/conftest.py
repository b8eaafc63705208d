"""What every test can ask for: a log that is derived again when the test ends, and one loop."""

import gc
import os
import signal
import ssl
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from rutter.events.log import EventLog
from tests.support import example_counts, leftovers
from tests.support.log_checks import Replayed

pytest_plugins = ["tests.support.browser_fixtures", "tests.support.command_fixtures"]


class Bare:
    """From the root of a checkout `import events` would work, and make a second copy of each class:
    it is refused, so that no test is silently about that one."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in ("events", "actors", "replay", "pipeline"):
            raise ModuleNotFoundError(f"import rutter.{name}, not {name}", name=name)


sys.meta_path.insert(0, Bare)

# A busy machine is no reason to fail: what is slow is measured in bench/, not here.
settings.register_profile(
    "rutter",
    example_counts.examples(example_counts.USUAL),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rutter")


EXTENDED = tomllib.loads((Path(__file__).parent / "extended.toml").read_text())


if "TMPDIR" not in os.environ:
    os.environ["TMPDIR"] = str(leftovers.temporary_place())
    tempfile.tempdir = None  # it is asked for again

# A suite that a shell starts in the background takes no Ctrl-C, and hands that on: programs that
# tests end with one would run for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is imported and collected stays until the end: it is no garbage to be looked for, neither
# while it is made nor after every few tests.
gc.disable()


# Nor does what a test leaves have to go at once: a tenth of a run went by in looking for it.
GARBAGE = 50_000


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(GARBAGE)
    gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores works while others wait for a browser or a deadline.
    Each has its own browsers, and counts no processes but its own children."""
    return (os.cpu_count() or 1) + 1


# Of the many forms in which a test meets a real browser every fifth runs in `make test`, the first
# among them; `make soak` runs them all. Where it is about who gets in or out, all run everywhere.
IN_FULL = ("tests/crash/", "tests/hostile/", "tests/pipeline/daemon/", "tests/pipeline/rehearsal/")
EVERY = 5


# Begun last, it would be what everybody waits for at the end.
LONGEST = "test_every_command_gives_what_it_says"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.name != LONGEST)
    met: Counter[str] = Counter()
    for item in items:
        name, _, form = item.nodeid.partition("[")
        file, test = name.partition("::")[0], name.rpartition("::")[2]
        if file in EXTENDED["all"] or test in EXTENDED["these"].get(file, ()):
            item.add_marker("extended")
        elif form and not name.startswith(IN_FULL) and item.get_closest_marker("browser"):
            if met[name] % EVERY:
                item.add_marker("extended")
            met[name] += 1


@pytest.fixture(scope="session", autouse=True)
def certificates_are_read_once() -> Iterator[None]:
    """Every client of a model reads all that the system trusts, and meets none of it: not again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def replayed(tmp_path: Path) -> Iterator[Replayed]:
    """Makes logs to run the pipeline on. Each is verified when the test ends: before it is gone."""
    logs = Replayed()
    yield logs
    logs.check()


@pytest.fixture
async def pipeline_log(replayed: Replayed, tmp_path: Path) -> AsyncIterator[EventLog]:
    """A log on disk to run the pipeline on, verified as `replayed` is. Most tests run it on one in
    memory; `tests/events/test_log.py` holds both to the same."""
    log = await replayed.sqlite(tmp_path / "log.db")
    yield log
    await log.close()
