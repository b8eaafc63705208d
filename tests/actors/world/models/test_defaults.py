"""The models that are asked where nobody says which."""

from typing import get_args

from rutter.actors.world.models.defaults import DEFAULTS
from rutter.actors.world.models.prices import Price, cost_microdollars
from rutter.events.advisor import TokenUsage


def test_the_models_are_known_to_the_sdks_and_not_at_their_end() -> None:
    # Here, not above: they are slow to import, and whoever runs any test reads this file.
    from anthropic.resources.messages.messages import DEPRECATED_MODELS
    from anthropic.types import Model
    from openai.types import ChatModel
    from openai.types.shared import chat_model

    literal = get_args(Model)[0]
    assert DEFAULTS["anthropic"].model in get_args(literal)
    assert DEFAULTS["anthropic"].model not in DEPRECATED_MODELS
    assert DEFAULTS["openai"].model in get_args(ChatModel)
    with open(chat_model.__file__, encoding="utf-8") as source:  # noqa: PTH123
        deprecated = source.read().partition("Deprecated values")[2]
    assert deprecated
    assert f'"{DEFAULTS["openai"].model}"' not in deprecated


def test_every_price_is_known_and_what_is_kept_is_cheaper_to_read() -> None:
    for provider, default in DEFAULTS.items():
        assert default.price is not None, provider
        assert default.price.cached <= default.price.input <= default.price.output
        assert default.price.kept >= default.price.input or not default.price.kept
        assert default.base_url.startswith("http")
        assert bool(default.key_env) == (provider != "ollama")


def test_a_million_tokens_cost_what_the_list_says_and_fractions_are_rounded_up() -> None:
    price = Price(input=2_000_000, output=10_000_000, cached=100_000, kept=2_500_000)
    assert cost_microdollars(TokenUsage(1_000_000, 1_000_000), price) == 12_000_000
    assert cost_microdollars(TokenUsage(1_000_000, 0, 600_000, 400_000), price) == 1_060_000
    assert cost_microdollars(TokenUsage(1, 0, 1), price) == 1
    assert cost_microdollars(TokenUsage(), price) == 0
    assert cost_microdollars(TokenUsage(10, 10), None) == 0
