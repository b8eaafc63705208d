"""Debian's packages bring what tests need of the system; what is installed is said before."""

import os
import shutil
import subprocess
from collections.abc import Sequence


def install(packages: Sequence[str], what: str, without: str) -> None:
    """Gets the packages, for `what`; never fails a setup because of it. `without` them some tests
    are skipped."""
    if not packages:
        return
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"{without} will be skipped; for them type: sudo {' '.join(command)}")
        return
    print(f"{what}: {' '.join(command)}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for each in (["apt-get", "update", "-q"], command):
        said = subprocess.run(each, env=env, capture_output=True, text=True, timeout=300)
        if said.returncode != 0:
            print(f"that did not work: {said.stderr.strip().splitlines()[-1:]}")
