"""Given pages as they are seen: which state each is in, and what can and cannot change that."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rutter.actors.rules.pages.page_state import CAREFUL, checkpoint_of, detect, phrases_for
from rutter.actors.rules.pages.state_rules import state_rules
from rutter.events.action import Untrusted
from rutter.events.checks import PageState
from rutter.events.page import Page, PageElement
from rutter.events.run_settings import RunSettings
from rutter.events.service_pack import Checkpoint, Service, Sign, StateRule, Where
from rutter.events.workflow import Criteria, Indicator

Seen = tuple[Page, tuple[str, ...]]
LISTED = phrases_for(RunSettings())
ROLES = {
    "<": ("link", "a"),
    "_": ("textbox", "input"),
    "(": ("radio", "input"),
    "[": ("button", "button"),
}


def shown(sketch: str, *, url: str = "https://tide.example/p/1", links: Iterable[str] = ()) -> Seen:
    """A page, and which of the listed phrases it says: headings and names are visible text too.

    In a sketch the title comes first: `Tide / # heading / <link> / [button] / _field_ / (choice) /
    ! alert / text`.
    """
    title, *parts = sketch.split(" / ")
    alerts = [part[2:] for part in parts if part.startswith("! ")]
    named = [
        *(
            PageElement("heading", Untrusted(part[2:]), "h2")
            for part in parts
            if part.startswith("# ")
        ),
        *(PageElement("link", Untrusted(name), "a") for name in links),
        *(
            PageElement(role, Untrusted(part[1:-1]), tag)
            for first, (role, tag) in ROLES.items()
            for part in parts
            if part.startswith(first)
        ),
    ]
    texts = [part for part in parts if part[:1] not in ROLES and part[:2] not in ("# ", "! ")]
    said = " ".join([*(each.name.text for each in named), *alerts, *texts]).lower()
    page = Page(
        url=url,
        title=Untrusted(title),
        headings=tuple(each.name for each in named if each.role == "heading"),
        alerts=tuple(map(Untrusted, alerts)),
        elements=tuple(named),
    )
    return page, tuple(phrase for phrase in LISTED if phrase in said)


NAV = ("Home", "Browse", "My list", "Account", "Sign out")
FOOTER = ("Help Center", "Terms of Use", "Privacy", "FAQ", "Contact us", "Blog")
VISITOR = ("Home", "Pricing", "Sign in", "Start free trial")

SIGNING_IN = {
    "a form": shown(
        "Sign in - Tide / # Sign in / _Email_ / _Password_ / [Sign in] / <Forgot "
        "password?> / <Sign up now>"
    ),
    "email first": shown(
        "Tide / # Log in to Tide / _Email or phone number_ / [Next] / [Continue with "
        "Google] / <Create account>"
    ),
    "an expired session": shown(
        "Tide / # Your session has expired / [Sign in] / For your security, please sign in again."
    ),
    "a wall before a page": shown(
        "Billing | Tide / # Billing / <Log in> / [Log in] / You must be logged in to view "
        "this page."
    ),
    "a wrong password": shown(
        "Log In / # Welcome back / _Username_ / _Password_ / [Log in] / <Forgot your "
        "password?> / ! Something went wrong. Incorrect password, try again."
    ),
    "a second factor": shown(
        "Two-step verification / # Enter the code / _6-digit code_ / _Trust this device_ / "
        "[Verify] / <Resend code> / We sent a code to +1 *** 22"
    ),
    "a shop's two columns": shown(
        "Login / # Returning customer / # New here? Create an account / _E-mail_ / "
        "_Password_ / [Login] / [Register] / <Forgot password?>"
    ),
    "a choice of accounts": shown(
        "Sign in - Accounts / # Choose an account / [ann@example.com] / [Use another account]"
    ),
    "German": shown(
        "Anmelden | Flut / # Anmelden / _E-Mail_ / _Passwort_ / _Angemeldet bleiben_ / "
        "[Anmelden] / <Passwort vergessen?>"
    ),
    "French": shown(
        "Connexion / # Se connecter / _Adresse e-mail_ / _Mot de passe_ / [Se connecter] / "
        "<Mot de passe oublié ?>"
    ),
    "Spanish": shown(
        "Iniciar sesión / # Inicia sesión / _Correo electrónico_ / _Contraseña_ / [Iniciar "
        "sesión] / <¿Olvidaste tu contraseña?>"
    ),
    "a window over a page": shown(
        "Tide - Watch / # Popular now / # Sign in to continue / _Email_ / _Password_ / "
        "[Log in] / [Close]"
    ),
}

RUNNING = {
    "membership and billing": shown(
        "Account - Tide / # Account / # Membership & Billing / # Plan details / [Cancel "
        "Membership] / <Change plan> / <Update payment method> / <Billing details> / Your "
        "next billing date is 3 June. Premium",
        links=NAV,
    ),
    "a card with status": shown(
        "My subscription / # Your plan / [Manage] / [Cancel plan] / Status: Active. Pro, "
        "$12 a month. Renews on July 1.",
        links=NAV,
    ),
    "no cancel link in sight": shown(
        "Billing settings / # Subscription / # Payment method / [Manage plan] / <View "
        "invoices> / Current plan: Team. Next payment on 4 May: 30 EUR"
    ),
    "a trial": shown(
        "Your account / # Your membership / <Cancel free trial> / <Change plan> / Your "
        "free trial ends on 9 May. After that you will be charged $9."
    ),
    "a box": shown(
        "My account | Box / # My subscription / [Skip a week] / [Cancel subscription] / "
        "Next delivery: Tuesday. Renews automatically every month."
    ),
    "with a pause": shown(
        "Subscription / # Manage your subscription / [Pause subscription] / [Cancel "
        "subscription] / Member since 2019. Next charge: 14.99 on 1 March",
        links=NAV,
    ),
    "German": shown(
        "Mein Konto / # Mitgliedschaft und Rechnung / <Abmelden> / <Tarif wechseln> / "
        "[Mitgliedschaft kündigen] / Nächste Abrechnung am 3. Juni 2026"
    ),
    "French": shown(
        "Mon compte / # Mon abonnement / [Résilier mon abonnement] / <Changer d'offre> / "
        "Prochain paiement le 3 juin"
    ),
    "Spanish": shown(
        "Mi cuenta / # Tu suscripción / [Cancelar suscripción] / <Cambiar de plan> / "
        "Próximo pago: 3 de junio"
    ),
}

ENDED = {
    "ends on a day": shown(
        "Account - Tide / # Account / # Membership & Billing / [Restart Membership] / Your "
        "membership ends on 3 June. You can keep watching until then.",
        links=NAV,
    ),
    "a status": shown(
        "My subscription / # Your plan / [Resubscribe] / <Billing history> / Status: "
        "Canceled. You have access until July 1.",
        links=NAV,
    ),
    "will not renew": shown(
        "Billing / # Subscription / [Reactivate plan] / <Billing history> / <Update "
        "payment method> / Your plan will not renew. Current plan: Pro, expires on 4 May."
    ),
    "no plan any more": shown(
        "Your account / # Membership / [Rejoin] / You don't have an active membership.",
        links=NAV,
    ),
    "a banner": shown(
        "Account / # Account overview / ! Your subscription has been cancelled / [Undo "
        "cancellation] / Access until May 9",
        links=NAV,
    ),
    "expired": shown("Account / # Your subscription has expired / [Renew subscription]", links=NAV),
    "German": shown(
        "Mein Konto / # Dein Abo / [Abo fortsetzen] / Dein Abo wurde gekündigt und endet "
        "am 3. Juni."
    ),
    "French": shown(
        "Mon compte / # Mon abonnement / [Réactiver mon abonnement] / Votre abonnement a "
        "été résilié. Il prend fin le 3 juin."
    ),
    "Spanish": shown(
        "Mi cuenta / # Tu suscripción / [Reactivar suscripción] / Tu suscripción ha sido "
        "cancelada y finaliza el 3 de junio."
    ),
}

BILLED_ELSEWHERE = {
    "Apple": shown(
        "Account / # Account / # Membership & Billing / <Change plan> / You are billed "
        "through Apple. Current plan: Premium. Next billing date 1 May",
        links=NAV,
    ),
    "Google Play": shown(
        "Subscription / # Your subscription / [Go to Google Play] / Your subscription is "
        "managed by Google Play."
    ),
    "a carrier": shown(
        "Billing / # Billing / Tide is part of your package with Beacon Mobile. To make "
        "changes, contact your provider.",
        links=NAV,
    ),
    "a device": shown(
        "Manage plan / # How you pay / [Manage on Roku] / You subscribed through Roku. To "
        "cancel, go to your Roku account.",
        links=NAV,
    ),
    "a partner": shown(
        "Membership / # Billing partner / [Visit partner site] / Your membership is billed "
        "by our partner. We can't cancel it here."
    ),
    "German": shown("Mein Konto / # Abo / <Zu Apple> / Dein Abo wird über Apple abgerechnet."),
    "French": shown("Mon compte / # Abonnement / Votre abonnement est facturé par Apple."),
    "Spanish": shown("Mi cuenta / # Suscripción / Tu plan se factura a través de Google Play."),
}

OFFERS = {
    "before you go": shown(
        "Before you go / # Before you go... here's 50% off / [Accept offer] / [No thanks, "
        "continue to cancel] / Stay and pay half for the next 3 months."
    ),
    "a pause": shown(
        "Cancel - Tide / # How about a break instead? / [Pause for 1 month] / [Continue "
        "cancelling] / Pause your membership for up to three months."
    ),
    "a cheaper plan": shown(
        "Wait! / # Switch to a cheaper plan / [Switch to Basic] / [Keep my plan] / [Cancel anyway]"
    ),
    "plain": shown(
        "Tide / # A special offer just for you / [Claim offer] / [No thanks] / We'd hate "
        "to see you go. Get 30% off your next 6 months if you stay."
    ),
    "what is lost": shown(
        "Cancel membership / # We'd hate to see you go / # Stay and save $20 / [Stay and "
        "save] / [Continue to cancel] / You'll lose access to your lists."
    ),
    "German": shown(
        "Kündigen / # Bevor du gehst: 50 % Rabatt / [Angebot annehmen] / [Trotzdem kündigen]"
    ),
    "French": shown(
        "Résiliation / # Avant de partir : -50 % / [Profiter de l'offre] / [Continuer la "
        "résiliation]"
    ),
    "Spanish": shown(
        "Cancelar / # Antes de irte: 50% de descuento / [Aceptar oferta] / [Continuar con "
        "la cancelación]"
    ),
}

SURVEYS = {
    "reasons": shown(
        "Cancel / # Why are you leaving? / (Too expensive) / (I don't use it enough) / "
        "(Technical issues) / (Other) / [Continue] / [Skip]"
    ),
    "sorry": shown(
        "Tide / # We're sorry to see you go / [Submit] / (I found a better service) / "
        "(Missing features) / (It costs too much) / Please tell us why you're cancelling."
    ),
    "a list to choose from": shown(
        "Cancel subscription / # Tell us why / _Reason for cancelling_ / _Comments_ / "
        "[Next] / [Keep my subscription]"
    ),
    "before you go": shown(
        "Before you go / # Before you go, help us improve / (Not enough content) / (Too "
        "expensive) / (Prefer not to say) / [Finish cancellation] / What's the main reason "
        "for cancelling?"
    ),
    "no heading": shown(
        "Feedback / (Too expensive) / (Switching to another service) / (Other reason) / "
        "[Submit feedback]"
    ),
    "German": shown("Kündigung / # Warum kündigst du? / (Zu teuer) / (Anderer Grund) / [Weiter]"),
    "French": shown(
        "Résiliation / # Pourquoi partez-vous ? / (Trop cher) / (Autre raison) / [Continuer]"
    ),
    "Spanish": shown(
        "Cancelar / # ¿Por qué te vas? / (Demasiado caro) / (Otro motivo) / [Continuar]"
    ),
}

LAST_STEPS = {
    "finish": shown(
        "Cancel your membership / # Finish your cancellation? / [Finish Cancellation] / "
        "[Go Back] / Cancellation will be effective at the end of your billing period."
    ),
    "are you sure": shown(
        "Subscription / # Are you sure you want to cancel? / [Yes, cancel my subscription] "
        "/ [Keep my subscription] / You'll lose access to all your playlists."
    ),
    "a question": shown(
        "Cancel plan / # Cancel your plan? / [Cancel plan] / [Never mind] / If you cancel, "
        "you can use Pro until July 1."
    ),
    "a dialog over the account": shown(
        "Account / # Account / # Membership / # Cancel membership? / [Cancel membership] / "
        "[Confirm cancellation] / [Keep membership] / Next billing date 3 June. Are you "
        "sure?",
        links=NAV,
    ),
    "an order": shown(
        "Checkout / # Review your order / [Place order] / <Edit cart> / Order total: $42. "
        "By placing your order you agree to our terms."
    ),
    "a payment": shown(
        "Payment / # Confirm payment / [Pay $49.99] / [Back] / You will be charged today."
    ),
    "a deletion": shown(
        "Delete account / # Delete your account / _Password_ / [Delete permanently] / "
        "[Cancel] / This action cannot be undone."
    ),
    "typed": shown(
        "Settings / # Are you absolutely sure? / _To confirm, type the name_ / [I "
        "understand, delete this repository] / This can't be undone."
    ),
    "a transfer": shown(
        "Transfer / # Review and confirm / [Confirm transfer] / [Edit] / To: Ann, 100 EUR"
    ),
    "German": shown(
        "Kündigung / # Kündigung bestätigen / [Jetzt kündigen] / [Abbrechen] / Sind Sie "
        "sicher? Das kann nicht rückgängig gemacht werden."
    ),
    "French": shown(
        "Résiliation / # Confirmer la résiliation / [Confirmer la résiliation] / [Retour]"
    ),
    "Spanish": shown("Cancelar / # ¿Seguro que quieres cancelar? / [Sí, cancelar] / [Volver]"),
}

DONE = {
    "cancelled": shown(
        "Cancellation complete / # Cancellation complete / [Back to home] / We've sent a "
        "confirmation email. You won't be charged again."
    ),
    "goodbye": shown(
        "Goodbye / # We're sorry to see you go / <Back to home> / Your subscription has "
        "been cancelled. A confirmation email is on its way."
    ),
    "come back": shown(
        "Done / # You've successfully canceled / [Restart membership] / We've sent you an "
        "email. You have access until June 3."
    ),
    "an order": shown(
        "Thank you / # Thank you for your order! / [Track order] / [Continue shopping] / "
        "Order number 1234. A confirmation email is on its way."
    ),
    "a payment": shown("Payment / # Payment successful / [Download receipt]"),
    "saved": shown("Profile / # Profile / _Name_ / [Save] / ! Your changes have been saved."),
    "a deleted account": shown(
        "Account deleted / # Your account has been deleted / Thanks for being with us."
    ),
    "a request": shown("Support / # Request received / Reference number 12"),
    "German": shown(
        "Bestätigung / # Kündigung bestätigt / Du erhältst eine Bestätigung per E-Mail."
    ),
    "French": shown(
        "Merci / # Résiliation confirmée / Un e-mail de confirmation vous a été envoyé."
    ),
    "Spanish": shown("Listo / # Cancelación confirmada / Te enviamos un correo de confirmación."),
}

WRONG = {
    "something": shown("Error / # Something went wrong / [Try again] / Please try again later."),
    "not found": shown("404 Not Found / # Page not found / <Go home>"),
    "a number": shown(
        "Tide / # 404 / <Go home> / The page you are looking for may have been moved."
    ),
    "a server": shown("500 Internal Server Error / # Internal Server Error"),
    "a declined card": shown(
        "Checkout / # Payment declined / [Try another card] / Your card was declined."
    ),
    "declined above the form": shown(
        "Checkout / # Review your order / [Place order] / ! Your card was declined. Use a "
        "different card. / Order total"
    ),
    "not cancelled": shown(
        "Cancel / # We couldn't cancel your subscription / [Try again] / [Contact support] "
        "/ There was a problem. Your subscription has not been cancelled."
    ),
    "down": shown("Tide / # Service unavailable / We are down for maintenance."),
    "forbidden": shown(
        "403 Forbidden / # Access denied / You don't have permission to access this page."
    ),
    "oops": shown(
        "Oops! / # Oops! / [Reload] / An unexpected error occurred. Our team has been notified."
    ),
    "German": shown("Fehler / # Etwas ist schiefgelaufen / [Erneut versuchen]"),
    "French": shown("Erreur / # Une erreur est survenue / [Réessayer]"),
    "Spanish": shown("Error / # Algo salió mal / [Reintentar]"),
}

NEITHER = {
    "a home page": shown(
        "Tide - Films and shows / # Unlimited films / # 50% off for 3 months / _Email_ / "
        "[Get started] / [Claim offer] / Cancel anytime.",
        links=(*VISITOR, *FOOTER),
    ),
    "a home page with a call": shown(
        "Tide / # Watch anywhere / <Log in> / <Log in to comment> / [Sign in]"
    ),
    "a post": shown(
        "How to cancel Netflix in 2026 - The Log / # How to cancel your subscription / # "
        "Comments / <Blog insights> / 5 min read. Posted by Ann. Click Finish "
        "Cancellation. If you are billed through Apple, go to Apple. Are you sure?",
        links=VISITOR,
    ),
    "a help article": shown(
        "Cancel your membership | Help Center / # Cancel your membership / # Related "
        "articles / <Sign in> / [Yes] / [No] / _Search_ / Was this article helpful? If you "
        "subscribed through iTunes, cancel there. Your membership ends on the last day."
    ),
    "a product": shown(
        "Blue lamp | Shop / # Blue lamp / # Customer reviews / [Add to cart] / [Buy now] / "
        "<Sign in> / <Cart> / 20% off. Estimated delivery Tuesday"
    ),
    "search results": shown(
        "cancel subscription - Search / # Search results / _Search_ / <How to cancel> / "
        "<Cancel subscription - Tide> / <Sign in>"
    ),
    "a dashboard": shown(
        "Dashboard / # Welcome, Ann / # Recent activity / [New project]",
        links=NAV,
    ),
    "prices": shown(
        "Pricing / # Choose your plan / [Start free trial] / [Subscribe] / Renews "
        "automatically. Cancel anytime.",
        links=VISITOR,
    ),
    "signing up": shown(
        "Sign up / # Create your account / _Email_ / _Password_ / <Log in> / [Sign up] / "
        "[Continue with Google]"
    ),
    "settings": shown(
        "Settings / # Account settings / # Danger zone / _Name_ / _Email_ / [Save] / "
        "[Delete account] / Deleting your account cannot be undone.",
        links=NAV,
    ),
    "a changed password": shown(
        "Security / # Change password / [Save] / _Current password_ / _New password_ / "
        "_Confirm password_"
    ),
    "a satisfaction survey": shown(
        "Survey / # How likely are you to recommend us? / (1) / (2) / (3) / [Submit]"
    ),
    "orders": shown(
        "Your orders / # Your orders / # Order history / <Track order> / <View order> / "
        "Order number 12. Delivered. Order number 13. Cancelled on 3 May"
    ),
    "a cart": shown("Cart / # Your cart / [Checkout] / [Remove] / Subtotal"),
    "a player": shown("Watching: The Sea / [Pause] / [Play] / [Full screen]"),
    "terms": shown(
        "Terms of Service / # Terms of Service / # Cancellation / # Billing / Your "
        "subscription renews automatically. If you cancel, you will lose access.",
        links=FOOTER,
    ),
    "mail": shown(
        "Inbox (3) / # Inbox / <Your subscription has been cancelled> / <Order confirmed>"
    ),
    "a newspaper": shown(
        "The Log - News / # Minister: we couldn't do more / # Rail: talks have failed",
        links=VISITOR,
    ),
}

# The same in words of their own: a gift, a permit, a line; stopped, left, released.
OTHER_WORDS: dict[PageState, dict[str, tuple[Page, tuple[str, ...]]]] = {
    "LOGIN_REQUIRED": {
        "a customer number": shown(
            "Portal / # Customer area / _Customer number_ / _PIN_ / [Enter]"
        ),
        "a link by mail": shown("Tide / # We sent you a link / [Send it again]"),
        "a newspaper that signed its reader out": shown(
            "The Log / # You have been signed out / # Most read / [Sign in again] / "
            "_Search the Log_ / <Bridge repairs last until the spring> / <The baker who "
            "feeds a whole valley> / <Why our rivers still run brown>"
        ),
    },
    "ACCOUNT_ACTIVE": {
        "a gift": shown(
            "Giving / # Your monthly gift / [Change amount] / [Stop my gift] / <Sign out> "
            "/ 10 on the 1st of every month."
        ),
        "a fee": shown(
            "Mi área / # Tu cuota / [Darme de baja] / <Cerrar sesión> / Cuota mensual 12 "
            "€. Próximo recibo: 1 de junio"
        ),
    },
    "ACCOUNT_CANCELLED": {
        "stopped": shown(
            "Magazine / # My subscription / [Start again] / <Log out> / Your subscription "
            "was stopped on 2 May."
        ),
        "taken back": shown(
            "Mein Abo / # Mein Abo / [Kündigung zurückziehen] / <Abmelden> / Gekündigt. Du "
            "kannst es noch bis 3. Juni nutzen."
        ),
    },
    "THIRD_PARTY_BILLING": {
        "a phone bill": shown(
            "Plan / # Your plan / You pay for Tide on your Beacon phone bill.",
            links=NAV,
        ),
        "an employer": shown(
            "Membership / # Membership / Your employer provides this membership.",
            links=NAV,
        ),
        "a provider": shown(
            "Abonnement / # Votre abonnement / <Déconnexion> / Adressez-vous à votre "
            "fournisseur pour le résilier."
        ),
    },
    "RETENTION_OFFER": {
        "half price": shown(
            "Leaving? / # Could we tempt you with three months at half price? / [Yes "
            "please] / [No, carry on leaving]"
        ),
        "a pause": shown(
            "Résilier / # Et si vous faisiez une pause ? / [Suspendre] / [Je veux résilier]"
        ),
    },
    "EXIT_SURVEY": {
        "one word each": shown(
            "Baja / # Antes de nada, ¿qué ha pasado? / (Precio) / (Mudanza) / (Servicio) / "
            "(Otro) / [Siguiente]"
        ),
        "of an account": shown(
            "Delete account / # Why do you want to delete your account? / (Privacy) / (Too "
            "much mail) / (I have two accounts) / [Next] / [Back]"
        ),
    },
    "FINAL_CONFIRMATION": {
        "a gift": shown("Stop gift / # Stop your monthly gift? / [Stop my gift] / [Keep giving]"),
        "a summary": shown("Résiliation / # Récapitulatif / [Valider ma demande] / [Retour]"),
        "to be checked": shown(
            "Kündigung prüfen / # Kündigung prüfen und bestätigen / _Ich möchte den "
            "Vertrag verbindlich kündigen._ / [Jetzt kündigen] / <Zurück, Vertrag "
            "behalten>"
        ),
    },
    "COMPLETE": {
        "a permit": shown(
            "Parking / # Your permit has ended / <Back to permits> / Reference PK-22. We "
            "have emailed you a receipt."
        ),
        "with what to do before one goes": shown(
            "Leaving Tide / # That's all sorted / # Before you leave us / <Print a returns "
            "label> / We have cancelled your contract. We've sent a text and an email to "
            "confirm."
        ),
        "German": shown(
            "Vielen Dank / # Wir haben Ihre Kündigung erhalten / <Zur Übersicht> / Sie "
            "erhalten in Kürze eine E-Mail."
        ),
    },
    "FAILED": {
        "not submitted": shown(
            "Panel / # Request cancellation / <Return to services> / Error: your request "
            "was not submitted."
        ),
        "German": shown(
            "Spende / # Spende beenden / <Zurück> / Ihre Anfrage konnte nicht gesendet werden."
        ),
        "a bank that refused, under the form": shown(
            "Checkout / # Payment / _Card number_ / [Pay £12] / Your bank did not approve "
            "this payment. Nothing was taken."
        ),
    },
    "UNKNOWN": {
        "a thread": shown(
            "Error 500 after upgrade / # Error 500 after upgrade / <Log in> / Something "
            "went wrong, try again later. I cancelled it. 3 days ago",
            links=("Like", "Reply") * 4,
        ),
        "results": shown(
            "cancel subscription / # Your subscription has been cancelled: what now? / "
            "_Search the web_ / [Search] / <Your subscription has been cancelled: what "
            "now?> / <Billed through Apple? How to end it> / <Ten gyms that make it hard "
            "to leave> / You are billed through Apple. Why are you leaving? Before you go"
        ),
        "a review": shown(
            "Review / # Write a review / (1) / (2) / (3) / [Submit review] / [Cancel]",
            links=NAV,
        ),
        "a policy on privacy": shown(
            "Datenschutz / # Datenschutzerklärung / # Ihre Rechte / # Löschung / # Kontakt "
            "/ <Anmelden> / Daten werden unwiderruflich gelöscht. Sie können kündigen."
        ),
    },
}

PAGES: dict[PageState, dict[str, tuple[Page, tuple[str, ...]]]] = {
    "LOGIN_REQUIRED": SIGNING_IN,
    "ACCOUNT_ACTIVE": RUNNING,
    "ACCOUNT_CANCELLED": ENDED,
    "THIRD_PARTY_BILLING": BILLED_ELSEWHERE,
    "RETENTION_OFFER": OFFERS,
    "EXIT_SURVEY": SURVEYS,
    "FINAL_CONFIRMATION": LAST_STEPS,
    "COMPLETE": DONE,
    "FAILED": WRONG,
    "UNKNOWN": NEITHER,
}
CASES = [
    (state, what, *seen)
    for state, pages in (*PAGES.items(), *OTHER_WORDS.items())
    for what, seen in pages.items()
]


def test_a_page_is_in_the_state_that_a_person_would_say() -> None:
    for state, what, page, phrases in CASES:
        assert detect(page, phrases) == state, what


# ---- nothing loaded, and what the browser shows of its own --------------------------------------


@pytest.mark.parametrize("url", ["about:blank", "", "chrome://newtab/"])
def test_where_nothing_was_loaded_is_the_start(url: str) -> None:
    assert detect(Page(url), ()) == "START"


def test_a_page_that_shows_nothing_is_no_start() -> None:
    assert detect(Page("https://tide.example/"), ()) == "UNKNOWN"


def test_an_error_of_the_browser_is_a_failure() -> None:
    assert detect(Page("chrome-error://chromewebdata/"), ()) == "FAILED"


# ---- what changes nothing, on any page ----------------------------------------------------------

words = st.sampled_from(
    ["Sign in", "cancel", "why are you leaving", "404", "#", "\u2019", "ß", "", "é"]
)
texts = st.builds(Untrusted, st.one_of(st.text(max_size=40), words))
roles = st.sampled_from(
    ["button", "link", "textbox", "radio", "heading", "generic", "nonsense", ""]
)
elements = st.builds(PageElement, role=roles, name=texts)
pages = st.builds(
    Page,
    url=st.one_of(st.text(max_size=60), st.just("https://a.example/%ff/cancel?x=%zz#/y")),
    title=texts,
    headings=st.lists(texts, max_size=4).map(tuple),
    alerts=st.lists(texts, max_size=3).map(tuple),
    elements=st.lists(elements, max_size=8).map(tuple),
)
phrase_lists = st.lists(st.one_of(st.sampled_from(LISTED), st.text(max_size=20)), max_size=5)
places = st.sampled_from(["url", "title", "heading", "button", "field", "alert", "text"])
signs = st.lists(st.builds(Sign, places, st.one_of(st.text(max_size=20), words)), max_size=3)
rules = st.builds(
    StateRule,
    state=st.sampled_from(CAREFUL),
    signs=signs.map(tuple),
    weight=st.integers(-5, 50),
    unless=signs.map(tuple),
)
services = st.builds(Service, st.just("any"), states=st.lists(rules, max_size=4).map(tuple))


@given(pages, phrase_lists, services)
def test_any_page_has_one_state_the_same_each_time(
    page: Page, phrases: list[str], service: Service
) -> None:
    state = detect(page, phrases, service)
    assert state in CAREFUL
    assert detect(page, tuple(reversed(phrases)), service) == state


@given(pages, phrase_lists, st.randoms(use_true_random=False))
def test_the_order_of_what_is_on_a_page_does_not_matter(
    page: Page, phrases: list[str], dice: random.Random
) -> None:
    mixed = replace(
        page,
        elements=tuple(dice.sample(page.elements, len(page.elements))),
        headings=tuple(dice.sample(page.headings, len(page.headings))),
    )
    assert detect(mixed, phrases) == detect(page, phrases)


def rewritten(page: Page, how: str) -> Page:
    def again(said: Untrusted) -> Untrusted:
        text = said.text.upper() if how == "louder" else said.text.replace(" ", " \n\t ")
        return Untrusted(f"  {text} " if how == "wider" else text)

    return replace(
        page,
        title=again(page.title),
        headings=tuple(map(again, page.headings)),
        alerts=tuple(map(again, page.alerts)),
        elements=tuple(replace(each, name=again(each.name)) for each in page.elements),
    )


@pytest.mark.parametrize("how", ["louder", "wider"])
def test_neither_case_nor_spaces_matter(how: str) -> None:
    for state, what, page, phrases in CASES:
        assert detect(rewritten(page, how), phrases) == state, what


def test_a_host_says_nothing() -> None:
    page, phrases = shown("Tide / # Tide", url="https://login-error.cancel.example/")
    assert detect(page, phrases, _rule("FAILED", Sign("url", "error"))) == "UNKNOWN"


# ---- what a page looks like ---------------------------------------------------------------------


def test_what_running_text_says_counts_less_on_a_page_that_lists_many_things() -> None:
    said = "Your card was declined."
    plain = shown(f"Tide / # Tide / {said}", links=("Home",))
    listing = shown(f"Tide / # Tide / {said}", links=("Home", *["Open"] * 3))
    assert [detect(*plain), detect(*listing)] == ["FAILED", "UNKNOWN"]


def test_links_that_are_headlines_make_a_page_one_to_read() -> None:
    said = "Your card was declined."
    headlines = [f"A {word} that nobody had ever seen" for word in ("ship", "whale", "storm")]
    few = shown(f"Tide / # Tide / {said}", links=headlines[:1])
    many = shown(f"Tide / # Tide / {said}", links=headlines)
    assert [detect(*few), detect(*many)] == ["FAILED", "UNKNOWN"]


def test_a_question_that_cannot_be_answered_is_only_talked_of() -> None:
    asked = shown("Tide / # Are you sure? / [Yes, cancel] / [Go back]")
    told = shown("Tide / # Are you sure? / <Home>")
    assert [detect(*asked), detect(*told)] == ["FINAL_CONFIRMATION", "UNKNOWN"]


def test_the_rule_of_a_service_stands_whatever_the_page_looks_like() -> None:
    page, phrases = shown("Tide / # Ahoy", links=["Open"] * 5)
    assert detect(page, phrases, _rule("COMPLETE", Sign("heading", "ahoy"))) == "COMPLETE"


def test_a_bar_in_the_rule_of_a_service_is_no_choice() -> None:
    page, _ = shown("Account | Tide")
    assert detect(page, (), _rule("COMPLETE", Sign("title", "Account | Tide"))) == "COMPLETE"
    assert detect(page, (), _rule("COMPLETE", Sign("title", "Account | Ebb"))) == "UNKNOWN"


# ---- words --------------------------------------------------------------------------------------


def _rule(
    state: PageState, *signs: Sign, weight: int = 1, unless: tuple[Sign, ...] = ()
) -> Service:
    return Service("tide", states=(StateRule(state, signs, weight, unless),))


@pytest.mark.parametrize(
    ("where", "says", "there"),
    [
        ("heading", "set sail", True),
        ("heading", "SET  SAIL!", True),
        ("heading", "set", True),
        ("heading", "sailing", False),
        ("heading", "et sail", False),
        ("heading", "sail aboard", False),
        ("heading", "# fathoms", True),
        ("heading", "12 fathoms", True),
        ("heading", "# sail", False),
        ("heading", "", False),
        ("heading", "!?", False),
        ("heading", "don't sink", True),
        ("heading", "don\u2019t sink", True),
        ("heading", "航海", True),
        ("button", "aboard", True),
        ("button", "a name", False),
        ("field", "a name", True),
        ("field", "by day", True),
        ("field", "aboard", False),
        ("title", "harbour", True),
        ("alert", "high tide", True),
        ("url", "ship log", True),
        ("url", "größe", True),
        ("url", "sea", False),
    ],
)
def test_a_sign_is_whole_words_in_its_place(where: Where, says: str, there: bool) -> None:
    page, _ = shown(
        "Harbour / # Set sail / # At 12 fathoms / # Don\u2019t sink / # 大航海時代 / "
        "[All aboard] / _A name_ / (By day) / ! High tide",
        url="https://sea.example/ship-log?gr%C3%B6%C3%9Fe=1",
    )
    assert detect(page, (), _rule("COMPLETE", Sign(where, says))) == (
        "COMPLETE" if there else "UNKNOWN"
    )


def test_words_are_not_found_across_two_elements() -> None:
    page, _ = shown("Tide / [Set] / [Sail]")
    assert detect(page, (), _rule("COMPLETE", Sign("button", "set sail"))) == "UNKNOWN"


def test_text_counts_only_if_the_page_was_found_to_say_it() -> None:
    page, _ = shown("Tide / # Under way")
    service = _rule("COMPLETE", Sign("text", "Under  way"))
    assert detect(page, (), service) == "UNKNOWN"
    assert detect(page, ("over board",), service) == "UNKNOWN"
    assert detect(page, ("under way",), service) == "COMPLETE"


# ---- rules of a service -------------------------------------------------------------------------


def test_a_plain_rule_of_a_service_is_enough_for_a_page_that_says_nothing_else() -> None:
    page, phrases = shown("Tide / # Ahoy")
    assert detect(page, phrases) == "UNKNOWN"
    assert detect(page, phrases, _rule("COMPLETE", Sign("heading", "ahoy"))) == "COMPLETE"


def test_a_heavier_rule_of_a_service_outweighs_what_holds_everywhere() -> None:
    page, phrases = SIGNING_IN["a form"]
    light = _rule("ACCOUNT_ACTIVE", Sign("title", "tide"))
    heavy = _rule("ACCOUNT_ACTIVE", Sign("title", "tide"), weight=10)
    assert detect(page, phrases, light) == "LOGIN_REQUIRED"
    assert detect(page, phrases, heavy) == "ACCOUNT_ACTIVE"


def test_every_sign_must_be_there_and_none_that_excludes() -> None:
    both = (Sign("heading", "ahoy"), Sign("button", "aboard"))
    service = _rule("COMPLETE", *both, unless=(Sign("alert", "storm"),))
    one, _ = shown("Tide / # Ahoy")
    two, _ = shown("Tide / # Ahoy / [All aboard]")
    three, _ = shown("Tide / # Ahoy / [All aboard] / ! Storm ahead")
    assert [detect(page, (), service) for page in (one, two, three)] == [
        "UNKNOWN",
        "COMPLETE",
        "UNKNOWN",
    ]


def test_a_rule_without_a_sign_says_nothing() -> None:
    page, _ = shown("Tide / # Ahoy")
    assert detect(page, (), _rule("COMPLETE", weight=100)) == "UNKNOWN"


def test_where_as_much_speaks_for_two_states_it_is_the_one_to_be_careful_with() -> None:
    page, _ = shown("Tide / # Ahoy")
    states: tuple[PageState, ...] = ("COMPLETE", "FINAL_CONFIRMATION", "ACCOUNT_ACTIVE")
    either = tuple(StateRule(state, (Sign("heading", "ahoy"),)) for state in states)
    assert detect(page, (), Service("tide", states=either)) == "FINAL_CONFIRMATION"


# ---- where a person is asked for leave ----------------------------------------------------------

# What the seeds stop at: the title of the last page, or its last button.
BY_TITLE = Checkpoint("the last page", (Sign("title", "finish cancellation"),))
BY_BUTTON = Checkpoint("the last button", (Sign("button", "finish cancellation"),), always=True)
STREAM = Service("stream", checkpoints=(BY_TITLE, BY_BUTTON))


@pytest.mark.parametrize(
    ("seen", "reached"),
    [
        (shown("Finish Cancellation - Stream"), BY_TITLE),
        (shown("Stream / [Go back] / [Finish Cancellation]"), BY_BUTTON),
        (shown("Finish cancellation / [Finish cancellation]"), BY_TITLE),
        (shown("Stream / # Finish cancellation / finish cancellation"), None),
        (shown("Stream / [Finish] / [Cancellation]"), None),
        (shown("Stream / [Cancel membership]"), None),
    ],
)
def test_a_checkpoint_is_reached_where_its_signs_are(
    seen: tuple[Page, tuple[str, ...]], reached: Checkpoint | None
) -> None:
    assert checkpoint_of(*seen, STREAM) == reached


def test_every_sign_of_a_checkpoint_must_be_there() -> None:
    stop = Checkpoint("no refunds", (Sign("button", "confirm"), Sign("text", "No  refunds")))
    service = Service("stream", checkpoints=(stop,))
    page, _ = shown("Stream / [Confirm]")
    assert checkpoint_of(page, (), service) is None
    assert checkpoint_of(page, ("no refunds",), service) == stop
    assert checkpoint_of(page, ("no refunds",), Service("stream")) is None
    assert checkpoint_of(page, ("no refunds",), None) is None
    assert phrases_for(RunSettings(service=service)) == ("no refunds", *LISTED)


# ---- what the page is asked for -----------------------------------------------------------------


def test_every_text_that_is_asked_for_is_listed_once_what_was_stated_first() -> None:
    service = _rule("COMPLETE", Sign("text", "All  ABOARD"), unless=(Sign("text", "don't"),))
    criteria = Criteria(
        success=(Indicator("text", "Ship ahoy"), Indicator("title", "not text")),
        failure=(Indicator("text", "all aboard"),),
    )
    listed = phrases_for(RunSettings(service=service, criteria=criteria))
    assert listed[:4] == ("ship ahoy", "all aboard", "don't", "don\u2019t")
    assert listed[4:] == LISTED
    assert len(set(listed)) == len(listed)
    assert all(phrase == phrase.casefold() and phrase.strip() for phrase in listed)


def test_the_rules_that_hold_everywhere_are_whole() -> None:
    """No empty words, and numbers only where words are counted: text is searched as it stands."""
    used = [sign for rule in state_rules().generic for sign in (*rule.signs, *rule.unless)]
    assert all(sign.says == " ".join(sign.says.split()) != "" for sign in used)
    assert not [sign for sign in used if sign.where == "text" and "#" in sign.says]
    # A browser lowers letters without folding them, so rules keep clear of those that differ.
    assert not [sign for sign in used if sign.where == "text" and sign.says != sign.says.casefold()]
    assert {rule.state for rule in state_rules().generic} == set(CAREFUL) - {"START"}


NO_SIGN_IN = {
    "somebody else is added": shown(
        "Add user | Site administration / # Add user / _Username_ / _Password_ / _Password "
        "confirmation_ / [Save] / [Save and add another]",
        url="https://desk.example/admin/auth/user/add/",
    ),
    "with a role": shown(
        "New member / # New member / _Email_ / _Password_ / (Reader) / (Editor) / [Invite]"
    ),
    "settings that want the password": shown(
        "Profile / # Profile / _First name_ / _Last name_ / _Email_ / _Password_ / [Save changes]"
    ),
    "a password is changed": shown(
        "Password / # Password / _Password_ / _Retype password_ / [Change]"
    ),
    "somebody registers": shown("Join / # Join us / _Email_ / _Password_ / [Create account]"),
}


def test_a_password_among_other_things_is_no_sign_in() -> None:
    for what, (page, phrases) in NO_SIGN_IN.items():
        assert detect(page, phrases) != "LOGIN_REQUIRED", what


def test_one_that_asks_who_it_is_still_is() -> None:
    says_nothing = shown("Tide / # Tide / _Email_ / _Password_ / [Continue]")
    of_a_bank = shown("Tide / # Tide / _Customer number_ / _Branch_ / _PIN_ / [Next]")
    beside = shown("Sign in / # Sign in / _Email_ / _Password_ / [Create account]")
    for page, phrases in (says_nothing, of_a_bank, beside):
        assert detect(page, phrases) == "LOGIN_REQUIRED", page
