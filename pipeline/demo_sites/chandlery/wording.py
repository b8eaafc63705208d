"""The wording holds the words on controls as recorded, and as the switches change them."""

from rutter.pipeline.demo_sites.chandlery.switches import Switches
from rutter.pipeline.demo_sites.wording import read_words

_WORDS = read_words(__package__)
AS_RECORDED = _WORDS["as_recorded"]


def word(key: str, switches: Switches) -> str:
    looks = ("relabelled" * switches.relabelled, "moved" * switches.moved, "as_recorded")
    return next(_WORDS[look][key] for look in looks if look and key in _WORDS[look])
