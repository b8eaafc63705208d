"""What every test can ask for: a log that is derived again when the test ends, and one loop."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from events.log import EventLog
from tests.logs import Replayed

# A busy machine is no reason to fail: what is slow is measured in bench/, not here.
settings.register_profile("rutter", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rutter")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def replayed() -> Iterator[Replayed]:
    """Makes logs to run the pipeline on. Each is verified when the test ends."""
    logs = Replayed()
    yield logs
    logs.check()


@pytest.fixture(params=["memory", "sqlite"])
async def pipeline_log(
    request: pytest.FixtureRequest, replayed: Replayed, tmp_path: Path
) -> AsyncIterator[EventLog]:
    """A log to run the pipeline on, once in memory and once on disk; verified as `replayed` is."""
    if request.param == "memory":
        yield replayed.memory()
        return
    log = await replayed.sqlite(tmp_path / "log.db")
    yield log
    await log.close()
