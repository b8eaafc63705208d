"""A phrase file holds what pages say, by language: TOML beside the module that goes by it.

It is the deciders' one way to a file, and none to the world: what is packaged with a module is part
of the program, the same in every run of one version, as the module's own text is. It is read at its
first use, not at import: parsing takes tens of milliseconds, and most commands look at no page.
"""

import tomllib
from collections.abc import Iterator, Mapping, Set
from importlib.resources import files
from typing import Any, TypeVar

import msgspec

from rutter.events.errors import BadInput

Head = TypeVar("Head")
Lists = TypeVar("Lists")

# What the file's own tables may be called: ISO 639-1, as the browser says it, without a country.
# `mul` is for words that several languages share.
_CODES = """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de
    dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia
    id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo
    lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl
    ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk
    tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu mul
"""
LANGUAGES = frozenset(_CODES.split())


def load_table(package: str, file: str, kind: type[Lists]) -> Lists:
    """A file of words that are said in one language, such as what tools are for."""
    return _as(tomllib.loads((files(package) / file).read_text("utf-8")), kind, file)


def load_phrases(
    package: str, file: str, head: type[Head], lists: type[Lists]
) -> tuple[Head, dict[str, Lists]]:
    """What the file says of no language, and its lists by language, in the order of the file."""
    return read_phrases((files(package) / file).read_text("utf-8"), file, head, lists)


def read_phrases(
    text: str, file: str, head: type[Head], lists: type[Lists]
) -> tuple[Head, dict[str, Lists]]:
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{file} is not TOML: {error}") from None
    languages = raw.pop("languages", {})
    if not isinstance(languages, dict) or not languages:
        raise BadInput(f"{file} has no languages", "begin each with a line as [languages.de]")
    for code, said in languages.items():
        if code not in LANGUAGES:
            fix = "use the two letters of ISO 639-1, as in [languages.de]"
            raise BadInput(f"{file}: no language has the code {code!r}", fix)
        _check(said, f"{file} [languages.{code}]")
    return _as(raw, head, file), {
        code: _as(said, lists, f"{file} [languages.{code}]") for code, said in languages.items()
    }


def check_names(found: Mapping[str, object], wanted: Set[str], where: str) -> None:
    """Every list is in every language, by its name: an empty one shows what the language lacks."""
    for name in sorted(wanted - set(found)):
        raise BadInput(f"{where} has no list {name!r}", f"write {name} = [] where there is nothing")
    for name in sorted(set(found) - wanted):
        raise BadInput(f"{where} has a list {name!r} that nothing uses", "look for a slip in it")


def _as(raw: object, kind: type[Lists], where: str) -> Lists:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        raise BadInput(f"{where}: {error}") from None


def _check(said: Any, where: str) -> None:
    for name, phrases in _lists_in(said, ""):
        for at, phrase in enumerate(phrases):
            if not isinstance(phrase, str):
                continue  # told by the types
            if phrase != " ".join(phrase.split()) or not phrase:
                fix = "write its words with one space between them, and none around"
                raise BadInput(f"{where} {name}: the phrase {phrase!r} is empty or spaced", fix)
            if phrase in phrases[:at]:
                raise BadInput(f"{where} {name}: the phrase {phrase!r} is there twice")


def _lists_in(said: Any, name: str) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(said, dict):
        for key, each in said.items():
            yield from _lists_in(each, f"{name}.{key}".strip("."))
    elif isinstance(said, list):
        yield name, said
        for each in said:
            if not isinstance(each, str):
                yield from _lists_in(each, name)
