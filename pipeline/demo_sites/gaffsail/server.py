"""The streaming service serves one membership, its sessions and its switches. No pages here."""

from dataclasses import replace

from rutter.pipeline.demo_sites.gaffsail.routes import Call, Membership, answer
from rutter.pipeline.demo_sites.gaffsail.switches import Switches
from rutter.pipeline.demo_sites.loopback import Loopback
from rutter.pipeline.demo_sites.request import Request, Response
from rutter.pipeline.demo_sites.sign_ins import Sessions

EMAIL = "bosun@example.com"
DEFAULT_PASSWORD = "reef-knot-4"


class StreamingSite(Loopback):
    """One membership with its own state. `with StreamingSite() as site:` serves it so long."""

    name = "gaffsail"

    def __init__(
        self,
        *,
        password: str = DEFAULT_PASSWORD,
        email: str = EMAIL,
        port: int = 0,
        switches: Switches | None = None,
    ) -> None:
        super().__init__(port)
        self.email = email
        self.password = password
        self._first_switches = switches or Switches()
        self._switches = self._first_switches
        self._sessions = Sessions(password)
        self._membership = Membership()

    @property
    def switches(self) -> Switches:
        return self._switches

    @switches.setter
    def switches(self, switches: Switches) -> None:
        with self._lock:
            self._switches = switches

    @property
    def membership(self) -> Membership:
        """What is really so, as it is now."""
        with self._lock:
            return replace(self._membership)

    @property
    def cancelled(self) -> int:
        """How many times the membership was really ended."""
        return self.membership.cancelled

    def expire_sessions(self) -> None:
        """Everybody must sign in again, and can."""
        with self._lock:
            self._sessions.clear()

    def reset(self) -> None:
        """As after construction: a membership that runs, first switches, nobody signed in."""
        with self._lock:
            self._membership = Membership()
            self._sessions.clear()
            self._requests.clear()
            self._switches = self._first_switches

    def answer(self, request: Request) -> tuple[Response, int]:
        call = Call(
            request,
            self._membership,
            self._sessions,
            self._switches,
            self.email,
            self.password,
        )
        response = answer(call)
        return response, self._switches.slow_ms if response.pace == "page" else 0
