"""Where things are. The environment is read here and nowhere else."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from events.errors import BadInput
from pipeline.directory import DataDirectory


class Settings(msgspec.Struct, frozen=True):
    data: Path
    chromium: str | None = None
    headless: bool = True
    named: bool = False
    otlp_endpoint: str | None = None
    otlp_headers: str = ""

    def command(self, rest: str) -> str:
        """A command that finds this data directory again, to be typed as it stands."""
        return (
            f"rutter --data {shlex.quote(str(self.data))} {rest}"
            if self.named
            else f"rutter {rest}"
        )

    @property
    def directory(self) -> DataDirectory:
        return DataDirectory(self.data)


def load(
    data: str | None = None,
    *,
    headless: bool = True,
    env: Mapping[str, str] | None = None,
) -> Settings:
    """`--data`, then RUTTER_DATA, then the platform's place for a person's own data."""
    found = os.environ if env is None else env
    named = data or found.get("RUTTER_DATA")
    try:
        place = Path(named).expanduser() if named else default_data(found)
    except RuntimeError as error:
        raise BadInput(f"{named} cannot be found ({error})", "name another with --data") from error
    return Settings(
        data=place,
        named=data is not None,
        chromium=found.get("RUTTER_CHROMIUM") or None,
        headless=headless,
        otlp_endpoint=found.get("OTEL_EXPORTER_OTLP_ENDPOINT") or None,
        otlp_headers=found.get("OTEL_EXPORTER_OTLP_HEADERS", ""),
    )


def default_data(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_DATA_HOME")
    return (Path(base) if base else Path("~/.local/share").expanduser()) / "rutter"


def environment() -> Mapping[str, str]:
    """For the few who may look: secret sources named by the person."""
    return os.environ
