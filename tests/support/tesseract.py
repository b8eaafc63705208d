"""`python -m tests.support.tesseract` gets what reads pictures, for tests that need it.

It comes from the system's packages; where it cannot be had, the tests that need it say so and are
skipped.
"""

import pytest

from rutter.actors.world.models.tesseract import LANGUAGE, lacking
from tests.support.debian_packages import install


def needed() -> pytest.MarkDecorator:
    """Skips a test where pictures cannot be read, with the reason."""
    lacks = lacking(LANGUAGE)
    return pytest.mark.skipif(bool(lacks.what), reason=f"{lacks.what}; {lacks.fix}")


def main() -> None:
    if lacking(LANGUAGE).what:
        install(["tesseract-ocr"], "a reader of pictures", "tests that read pictures")


if __name__ == "__main__":
    main()
