"""A demo site knows who is signed in, has switches that change its looks, and fills templates."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from rutter.pipeline.demo_sites.loopback import Loopback
from rutter.pipeline.demo_sites.markup import arrange, rename_marks
from rutter.pipeline.demo_sites.request import SiteRequest, SiteResponse
from rutter.pipeline.demo_sites.sign_ins import SignIns
from rutter.replay.documents.templates import templates


@dataclass(frozen=True)
class SiteSwitches:
    """Switches are what every demo site can be made to do."""

    slow_ms: int = 0
    moved: bool = False
    expired_login: bool = False


SwitchesT = TypeVar("SwitchesT", bound=SiteSwitches)


class DemoSite(Loopback, Generic[SwitchesT]):
    """A demo site has its own state. `with` serves it for that long."""

    title: ClassVar[str]
    package: ClassVar[str]  # its templates are in it
    default_password: ClassVar[str]
    default_switches: SwitchesT

    def __init__(
        self, *, password: str = "", port: int = 0, switches: SwitchesT | None = None
    ) -> None:
        super().__init__(port)
        self.password = password or self.default_password
        self._first_switches = self._switches = switches or self.default_switches
        self._sessions = SignIns(self.password)
        self.restore()

    @property
    def switches(self) -> SwitchesT:
        return self._switches

    @switches.setter
    def switches(self, switches: SwitchesT) -> None:
        with self._lock:
            self._switches = switches
            if switches.expired_login:
                self._sessions.clear()

    def expire_sessions(self) -> None:
        """Everybody must sign in again, and can."""
        with self._lock:
            self._sessions.clear()

    def reset(self) -> None:
        """As after construction: seeded state, first switches, nobody signed in."""
        with self._lock:
            self.restore()
            self._sessions.clear()
            self._requests.clear()
            self._switches = self._first_switches

    def is_signed_in(self, request: SiteRequest) -> bool:
        return not self._switches.expired_login and self._sessions.is_open(request.token)

    def page(self, name: str, status: int = 200, /, **given: object) -> SiteResponse:
        """One of the templates, filled in with what it is given and what all of them know."""
        html = (
            templates(self.package, __package__)
            .get_template(f"{name}.html")
            .render(
                site=self.title,
                switches=self._switches,
                word=self.word,
                arrange=self._arrange,
                **given,
            )
        )
        return SiteResponse(status, self.disguise(html), delay_ms=self._switches.slow_ms)

    def say(self, title: str, text: str, status: int = 200) -> SiteResponse:
        return self.page("message", status, title=title, text=text)

    def disguise(self, html: str) -> str:
        """The page as the switches rename what is on it."""
        return rename_marks(html) if self._switches.moved else html

    def _arrange(self, caller: Callable[[], str]) -> str:
        """What a template puts between `{% call arrange() %}` and its end."""
        return arrange(caller(), moved=self._switches.moved)

    @abstractmethod
    def restore(self) -> None:
        """Everything stored is as it was at first; under the lock, or before it is served."""

    @abstractmethod
    def word(self, key: str) -> str:
        """What a control is called, as the switches are now."""
