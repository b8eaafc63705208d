"""The shop serves one store, its sessions and its switches. No pages here."""

from rutter.pipeline.demo_sites.chandlery.routes import Call, answer
from rutter.pipeline.demo_sites.chandlery.seed import open_store
from rutter.pipeline.demo_sites.chandlery.store import Order
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from rutter.pipeline.demo_sites.loopback import Loopback
from rutter.pipeline.demo_sites.request import Request, Response
from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD, Sessions


class Site(Loopback):
    """One shop with its own state. `with Site() as site:` serves it for that long."""

    name = "chandlery"

    def __init__(
        self,
        *,
        password: str = DEFAULT_PASSWORD,
        port: int = 0,
        switches: Switches | None = None,
    ) -> None:
        super().__init__(port)
        self.password = password
        self._first_switches = switches or Switches()
        self._switches = self._first_switches
        self._sessions = Sessions(password)
        self._store = open_store()

    @property
    def switches(self) -> Switches:
        return self._switches

    @switches.setter
    def switches(self, switches: Switches) -> None:
        with self._lock:
            self._switches = switches
            if switches.expired_login:
                self._sessions.clear()

    @property
    def orders(self) -> tuple[Order, ...]:
        """What is really stored, the seeded orders first."""
        with self._lock:
            return tuple(self._store.orders)

    def expire_sessions(self) -> None:
        """Everybody must sign in again, and can."""
        with self._lock:
            self._sessions.clear()

    def reset(self) -> None:
        """As after construction: seeded state, first switches, nobody signed in."""
        with self._lock:
            self._store = open_store()
            self._sessions.clear()
            self._requests.clear()
            self._switches = self._first_switches

    def answer(self, request: Request) -> tuple[Response, int]:
        call = Call(request, self._store, self._sessions, self._switches, self.password)
        response = answer(call)
        delays_ms = {"page": self._switches.slow_ms, "estimate": self._switches.slow_estimate_ms}
        return response, delays_ms.get(response.pace, 0)
