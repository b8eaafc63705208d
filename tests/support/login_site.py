"""The bundled site renews tokens, shows them and knows who is in, as sites with logins do."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rutter.actors.world.browser.login_state import BrowserState
from rutter.pipeline.demo_sites.chandlery import Site
from rutter.pipeline.demo_sites.request import SiteRequest, SiteResponse
from rutter.pipeline.demo_sites.sign_ins import USER

PASSWORD = "clove hitch & 5 cables"


class LoginSite(Site):
    """A site `renews` its token with every look at the desk, and the one before is worth nothing.
    `shows`: a page says the token that it was asked with. `passes_on`: who is signed in is sent on
    from the sign-in page."""

    def __init__(self) -> None:
        super().__init__(password=PASSWORD)
        self.renews = self.shows = self.passes_on = False
        self.tokens: list[str] = []

    def reset(self) -> None:
        super().reset()
        self.renews = self.shows = self.passes_on = False
        self.tokens.clear()

    def respond(self, request: SiteRequest, target: str) -> SiteResponse:
        known = self._sessions.is_open(request.token)
        if self.passes_on and known and (request.method, request.path) == ("GET", "/login"):
            return SiteResponse(303, location="/desk")
        response = super().respond(request, target)
        if self.renews and known and request.path == "/desk":
            response = replace(response, token=self._renewed(request.token))
        if response.token:
            self.tokens.append(response.token)
        if self.shows and "</h1>" in response.body:
            shown = f"</h1><h2>{request.token}</h2>"
            return replace(response, body=response.body.replace("</h1>", shown, 1))
        return response

    def _renewed(self, token: str) -> str:
        with self._lock:
            self._sessions.close_session(token)
            return self._sessions.open_session()

    @property
    def host(self) -> str:
        return self.base_url.removeprefix("http://")

    @property
    def signed_in(self) -> int:
        """How often somebody typed the password."""
        return self.requests.count(("POST", "/login"))

    def a_login(self) -> BrowserState:
        """What a browser knows of whoever has just signed in."""
        with self._lock:
            token = self._sessions.open_session()
        self.tokens.append(token)
        cookie = {"name": self.cookie_name, "value": token, "domain": "127.0.0.1", "path": "/"}
        more = {"expires": -1, "httpOnly": True, "secure": False, "sameSite": "Lax"}
        return BrowserState(({**cookie, **more},))

    def script(self, *, sign_in: bool, then: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
        """Signs in, or begins at the desk; and clicks these."""
        typed = [("login-user", USER), ("login-password", self.password)]
        steps: list[dict[str, Any]] = [
            {"type": "navigate", "url": f"{self.base_url}/{'login' if sign_in else 'desk'}"},
            *(_step("change", name, value=value) for name, value in typed if sign_in),
            *([_click("login-submit", "Sign in")] if sign_in else []),
            *(_click(*each) for each in then),
        ]
        return {"title": "In", "steps": steps}


def _step(kind: str, name: str, **more: object) -> dict[str, Any]:
    return {"type": kind, "selectors": [[f'[data-testid="{name}"]']], "target": "main", **more}


def _click(name: str, label: str) -> dict[str, Any]:
    step = _step("click", name, offsetX=3, offsetY=3)
    return {**step, "selectors": [[f"aria/{label}"], *step["selectors"]]}
