"""Sign-ins know who is signed in, by tokens that are the same on every run, and unguessable without
the password."""

import hashlib

USER = "mate"
DEFAULT_PASSWORD = "bowline-7"
# Far more than any soak opens side by side; the oldest go first.
SESSIONS_KEPT = 4096


class SignIns:
    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._opened = 0
        self._tokens: dict[str, None] = {}

    def open_session(self) -> str:
        """The count never restarts, so a token lost to `clear` does not come back."""
        self._opened += 1
        token = hashlib.sha256(f"{self._secret}:{self._opened}".encode()).hexdigest()[:32]
        self._tokens[token] = None
        if len(self._tokens) > SESSIONS_KEPT:
            del self._tokens[next(iter(self._tokens))]
        return token

    def is_open(self, token: str) -> bool:
        return token in self._tokens

    def close_session(self, token: str) -> None:
        self._tokens.pop(token, None)

    def clear(self) -> None:
        self._tokens.clear()
