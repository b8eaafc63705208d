"""The streaming service answers every address from one membership, as its switches say."""

from dataclasses import dataclass, replace

from rutter.pipeline.demo_sites.gaffsail.switches import Switches
from rutter.pipeline.demo_sites.gaffsail.wording import (
    PATHS,
    REASONS,
    RECAST,
    page_after,
    page_at,
    path_to,
    word,
)
from rutter.pipeline.demo_sites.request import SiteRequest, SiteResponse, redirect
from rutter.pipeline.demo_sites.site import DemoSite

EMAIL = "bosun@example.com"
DEFAULT_PASSWORD = "reef-knot-4"
# What the redesign moved and still leads to where it was moved.
MOVED = {PATHS[key]: key for key in ("login", "account", "watch")}
# Only for whoever has a membership that can be ended here.
LEAVING = ("leaving", "offer", "survey", "confirm", "failed", "stay", "pause")


@dataclass
class Membership:
    """The membership is what is really so. Not idempotent: what was done twice shows as two."""

    ended: bool = False
    cancelled: int = 0
    offers_taken: int = 0
    paused: int = 0
    restarted: int = 0
    reason: str = ""


class StreamingSite(DemoSite[Switches]):
    """A site is one membership with its state. `with StreamingSite() as site:` serves it."""

    name = "gaffsail"
    title = "Gaffsail"
    package = __package__
    default_password = DEFAULT_PASSWORD
    default_switches = Switches()
    email = EMAIL

    @property
    def membership(self) -> Membership:
        """What is really so, as it is now."""
        with self._lock:
            return replace(self._membership)

    @property
    def cancelled(self) -> int:
        """How many times the membership was really ended."""
        return self.membership.cancelled

    def restore(self) -> None:
        self._membership = Membership()

    def word(self, key: str) -> str:
        return word(key, self._switches)

    def page(self, name: str, status: int = 200, /, **given: object) -> SiteResponse:
        switches = self._switches
        return super().page(
            name,
            status,
            path=lambda key: path_to(key, switches),
            after=lambda key: path_to(page_after(key, switches), switches),
            recast=RECAST.get(switches.relabelled) if switches.recast else None,
            **given,
        )

    def answer(self, request: SiteRequest) -> SiteResponse:
        """Whoever is not signed in is sent to the sign-in, and nobody can leave who has no
        membership of ours."""
        key = page_at(request.path, self._switches)
        if key is None and request.path in MOVED:
            return self._to(MOVED[request.path])
        if key != "login" and not self.is_signed_in(request):
            return self._to("login")
        if request.path == "/" or (key in LEAVING and not self._can_leave):
            return self._to("account")
        answer = self._show(key, request) if request.method == "GET" else self._do(key, request)
        return answer or self.say("Page not found", "There is nothing at this address.", 404)

    @property
    def _active(self) -> bool:
        return not (self._membership.ended or self._switches.already_cancelled)

    @property
    def _can_leave(self) -> bool:
        return self._active and not self._switches.third_party_billing

    def _field(self, request: SiteRequest, name: str) -> str:
        return request.form.get(f"fld_{name}" if self._switches.moved else name, "")

    def _to(self, key: str, token: str | None = None) -> SiteResponse:
        return redirect(path_to(key, self._switches), token)

    def _show(self, key: str | None, request: SiteRequest) -> SiteResponse | None:
        match key:
            case "login":
                return self.page("login", email="", error="")
            case "sign_out":
                self._sessions.close_session(request.token)
                return self._to("login", "")
            case "account":
                return self.page("account", email=self.email, active=self._active)
            case "survey":
                return self.page("survey", reasons=REASONS, error="")
            case "paused" if self._membership.paused:
                text = "It goes on by itself on 14 May 2026. Nothing is charged until then."
                return self.say("Your membership is paused", text)
            case "done" if self._membership.ended:
                return self.page("done")
            case "paused" | "done" | "keep":
                return self._to("account")
            case "leaving" | "offer" | "confirm" | "failed" | "watch":
                return self.page(key)
            case _:
                return None

    def _do(self, key: str | None, request: SiteRequest) -> SiteResponse | None:
        membership = self._membership
        match key:
            case "login":
                return self._sign_in(self._field(request, "email"), request)
            case "stay":
                membership.offers_taken += 1
                return self._to("account")
            case "survey":
                return self._leave_for(self._field(request, "reason"))
            case "confirm" if self._switches.failing:
                return self._to("failed")
            case "confirm":
                membership.ended = True
                membership.cancelled += 1
                return self._to("done")
            case "pause":
                membership.paused += 1
                return self._to("paused")
            case "restart":
                membership.ended = False
                membership.restarted += 1
                return self._to("account")
            case _:
                return None

    def _sign_in(self, email: str, request: SiteRequest) -> SiteResponse:
        if email == self.email and self._field(request, "password") == self.password:
            return self._to("account", self._sessions.open_session())
        return self.page("login", 422, email=email, error="Email or password is wrong.")

    def _leave_for(self, reason: str) -> SiteResponse:
        if reason not in REASONS:
            return self.page("survey", 422, reasons=REASONS, error="Choose a reason to continue.")
        self._membership.reason = reason
        return self._to(page_after("survey", self._switches))
