"""Switches make the streaming service look or behave otherwise."""

from dataclasses import dataclass

from rutter.pipeline.demo_sites.site import SiteSwitches


@dataclass(frozen=True)
class Switches(SiteSwitches):
    """All off is the service as it was built; any combination may be on.

    slow_ms              every page comes this much later
    moved                other ids, classes, test ids, field names and markup; the same words
    expired_login        no session is accepted, and those opened so far stay lost afterwards
    third_party_billing  a partner bills the membership, so that it cannot be ended here
    already_cancelled    the membership was ended before
    failing              the last step leads to an error, and nothing is ended
    relabelled           the one control of that name in `wording.toml` is called otherwise
    recast               with `relabelled`: that control is another element with another test id
    redesigned           other addresses and words, a page more, no survey
    overlay              a dialog lies over the account until it is closed
    look_alikes          buttons that sound like those that are wanted, in front of them
    """

    third_party_billing: bool = False
    already_cancelled: bool = False
    failing: bool = False
    relabelled: str = ""
    recast: bool = False
    redesigned: bool = False
    overlay: bool = False
    look_alikes: bool = False
