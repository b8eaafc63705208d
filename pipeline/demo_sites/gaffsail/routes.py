"""Routes make an answer of a request to the streaming service. No I/O here."""

from collections.abc import Callable
from dataclasses import dataclass

import rutter.pipeline.demo_sites.gaffsail.pages as pages
from rutter.pipeline.demo_sites.gaffsail.switches import Switches
from rutter.pipeline.demo_sites.gaffsail.view import View
from rutter.pipeline.demo_sites.gaffsail.wording import PATHS, REASONS, page_after, page_at
from rutter.pipeline.demo_sites.request import Request, Response
from rutter.pipeline.demo_sites.sign_ins import Sessions

# What the redesign moved and still leads to where it was moved.
MOVED = ("login", "account", "watch")


@dataclass
class Membership:
    """What is really so. Deliberately not idempotent: what was done twice shows as two."""

    ended: bool = False
    cancelled: int = 0
    offers_taken: int = 0
    paused: int = 0
    restarted: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Call:
    """One request with all that a handler may look at and change."""

    request: Request
    membership: Membership
    sessions: Sessions
    switches: Switches
    email: str
    password: str

    @property
    def view(self) -> View:
        return View(self.switches)

    @property
    def active(self) -> bool:
        return not (self.membership.ended or self.switches.already_cancelled)

    def field(self, name: str) -> str:
        return self.request.form.get(self.view.field_name(name), "")

    def to(self, key: str, token: str | None = None) -> Response:
        return Response(303, location=self.view.path(key), token=token)


Handler = Callable[[Call], Response]


def answer(call: Call) -> Response:
    """The one way in: whoever is not signed in is sent to the sign-in, and nobody can leave who
    has no membership of ours."""
    path = call.request.path
    if path == "/favicon.ico":
        return Response(204)
    key = page_at(path, call.switches)
    if key is None and path in [PATHS[each] for each in MOVED]:
        return call.to(next(each for each in MOVED if PATHS[each] == path))
    if key != "login" and not call.sessions.is_open(call.request.token):
        return call.to("login")
    if path == "/" or (key in LEAVING and not _can_leave(call)):
        return call.to("account")
    handler = ROUTES.get((call.request.method, key or ""))
    if handler is None:
        text = "There is nothing at this address."
        return _page(pages.message_page(call.view, "Page not found", text), 404)
    return handler(call)


def _can_leave(call: Call) -> bool:
    return call.active and not call.switches.third_party_billing


def _page(body: str, status: int = 200) -> Response:
    return Response(status, body, pace="page")


def show_login(call: Call) -> Response:
    return _page(pages.login_page(call.view))


def sign_in(call: Call) -> Response:
    email = call.field("email")
    if email == call.email and call.field("password") == call.password:
        return call.to("account", call.sessions.open_session())
    return _page(pages.login_page(call.view, email, "Email or password is wrong."), 422)


def sign_out(call: Call) -> Response:
    call.sessions.close_session(call.request.token)
    return call.to("login", "")


def show_account(call: Call) -> Response:
    return _page(pages.account_page(call.view, call.email, active=call.active))


def show_leaving(call: Call) -> Response:
    return _page(pages.leaving_page(call.view))


def show_offer(call: Call) -> Response:
    return _page(pages.offer_page(call.view))


def take_offer(call: Call) -> Response:
    call.membership.offers_taken += 1
    return call.to("account")


def show_survey(call: Call) -> Response:
    return _page(pages.survey_page(call.view))


def answer_survey(call: Call) -> Response:
    if call.field("reason") not in REASONS:
        return _page(pages.survey_page(call.view, "Choose a reason to continue."), 422)
    call.membership.reason = call.field("reason")
    return call.to(page_after("survey", call.switches))


def show_confirm(call: Call) -> Response:
    return _page(pages.confirm_page(call.view))


def finish(call: Call) -> Response:
    if call.switches.failing:
        return call.to("failed")
    call.membership.ended = True
    call.membership.cancelled += 1
    return call.to("done")


def show_failed(call: Call) -> Response:
    return _page(pages.failed_page(call.view))


def show_done(call: Call) -> Response:
    return _page(pages.done_page(call.view)) if call.membership.ended else call.to("account")


def keep(call: Call) -> Response:
    return call.to("account")


def pause(call: Call) -> Response:
    call.membership.paused += 1
    return call.to("paused")


def show_paused(call: Call) -> Response:
    if not call.membership.paused:
        return call.to("account")
    text = "It goes on by itself on 14 May 2026. Nothing is charged until then."
    return _page(pages.message_page(call.view, "Your membership is paused", text))


def restart(call: Call) -> Response:
    call.membership.ended = False
    call.membership.restarted += 1
    return call.to("account")


def show_films(call: Call) -> Response:
    return _page(pages.watch_page(call.view))


# Only for whoever has a membership that can be ended here.
LEAVING = ("leaving", "offer", "survey", "confirm", "failed", "stay", "pause")
ROUTES: dict[tuple[str, str], Handler] = {
    ("GET", "login"): show_login,
    ("POST", "login"): sign_in,
    ("GET", "sign_out"): sign_out,
    ("GET", "account"): show_account,
    ("GET", "leaving"): show_leaving,
    ("GET", "offer"): show_offer,
    ("POST", "stay"): take_offer,
    ("GET", "survey"): show_survey,
    ("POST", "survey"): answer_survey,
    ("GET", "confirm"): show_confirm,
    ("POST", "confirm"): finish,
    ("GET", "failed"): show_failed,
    ("GET", "done"): show_done,
    ("GET", "keep"): keep,
    ("POST", "pause"): pause,
    ("GET", "paused"): show_paused,
    ("POST", "restart"): restart,
    ("GET", "watch"): show_films,
}
