"""Secret words show that a field, a question or an address asks for a secret.

The page has the same words for its fields (`actors/world/browser/page/reading.js`); a test keeps
them so.
"""

import re
from urllib.parse import unquote_plus

_ASKS = re.compile(
    r"passw|passcode|passphrase|one.?time|verification.?code|sms.?code|security.?code|auth.?code"
    r"|cvc|cvv|card.?(?:number|no\b|num)|credit.?card|cc-?_?(?:num|csc)|t?otp(?![a-z])|2fa|mfa"
    r"|(?<![a-z])(?:pwd|pin|csc)(?![a-z])",
    re.IGNORECASE,
)
_PARAMETER = re.compile(
    r"passw|passcode|passphrase|pwd|^pin$|otp|cvc|cvv|token|secret|api_?key|^code$|^sig$|signature"
    r"|session_?id|^sid$|jwt",
    re.IGNORECASE,
)
_PAIR = re.compile(r"([?&#;])([^=&#;?]*)=([^&#;]*)")
HIDDEN = "(secret)"


def asks_for_a_secret(text: str) -> bool:
    return _ASKS.search(text) is not None


def safe_url(url: str) -> str:
    """The address without the values of parameters that sound secret."""
    at = min((at for mark in "?#" if (at := url.find(mark)) >= 0), default=len(url))
    return url[:at] + _PAIR.sub(_hidden, url[at:])


def _hidden(pair: re.Match[str]) -> str:
    mark, name, value = pair.groups()
    secret = value and _PARAMETER.search(unquote_plus(name))
    return f"{mark}{name}={HIDDEN}" if secret else pair[0]
