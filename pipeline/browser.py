"""A browser of this machine is made as the settings say: which Chromium it is, and by whom its gate
goes out."""

from collections.abc import Callable, Sequence

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.window_load import WindowLoad
from rutter.actors.world.egress.gate import Gate
from rutter.pipeline.config.chromium_install import require_chromium
from rutter.pipeline.config.company_network import company_network
from rutter.pipeline.config.settings import Settings, environment


def browser_maker(
    settings: Settings, *, headless: bool | None = None, barred: Callable[[], Sequence[int]] = tuple
) -> Callable[[], Chromium]:
    """Each call makes another browser; what is wrong with the settings is said before the first."""
    executable, crowd = require_chromium(settings.chromium), WindowLoad()
    through = company_network(settings.config, environment()).proxy
    shown = settings.headless if headless is None else headless
    return lambda: Chromium(
        executable, Gate(barred=barred, through=through), headless=shown, crowd=crowd
    )
