"""A systemd unit of the user keeps the daemon running: written, taken into use, and removed again.

Where no user manager answers, as in a container or over `su`, what it would have been told is said
instead, to be typed where one does.
"""

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rutter.events.errors import BadInput
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.safe_files import folder_for, replace_whole

NAME = "rutter.service"
MANAGER = ("systemctl", "--user")
WITHIN_S = 60  # a daemon that is started warms its browsers before it is said to run
UNIT = """\
# Written by `rutter serve --install`, which writes it anew; `rutter serve --uninstall` removes it.
[Unit]
Description=Rutter, which does work in a browser

[Service]
Type=notify
ExecStart={command}
EnvironmentFile=-%E/rutter/serve.env
KillMode=mixed
Restart=on-failure
TimeoutStartSec=120
TimeoutStopSec=120

[Install]
WantedBy=default.target
"""
TAKEN = (("daemon-reload",), ("enable", NAME), ("restart", NAME))


def place_of(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path("~/.config").expanduser()) / "systemd" / "user" / NAME


def unit_text(settings: Settings, more: Sequence[str]) -> str:
    """What it runs is this Rutter, with the directory and the configuration that were named."""
    config = ("--config", str(Path(settings.config_named).resolve()))
    words = (*_ours(), "--data", str(settings.data.resolve()))
    words += (*(config if settings.config_named else ()), "serve", *more)
    return UNIT.format(command=" ".join(map(_word, words)))


def install(settings: Settings, more: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """The commands that are left for the person to type: none, where the manager took it."""
    place = place_of(env)
    folder_for(place.parent)
    replace_whole(place, unit_text(settings, more).encode())
    return _tell(TAKEN)


def remove(env: Mapping[str, str]) -> list[str]:
    place = place_of(env)
    if not place.is_file():
        raise BadInput(f"{place} is not there", "to install it: rutter serve --install")
    left = _tell((("disable", "--now", NAME),))
    place.unlink()
    return [*left, *_tell((("daemon-reload",),))]


def _ours() -> tuple[str, ...]:
    beside = Path(sys.executable).with_name("rutter")
    return (
        (str(beside),) if beside.is_file() else (sys.executable, "-m", "rutter.pipeline.cli.main")
    )


def _word(word: str) -> str:
    """As systemd reads a command: in quotes, and with nothing in it that means something else."""
    if any(each in word for each in "\n\r\0"):
        raise BadInput(f"systemd runs nothing with a line end in it: {word!r}", "name it otherwise")
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{text}"'


def _tell(orders: Sequence[Sequence[str]]) -> list[str]:
    """Those of them that it did not obey, and those behind."""
    found = shutil.which(MANAGER[0])
    for number, order in enumerate(orders):
        if found is None or not _obeyed((found, *MANAGER[1:], *order)):
            return [" ".join((*MANAGER, *each)) for each in orders[number:]]
    return []


def _obeyed(command: Sequence[str]) -> bool:
    try:
        told = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=WITHIN_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return told.returncode == 0
