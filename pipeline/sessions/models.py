"""The configuration names the language models of Mode B: who is asked, by which key, for how much.

A key is read when it is needed, and from then on nothing that this process says holds it.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from typing import Any, ClassVar

import msgspec

from rutter.actors.advisor.vision_by_reading import ReadingVision
from rutter.actors.advisor.vision_model import ModelVision
from rutter.actors.vision import Vision
from rutter.actors.world.models.defaults import DEFAULTS
from rutter.actors.world.models.messages import ModelCall, ModelClient, ModelFailed, Prompt, Reply
from rutter.actors.world.models.prices import Price, PricedModel, PricedReader
from rutter.actors.world.models.tesseract import TesseractReader, lacking
from rutter.actors.world.secrets.redaction import Secrets, hide
from rutter.events.errors import BadInput, WorldBroken
from rutter.events.faults import NONE, faults
from rutter.events.run_settings import LanguageModel, ModelUse
from rutter.pipeline.config.reader import PRICES, Config
from rutter.pipeline.config.secret_sources import read_secrets
from rutter.pipeline.config.settings import environment

ADAPTERS = {
    "anthropic": ("rutter.actors.world.models.anthropic", "AnthropicModel"),
    "openai": ("rutter.actors.world.models.openai", "OpenAIModel"),
    "ollama": ("rutter.actors.world.models.ollama", "OllamaModel"),
}
FREE = Price(0, 0)


class ModelUnavailable(WorldBroken):
    """A provider cannot be asked from here."""


class NoKey(ModelUnavailable):
    """A provider has no key, or what is there is none."""


class ModelOffer(msgspec.Struct, frozen=True):
    """A model that can be asked. `key` says where its key is; empty: it needs none."""

    provider: str
    model: str
    key: str
    base_url: str
    price: Price | None
    pictures: bool


def offer_of(config: Config, provider: str) -> ModelOffer:
    known, table = DEFAULTS[provider], f"models.{provider}"
    return ModelOffer(
        provider,
        config.text(f"{table}.model"),
        config.text(f"{table}.key") if known.key_env else "",
        config.text(f"{table}.base_url"),
        _price(config, provider),
        config.flag(f"{table}.pictures"),
    )


def offers(config: Config) -> tuple[ModelOffer, ...]:
    """Who is asked, in this order, where Mode B is on."""
    return tuple(offer_of(config, provider) for provider in config.providers)


def is_on(config: Config) -> bool:
    return config.flag("agent.internal.enabled")


def models_of(config: Config, among: Collection[str] | None = None) -> ModelUse | None:
    """What a session is pinned to: of the providers, those `among` which there are. Nothing where
    Mode B is off, or nobody is left to ask."""
    if not is_on(config) or not config.flag("planner.use_llm"):
        return None
    models = tuple(
        LanguageModel(each.provider, each.model, each.pictures)
        for each in offers(config)
        if among is None or each.provider in among
    )
    tools = config.listed("agent.internal.allowed_tools") or ()
    return ModelUse(models, tools) if models else None


def open_models(
    config: Config,
    env: Mapping[str, str] | None = None,
    *,
    needed: bool = False,
    warn: Callable[[str], None] = lambda _: None,
) -> dict[str, PricedModel]:
    """Those who can be asked, by provider. One that cannot is left out with a warning; the first
    of them is an error where the run is `needed` to have a model."""
    asks = config.flag("planner.use_llm") or config.flag("critic.vision_enabled")
    if not is_on(config) or not asks:
        return {}
    opened: dict[str, PricedModel] = {}
    for place, offer in enumerate(offers(config)):
        try:
            opened[offer.provider] = open_model(offer, environment() if env is None else env)
        except ModelUnavailable as error:
            if needed and place == 0:
                raise
            warn(f"{error.what}: going on without it -> {error.fix}")
    return opened


def open_model(offer: ModelOffer, env: Mapping[str, str]) -> PricedModel:
    """One that can be asked. Nothing is sent yet."""
    key = key_of(offer, env)
    made: dict[str, Any] = {"base_url": offer.base_url or None}
    if key:
        made["api_key"] = key
    with _installed(offer.provider) as adapter:
        client: ModelClient = adapter(offer.model, **made)
    return PricedModel(_discreet(client, key) if key else client, offer.price)


def check_model(offer: ModelOffer, env: Mapping[str, str]) -> None:
    """Refuses one that could not be asked: its package or its key is missing."""
    with _installed(offer.provider):
        key_of(offer, env)


@contextmanager
def _installed(provider: str) -> Iterator[Any]:
    """Its adapter, to be used here: some look for their package only then."""
    module, name = ADAPTERS[provider]
    try:
        yield getattr(import_module(module), name)
    except ImportError as error:
        what = f"the {provider} package is not installed ({error.name})"
        raise ModelUnavailable(what, f"pip install 'rutter-agent[{provider}]'") from error


def vision_of(config: Config, opened: Mapping[str, PricedModel]) -> Vision | None:
    """Who describes a picture after a failure: the first of them that can look at one, else whoever
    reads on this machine."""
    if not config.flag("critic.vision_enabled"):
        return None
    seeing = [each.provider for each in offers(config) if each.pictures and each.provider in opened]
    if seeing:
        return ModelVision(*opened[seeing[0]])
    language = config.text("agent.ghost.language")
    return None if lacking(language).what else ReadingVision(TesseractReader(language))


@asynccontextmanager
async def closing(models: Mapping[str, PricedModel | PricedReader]) -> AsyncIterator[None]:
    """Lets go of their connections."""
    try:
        yield
    finally:
        for priced in models.values():
            await priced.client.aclose()


def key_of(offer: ModelOffer, env: Mapping[str, str]) -> str:
    """The key of a provider that needs one. From here on the process prints it nowhere."""
    if not offer.key:
        return ""
    what, place = f"no key for {offer.provider}", f"models.{offer.provider}.key"
    kind, _, variable = offer.key.partition(":")
    if kind == "env" and not env.get(variable, "").strip():
        raise NoKey(what, f"set {variable}, or {place}")
    name = f"{offer.provider}_key"
    try:
        key = read_secrets([f"{name}={offer.key}"], env, _nobody)[name].strip()
    except BadInput as error:
        raise NoKey(f"{what}: {error.what}", error.fix or f"check {place}") from error
    hide({name: key})
    if not key.isascii() or not key.isprintable() or not key or " " in key:
        raise NoKey(f"{what}: what {offer.key} holds is none", f"check it, or {place}")
    return key


def fix_of(code: str, provider: str, *, alone: bool = True) -> str:
    """What to do about this failure of this provider; `alone`: nobody is asked after it."""
    fault = faults().models.get(code, NONE)
    fix = fault.next.format(provider=provider)
    return f"{fix}, or add agent.fallbacks" if alone and fault.retriable else fix


def _nobody(_: str) -> str:
    raise BadInput("a key is not asked for", "give it as env:, file: or keyring:")


def _price(config: Config, provider: str) -> Price | None:
    """What was given, else what is known of the model. Of one whose price for what is kept nobody
    said, it is not told too low: reading again as reading, keeping at a quarter more."""
    known = DEFAULTS[provider]
    said = [config.dollars(f"models.{provider}.{each}") for each in PRICES]
    same = config.text(f"models.{provider}.model") == known.model or known.price == FREE
    base = known.price if same else None
    if base is None:
        read, written = said[0], said[1]
        if read is None or written is None:
            return None
        base = Price(read, written, read, -(-read * 5 // 4))
    parts = zip(said, msgspec.structs.astuple(base), strict=True)
    return Price(*(known if given is None else given for given, known in parts))


def _discreet(client: ModelClient, key: str) -> ModelClient:
    """The same, with its key taken out of whatever comes back: a server may repeat it."""
    known = Secrets([(f"{client.provider}_key", key)])

    class Discreet(ModelClient):
        provider: ClassVar[str] = client.provider
        model = client.model

        async def complete(self, prompt: Prompt, *, within_ms: int) -> Reply:
            try:
                reply = await client.complete(prompt, within_ms=within_ms)
            except ModelFailed as error:
                message = known.clean(error.message)
                raise ModelFailed(error.code, message, transient=error.transient) from None
            if not known.may_hold(msgspec.json.encode(reply)) and not known.may_hold(reply.raw):
                return reply
            return _without(known, reply)

        async def aclose(self) -> None:
            await client.aclose()

    return Discreet()


def _without(known: Secrets, reply: Reply) -> Reply:
    clean = known.clean
    return msgspec.structs.replace(
        reply,
        model=clean(reply.model),
        text=clean(reply.text),
        calls=tuple(
            ModelCall(clean(each.id), clean(each.tool), clean(each.arguments))
            for each in reply.calls
        ),
        raw=clean(reply.raw.decode("utf-8", "replace")).encode(),
    )
