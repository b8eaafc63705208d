"""MCP offers the tools to outside agents (H2, H3): the registry of tools, told as MCP tells tools,
over stdio and over HTTP. The policy and the log are the same ones."""

from importlib.util import find_spec

from rutter.events.errors import WorldBroken


def require_sdk() -> None:
    """Raises what to do where the SDK is not installed: it is an extra of its own."""
    if find_spec("mcp") is None:
        raise WorldBroken("the MCP SDK is not installed", "run: pip install 'rutter-agent[mcp]'")
