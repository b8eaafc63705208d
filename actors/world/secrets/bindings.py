"""Bindings give names values at run time (A4). Secrets live here alone: no event ever holds one."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from rutter.actors.rules.pages.address import origin_of
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.events.action import (
    ByBeside,
    ByRole,
    ByText,
    DialogAnswer,
    Parameter,
    Secret,
    Strategy,
    Text,
    Typed,
    Value,
)
from rutter.events.errors import BadInput


class Bindings:
    """A session's bindings are its parameters and secrets, by name."""

    def __init__(
        self,
        values: Mapping[str, str],
        secrets: Mapping[str, str],
        typed: Sequence[str] = (),
        origins: Iterable[tuple[str, str]] = (),
    ) -> None:
        self._values = dict(values)
        self._secrets = dict(secrets)
        self._typed = typed  # as it is then: calls of tools add to it as they come
        self._origins = tuple(origins)

    def __repr__(self) -> str:
        return f"Bindings({sorted(self._values)}, secrets {sorted(self._secrets)})"

    def value(self, value: Value) -> str:
        match value:
            case Text(text):
                return text
            case Parameter(name):
                return self._named(name, self._values, "--set")
            case Secret(name):
                return self._named(name, self._secrets, "--secret")
            case Typed(number):
                return self._literal(number)

    def belongs(self, name: str) -> tuple[str, ...]:
        """The origins that a secret is typed on; none means anywhere."""
        return tuple(origin for secret, origin in self._origins if secret == name)

    def misplaced(self, name: str, address: str) -> bool:
        """Whether a secret has origins, and the one of this address is not among them."""
        own = self.belongs(name)
        return bool(own) and origin_of(address) not in own

    def strategy(self, strategy: Strategy) -> Strategy:
        """The strategy with a parameter in it replaced by its value."""
        match strategy:
            case ByRole(role, name):
                return ByRole(role, self._filled(name))
            case ByText(text):
                return ByText(self._filled(text))
            case ByBeside(text, how):
                return ByBeside(self._filled(text), how)
            case _:
                return strategy

    def answer(self, answer: DialogAnswer) -> DialogAnswer:
        """What to say to a dialog, with what is bound in place of its names."""
        if answer.secret:
            said = self._named(answer.secret, self._secrets, "--secret")
            return msgspec.structs.replace(answer, text=said)
        if answer.text is None:
            return answer
        return msgspec.structs.replace(answer, text=self._filled(answer.text))

    def _filled(self, text: str) -> str:
        """What is not one of our parameters is the page's own text, and stays."""
        return PLACEHOLDER.sub(lambda found: self._values.get(found[1], found[0]), text)

    def _literal(self, number: int) -> str:
        if not 0 <= number < len(self._typed):
            raise BadInput(f"what the script types at {number} is not here", "record it again")
        return self._typed[number]

    @staticmethod
    def _named(name: str, known: Mapping[str, str], flag: str) -> str:
        if name not in known:
            raise BadInput(f"{name!r} has no value", f"bind it with {flag} {name}=...")
        return known[name]
