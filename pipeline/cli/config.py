"""`rutter init` and `rutter config` say where things are, every value and where it came from, and
set one."""

import os
from collections.abc import Iterator
from pathlib import Path

from rutter.events.errors import WorldBroken
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.config.keys import KEYS, written
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.template import commented


def init(options: Options, settings: Settings, terminal: Terminal) -> None:
    """Says where things are; writes a configuration of defaults if there is none."""
    settings.directory.create()
    config = settings.config
    place, new = config.file, False
    if place is None:
        place, new = config.looked[0], True
        _write(place)
    browser = find_chromium(settings.chromium)
    terminal.answer(
        {
            "data": str(settings.data),
            "log": str(settings.directory.log),
            "config": str(place),
            "written": new,
            "browser": str(browser) if browser is not None else None,
        }
    )
    terminal.say(f"data:     {settings.data}")
    terminal.say(f"log:      {settings.directory.log}")
    terminal.say(f"config:   {place}{' (written, with the defaults)' if new else ''}")
    terminal.say(f"browser:  {browser or 'none: run rutter doctor --fix'}")
    terminal.say_below(f"see: {settings.command('config show')}")


def show(options: Options, settings: Settings, terminal: Terminal) -> None:
    config, policy = settings.config, settings.policy
    terminal.answer(
        {
            "data": str(settings.data),
            "file": str(config.file) if config.file is not None else None,
            "looked": [str(each) for each in config.looked],
            "values": {key.name: config.said(key.name)._asdict() for key in KEYS},
            "rules": config.rules,
            "secrets": config.secrets,
            "policy": policy,
        }
    )
    if config.file is None:
        looked = ", ".join(map(str, config.looked))
        terminal.say(f"no configuration file; it would be {looked}")
    else:
        terminal.say(f"configuration: {config.file}")
    terminal.say(f"policy version {policy.version}\n")
    terminal.table(("key", "value", "from"), _rows(settings))


def set_key(options: Options, settings: Settings, terminal: Terminal) -> None:
    from rutter.pipeline.config.writer import set_value  # no other command writes it

    name, said = options.key, options.value
    place = set_value(settings.config, name, said)
    above = settings.config.values.get(name)
    stands = above.source if above is not None and above.of_variable else ""
    terminal.answer({"key": name, "value": said, "config": str(place), "overruled_by": stands})
    terminal.say(f"{name} is {said} from the next start on  ({place})")
    if stands:
        terminal.say_below(f"but {stands} stands above it: unset that")


def _rows(settings: Settings) -> Iterator[tuple[str, str, str]]:
    config = settings.config
    file = str(config.file)
    for key in KEYS:
        said = config.said(key.name)
        value = "not set" if said.value is None else written(said.value)
        yield key.name, value, said.source.replace(f"{file} ", "")
    for rule in config.rules:
        yield "policy.rules", f"{rule.effect}: {rule.name}", file
    for name, given in config.secrets.items():
        at = f" on {', '.join(given.origins)}" if given.origins else ""
        yield f"secrets.{name}", f"{given.source}{at}", file


def _write(place: Path) -> None:
    """Private from its first byte; one that came to be there meanwhile is left alone."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(commented())
    except OSError as error:
        raise WorldBroken(
            f"{place} cannot be written ({error.strerror})", "name another place with --data"
        ) from error
