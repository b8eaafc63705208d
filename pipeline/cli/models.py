"""`rutter models` says which language models may be asked, and whether they answer."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping

import msgspec

from rutter.actors.world.models.messages import ModelFailed, Prompt, Reply, ToolSpec, UserTurn
from rutter.actors.world.models.prices import Price, cost_microdollars
from rutter.events.run_settings import MILLION
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.keys import PROVIDERS
from rutter.pipeline.config.own_clients import join_network
from rutter.pipeline.config.reader import Config
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.sessions.models import (
    ModelOffer,
    ModelUnavailable,
    fix_of,
    is_on,
    key_of,
    offer_of,
    offers,
    open_model,
)
from rutter.replay.story.advice import money

ANSWER_MS = 30_000  # what any call of a model may take (C2)
QUESTION = Prompt(
    system="You are asked whether you can be reached. Call the tool once.",
    turns=(UserTurn("Call the tool `ready`."),),
    tools=(ToolSpec("ready", "Says that you can be reached.", {"type": "object"}),),
    must_call="ready",
    max_tokens=512,  # those that think before they answer need some for that
)


class ListedProvider(msgspec.Struct, omit_defaults=True):
    """A provider is listed as configured. `order` is its place in the asking; 0: it is not
    asked."""

    order: int
    provider: str
    model: str
    key: str
    key_found: bool
    why: str = ""
    base_url: str = ""
    price: Price | None = None
    pictures: bool = False


class ProviderCheck(msgspec.Struct, omit_defaults=True):
    """A check asks a provider one question."""

    provider: str
    model: str
    ok: bool
    found: str
    fix: str = ""
    took_ms: int = 0
    cost_microdollars: int | None = None


def list_(options: Options, settings: Settings, terminal: Terminal) -> None:
    listed = list(_listed(settings.config))
    terminal.answer({"enabled": is_on(settings.config), "models": listed})
    terminal.say(told(settings.config))
    terminal.show_rows(
        listed,
        {
            "asked": lambda each: each.order or "-",
            "provider": "provider",
            "model": lambda each: " at ".join(filter(None, (each.model, each.base_url))),
            "in / out per million tokens": lambda each: _dollars(each.price),
            "key": _key,
        },
    )
    terminal.say_below(f"whether they answer: {settings.command('models check')}")


def told(config: Config) -> str:
    """Whether a model is asked at all."""
    if not is_on(config):
        return "language models: off (not needed; agent.internal.enabled turns them on)"
    if not config.flag("planner.use_llm"):
        return "Mode B is on, and planner.use_llm is false: no language model plans"
    return f"Mode B is on: {', then '.join(config.providers)}"


def check(options: Options, settings: Settings, terminal: Terminal) -> int:
    if not is_on(settings.config):
        terminal.say(f"{told(settings.config)}; this asks all the same")
    join_network(settings)
    found = asyncio.run(_answers(settings.config, terminal))
    terminal.answer(found)
    return Exit.DONE if all(each.ok for each in found) else Exit.ENVIRONMENT


async def _answers(config: Config, terminal: Terminal) -> list[ProviderCheck]:
    found = []
    for offer in offers(config):
        found.append(await _answer(offer, alone=len(config.providers) == 1))
        terminal.say(*_lines(found[-1]))
    return found


async def _answer(offer: ModelOffer, *, alone: bool) -> ProviderCheck:
    try:
        priced = open_model(offer, environment())
    except ModelUnavailable as error:
        return ProviderCheck(offer.provider, offer.model, False, error.what, error.fix)
    began = time.monotonic()
    try:
        reply = await priced.client.complete(QUESTION, within_ms=ANSWER_MS)
    except ModelFailed as error:
        found = f"{error.code}: {error.message}" if error.message else error.code
        fix = fix_of(error.code, offer.provider, alone=alone)
        return ProviderCheck(offer.provider, offer.model, False, found, fix, _since(began))
    finally:
        await priced.client.aclose()
    return _answered(offer, reply, _since(began))


def _answered(offer: ModelOffer, reply: Reply, took_ms: int) -> ProviderCheck:
    """One that answers and calls no tool cannot lead a run."""
    cost = cost_microdollars(reply.usage, offer.price) if offer.price is not None else None
    tokens = f"{reply.usage.input:,} tokens in, {reply.usage.output:,} out"
    called = any(each.tool == "ready" for each in reply.calls)
    return ProviderCheck(
        offer.provider,
        offer.model,
        called,
        tokens if called else f"it answers ({tokens}) and calls no tool",
        "" if called else f"name one that can: models.{offer.provider}.model",
        took_ms,
        cost,
    )


def _lines(answered: ProviderCheck) -> Iterator[str]:
    mark = "[OK]  " if answered.ok else "[FAIL]"
    line = f"{mark} {answered.provider} {answered.model}: {answered.found}"
    if answered.ok:
        cost = answered.cost_microdollars
        spent = money(cost) if cost is not None else "at an unknown price"
        line += f", {spent}, {answered.took_ms / 1000:.1f} s"
    yield line
    if answered.fix:
        yield f"       {answered.fix}"


def _listed(config: Config) -> Iterator[ListedProvider]:
    """In the order in which they are asked; behind them those that are not."""
    asked = config.providers
    for provider in (*asked, *(each for each in PROVIDERS if each not in asked)):
        offer = offer_of(config, provider)
        why = missing(offer, key_of)
        yield ListedProvider(
            order=asked.index(provider) + 1 if provider in asked else 0,
            key_found=not why,
            why=why,
            **msgspec.structs.asdict(offer),
        )


def missing(offer: ModelOffer, needed: Callable[[ModelOffer, Mapping[str, str]], object]) -> str:
    """Why there is not what is `needed`; empty if there is."""
    try:
        needed(offer, environment())
    except ModelUnavailable as error:
        return f"{error.what} -> {error.fix}"
    return ""


def _key(each: ListedProvider) -> str:
    return f"{each.key}: {'found' if each.key_found else 'not found'}" if each.key else "none"


def _dollars(price: Price | None) -> str:
    if price is None:
        return "unknown"
    return f"${price.input / MILLION:g} / ${price.output / MILLION:g}"


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
