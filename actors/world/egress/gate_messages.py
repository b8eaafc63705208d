"""The gate and its proxy talk in JSON, a line each, over the proxy's own pipes."""

from typing import NamedTuple

import msgspec

from rutter.actors.world.egress.company_proxy import CompanyProxy
from rutter.events.policy import Policy


class Blocked(NamedTuple):
    """The proxy blocked this; it is counted apart."""

    host: str
    port: int
    rule: str
    reason: str


MAX_KINDS = 50  # of what was refused, kept apart; a page can cause them without end
OTHERS = Blocked("", 0, "others", "more than are told apart")


class OpenPort(msgspec.Struct, frozen=True, tag="open"):
    """The gate has a port opened. `barred`: ports of this machine that no policy opens; `through`:
    by whom what is not of this machine is reached."""

    number: int
    policy: Policy
    barred: tuple[int, ...] = ()
    through: CompanyProxy | None = None


class AskCounts(msgspec.Struct, frozen=True, tag="ask"):
    """The gate asks for the counts until now; all that was refused is told before the answer."""

    number: int
    port: int


class ClosePort(msgspec.Struct, frozen=True, tag="close"):
    number: int
    port: int


class EndKept(msgspec.Struct, frozen=True, tag="end_kept"):
    """The gate has the connections ended that are kept by TLS for a next request."""

    number: int
    port: int


class PortOpened(msgspec.Struct, frozen=True, tag="opened"):
    number: int
    port: int


class ContactCounts(msgspec.Struct, frozen=True, tag="counts"):
    """The proxy counts requests by the host they reached; `others` were too many to name. Those of
    `by_name` were judged by their names alone."""

    number: int
    contacts: list[tuple[str, int, int]] = []
    others: int = 0
    by_name: list[tuple[str, int]] = []


class OrderFailed(msgspec.Struct, frozen=True, tag="failed"):
    """The proxy cannot obey now, as when this machine has no more ports or files to give."""

    number: int
    why: str


class RefusedRequests(msgspec.Struct, frozen=True, tag="refused"):
    """The proxy tells unasked what it refused at this port since it last told, and what was not
    there, in the browser's own words for why."""

    port: int
    blocked: list[tuple[Blocked, int]]
    failed: list[tuple[str, int, str]] = []


Order = OpenPort | AskCounts | ClosePort | EndKept
Report = PortOpened | ContactCounts | OrderFailed | RefusedRequests

read_order = msgspec.json.Decoder(Order).decode
read_report = msgspec.json.Decoder(Report).decode


def line(message: Order | Report) -> bytes:
    return msgspec.json.encode(message) + b"\n"
