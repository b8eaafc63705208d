"""Defaults say which model is asked where nobody names one, and its price. All is configuration."""

from collections.abc import Mapping

import msgspec

from rutter.actors.world.models.anthropic import URL as ANTHROPIC_URL
from rutter.actors.world.models.ollama import URL as OLLAMA_URL
from rutter.actors.world.models.openai import URL as OPENAI_URL
from rutter.actors.world.models.prices import Price


class ProviderDefaults(msgspec.Struct, frozen=True):
    """A provider is used like this when only its name is given. `price` None: nobody knows;
    `pictures`: it sees them; `key_env`: the variable that holds its key, if it needs one."""

    model: str
    price: Price | None
    pictures: bool
    key_env: str
    base_url: str


# List prices, in microdollars for a million tokens; `kept` for five minutes at Anthropic.
DEFAULTS: Mapping[str, ProviderDefaults] = {
    "anthropic": ProviderDefaults(
        "claude-sonnet-5-5",
        Price(input=2_000_000, output=10_000_000, cached=200_000, kept=2_500_000),
        pictures=True,
        key_env="ANTHROPIC_API_KEY",
        base_url=ANTHROPIC_URL,
    ),
    "openai": ProviderDefaults(
        "gpt-6-luna",
        Price(input=100_000, output=500_000, cached=10_000, kept=125_000),
        pictures=True,
        key_env="OPENAI_API_KEY",
        base_url=OPENAI_URL,
    ),
    "ollama": ProviderDefaults(
        "qwen3:8b", Price(input=0, output=0), pictures=False, key_env="", base_url=OLLAMA_URL
    ),
}
