"""Settings say where things are. The environment is read here and nowhere else."""

import os
import shlex
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from rutter.events.errors import BadInput
from rutter.events.policy import Policy
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.config.reader import Config, base_policy, read_config
from rutter.pipeline.config.trace_target import TraceTarget, trace_target


class Settings(msgspec.Struct, frozen=True, dict=True):  # a `dict` for what is made once
    data: Path
    chromium: str | None = None
    headless: bool = True
    named: bool = False
    traces: TraceTarget = TraceTarget()
    config: Config = Config()
    config_named: str = ""

    @cached_property
    def policy(self) -> Policy:
        """What any run may do at most."""
        return base_policy(self.config)

    def command(self, rest: str) -> str:
        """A command that finds these things again, to be typed as it stands."""
        data = f"--data {shlex.quote(str(self.data))} " if self.named else ""
        config = f"--config {shlex.quote(self.config_named)} " if self.config_named else ""
        return f"rutter {data}{config}{rest}"

    @cached_property
    def directory(self) -> DataDirectory:
        return DataDirectory(self.data)


def load(
    data: str | None = None,
    *,
    headless: bool = True,
    config: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Settings:
    """`--data`, then RUTTER_DATA, then the platform's place for a person's own data. `config` is a
    file that was named, in place of the one that is there or in the platform's place."""
    found = os.environ if env is None else env
    named = data or found.get("RUTTER_DATA")
    try:
        place = Path(named).expanduser() if named else default_data(found)
    except RuntimeError as error:
        raise BadInput(f"{named} cannot be found ({error})", "name another with --data") from error
    read = read_config(config, place, found)
    return Settings(
        data=place,
        named=data is not None,
        config=read,
        config_named=config or "",
        chromium=read.text("browser.chromium") or None,
        headless=headless,
        traces=trace_target(read, found),
    )


def default_data(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_DATA_HOME")
    return (Path(base) if base else Path("~/.local/share").expanduser()) / "rutter"


def environment() -> Mapping[str, str]:
    """For the few who may look: secret sources named by the person."""
    return os.environ


def go_by(variables: Mapping[str, str]) -> None:
    """Our own clients of HTTP, and the programs that are started from here, go by these."""
    os.environ.update(variables)


def check_display(env: Mapping[str, str], otherwise: str) -> None:
    """A window needs a screen; on Linux a program finds it by these names."""
    if sys.platform.startswith("linux") and not (env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")):
        raise BadInput(
            "there is no screen to open a window on",
            f"run it in a desktop session, or {otherwise}",
        )
