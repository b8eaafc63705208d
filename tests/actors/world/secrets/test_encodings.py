"""A value is found however a page or a program writes it."""

import ast
import base64
import html
import json
import re
import unicodedata
from collections.abc import Callable
from itertools import product
from urllib.parse import quote, quote_plus

import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rutter.actors.world.secrets.encodings import pattern
from rutter.actors.world.secrets.redaction import Redactor, Secrets, hide, hushed
from rutter.events.action import Untrusted
from rutter.events.observer import PageObserved
from rutter.events.page import Page
from tests.support.case_table import for_each
from tests.support.example_counts import SOAK, examples

VALUES = [
    "sheet bend & 9 fa'th/om\"s<é",
    "canary-pw-Xq7!",
    "hunter2",
    "пароль-мой",
    "日本語の秘密",
    "1234567",
    "p@$$w0rd+%2",
]
WAYS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in an address": lambda text: quote(text, safe=""),
    "in a path": quote,
    "in a form": quote_plus,
    "as scripts do": lambda text: quote(text, safe="!~*'()"),
    "twice in an address": lambda text: quote(quote(text, safe=""), safe=""),
    "every byte": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "every byte in small letters": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "in markup": html.escape,
    "in markup twice": lambda text: html.escape(html.escape(text)),
    "every character as a number": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "and in hex": lambda text: "".join(f"&#x{ord(char):X};" for char in text),
    "as JSON": lambda text: json.dumps(text)[1:-1],
    "as JSON in JSON": lambda text: json.dumps(json.dumps(text))[1:-1],
    "as JSON for a page": lambda text: (
        json.dumps(text)[1:-1]
        .replace("/", "\\/")
        .replace("<", "\\u003c")
        .replace("&", "\\u0026")
        .replace("'", "\\u0027")
    ),
    "every character escaped": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "as Python": repr,
    "as Python in ASCII": ascii,
    "as the name of a file": lambda text: re.sub(r'["*/:<>?\\|]', "_", text),
    "and with its blanks": lambda text: re.sub(r'["*/:<>?\\|\s]', "_", text),
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "in the letters that it is compared by": lambda text: unicodedata.normalize("NFKC", text),
    "decomposed in an address": lambda text: quote(unicodedata.normalize("NFD", text), safe=""),
    "in white space of other kinds": lambda text: re.sub(r"\s", "\u3000\n", text),
    "in hex": lambda text: text.encode().hex(),
    "in hex capitals": lambda text: text.encode().hex().upper(),
}
LOOSE: dict[str, Callable[[str], str]] = {
    "in capitals": str.upper,
    "in small letters": str.lower,
    "with spaces": " ".join,
    "with nothing to be seen between": "\u200b".join,
    "in groups": lambda text: "-".join(text[at : at + 4] for at in range(0, len(text), 4)),
}


@for_each("value", VALUES)
def test_it_is_replaced_in_every_form(value: str) -> None:
    """A short value would be found in words that have nothing to do with it."""
    redact = Redactor({"pw": value})
    for way, write in (WAYS | LOOSE if len(value) > 7 else WAYS).items():
        cleaned = redact.text(f"before {write(value)} after")
        assert "<secret pw>" in cleaned, way
        assert len(cleaned) <= len("before <secret pw> after") + 4, way  # quotes around it


@for_each("value", VALUES)
def test_base64_hides_it_wherever_it_lies(value: str) -> None:
    redact = Redactor({"pw": value})
    for encode, before, behind in product(
        (base64.b64encode, base64.urlsafe_b64encode), range(3), range(3)
    ):
        coded = encode(b"\xff" * before + value.encode() + b"y" * behind).decode()
        cleaned = redact.text(f"Basic {coded}")
        assert "<secret pw>" in cleaned, coded
        for size in range(len(coded), 5, -1):  # nothing of it that is worth reading is left
            assert coded[4:][:size] not in cleaned


@for_each(
    "text, cleaned",
    [
        ("it is " + "x" * 100 + " canary-p", "it is " + "x" * 100 + " <secret pw>"),
        ("you typed canary-pw...", "you typed <secret pw>..."),
        ("...-pw-Xq7! was it", "...<secret pw> was it"),
        ("a canary sings", "a canary sings"),
    ],
)
def test_what_was_cut_gives_no_part_of_it_away(text: str, cleaned: str) -> None:
    assert Redactor({"pw": "canary-pw-Xq7!"}).text(text) == cleaned


def test_a_key_of_many_lines_is_found_as_one() -> None:
    key = "\n".join(f"line {number} of a key that is long" for number in range(20))
    redact = Redactor({"key": key})
    for text in (key, key.replace("\n", " "), json.dumps(key)[1:-1], quote(key, safe="")):
        assert redact.text(f"-- {text} --") == "-- <secret key> --"


def test_one_secret_inside_another_goes_with_it() -> None:
    both = Redactor({"short": "hunter2!", "long": "hunter2!hunter2!x"})
    assert both.text("hunter2!hunter2!x hunter2!") == "<secret long> <secret short>"


@for_each("value", [*VALUES, "a - - - - b c", "a _ + _ - b\u00a0\nc", "x" * 7 + "-" * 30 + "y"])
def test_nothing_that_a_page_repeats_is_matched_without_end(value: str) -> None:
    # What an unbounded one finds in n backslashes takes n * n steps.
    unbounded = re.findall(r"(?:\)|\]|\\\\|0)[*+]", pattern(value))
    assert unbounded == []
    # Each of these took a minute or more.
    for text in (
        "\\" * 50_000,
        "&" + "amp;" * 12_500,
        "%" + "25" * 25_000,
        "-" * 50_000,
        "_+" * 25_000,
        "&#160;%0a" * 5_000,
    ):
        Secrets([("pw", value)]).clean(f"{value[:7]}{text}")


def test_a_word_of_dashes_is_found_with_its_blanks() -> None:
    redact = Redactor({"pw": "reef -- knot -- 7"})
    assert redact.text("it is reef -- knot -- 7, or was") == "it is <secret pw>, or was"
    assert Redactor({"pw": "reef----knot"}).text("reef----knot!") == "<secret pw>!"


@for_each("value", ["", "abc", "   a  "])
def test_what_is_too_short_is_left(value: str) -> None:
    assert not Secrets([("pin", value)]).may_hold(b"a abc abcabc")
    assert Redactor({"pin": value}).text("a abc") == "a abc"


def test_other_words_are_left() -> None:
    text = "Canary wharf & sons, 9 fathoms: hunter, password, Pwned!"
    assert Redactor({"a": "canary-pw-Xq7!", "b": "hunter2"}).text(text) == text


def test_what_a_process_prints_does_not_hold_it() -> None:
    hide({"anchor": "fluke-and-shank-77"})
    assert hushed("it was fluke-and-shank-77, twice") == "it was <secret anchor>, twice"
    assert ast.literal_eval(hushed(repr("fluke-and-shank-77"))) == "<secret anchor>"


LETTERS = st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"), max_codepoint=0xFFFF)
TEXTS = st.one_of(
    st.text(
        st.sampled_from("abcXYZ019 -_/\\\"'<>&%+.:?*|~\t\n\u00e9\u00df\u0130\ufb01"),
        min_size=8,
        max_size=24,
    ),
    st.text(LETTERS, min_size=8, max_size=24),
)


def telling(value: str) -> bool:
    """Whether it holds enough that no rewriting takes away to be known by."""
    return len(re.findall(r"[A-Za-z0-9]", value)) >= 8


@pytest.mark.soak
@pytest.mark.timeout(7_200)
@examples(10_000 if SOAK else 100)
@given(
    TEXTS.map(lambda text: f"k7{text.strip()}Qx").filter(telling),
    st.sampled_from(sorted(WAYS | LOOSE)),
)
@example("k7abc\ndefghQx", "in an address")
@example("k7000000\u00a00Qx", "and in hex")
@example("k7000000\u00a00Qx", "as Python in ASCII")
@example("k7000000--Qx", "with nothing to be seen between")
def test_whatever_the_value_is_it_is_found_in_every_form(value: str, way: str) -> None:
    redact = Redactor({"pw": value})
    written = (WAYS | LOOSE)[way](value)
    for text in (f"before {written} after", f"https://shop.example/{written}?a=1"):
        assert "<secret pw>" in redact.text(text), text
        title = redact(PageObserved(Page(url=text, title=Untrusted(text)), why="requested"))
        assert isinstance(title, PageObserved)
        assert "<secret pw>" in title.page.url
        assert "<secret pw>" in title.page.title.text


@for_each(
    "value, host",
    [("S3cret", "s3cret"), ("Ge-Heim77", "ge-heim77"), ("m\u00fcnze-99", "xn--mnze-99-n2a")],
)
def test_a_host_is_written_as_a_browser_writes_it(value: str, host: str) -> None:
    redact = Redactor({"pw": value})
    assert ada_url.URL(f"https://{value}.x/").hostname.removesuffix(".x") == host
    for address in (f"https://{host}.shop.example/", f"https://shop.{host}:8/", f"//a@{host}/"):
        assert host not in redact.text(f"went to {address}")


@for_each("way", ["in an address", "in a form", "in markup", "as the name of a file"])
def test_a_cut_text_gives_no_part_of_an_encoding_away(way: str) -> None:
    value = "fathom & league/knot 77"
    written = WAYS[way](value)
    for size in range(7, len(written)):
        cleaned = Redactor({"pw": value}).text(f"You typed {written[:size]}...")
        assert written[: size - 1] not in cleaned, cleaned
