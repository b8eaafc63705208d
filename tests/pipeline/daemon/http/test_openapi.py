"""OpenAPI that is true: schemathesis asks the daemon whatever its schema allows, and much that it
does not, and finds every answer as the schema says."""

import re
import sys
from pathlib import Path

import anyio
import pytest

from tests.support import example_counts
from tests.support.daemon_on_site import anchored
from tests.support.recorded_site import Harbour

pytestmark = [pytest.mark.browser, pytest.mark.anyio, pytest.mark.timeout(3600)]

# Few of what takes a window: what is opened by chance is closed again at once, and one too many is
# an answer too.
FEW = "[tools]\nsessions = 2\nidle_s = 1\n[jobs]\nwaiting = 2\n"
CONFIG = """
# What is well formed need not be there: a workflow by that name, a model that may lead, room for
# one more. That is a 400, 403 or 429 with a reason, not a fault of the schema.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "404", "409", "429", "503"]

# It asks by GET and with a body, and takes any answer but 405 for a fault. A GET with a body is
# refused as such before anybody looks where it leads (test_refusals has both).
[checks.unsupported_method]
enabled = false
"""
EXAMPLES = "50" if example_counts.SOAK else "3"
PHASES = "examples,coverage,fuzzing,stateful" if example_counts.SOAK else "examples,fuzzing"


async def test_every_answer_is_as_the_schema_says(
    harbour: Harbour, recorded: Path, tmp_path: Path
) -> None:
    config = tmp_path / "schemathesis.toml"
    async with anchored(harbour, tmp_path / "data", recorded=recorded, more=FEW) as ship:
        # In a file, and not among the arguments that every process can see.
        config.write_text(f'headers = {{ Authorization = "Bearer {ship.token()}" }}\n{CONFIG}')
        run = (sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run")
        how = ("--seed", "1", "--max-examples", EXAMPLES, "--phases", PHASES, "--no-color")
        ended = await anyio.run_process(
            (*run, f"{ship.url}/schema/openapi.json", *how, "--request-timeout", "60"),
            cwd=tmp_path,
            check=False,
        )
    said = ended.stdout.decode() + ended.stderr.decode()
    assert ended.returncode == 0, said
    selected = re.search(r"Selected: (\d+)/(\d+)\s+Tested: (\d+)", said)
    assert selected is not None, said
    assert len(set(selected.groups())) == 1, said  # every route was asked
