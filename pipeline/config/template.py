"""The template is the configuration file that is written for who has none: it shows every key."""

from rutter.actors.world.models.defaults import DEFAULTS
from rutter.events.run_settings import MILLION
from rutter.pipeline.config.keys import KEYS, ConfigKey, example, written
from rutter.pipeline.config.reader import PRICES

HEAD = """# The configuration of rutter. A line that begins with #name shows what could be written:
# mostly what holds anyway; lists of hosts, prices and secrets are examples, and not set.
# Tables such as [logins] may be added at the end; rutter config set KEY VALUE writes one value.
# Nothing is passed over: a key that does not exist is an error. Variables stand above this file.
# What each key means: docs/configuration.md. Where each value came from: rutter config show.
"""
TAIL = """
# A rule of policy; every column that is left out holds for everything. Deny beats ask beats allow.
#[[policy.rules]]
#name = "no refunds by a model"
#effect = "deny"
#drivers = ["model", "agent"]
#says = ["refund"]

# Where a secret comes from (env:, file:, keyring: or prompt), and where alone it is typed.
#[secrets.password]
#source = "env:SHOP_PASSWORD"
#origins = ["https://shop.example"]
"""
EXAMPLES = {
    "policy.allowed_domains": '["shop.example", "*.shop.example"]',
    "network.no_proxy": '["corp.example", "10.0.0.0/8"]',
    "policy.allowed_resources": '["cdn.example"]',
}


def commented() -> str:
    """A configuration that changes nothing: every key with its default, behind a #, by its whole
    name. It opens no table, so that whoever adds one does not write it twice."""
    lines, section = [HEAD], ""
    for key in KEYS:
        above = key.name.rpartition(".")[0]
        if above != section:
            lines.append("")
            section = above
        value = EXAMPLES.get(key.name) or _price(key) or example(key).partition(" = ")[2]
        lines.append(f"# {key.about}\n#{key.name} = {value}")
    return "\n".join((*lines, TAIL))


def _price(key: ConfigKey) -> str:
    """What is known of the model that is asked where nobody names another."""
    _, _, rest = key.name.partition("models.")
    provider, _, name = rest.partition(".")
    if name not in PRICES or (price := DEFAULTS[provider].price) is None:
        return ""
    return written((getattr(price, name.removesuffix("_price")) or 0) / MILLION)
