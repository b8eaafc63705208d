"""`python -m tests.support.certificate_tool` gets what tells a browser of an authority.

It comes from the system's packages; where it cannot be had, the tests that need it are skipped.
"""

import shutil

import pytest

from rutter.pipeline.config.company_authority import TOOL
from tests.support.debian_packages import install

NEEDED = pytest.mark.skipif(shutil.which(TOOL) is None, reason=f"{TOOL}: apt install libnss3-tools")


def main() -> None:
    if shutil.which(TOOL) is None:
        without = "tests of a company's certificates"
        install(["libnss3-tools"], "what a browser is told certificates by", without)


if __name__ == "__main__":
    main()
