"""Templates escape what is put into them, and refuse a name that nobody gave."""

import subprocess
import sys

import pytest
from jinja2 import UndefinedError

from rutter.replay.documents.templates import templates

ENVIRONMENT = templates("rutter.pipeline.demo_sites")


def test_what_is_put_in_stays_text() -> None:
    page = ENVIRONMENT.from_string("<p>{{ said }}</p>")
    assert page.render(said="<b>&") == "<p>&lt;b&gt;&amp;</p>"


def test_a_name_that_nobody_gave_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="said"):
        ENVIRONMENT.from_string("{{ said }}").render()


@pytest.mark.slow
def test_a_command_that_makes_no_page_starts_without_templates() -> None:
    look = "import sys, rutter.pipeline.cli.main; print('jinja2' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"
