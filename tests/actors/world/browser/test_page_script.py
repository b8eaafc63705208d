"""The parts of the page's script are one closure: no name is declared twice in it."""

import re
from collections import Counter
from importlib import resources

from rutter.actors.world.browser.page_script import PARTS

DECLARED = re.compile(r"^(?:const|let|(?:async )?function\*?) (\w+)", re.MULTILINE)


def test_no_name_is_declared_twice() -> None:
    page = resources.files("rutter.actors.world.browser").joinpath("page")
    texts = [page.joinpath(f"{part}.js").read_text("utf-8") for part in PARTS]
    names = Counter(name for text in texts for name in DECLARED.findall(text))
    assert [name for name, times in names.items() if times > 1] == []
    assert names["observe"] == 1, "it finds what is declared"
