"""Below a public suffix are strangers; below a name of one's own is what one means."""

import pytest

from rutter.actors.rules.policy.public_suffixes import names_strangers
from rutter.events.errors import BadInput
from rutter.pipeline.config.tables import host_pattern
from tests.support.case_table import for_each

STRANGERS = """*.com *.COM *.co.uk *.co.uk:8443 *.com. *.Com.Au *.github.io *.app *.xn--p1ai
    *.рф *.ac.jp *.workers.dev *.herokuapp.com"""
OWN = """*.shop.example *.shop.co.uk co.uk com *.me.github.io *.localhost *.local *.corp.internal
    *.internal 10.0.0.0/8 *.bbc.uk /"""


@for_each("pattern", STRANGERS.split())
def test_all_names_below_a_public_suffix_are_strangers(pattern: str) -> None:
    assert names_strangers(pattern)
    with pytest.raises(BadInput, match="whoever it belongs to"):
        host_pattern(pattern, "--allow")


@for_each("pattern", OWN.split())
def test_below_a_name_of_ones_own_they_are_not(pattern: str) -> None:
    assert not names_strangers(pattern)
