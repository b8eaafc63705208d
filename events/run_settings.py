"""Run settings hold every knob that a decision of a run depends on (design 3)."""

from typing import Literal

import msgspec

from rutter.events.service_pack import Service
from rutter.events.workflow import Criteria

PredictorName = Literal["markov2", "foresight"]
MILLION = 1_000_000


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """Limits end a run whatever else happens (E6)."""

    max_steps: int = 12
    max_wall_ms: int = 90_000
    max_failures: int = 3
    max_same: int = 3
    max_turns: int = 20


class LanguageModel(msgspec.Struct, frozen=True, omit_defaults=True):
    """A language model may be asked; `pictures`: it can look at them."""

    provider: str
    model: str
    pictures: bool = True


class ModelUse(msgspec.Struct, frozen=True, omit_defaults=True):
    """Mode B says which models may be asked, in this order, for what (H3); without it none ever is.
    An answer that is less certain than this is asked for again, `asks` times in all; what went
    wrong is corrected so many times before a person is needed (C5)."""

    models: tuple[LanguageModel, ...] = msgspec.field(default=(), name="minds")
    tools: tuple[str, ...] = ()
    certainty: int = 600_000
    asks: int = 2
    corrections: int = 3


class PictureReader(msgspec.Struct, frozen=True, omit_defaults=True):
    """A picture reader is a language model that sees, or tesseract, whose model is a language.
    Without a provider nobody reads, for what is lacking."""

    provider: str = ""
    model: str = ""
    lacks: str = ""


class GhostUse(msgspec.Struct, frozen=True, omit_defaults=True):
    """Ghost use says whether and by whom a page may be read from a picture of it (S4 W8): where the
    configuration has it enabled and the run is allowed to. `asked` is the reader of whoever asks
    for it, `alone` that of what a run begins by itself; `auto`: it does where a page is shut."""

    enabled: bool = False
    allowed: bool = False
    auto: bool = False
    asked: PictureReader = PictureReader()
    alone: PictureReader = PictureReader()
    max_width: int = 1_280


class RunSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run's settings hold every knob that a decision depends on.

    Outside a workflow, what is at least as probable as `threshold` is done, and what is at least as
    probable as `suggest` is done when a person says so.
    An effect is waited for `settle_ms` where nothing more is known of it, `place_ms` where it is
    known what must come, `answer_ms` as long as the page itself waits for its server.
    `looks_back`: an optional step is not waited for where what comes behind it is there, and is
    due again where that is in the way. `compares`: a recording under a known name is merged with
    what is known, and with `newest_first` its choice comes before the one that was known.
    `pictures`: each recorded step keeps a small one. A run is done when what it sent is proven as
    far as `proof` says; with `seeks_proof` it looks for where the result of a step shows,
    and with `proposes` leaves it to a person whether runs of what is recorded look there too.
    """

    predictor: PredictorName = "markov2"
    order: int = 2
    top_k: int = 3
    threshold: int = 500_000
    suggest: int = MILLION
    limits: Limits = Limits()
    resolve_ms: int = 3_000
    settle_ms: int = 1_000
    place_ms: int = 3_000
    answer_ms: int = 10_000
    execution_delay_ms: int = 0
    screenshots: bool = False
    dry_run: bool = False
    criteria: Criteria | None = None
    service: Service | None = None
    vision: bool = False
    looks_back: bool = False
    compares: bool = False
    pictures: bool = False
    newest_first: bool = False
    proof: Literal["acknowledged", "stored"] = "acknowledged"
    seeks_proof: bool = False
    proposes: bool = False
    ghost: GhostUse = GhostUse()
