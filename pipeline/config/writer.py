"""The writer puts a value into the configuration file as a person would, and keeps what else they
wrote there, comments too."""

from pathlib import Path
from typing import Any

import tomlkit

from rutter.events.durable import disk_told, write_whole
from rutter.events.errors import BadInput
from rutter.pipeline.config.keys import from_variable
from rutter.pipeline.config.reader import Config, below_variables, file_text, known_key, read_text
from rutter.pipeline.config.template import commented

SECRET = "secrets."  # secrets.NAME.source, and secrets.NAME.origins with commas


def set_value(config: Config, name: str, said: str) -> Path:
    """The file is read as at the next start before it is written: what would be refused then is
    refused now."""
    value = _value(name, said)
    place = config.file or config.looked[0]
    document = tomlkit.parse(file_text(place) if config.file is not None else commented())
    try:
        _put(document, name, value)
    except ValueError as error:
        fix = f"write [{name.rpartition('.')[0]}] there as a table of its own"
        raise BadInput(f"{name} fits in no {{...}} of {place}", fix) from error
    text = tomlkit.dumps(document)
    said_above = {each: of for each, of in config.values.items() if of.of_variable}
    below_variables(read_text(place, text), said_above)
    with disk_told(place):
        real = place.resolve()  # a link stays one, to where the person keeps the file
        real.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(real, text.encode())
    return place


def _put(table: Any, name: str, value: object) -> None:
    *above, key = name.split(".")
    for part in above:
        if part not in table:
            table.append(part, tomlkit.table(is_super_table=part != above[-1]))
        table = table[part]
    table[key] = value


def _value(name: str, said: str) -> object:
    if name.startswith(SECRET):
        return said.split(",") if name.endswith(".origins") else said
    key = known_key(name, "config set")
    value = from_variable(key, said, name, f"rutter config set {name} {key.default}")
    return list(value) if isinstance(value, tuple) else value
