"""The secret scanner knows secrets that nobody named by their shape: keys, card numbers, accounts.

A second net, not a promise. Its finds become `<secret? KIND>`. A quick look for a few literals and
for enough digits goes before everything else: it decides for nearly every page.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import islice
from typing import NamedTuple

# Plugins of detect-secrets that look for one shape, with literals of which one is in every find: a
# shape without would cost every page. Left out: entropy and keywords (every id is one), Artifactory
# (words in capitals), npm (lines of a file), IBM, SoftLayer and Cloudant (any long word behind
# "key"), IP addresses, Twilio's account numbers. `eyJ` is what any JSON object is in base64.
PLUGINS = (
    ("aws", "AWSKeyDetector", "aws key", "AKIA ASIA ABIA ACCA A3T"),
    ("azure_storage_key", "AzureStorageKeyDetector", "azure key", "AccountKey="),
    ("basic_auth", "BasicAuthDetector", "password", "://"),
    ("github_token", "GitHubTokenDetector", "github token", "ghp_ gho_ ghu_ ghs_ ghr_"),
    (
        "gitlab_token",
        "GitLabTokenDetector",
        "gitlab token",
        "glpat- gldt- glft- glsoat- glrt- glcbt- GR1348941 glimt- glptt- glagent- gloas-",
    ),
    ("jwt", "JwtTokenDetector", "jwt", "eyJ"),
    ("mailchimp", "MailchimpDetector", "mailchimp key", "-us"),
    ("openai", "OpenAIDetector", "openai key", "T3BlbkFJ"),
    ("pypi_token", "PypiTokenDetector", "pypi token", "pypi-AgE"),
    ("sendgrid", "SendGridDetector", "sendgrid key", "SG."),
    ("slack", "SlackDetector", "slack token", "xox hooks.slack.com"),
    ("square_oauth", "SquareOAuthDetector", "square key", "sq0csp-"),
    ("stripe", "StripeDetector", "stripe key", "k_live_"),
    ("telegram_token", "TelegramBotTokenDetector", "telegram token", ":AA"),
)
OWN = (
    (re.compile(r"AIza[0-9A-Za-z_-]{35}"), "google key", "AIza"),
    (re.compile(r"ya29\.[0-9A-Za-z_-]{20,}"), "google token", "ya29."),
    (re.compile(r"sk-(?:ant|proj)-[0-9A-Za-z_-]{20,}"), "api key", "sk-ant- sk-proj-"),
    (re.compile(r"github_pat_[0-9A-Za-z_]{30,}"), "github token", "github_pat_"),
    (re.compile(r"hf_[A-Za-z]{30,}"), "huggingface token", "hf_"),
    (re.compile(r"npm_[0-9A-Za-z]{36}"), "npm token", "npm_"),
)
LITERALS = tuple(literal for *_, literals in (*PLUGINS, *OWN) for literal in literals.split())
# All of them are long words, but for these.
LONG = b"x" * 20
_USERINFO = re.compile(rb"://[^\s/?#@\"<>]{1,256}@")
_WORDS = bytes(
    ord("x") if (chr(byte).isalnum() and byte < 128) or chr(byte) in "_-" else ord(" ")
    for byte in range(256)
)
_LITERALS = tuple(literal.encode() for literal in LITERALS)
_SHORT = (b"AccountKey=", b"PRIVATE", b"PuTTY-User-Key-File")
KEY = re.compile(
    r"(?:-----)?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?(?:-----)?"
    r"(?:(?!-----END).)*(?:-----END [A-Z0-9 ]{0,40}-----)?"
    r"|PuTTY-User-Key-File-\d.*",
    re.DOTALL,
)
WORD = re.compile(r"[^\s\"'<>`,|]+")
TOKEN = re.compile(r"[\w.+/=-]")
SHORTEST = 8  # `://a:b@c`
# Of a longer word the pieces are looked at, and a shape is looked for at so many of the places in
# one where letters and digits begin: a page must not make it try them all.
MAX_WORD = 4_096
MAX_BEGINS = 64
BEGIN = re.compile("(?<![A-Za-z0-9])(?=[A-Za-z0-9])")

_SEPARATOR = "[ \\-\u00a0\u2009\u202f]"
# As they are printed on cards, or without any grouping. Digits that go on, a sign or a comma
# before them: that is another kind of number.
CARD = re.compile(
    rf"(?<![\w+.,#/=-])(?:\d{{14,19}}|\d{{4}}(?:(?P<s>{_SEPARATOR})\d{{4}})(?:(?P=s)\d{{4}})"
    rf"(?:(?P=s)\d{{1,4}})(?:(?P=s)\d{{1,3}})?|\d{{4}}(?P<t>{_SEPARATOR})\d{{6}}(?P=t)\d{{4,5}}"
    rf"|4\d{{3}}(?P<u>{_SEPARATOR})\d{{3}}(?P=u)\d{{3}}(?P=u)\d{{3}})(?![\w-])(?![.,]\d)"
)
# One number of ten that begins like a card's has its check digit by chance, and orders have such
# numbers: what is not written in groups is a card's only where something near it says so.
NEAR = 60  # characters
OF_CARDS = re.compile(
    r"\b(?:(?:credit|debit|master|bank|visa|ec)[ -]?)?cards?\b|\bvisa\b|\bmaestro\b|\bamex\b"
    r"|american express|\bdiners\b|\bjcb\b|\bc\.?c\.?\b|\bpan\b|\bcv[vc]2?\b|\bcsc\b"
    r"|\bexp(?:ir\w*|\b)|valid (?:thru|until|to)|gültig bis|kredit|kartennummer|\b\w*karte\b"
    r"|\bcartes?\b|\btarjetas?\b|cartão|\bcarta\b|kaart|\b\w*kort(?:nummer|et)?\b|\bkart[aęyi]\b"
    r"|карт[аыу]|信用卡|银行卡|卡号|カード|카드",
    re.IGNORECASE,
)
IBAN = re.compile(rf"(?<![A-Za-z0-9])[A-Z]{{2}}\d{{2}}(?:{_SEPARATOR}?[A-Z0-9]){{11,30}}")
# The registry's lengths.
_REGISTRY = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 "
    "DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 "
    "IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 "
    "MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 "
    "SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
)
IBAN_LENGTHS = {each[:2]: int(each[2:]) for each in _REGISTRY.split()}
# By whom a card is: the first digits, and how many there are.
CARDS = re.compile(
    r"4\d{12}(?:\d{3}|\d{6})?$|5[1-5]\d{14}$|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}$"
    r"|3[47]\d{13}$|3(?:0[0-5]|[689]\d)\d{11}$|(?:6011|64[4-9]\d|65\d\d)\d{12,15}$"
    r"|35(?:2[89]|[3-8]\d)\d{12,15}$|62\d{14,17}$|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{12,15}$"
)
DIGITS = b"0" * 13
_SHAPE = bytes(
    ord("0") if chr(byte).isdigit() and byte < 128 else ord("A") if 65 <= byte <= 90 else ord("x")
    for byte in range(256)
)
_BETWEEN = b" -\xc2\xa0\xe2\x80\x89\xaf"


class SecretFound(NamedTuple):
    """A find says where something lies that looks like a secret, and of which kind."""

    start: int
    end: int
    kind: str


class Detector:
    """A detector finds secrets by shape; `known` is in the log on purpose and no find."""

    def __init__(self, known: str = "") -> None:
        self._known = known
        self._digits = _bare(known)

    def may_hold(self, text: bytes) -> bool:
        """Whether it is worth a closer look; `False` is certain."""
        return _may_hold_key(text) or _may_hold_number(text)

    def clean(self, text: str, *, numbers: bool = True, beside: str = "") -> str:
        """The text with its finds replaced; `numbers` are cards and accounts too. What stands
        `beside` it, such as the name of a field, may say what a number is."""
        if len(text) < SHORTEST or not self.may_hold(text.encode("utf-8", "replace")):
            return text
        done, parts = 0, []
        for start, end, kind in sorted(self._finds(text, beside, numbers=numbers)):
            if start < done or self._is_known(text[start:end]):
                continue
            parts += [text[done:start], f"<secret? {kind}>"]
            done = end
        return "".join(parts) + text[done:] if parts else text

    def _is_known(self, found: str) -> bool:
        return found in self._known or (found[0].isdigit() and _bare(found) in self._digits)

    def _finds(self, text: str, beside: str, *, numbers: bool) -> Iterator[SecretFound]:
        coded = text.encode("utf-8", "replace")
        if _may_hold_key(coded):
            yield from _keys(text)
        if numbers and _may_hold_number(coded):
            yield from _cards(text, beside)
            yield from _accounts(text)


def _may_hold_key(text: bytes) -> bool:
    if any(literal in text for literal in _SHORT) or _USERINFO.search(text):
        return True
    return LONG in text.translate(_WORDS) and any(literal in text for literal in _LITERALS)


def _may_hold_number(text: bytes) -> bool:
    shape = text.translate(_SHAPE, _BETWEEN)
    return DIGITS in shape or b"AA00" in shape


def _keys(text: str) -> Iterator[SecretFound]:
    for found in KEY.finditer(text):
        yield SecretFound(found.start(), found.end(), "private key")
    for word in WORD.finditer(text):
        for start in range(word.start(), word.end(), MAX_WORD):
            piece = text[start : min(start + MAX_WORD, word.end())]
            yield from (SecretFound(start + a, start + b, kind) for a, b, kind in _in_word(piece))


def _in_word(word: str) -> Iterator[SecretFound]:
    if len(word) < SHORTEST:
        return
    begins: list[int] | None = None
    for shape in _shapes():
        if not any(literal in word for literal in shape.literals):
            continue
        if shape.within:
            places = shape.pattern.finditer(word)
            yield from (SecretFound(*found.span(1), shape.kind) for found in places)
            continue
        if begins is None:
            begins = [found.start() for found in islice(BEGIN.finditer(word), MAX_BEGINS)]
        yield from _from(begins, word, shape)


def _from(begins: list[int], word: str, shape: "Shape") -> Iterator[SecretFound]:
    for start in begins:
        found = shape.pattern.match(word, start)
        if found is None or not shape.is_valid(found[0]):
            continue
        # A shape may be shorter than what is in use by now: all of the word goes.
        end = found.end()
        while end < len(word) and TOKEN.match(word[end]):
            end += 1
        yield SecretFound(start, end, shape.kind)


class Shape(NamedTuple):
    pattern: re.Pattern[str]
    kind: str
    literals: tuple[str, ...]
    is_valid: Callable[[str], bool] = bool
    within: bool = False


@cache
def _shapes() -> tuple[Shape, ...]:
    """The plugins' patterns. Loaded at the first need: the library brings much with it."""
    found = [Shape(pattern, kind, tuple(literals.split())) for pattern, kind, literals in OWN]
    for module, name, kind, literals in PLUGINS:
        plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), name)
        valid = getattr(plugin, "is_formally_valid", bool)
        within = name == "BasicAuthDetector"  # the password alone: the address stays one
        every = tuple(literals.split())
        found += [Shape(pattern, kind, every, valid, within) for pattern in plugin.denylist]
    return tuple(found)


def _cards(text: str, beside: str) -> Iterator[SecretFound]:
    for found in CARD.finditer(text):
        digits = _bare(found[0])
        if not CARDS.match(digits) or len(set(digits)) < 2 or not _luhn(digits):
            continue
        around = text[max(0, found.start() - NEAR) : found.end() + NEAR]
        if found[0] != digits or OF_CARDS.search(around) or OF_CARDS.search(beside):
            yield SecretFound(found.start(), found.end(), "card")


def _luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _accounts(text: str) -> Iterator[SecretFound]:
    for found in IBAN.finditer(text):
        size = IBAN_LENGTHS.get(found[0][:2], 0)
        end = _end_of(found[0], size) if size else 0
        after = text[found.start() + end : found.start() + end + 1]
        if end and not after.isalnum() and _mod97(found[0][:end]):
            yield SecretFound(found.start(), found.start() + end, "iban")


def _end_of(text: str, size: int) -> int:
    """Where so many letters and digits end; 0 if there are fewer."""
    for at, char in enumerate(text):
        size -= char.isalnum()
        if not size:
            return at + 1
    return 0


def _mod97(account: str) -> bool:
    bare = "".join(filter(str.isalnum, account))
    return int("".join(str(int(char, 36)) for char in bare[4:] + bare[:4])) % 97 == 1


def _bare(text: str) -> str:
    return "".join(char for char in text if "0" <= char <= "9")
