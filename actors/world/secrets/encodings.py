"""A page can write a value as it is, and in the encodings that pages and programs use.

Looking is done twice. First for a few literal needles, folded so that case, spaces and dashes do
not matter: that is a search in C and decides nearly every time. Only when one is there, a pattern
that spells the value character by character says where.
"""

import base64
import html
import re
from collections.abc import Callable, Iterable
from functools import cache
from html.entities import codepoint2name
from itertools import pairwise
from urllib.parse import quote, quote_plus

from rutter.actors.world.secrets.rewritten import as_host, rewritten

# From here on a value is looked for in any case, and with blanks between its characters: shorter
# ones would be found in words that have nothing to do with them.
LOOSE = 8
ENOUGH = 6  # characters of a value by which a look begins, and that a cut text may give away
CODED = 5  # bytes: what fewer leave of themselves in base64 is in any other text as well
# A pattern for each character costs; what is longer than this is a key, which is not spelled.
SPELLED = 200
ANY_GAP = r"[\s\u00ad\u200b-\u200d\u2060\ufeff-]"
GAP = ANY_GAP + "{0,2}"
MAX_BLANK = 64  # characters between two words of a value
# What a page repeats at will is bounded wherever it may repeat: the work must stay linear.
_AMP = "&(?:amp;){0,3}"  # escaped once or more often
_PERCENT = "%(?:25){0,3}"
_BACKSLASH = r"\\{1,4}"

IN_BLANKS = "-_+"
NO_FILE_NAME = '"*/:<>?\\|~.'

_DROPPED = b" \t\r\n-\\\xc2\xad\xe2\x80\x8b\x8c\x8d\x81\xa0\xef\xbb\xbf"
_LOWER = bytes(range(256)).lower()


def fold(text: bytes) -> bytes:
    """The bytes without what may stand between characters, in lower case."""
    return text.translate(_LOWER, _DROPPED)


def needles(value: str) -> set[bytes]:
    """One of these is in every folded text that holds the value as it is or as a browser rewrites
    it, in base64 or in hex."""
    core = value.strip()
    forms = rewritten(core, len(core) >= LOOSE)
    host = as_host(core)
    return set[bytes]().union(*(_needles(form) for form in (*forms, *((host,) if host else ()))))


def _needles(core: str) -> set[bytes]:
    run = _longest_run(core)
    parts = [core[:ENOUGH], core[-ENOUGH:], run]
    found = [way(part) for part in parts for way in (str, str.upper, str.lower)]
    for coded in _base64(core.encode("utf-8", "replace")):
        found += [coded, coded.replace("+", "-").replace("/", "_")]
    found.append(core.encode("utf-8", "replace").hex()[:16])
    return {folded for each in found if (folded := fold(each.encode("utf-8", "replace")))}


def escaped_needles(value: str) -> Iterable[tuple[bytes, bytes]]:
    """What a text holds in which every character of the value is escaped, and the sign by which
    such escapes begin."""
    core = value.strip()
    for form in rewritten(core, len(core) >= LOOSE):
        begun = _longest_run(form)[:4]
        for sign, write in _WHOLLY:
            yield sign, fold("".join(map(write, begun)).encode("utf-8", "replace"))


def pattern(value: str) -> str:
    """What matches the value however it is written. Without groups of its own."""
    core = value.strip()
    loose = len(core) >= LOOSE
    forms = []
    for form in rewritten(core, loose):
        spelled = _spelled(form, GAP if loose else "")
        forms.append(f"(?i:{spelled})" if loose else spelled)
    if host := as_host(core):  # a short one is a word that means nothing anywhere else
        forms.append(rf"(?<=[/.@]){re.escape(host)}(?=[./:?#]|$)")
    coded = core.encode("utf-8", "surrogatepass")
    forms.append(f"(?i:{coded.hex()})")
    forms += [r"\s{0,2}".join(map(_either, each)) for each in _base64(coded)]
    return "|".join(forms)


def shown_forms(values: Iterable[str]) -> tuple[str, ...]:
    """Each value as a person may see it on a page."""
    found: dict[str, None] = {}
    for core in (value.strip() for value in values):
        coded = core.encode("utf-8", "replace")
        forms = [core, quote(core, safe=""), quote_plus(core), html.escape(core), coded.hex()]
        found |= dict.fromkeys([*forms, *_base64(coded)])
    return tuple(found)


@cache
def cut_forms(value: str) -> tuple[str, ...]:
    """What a part may be left of, where a text was cut. What is a part of an encoding by chance, as
    the same few characters of base64 are, is none."""
    found: dict[str, None] = {}
    core = value.strip()
    for form in rewritten(core, len(core) >= LOOSE):
        named = re.sub(r'["*/:<>?\\|~]', "_", form)
        written = (form, named, " ".join(form.split()), quote(form, safe=""), quote_plus(form))
        found |= dict.fromkeys([*written, html.escape(form)])
    return tuple(found)


def _longest_run(core: str) -> str:
    """Letters and digits are what no ordinary encoding touches."""
    runs: list[str] = re.findall(r"[A-Za-z0-9]+|[^A-Za-z0-9]+", core) or [core]
    return max(runs, key=_weight)[:SPELLED]


def _weight(run: str) -> tuple[bool, int]:
    return run[0].isalnum() and run.isascii(), len(run)


def _base64(coded: bytes) -> list[str]:
    """The characters that do not depend on what stands before and behind, for each way to lie."""
    if len(coded) < CODED:
        return []
    found = []
    for before in range(3):
        text = base64.b64encode(bytes(before) + coded).decode().rstrip("=")
        first = (before * 8 + 5) // 6
        found.append(text[first : (before + len(coded)) * 8 // 6])
    return found


def _either(char: str) -> str:
    """A character of base64 in both of its alphabets."""
    return {"+": "[+-]", "/": "[/_]"}.get(char, char)


def _spelled(core: str, gap: str) -> str:
    if len(core) > SPELLED:
        return "|".join(sorted(map(re.escape, _usual(core)), key=len, reverse=True))
    # A word of what a blank may become is a part of the blank around it.
    words = [word for word in core.split() if word.strip(IN_BLANKS)] or core.split()
    # Each in one way only: what can be read in two takes a power of two of them.
    between = {" ", "\u00a0", *re.findall(r"\s", core)}
    between.update(IN_BLANKS if words != core.split() else "")
    coded = "|".join(form for char in sorted(between) for form in _coded(char))
    blank = rf"(?:{ANY_GAP}|[+_]|{_BACKSLASH}[nrt]|(?i:{coded})){{1,{MAX_BLANK}}}"
    return blank.join(_word(word, gap) for word in words)


def _word(word: str, gap: str) -> str:
    """Between two dashes is no dash: what may be either is tried in every way there is."""
    chars = map(_char, word)
    undashed = gap.replace("-]", "]")
    between = (undashed if pair == ("-", "-") else gap for pair in pairwise(word))
    return next(chars) + "".join(each for two in zip(between, chars, strict=True) for each in two)


def _usual(core: str) -> set[str]:
    lines = core.replace("\r\n", "\n")
    return {core, lines, lines.replace("\n", "\\n"), " ".join(core.split()), quote(core, safe="")}


def _char(char: str) -> str:
    """A character in each of its spellings."""
    point, forms = ord(char), _coded(char)
    plain = re.escape(char)
    if char in "\"'\\/`":
        plain = rf"\\{{0,4}}{plain}"  # one that is escaped has one more before it
    if char in NO_FILE_NAME or point < 0x20:
        plain += "|_"  # in the name of a file
    if char == "\\":
        plain += "|/"  # in an address
    if "!" <= char <= "~":
        plain += "|" + re.escape(chr(point + 0xFEE0))  # as wide as an ideograph
    return f"(?:{plain}|(?i:{'|'.join(forms)}))"


def _coded(char: str) -> list[str]:
    point = ord(char)
    coded = char.encode("utf-8", "surrogatepass")
    percent = "".join(f"{_PERCENT}{byte:02x}" for byte in coded)
    forms = [percent, f"{_AMP}#0{{0,8}}{point};", f"{_AMP}#x0{{0,8}}{point:x};"]
    if named := "apos" if char == "'" else codepoint2name.get(point):
        forms.append(f"{_AMP}{named};")
    if point < 0x100:
        forms.append(rf"{_BACKSLASH}x{point:02x}")
    forms.append("".join(rf"{_BACKSLASH}u{unit:04x}" for unit in _units(char)))
    forms.append(rf"{_BACKSLASH}u\{{0{{0,8}}{point:x}\}}")
    return forms


def _units(char: str) -> Iterable[int]:
    raw = char.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(raw[at : at + 2]) for at in range(0, len(raw), 2))


# A page that writes every character so, letters too. A sign stands for itself in bytes.
_WHOLLY: tuple[tuple[bytes, Callable[[str], str]], ...] = (
    (b"%", lambda char: "".join(f"%{byte:02x}" for byte in char.encode("utf-8", "replace"))),
    (b"%25", lambda char: "".join(f"%25{byte:02x}" for byte in char.encode("utf-8", "replace"))),
    (b"&", lambda char: f"&#{ord(char)};"),
    (b"&", lambda char: f"&#x{ord(char):x};"),
    (b"&amp;", lambda char: f"&amp;#{ord(char)};"),
    (b"\\", lambda char: "".join(f"\\u{unit:04x}" for unit in _units(char))),
    (b"\\", lambda char: f"\\x{ord(char):02x}"),
    (b"\xef\xbc", lambda char: chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char),
    (b"\xef\xbd", lambda char: chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char),
)
