"""The configuration names who reads pictures of pages, and when (S4 W8, `agent.ghost`)."""

from collections.abc import Mapping

from rutter.actors.world.models.prices import PricedModel, PricedReader
from rutter.actors.world.models.tesseract import TesseractReader, lacking
from rutter.events.advisor import TESSERACT
from rutter.events.run_settings import GhostUse, PictureReader
from rutter.events.runtime import SessionStarted
from rutter.pipeline.config.reader import Config
from rutter.pipeline.config.settings import environment
from rutter.pipeline.sessions.models import (
    FREE,
    ModelUnavailable,
    check_model,
    is_on,
    offer_of,
    open_model,
)

LANGUAGE = "agent.ghost.language"


def ghost_of(config: Config, *, allowed: bool, models: bool = True) -> GhostUse:
    """What a session is pinned to. Without `models` none leads or helps this run. Nobody is looked
    for where no picture would be taken."""
    if not config.flag("agent.ghost.enabled"):
        return GhostUse(allowed=allowed)
    auto = config.flag("agent.ghost.auto_trigger")
    if not allowed:
        return GhostUse(enabled=True, auto=auto)
    mode_b = models and is_on(config)
    seeing = (each for each in config.providers if config.flag(f"models.{each}.pictures"))
    named = config.text("agent.ghost.vision_provider")
    asked = named or (next(seeing, TESSERACT) if mode_b else TESSERACT)
    # Nothing asks a language model by itself while Mode B is off (H3).
    alone = asked if mode_b else TESSERACT
    width = config.number("agent.ghost.max_image_width")
    return GhostUse(True, True, auto, _reader(config, asked), _reader(config, alone), width)


def ghost_of_fork(config: Config, was: GhostUse) -> GhostUse:
    """By itself a fork shows models no more than its session did."""
    return ghost_of(config, allowed=was.allowed, models=was.alone.provider not in ("", TESSERACT))


def _reader(config: Config, provider: str) -> PictureReader:
    if provider == TESSERACT:
        language = config.text(LANGUAGE)
        lacks = lacking(language)
        if not lacks.what:
            return PictureReader(TESSERACT, language)
        return PictureReader(lacks=f"{lacks.what} -> {lacks.fix}")
    offer = offer_of(config, provider)
    try:
        check_model(offer, environment())
    except ModelUnavailable as error:
        return PictureReader(lacks=f"{error.what} -> {error.fix}")
    return PictureReader(provider, offer.model)


def open_readers(
    config: Config, started: SessionStarted, opened: Mapping[str, PricedModel] | None = None
) -> dict[str, PricedReader]:
    """Those that the session is pinned to, by provider; a model that is open for it anyway is the
    same."""
    ghost, readers = started.settings.ghost, dict[str, PricedReader]()
    for reader in (ghost.asked, ghost.alone):
        if reader.provider == TESSERACT:
            readers[TESSERACT] = PricedReader(TesseractReader(reader.model), FREE)
        elif model := (opened or {}).get(reader.provider):
            readers[reader.provider] = PricedReader(*model)
        elif reader.provider and reader.provider not in readers:
            offer = offer_of(config, reader.provider)
            readers[reader.provider] = PricedReader(*open_model(offer, environment()))
    return readers
