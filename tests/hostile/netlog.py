"""The browser's own log of the network: whose address it wanted to know."""

import json
from pathlib import Path
from typing import Any, NamedTuple

LOOKUPS = frozenset({"HOST_RESOLVER_MANAGER_JOB", "HOST_RESOLVER_SYSTEM_TASK"})
REQUESTS = frozenset({"HOST_RESOLVER_MANAGER_REQUEST"})


class NetLog(NamedTuple):
    """`wanted`: hosts that it asked its resolver for, as that was to take them; `jobs`: names for
    which that went to ask somebody else."""

    wanted: set[str]
    jobs: set[str]


def read_net_log(file: Path) -> NetLog:
    log = _read(file.read_text())
    kinds = {number: name for name, number in log["constants"]["logEventTypes"].items()}
    found = NetLog(set(), set())
    for event in log["events"]:
        host = str(event.get("params", {}).get("host", "")).rpartition("//")[2]
        if host and kinds[event["type"]] in REQUESTS:
            found.wanted.add(host)
        elif host and kinds[event["type"]] in LOOKUPS:
            found.jobs.add(host)
    return found


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:  # the browser was ended before it had closed its brackets
        return json.loads(text.rstrip().rstrip(",") + "]}")
