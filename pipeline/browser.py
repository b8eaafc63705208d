"""A browser of this machine is made as the settings say: which Chromium it is, and by whom its gate
goes out and whom it trusts."""

from collections.abc import Callable, Sequence

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.window_load import WindowLoad
from rutter.actors.world.egress.gate import Gate
from rutter.pipeline.config.chromium_install import require_chromium
from rutter.pipeline.config.company_authority import company_authority
from rutter.pipeline.config.company_network import company_network
from rutter.pipeline.config.own_clients import join_network
from rutter.pipeline.config.settings import Settings, environment


def browser_maker(
    settings: Settings, *, headless: bool | None = None, barred: Callable[[], Sequence[int]] = tuple
) -> Callable[[], Chromium]:
    """Each call makes another browser; what is wrong with the settings is said before the first.
    Whoever needs one asks others as well: models, and those who are told of what came of it."""
    executable, crowd = require_chromium(settings.chromium), WindowLoad()
    through = company_network(settings.config, environment()).proxy
    authority = company_authority(settings)
    env = authority.for_the_browser(environment()) if authority is not None else None
    join_network(settings)
    shown = settings.headless if headless is None else headless

    def made() -> Chromium:
        gate = Gate(barred=barred, through=through)
        return Chromium(executable, gate, headless=shown, crowd=crowd, env=env)

    return made
