"""The pages of the streaming service show sign-in, account, and how a membership is ended."""

from html import escape

from rutter.pipeline.demo_sites.gaffsail.view import BRAND, NAME, View
from rutter.pipeline.demo_sites.gaffsail.wording import REASONS, page_after
from rutter.pipeline.demo_sites.markup import mark, text_input

PLAN = "Standard, two screens"
PRICE = "11.99 EUR a month"
PAID_UNTIL = "14 April 2026"
PARTNER = "Harbour Mobile"


def login_page(view: View, email: str = "", error: str = "") -> str:
    alert = f'<div class="alert" role="alert">{escape(error)}</div>' if error else ""
    email_field = text_input(
        "login-email",
        view.word("email"),
        "email",
        email,
        f'name="{view.field_name("email")}" autocomplete="username"',
    )
    password_field = text_input(
        "login-password",
        "Password",
        "password",
        "",
        f'name="{view.field_name("password")}" autocomplete="current-password"',
    )
    title = view.word("login_title")
    button = (
        f'<button {mark("login-submit")} class="button primary">{view.word("sign_in")}</button>'
    )
    return view.document(
        title,
        f'<main class="gate" id="content">{BRAND}<div class="card">{view.heading(title)}{alert}'
        f'<form method="post" action="{view.path("login")}">{email_field}{password_field}{button}'
        "</form></div></main>",
    )


def account_page(view: View, email: str, *, active: bool) -> str:
    if view.switches.third_party_billing:
        membership = _billed_by_partner(view)
    else:
        membership = _running(view) if active else _ended(view)
    blocks = [
        f'<section class="card" aria-label="Membership"><h2>Membership</h2>{membership}</section>',
        f'<section class="card" aria-label="Sign-in"><h2>Sign-in</h2>'
        f"{view.facts({'Email': email})}</section>",
    ]
    if view.switches.look_alikes:
        blocks.insert(0, _look_alikes(view, active=active))
    overlay = _overlay() if view.switches.overlay else ""
    return view.page(
        view.word("account_title"), view.word("account_heading"), *blocks, *filter(None, [overlay])
    )


def _running(view: View) -> str:
    facts = {"Plan": PLAN, "Status": "Active", "Price": PRICE, "Next payment": PAID_UNTIL}
    cancel = view.way(
        "cancel-membership", view.word("cancel"), page_after("account", view.switches)
    )
    return view.facts(facts) + view.actions(cancel)


def _ended(view: View) -> str:
    facts = {"Plan": PLAN, "Status": "Cancelled"}
    said = f"Your membership was cancelled. You can watch until {PAID_UNTIL}."
    restart = view.send("restart-membership", "Restart membership", "restart", primary=True)
    return f"<p>{said}</p>{view.facts(facts)}{view.actions(restart)}"


def _billed_by_partner(view: View) -> str:
    facts = {"Plan": PLAN, "Status": "Active", "Billing": f"Billed through {PARTNER}"}
    said = (
        f"Your membership is billed through our partner {PARTNER}. It cannot be cancelled here: "
        f"to change or cancel it, contact {PARTNER}."
    )
    return f"<h3>Billed through {PARTNER}</h3><p>{said}</p>{view.facts(facts)}"


def _look_alikes(view: View, *, active: bool) -> str:
    pause = view.send("pause-membership", "Pause membership", "pause")
    return (
        '<section class="card" aria-label="Profile"><h2>Profile and downloads</h2>'
        "<p>One film is being downloaded. Your profile has changes that are not saved.</p>"
        + view.actions(
            view.idle("cancel-changes", "Cancel changes"),
            view.idle("cancel-download", "Cancel download"),
            *([pause] if active else []),
        )
        + "</section>"
    )


def _overlay() -> str:
    return (
        '<div class="overlay" role="dialog" aria-modal="true" aria-label="Before you go">'
        '<div class="consent"><h2>Before you go</h2>'
        "<p>A new season of Slack Water is out on Friday.</p>"
        f'<button type="button" class="button" {mark("overlay-close")} '
        "onclick=\"this.closest('[role=dialog]').remove()\">Close</button></div></div>"
    )


def leaving_page(view: View) -> str:
    """The page more that the redesign has."""
    text = "Four films on your list and two series that you have begun."
    return view.page(
        view.word("leaving_title"),
        view.word("leaving_heading"),
        f'<p class="lead">{text}</p>',
        view.actions(
            view.way("stay-here", "I want to stay", "keep", primary=True),
            view.way("leave", view.word("leave"), page_after("leaving", view.switches)),
        ),
    )


def offer_page(view: View) -> str:
    decline = view.way("decline-offer", view.word("decline"), page_after("offer", view.switches))
    watch_on = view.way("continue-watching", "Continue watching", "watch")
    return view.page(
        view.word("offer_title"),
        view.word("offer_heading"),
        f'<p class="lead">{view.word("offer_text")}</p>',
        view.actions(
            view.send("accept-offer", view.word("accept"), "stay", primary=True),
            view.send("pause-instead", view.word("pause_instead"), "pause"),
            *([watch_on] if view.switches.look_alikes else []),
            decline,
        ),
    )


def survey_page(view: View, error: str = "") -> str:
    alert = f'<div class="alert" role="alert">{escape(error)}</div>' if error else ""
    later = view.idle("continue-later", "Continue later") if view.switches.look_alikes else ""
    button = f'<button class="button primary" {mark("survey-continue")}>{view.word("continue")}'
    return view.page(
        view.word("survey_title"),
        view.word("survey_heading"),
        f'<p class="lead">Your answer helps us to do better.</p>{alert}',
        f'<form class="card" method="post" action="{view.path("survey")}">'
        f"{view.choice(view.word('reason'), 'reason', REASONS)}"
        f'<div class="actions">{later}{button}</button></div></form>',
    )


def confirm_page(view: View) -> str:
    profile = view.idle("finish-profile", "Finish profile")
    return view.page(
        view.word("confirm_title"),
        view.word("confirm_heading"),
        f'<p class="lead">Your membership ends on {PAID_UNTIL}. After that you lose access to '
        "your list and your downloads.</p>",
        view.actions(
            *([profile] if view.switches.look_alikes else []),
            view.send("finish-cancellation", view.word("finish"), "confirm", primary=True),
            view.way("keep-membership", view.word("keep"), "keep"),
        ),
    )


def done_page(view: View) -> str:
    return view.page(
        view.word("done_title"),
        view.word("done_heading"),
        f'<p class="lead" role="status">You can watch until {PAID_UNTIL}. '
        "We have sent you a confirmation by email.</p>",
        view.actions(view.send("restart-membership", "Restart membership", "restart")),
    )


def failed_page(view: View) -> str:
    return view.page(
        "Something went wrong",
        "Something went wrong",
        '<div class="alert" role="alert">We were unable to cancel your membership. '
        "Please try again later.</div>",
    )


def message_page(view: View, title: str, text: str) -> str:
    return view.page(title, title, f'<p class="lead" role="status">{escape(text)}</p>')


def watch_page(view: View) -> str:
    return view.page(
        "Films and series",
        "Films and series",
        f'<section class="card"><h2>New on {NAME}</h2><p>Slack Water and The Pilot Boat.</p>'
        "</section>",
    )
