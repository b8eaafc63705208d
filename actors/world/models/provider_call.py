"""A provider's SDK is called here alone: with one deadline, and failures in our own words.

What goes wrong in a stream is raised by the SDK, by the HTTP library below it, or by whoever read
the bytes: nothing leaves here but `ModelFailed` and cancellation.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any

import anyio

from rutter.actors.world.models.messages import ModelFailed, Prompt, Reply
from rutter.events.advisor import AdviceError
from rutter.events.errors import BadInput

MAX_CHARACTERS = 300  # of what a provider says about a failure
ROOM_TO_THINK = 4_096  # tokens: thinking counts as output, and must not eat the answer

# Status of a response, or the number that stands for the kind of error a stream ends with.
STATUS: Mapping[int, tuple[AdviceError, bool]] = {
    401: ("unauthorised", False),
    402: ("unauthorised", False),
    403: ("unauthorised", False),
    404: ("unknown_model", False),
    408: ("timeout", True),
    409: ("unavailable", True),
    429: ("rate_limited", True),
    503: ("overloaded", True),
    529: ("overloaded", True),
}
# The same status as too many requests, but waiting does not help: the account is out of money.
SPENT = {"insufficient_quota", "enforced_spend_limit_reached", "billing_hard_limit_reached"}

SECRETS = re.compile(r"(?i)bearer\s+\S+|\bsk-[\w*-]{3,}")
ID = re.compile(r"[A-Za-z0-9_-]{1,40}")


class StreamProgress:
    """A stream `began` when an answer is under way, so what breaks from now on cuts it."""

    began = False


class StreamBroken(Exception):
    """A stream ended before the answer did; `began`, or never an answer."""


class Provider:
    """A provider has a name to tell, errors of lost connections, and a key to hide."""

    def __init__(self, name: str, lost: tuple[type[Exception], ...], key: str = "") -> None:
        self.name = name
        self.lost = lost
        self._key = key

    def told(self, text: str) -> str:
        """One short line, without the key."""
        hidden = text.replace(self._key, "***") if self._key else text
        line = " ".join(SECRETS.sub("***", hidden).split())
        return "".join(each for each in line if each.isprintable())[:MAX_CHARACTERS]


async def ask(
    answer: Callable[[StreamProgress], Awaitable[Reply]], provider: Provider, *, within_ms: int
) -> Reply:
    """Asks once, and reads what went wrong."""
    progress = StreamProgress()
    failed: ModelFailed
    try:
        with anyio.fail_after(within_ms / 1000):
            return await answer(progress)
    except TimeoutError:
        failed = ModelFailed("timeout", f"no answer within {within_ms} ms", transient=True)
    except Exception as error:  # noqa: BLE001 - the one boundary to the SDKs
        failed = failure(error, provider, began=progress.began)
    # Outside of the except clause: its error holds the request, and with it the key.
    raise failed


def failure(error: Exception, provider: Provider, *, began: bool) -> ModelFailed:
    if isinstance(error, ModelFailed):  # as new: it may have been raised while another was read
        return ModelFailed(error.code, error.message, transient=error.transient)
    status, text, code = _said(error)
    if status:
        return _by_status(status, provider, text, code)
    name = "no answer in it" if isinstance(error, StreamBroken) else type(error).__name__
    if isinstance(error, StreamBroken) or (began and isinstance(error, (*provider.lost, OSError))):
        return _cut(provider) if began else _not_its_format(provider, name)
    if isinstance(error, (*provider.lost, OSError)):
        why = f"{provider.name} cannot be reached ({name})"
        return ModelFailed("unavailable", why, transient=True)
    return _not_its_format(provider, name)


def _cut(provider: Provider) -> ModelFailed:
    return ModelFailed("cut", f"the answer of {provider.name} was cut off", transient=True)


def _not_its_format(provider: Provider, name: str) -> ModelFailed:
    why = f"what came back is not in the format of {provider.name} ({name})"
    return ModelFailed("invalid", why, transient=True)


def _by_status(status: int, provider: Provider, text: str, code: str) -> ModelFailed:
    known: tuple[AdviceError, bool] = ("unavailable", True) if status >= 500 else ("invalid", False)
    word, transient = STATUS.get(status, known)
    if status == 401:  # providers quote the key, or part of it
        return ModelFailed(word, f"{provider.name} does not accept the key", transient=False)
    said = provider.told(text) or "nothing more"
    message = f"{provider.name} answered {status}: {said}"
    return ModelFailed(word, message, transient=transient and code not in SPENT)


# What the error events of a stream are called that began as a success, as statuses.
KINDS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def _said(error: Exception) -> tuple[int, str, str]:
    """Status, words and code of a provider's own error; status 0 if it is none."""
    status = getattr(error, "status_code", None)
    body = getattr(error, "body", None)
    detail = body.get("error", body) if isinstance(body, dict) else {}
    detail = detail if isinstance(detail, dict) else {}
    text = detail.get("message") or (body if isinstance(body, str) else "")
    code = str(detail.get("code") or _cause(detail))
    if isinstance(status, int) and status >= 400:
        return status, str(text or getattr(error, "error", "")), code
    kind = str(detail.get("type") or "")
    if detail:
        return KINDS.get(code) or KINDS.get(kind) or 500, str(text), code
    return 0, "", ""


def _cause(detail: Mapping[str, Any]) -> str:
    details = detail.get("details")
    return str(details.get("error_code") or "") if isinstance(details, dict) else ""


def usable(key: str, name: str) -> str:
    """The key as it can be sent in a header, or why it cannot."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        why = f"the key for {name} is empty, or holds characters that no key has"
        raise ModelFailed("unauthorised", why, transient=False)
    return key


def extra(package: str) -> Any:
    """The SDK of a provider that is not installed with everything else."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise BadInput(
            f"the package {package} is not installed",
            f"type: pip install 'rutter-agent[{package}]'",
        ) from None


def fitting(identity: str) -> str:
    """An id of a call that every provider takes, the same each time: one may be asked about what
    another one called."""
    if ID.fullmatch(identity):
        return identity
    return hashlib.sha256(identity.encode()).hexdigest()[:40]


def object_of(arguments: str) -> dict[str, Any]:
    """Arguments where the provider takes an object only. What is none is kept as text."""
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, dict) else {"unreadable": arguments}


def told_to_call(prompt: Prompt) -> str:
    """For providers that cannot be made to call: Ollama has no such field, and Anthropic's models
    refuse it from the 5.5 on (400)."""
    if prompt.must_call:
        return f"Answer with exactly one call of the tool {prompt.must_call} and nothing else."
    return "Answer with exactly one call of a tool." if prompt.any_call else ""
