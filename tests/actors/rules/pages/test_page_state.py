"""Given pages as they are seen: which state each is in, and what can and cannot change that."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rutter.actors.rules.pages.page_state import (
    CAREFUL,
    checkpoint_of,
    detect,
    phrases_for,
)
from rutter.actors.rules.pages.state_rules import state_rules
from rutter.events.action import Untrusted
from rutter.events.checks import PageState
from rutter.events.page import Element, Page
from rutter.events.run_settings import RunSettings
from rutter.events.service_pack import Checkpoint, Service, Sign, StateRule, Where
from rutter.events.workflow import Criteria, Indicator

LISTED = phrases_for(RunSettings())


def shown(
    title: str = "",
    *headings: str,
    url: str = "https://tide.example/p/1",
    buttons: Iterable[str] = (),
    links: Iterable[str] = (),
    fields: Iterable[str] = (),
    radios: Iterable[str] = (),
    alerts: Iterable[str] = (),
    text: str = "",
) -> tuple[Page, tuple[str, ...]]:
    """A page, and which of the listed phrases it says: headings and names are visible text too."""
    named = [
        *(Element("heading", Untrusted(name), "h2") for name in headings),
        *(Element("link", Untrusted(name), "a") for name in links),
        *(Element("textbox", Untrusted(name), "input") for name in fields),
        *(Element("radio", Untrusted(name), "input") for name in radios),
        *(Element("button", Untrusted(name), "button") for name in buttons),
    ]
    said = " ".join([*headings, *links, *buttons, *fields, *radios, *alerts, text]).lower()
    page = Page(
        url=url,
        title=Untrusted(title),
        headings=tuple(map(Untrusted, headings)),
        alerts=tuple(map(Untrusted, alerts)),
        elements=tuple(named),
    )
    return page, tuple(phrase for phrase in LISTED if phrase in said)


NAV = ("Home", "Browse", "My list", "Account", "Sign out")
FOOTER = ("Help Center", "Terms of Use", "Privacy", "FAQ", "Contact us", "Blog")
VISITOR = ("Home", "Pricing", "Sign in", "Start free trial")

SIGNING_IN = {
    "a form": shown(
        "Sign in - Tide",
        "Sign in",
        fields=("Email", "Password"),
        buttons=("Sign in",),
        links=("Forgot password?", "Sign up now"),
    ),
    "email first": shown(
        "Tide",
        "Log in to Tide",
        fields=("Email or phone number",),
        buttons=("Next", "Continue with Google"),
        links=("Create account",),
    ),
    "an expired session": shown(
        "Tide",
        "Your session has expired",
        buttons=("Sign in",),
        text="For your security, please sign in again.",
    ),
    "a wall before a page": shown(
        "Billing | Tide",
        "Billing",
        links=("Log in",),
        buttons=("Log in",),
        text="You must be logged in to view this page.",
    ),
    "a wrong password": shown(
        "Log In",
        "Welcome back",
        fields=("Username", "Password"),
        buttons=("Log in",),
        links=("Forgot your password?",),
        alerts=("Something went wrong. Incorrect password, try again.",),
    ),
    "a second factor": shown(
        "Two-step verification",
        "Enter the code",
        fields=("6-digit code", "Trust this device"),
        buttons=("Verify",),
        links=("Resend code",),
        text="We sent a code to +1 *** 22",
    ),
    "a shop's two columns": shown(
        "Login",
        "Returning customer",
        "New here? Create an account",
        fields=("E-mail", "Password"),
        buttons=("Login", "Register"),
        links=("Forgot password?",),
    ),
    "a choice of accounts": shown(
        "Sign in - Accounts",
        "Choose an account",
        buttons=("ann@example.com", "Use another account"),
    ),
    "German": shown(
        "Anmelden | Flut",
        "Anmelden",
        fields=("E-Mail", "Passwort", "Angemeldet bleiben"),
        buttons=("Anmelden",),
        links=("Passwort vergessen?",),
    ),
    "French": shown(
        "Connexion",
        "Se connecter",
        fields=("Adresse e-mail", "Mot de passe"),
        buttons=("Se connecter",),
        links=("Mot de passe oublié ?",),
    ),
    "Spanish": shown(
        "Iniciar sesión",
        "Inicia sesión",
        fields=("Correo electrónico", "Contraseña"),
        buttons=("Iniciar sesión",),
        links=("¿Olvidaste tu contraseña?",),
    ),
    "a window over a page": shown(
        "Tide - Watch",
        "Popular now",
        "Sign in to continue",
        fields=("Email", "Password"),
        buttons=("Log in", "Close"),
    ),
}

RUNNING = {
    "membership and billing": shown(
        "Account - Tide",
        "Account",
        "Membership & Billing",
        "Plan details",
        buttons=("Cancel Membership",),
        links=(*NAV, "Change plan", "Update payment method", "Billing details"),
        text="Your next billing date is 3 June. Premium",
    ),
    "a card with status": shown(
        "My subscription",
        "Your plan",
        buttons=("Manage", "Cancel plan"),
        links=NAV,
        text="Status: Active. Pro, $12 a month. Renews on July 1.",
    ),
    "no cancel link in sight": shown(
        "Billing settings",
        "Subscription",
        "Payment method",
        buttons=("Manage plan",),
        text="Current plan: Team. Next payment on 4 May: 30 EUR",
        links=("View invoices",),
    ),
    "a trial": shown(
        "Your account",
        "Your membership",
        links=("Cancel free trial", "Change plan"),
        text="Your free trial ends on 9 May. After that you will be charged $9.",
    ),
    "a box": shown(
        "My account | Box",
        "My subscription",
        buttons=("Skip a week", "Cancel subscription"),
        text="Next delivery: Tuesday. Renews automatically every month.",
    ),
    "with a pause": shown(
        "Subscription",
        "Manage your subscription",
        buttons=("Pause subscription", "Cancel subscription"),
        links=NAV,
        text="Member since 2019. Next charge: 14.99 on 1 March",
    ),
    "German": shown(
        "Mein Konto",
        "Mitgliedschaft und Rechnung",
        links=("Abmelden", "Tarif wechseln"),
        buttons=("Mitgliedschaft kündigen",),
        text="Nächste Abrechnung am 3. Juni 2026",
    ),
    "French": shown(
        "Mon compte",
        "Mon abonnement",
        buttons=("Résilier mon abonnement",),
        text="Prochain paiement le 3 juin",
        links=("Changer d'offre",),
    ),
    "Spanish": shown(
        "Mi cuenta",
        "Tu suscripción",
        buttons=("Cancelar suscripción",),
        text="Próximo pago: 3 de junio",
        links=("Cambiar de plan",),
    ),
}

ENDED = {
    "ends on a day": shown(
        "Account - Tide",
        "Account",
        "Membership & Billing",
        buttons=("Restart Membership",),
        links=NAV,
        text="Your membership ends on 3 June. You can keep watching until then.",
    ),
    "a status": shown(
        "My subscription",
        "Your plan",
        buttons=("Resubscribe",),
        links=(*NAV, "Billing history"),
        text="Status: Canceled. You have access until July 1.",
    ),
    "will not renew": shown(
        "Billing",
        "Subscription",
        buttons=("Reactivate plan",),
        text="Your plan will not renew. Current plan: Pro, expires on 4 May.",
        links=("Billing history", "Update payment method"),
    ),
    "no plan any more": shown(
        "Your account",
        "Membership",
        buttons=("Rejoin",),
        links=NAV,
        text="You don't have an active membership.",
    ),
    "a banner": shown(
        "Account",
        "Account overview",
        alerts=("Your subscription has been cancelled",),
        buttons=("Undo cancellation",),
        links=NAV,
        text="Access until May 9",
    ),
    "expired": shown(
        "Account", "Your subscription has expired", buttons=("Renew subscription",), links=NAV
    ),
    "German": shown(
        "Mein Konto",
        "Dein Abo",
        buttons=("Abo fortsetzen",),
        text="Dein Abo wurde gekündigt und endet am 3. Juni.",
    ),
    "French": shown(
        "Mon compte",
        "Mon abonnement",
        buttons=("Réactiver mon abonnement",),
        text="Votre abonnement a été résilié. Il prend fin le 3 juin.",
    ),
    "Spanish": shown(
        "Mi cuenta",
        "Tu suscripción",
        buttons=("Reactivar suscripción",),
        text="Tu suscripción ha sido cancelada y finaliza el 3 de junio.",
    ),
}

BILLED_ELSEWHERE = {
    "Apple": shown(
        "Account",
        "Account",
        "Membership & Billing",
        links=(*NAV, "Change plan"),
        text="You are billed through Apple. Current plan: Premium. Next billing date 1 May",
    ),
    "Google Play": shown(
        "Subscription",
        "Your subscription",
        buttons=("Go to Google Play",),
        text="Your subscription is managed by Google Play.",
    ),
    "a carrier": shown(
        "Billing",
        "Billing",
        text="Tide is part of your package with Beacon Mobile. "
        "To make changes, contact your provider.",
        links=NAV,
    ),
    "a device": shown(
        "Manage plan",
        "How you pay",
        links=NAV,
        buttons=("Manage on Roku",),
        text="You subscribed through Roku. To cancel, go to your Roku account.",
    ),
    "a partner": shown(
        "Membership",
        "Billing partner",
        buttons=("Visit partner site",),
        text="Your membership is billed by our partner. We can't cancel it here.",
    ),
    "German": shown(
        "Mein Konto", "Abo", text="Dein Abo wird über Apple abgerechnet.", links=("Zu Apple",)
    ),
    "French": shown("Mon compte", "Abonnement", text="Votre abonnement est facturé par Apple."),
    "Spanish": shown(
        "Mi cuenta", "Suscripción", text="Tu plan se factura a través de Google Play."
    ),
}

OFFERS = {
    "before you go": shown(
        "Before you go",
        "Before you go... here's 50% off",
        buttons=("Accept offer", "No thanks, continue to cancel"),
        text="Stay and pay half for the next 3 months.",
    ),
    "a pause": shown(
        "Cancel - Tide",
        "How about a break instead?",
        buttons=("Pause for 1 month", "Continue cancelling"),
        text="Pause your membership for up to three months.",
    ),
    "a cheaper plan": shown(
        "Wait!",
        "Switch to a cheaper plan",
        buttons=("Switch to Basic", "Keep my plan", "Cancel anyway"),
    ),
    "plain": shown(
        "Tide",
        "A special offer just for you",
        buttons=("Claim offer", "No thanks"),
        text="We'd hate to see you go. Get 30% off your next 6 months if you stay.",
    ),
    "what is lost": shown(
        "Cancel membership",
        "We'd hate to see you go",
        "Stay and save $20",
        buttons=("Stay and save", "Continue to cancel"),
        text="You'll lose access to your lists.",
    ),
    "German": shown(
        "Kündigen", "Bevor du gehst: 50 % Rabatt", buttons=("Angebot annehmen", "Trotzdem kündigen")
    ),
    "French": shown(
        "Résiliation",
        "Avant de partir : -50 %",
        buttons=("Profiter de l'offre", "Continuer la résiliation"),
    ),
    "Spanish": shown(
        "Cancelar",
        "Antes de irte: 50% de descuento",
        buttons=("Aceptar oferta", "Continuar con la cancelación"),
    ),
}

SURVEYS = {
    "reasons": shown(
        "Cancel",
        "Why are you leaving?",
        radios=("Too expensive", "I don't use it enough", "Technical issues", "Other"),
        buttons=("Continue", "Skip"),
    ),
    "sorry": shown(
        "Tide",
        "We're sorry to see you go",
        buttons=("Submit",),
        radios=("I found a better service", "Missing features", "It costs too much"),
        text="Please tell us why you're cancelling.",
    ),
    "a list to choose from": shown(
        "Cancel subscription",
        "Tell us why",
        fields=("Reason for cancelling", "Comments"),
        buttons=("Next", "Keep my subscription"),
    ),
    "before you go": shown(
        "Before you go",
        "Before you go, help us improve",
        radios=("Not enough content", "Too expensive", "Prefer not to say"),
        buttons=("Finish cancellation",),
        text="What's the main reason for cancelling?",
    ),
    "no heading": shown(
        "Feedback",
        radios=("Too expensive", "Switching to another service", "Other reason"),
        buttons=("Submit feedback",),
    ),
    "German": shown(
        "Kündigung", "Warum kündigst du?", radios=("Zu teuer", "Anderer Grund"), buttons=("Weiter",)
    ),
    "French": shown(
        "Résiliation",
        "Pourquoi partez-vous ?",
        radios=("Trop cher", "Autre raison"),
        buttons=("Continuer",),
    ),
    "Spanish": shown(
        "Cancelar",
        "¿Por qué te vas?",
        radios=("Demasiado caro", "Otro motivo"),
        buttons=("Continuar",),
    ),
}

LAST_STEPS = {
    "finish": shown(
        "Cancel your membership",
        "Finish your cancellation?",
        buttons=("Finish Cancellation", "Go Back"),
        text="Cancellation will be effective at the end of your billing period.",
    ),
    "are you sure": shown(
        "Subscription",
        "Are you sure you want to cancel?",
        buttons=("Yes, cancel my subscription", "Keep my subscription"),
        text="You'll lose access to all your playlists.",
    ),
    "a question": shown(
        "Cancel plan",
        "Cancel your plan?",
        buttons=("Cancel plan", "Never mind"),
        text="If you cancel, you can use Pro until July 1.",
    ),
    "a dialog over the account": shown(
        "Account",
        "Account",
        "Membership",
        "Cancel membership?",
        text="Next billing date 3 June. Are you sure?",
        buttons=("Cancel membership", "Confirm cancellation", "Keep membership"),
        links=NAV,
    ),
    "an order": shown(
        "Checkout",
        "Review your order",
        buttons=("Place order",),
        links=("Edit cart",),
        text="Order total: $42. By placing your order you agree to our terms.",
    ),
    "a payment": shown(
        "Payment",
        "Confirm payment",
        buttons=("Pay $49.99", "Back"),
        text="You will be charged today.",
    ),
    "a deletion": shown(
        "Delete account",
        "Delete your account",
        fields=("Password",),
        buttons=("Delete permanently", "Cancel"),
        text="This action cannot be undone.",
    ),
    "typed": shown(
        "Settings",
        "Are you absolutely sure?",
        fields=("To confirm, type the name",),
        buttons=("I understand, delete this repository",),
        text="This can't be undone.",
    ),
    "a transfer": shown(
        "Transfer",
        "Review and confirm",
        buttons=("Confirm transfer", "Edit"),
        text="To: Ann, 100 EUR",
    ),
    "German": shown(
        "Kündigung",
        "Kündigung bestätigen",
        buttons=("Jetzt kündigen", "Abbrechen"),
        text="Sind Sie sicher? Das kann nicht rückgängig gemacht werden.",
    ),
    "French": shown(
        "Résiliation", "Confirmer la résiliation", buttons=("Confirmer la résiliation", "Retour")
    ),
    "Spanish": shown(
        "Cancelar", "¿Seguro que quieres cancelar?", buttons=("Sí, cancelar", "Volver")
    ),
}

DONE = {
    "cancelled": shown(
        "Cancellation complete",
        "Cancellation complete",
        text="We've sent a confirmation email. You won't be charged again.",
        buttons=("Back to home",),
    ),
    "goodbye": shown(
        "Goodbye",
        "We're sorry to see you go",
        links=("Back to home",),
        text="Your subscription has been cancelled. A confirmation email is on its way.",
    ),
    "come back": shown(
        "Done",
        "You've successfully canceled",
        buttons=("Restart membership",),
        text="We've sent you an email. You have access until June 3.",
    ),
    "an order": shown(
        "Thank you",
        "Thank you for your order!",
        buttons=("Track order", "Continue shopping"),
        text="Order number 1234. A confirmation email is on its way.",
    ),
    "a payment": shown("Payment", "Payment successful", buttons=("Download receipt",)),
    "saved": shown(
        "Profile",
        "Profile",
        fields=("Name",),
        buttons=("Save",),
        alerts=("Your changes have been saved.",),
    ),
    "a deleted account": shown(
        "Account deleted", "Your account has been deleted", text="Thanks for being with us."
    ),
    "a request": shown("Support", "Request received", text="Reference number 12"),
    "German": shown(
        "Bestätigung", "Kündigung bestätigt", text="Du erhältst eine Bestätigung per E-Mail."
    ),
    "French": shown(
        "Merci", "Résiliation confirmée", text="Un e-mail de confirmation vous a été envoyé."
    ),
    "Spanish": shown(
        "Listo", "Cancelación confirmada", text="Te enviamos un correo de confirmación."
    ),
}

WRONG = {
    "something": shown(
        "Error", "Something went wrong", buttons=("Try again",), text="Please try again later."
    ),
    "not found": shown("404 Not Found", "Page not found", links=("Go home",)),
    "a number": shown(
        "Tide", "404", text="The page you are looking for may have been moved.", links=("Go home",)
    ),
    "a server": shown("500 Internal Server Error", "Internal Server Error"),
    "a declined card": shown(
        "Checkout",
        "Payment declined",
        buttons=("Try another card",),
        text="Your card was declined.",
    ),
    "declined above the form": shown(
        "Checkout",
        "Review your order",
        buttons=("Place order",),
        alerts=("Your card was declined. Use a different card.",),
        text="Order total",
    ),
    "not cancelled": shown(
        "Cancel",
        "We couldn't cancel your subscription",
        buttons=("Try again", "Contact support"),
        text="There was a problem. Your subscription has not been cancelled.",
    ),
    "down": shown("Tide", "Service unavailable", text="We are down for maintenance."),
    "forbidden": shown(
        "403 Forbidden", "Access denied", text="You don't have permission to access this page."
    ),
    "oops": shown(
        "Oops!",
        "Oops!",
        text="An unexpected error occurred. Our team has been notified.",
        buttons=("Reload",),
    ),
    "German": shown("Fehler", "Etwas ist schiefgelaufen", buttons=("Erneut versuchen",)),
    "French": shown("Erreur", "Une erreur est survenue", buttons=("Réessayer",)),
    "Spanish": shown("Error", "Algo salió mal", buttons=("Reintentar",)),
}

NEITHER = {
    "a home page": shown(
        "Tide - Films and shows",
        "Unlimited films",
        "50% off for 3 months",
        links=(*VISITOR, *FOOTER),
        fields=("Email",),
        buttons=("Get started", "Claim offer"),
        text="Cancel anytime.",
    ),
    "a home page with a call": shown(
        "Tide", "Watch anywhere", links=("Log in", "Log in to comment"), buttons=("Sign in",)
    ),
    "a post": shown(
        "How to cancel Netflix in 2026 - The Log",
        "How to cancel your subscription",
        "Comments",
        links=(*VISITOR, "Blog insights"),
        text="5 min read. Posted by Ann. Click Finish Cancellation. "
        "If you are billed through Apple, go to Apple. Are you sure?",
    ),
    "a help article": shown(
        "Cancel your membership | Help Center",
        "Cancel your membership",
        "Related articles",
        links=("Sign in",),
        buttons=("Yes", "No"),
        fields=("Search",),
        text="Was this article helpful? If you subscribed through iTunes, cancel there. "
        "Your membership ends on the last day.",
    ),
    "a product": shown(
        "Blue lamp | Shop",
        "Blue lamp",
        "Customer reviews",
        buttons=("Add to cart", "Buy now"),
        links=("Sign in", "Cart"),
        text="20% off. Estimated delivery Tuesday",
    ),
    "search results": shown(
        "cancel subscription - Search",
        "Search results",
        fields=("Search",),
        links=("How to cancel", "Cancel subscription - Tide", "Sign in"),
    ),
    "a dashboard": shown(
        "Dashboard", "Welcome, Ann", "Recent activity", links=NAV, buttons=("New project",)
    ),
    "prices": shown(
        "Pricing",
        "Choose your plan",
        buttons=("Start free trial", "Subscribe"),
        links=VISITOR,
        text="Renews automatically. Cancel anytime.",
    ),
    "signing up": shown(
        "Sign up",
        "Create your account",
        fields=("Email", "Password"),
        links=("Log in",),
        buttons=("Sign up", "Continue with Google"),
    ),
    "settings": shown(
        "Settings",
        "Account settings",
        "Danger zone",
        fields=("Name", "Email"),
        links=NAV,
        buttons=("Save", "Delete account"),
        text="Deleting your account cannot be undone.",
    ),
    "a changed password": shown(
        "Security",
        "Change password",
        buttons=("Save",),
        fields=("Current password", "New password", "Confirm password"),
    ),
    "a satisfaction survey": shown(
        "Survey", "How likely are you to recommend us?", radios=("1", "2", "3"), buttons=("Submit",)
    ),
    "orders": shown(
        "Your orders",
        "Your orders",
        "Order history",
        links=("Track order", "View order"),
        text="Order number 12. Delivered. Order number 13. Cancelled on 3 May",
    ),
    "a cart": shown("Cart", "Your cart", buttons=("Checkout", "Remove"), text="Subtotal"),
    "a player": shown("Watching: The Sea", buttons=("Pause", "Play", "Full screen")),
    "terms": shown(
        "Terms of Service",
        "Terms of Service",
        "Cancellation",
        "Billing",
        links=FOOTER,
        text="Your subscription renews automatically. If you cancel, you will lose access.",
    ),
    "mail": shown(
        "Inbox (3)", "Inbox", links=("Your subscription has been cancelled", "Order confirmed")
    ),
    "a newspaper": shown(
        "The Log - News", "Minister: we couldn't do more", "Rail: talks have failed", links=VISITOR
    ),
}

# The same in words of their own: a gift, a permit, a line; stopped, left, released.
OTHER_WORDS: dict[PageState, dict[str, tuple[Page, tuple[str, ...]]]] = {
    "LOGIN_REQUIRED": {
        "a customer number": shown(
            "Portal", "Customer area", fields=("Customer number", "PIN"), buttons=("Enter",)
        ),
        "a link by mail": shown("Tide", "We sent you a link", buttons=("Send it again",)),
        "a newspaper that signed its reader out": shown(
            "The Log",
            "You have been signed out",
            "Most read",
            buttons=("Sign in again",),
            fields=("Search the Log",),
            links=(
                "Bridge repairs last until the spring",
                "The baker who feeds a whole valley",
                "Why our rivers still run brown",
            ),
        ),
    },
    "ACCOUNT_ACTIVE": {
        "a gift": shown(
            "Giving",
            "Your monthly gift",
            buttons=("Change amount", "Stop my gift"),
            links=("Sign out",),
            text="10 on the 1st of every month.",
        ),
        "a fee": shown(
            "Mi área",
            "Tu cuota",
            buttons=("Darme de baja",),
            links=("Cerrar sesión",),
            text="Cuota mensual 12 €. Próximo recibo: 1 de junio",
        ),
    },
    "ACCOUNT_CANCELLED": {
        "stopped": shown(
            "Magazine",
            "My subscription",
            buttons=("Start again",),
            links=("Log out",),
            text="Your subscription was stopped on 2 May.",
        ),
        "taken back": shown(
            "Mein Abo",
            "Mein Abo",
            buttons=("Kündigung zurückziehen",),
            links=("Abmelden",),
            text="Gekündigt. Du kannst es noch bis 3. Juni nutzen.",
        ),
    },
    "THIRD_PARTY_BILLING": {
        "a phone bill": shown(
            "Plan", "Your plan", links=NAV, text="You pay for Tide on your Beacon phone bill."
        ),
        "an employer": shown(
            "Membership", "Membership", links=NAV, text="Your employer provides this membership."
        ),
        "a provider": shown(
            "Abonnement",
            "Votre abonnement",
            links=("Déconnexion",),
            text="Adressez-vous à votre fournisseur pour le résilier.",
        ),
    },
    "RETENTION_OFFER": {
        "half price": shown(
            "Leaving?",
            "Could we tempt you with three months at half price?",
            buttons=("Yes please", "No, carry on leaving"),
        ),
        "a pause": shown(
            "Résilier",
            "Et si vous faisiez une pause ?",
            buttons=("Suspendre", "Je veux résilier"),
        ),
    },
    "EXIT_SURVEY": {
        "one word each": shown(
            "Baja",
            "Antes de nada, ¿qué ha pasado?",
            radios=("Precio", "Mudanza", "Servicio", "Otro"),
            buttons=("Siguiente",),
        ),
        "of an account": shown(
            "Delete account",
            "Why do you want to delete your account?",
            radios=("Privacy", "Too much mail", "I have two accounts"),
            buttons=("Next", "Back"),
        ),
    },
    "FINAL_CONFIRMATION": {
        "a gift": shown(
            "Stop gift", "Stop your monthly gift?", buttons=("Stop my gift", "Keep giving")
        ),
        "a summary": shown(
            "Résiliation", "Récapitulatif", buttons=("Valider ma demande", "Retour")
        ),
        "to be checked": shown(
            "Kündigung prüfen",
            "Kündigung prüfen und bestätigen",
            fields=("Ich möchte den Vertrag verbindlich kündigen.",),
            buttons=("Jetzt kündigen",),
            links=("Zurück, Vertrag behalten",),
        ),
    },
    "COMPLETE": {
        "a permit": shown(
            "Parking",
            "Your permit has ended",
            links=("Back to permits",),
            text="Reference PK-22. We have emailed you a receipt.",
        ),
        "with what to do before one goes": shown(
            "Leaving Tide",
            "That's all sorted",
            "Before you leave us",
            links=("Print a returns label",),
            text="We have cancelled your contract. We've sent a text and an email to confirm.",
        ),
        "German": shown(
            "Vielen Dank",
            "Wir haben Ihre Kündigung erhalten",
            links=("Zur Übersicht",),
            text="Sie erhalten in Kürze eine E-Mail.",
        ),
    },
    "FAILED": {
        "not submitted": shown(
            "Panel",
            "Request cancellation",
            links=("Return to services",),
            text="Error: your request was not submitted.",
        ),
        "German": shown(
            "Spende",
            "Spende beenden",
            links=("Zurück",),
            text="Ihre Anfrage konnte nicht gesendet werden.",
        ),
        "a bank that refused, under the form": shown(
            "Checkout",
            "Payment",
            fields=("Card number",),
            buttons=("Pay £12",),
            text="Your bank did not approve this payment. Nothing was taken.",
        ),
    },
    "UNKNOWN": {
        "a thread": shown(
            "Error 500 after upgrade",
            "Error 500 after upgrade",
            links=("Log in", *("Like", "Reply") * 4),
            text="Something went wrong, try again later. I cancelled it. 3 days ago",
        ),
        "results": shown(
            "cancel subscription",
            "Your subscription has been cancelled: what now?",
            fields=("Search the web",),
            buttons=("Search",),
            links=(
                "Your subscription has been cancelled: what now?",
                "Billed through Apple? How to end it",
                "Ten gyms that make it hard to leave",
            ),
            text="You are billed through Apple. Why are you leaving? Before you go",
        ),
        "a review": shown(
            "Review",
            "Write a review",
            radios=("1", "2", "3"),
            buttons=("Submit review", "Cancel"),
            links=NAV,
        ),
        "a policy on privacy": shown(
            "Datenschutz",
            "Datenschutzerklärung",
            "Ihre Rechte",
            "Löschung",
            "Kontakt",
            links=("Anmelden",),
            text="Daten werden unwiderruflich gelöscht. Sie können kündigen.",
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
elements = st.builds(Element, role=roles, name=texts)
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
    page, phrases = shown("Tide", "Tide", url="https://login-error.cancel.example/")
    assert detect(page, phrases, _rule("FAILED", Sign("url", "error"))) == "UNKNOWN"


# ---- what a page looks like ---------------------------------------------------------------------


def test_what_running_text_says_counts_less_on_a_page_that_lists_many_things() -> None:
    said = "Your card was declined."
    plain = shown("Tide", "Tide", links=("Home",), text=said)
    listing = shown("Tide", "Tide", links=("Home", *["Open"] * 3), text=said)
    assert [detect(*plain), detect(*listing)] == ["FAILED", "UNKNOWN"]


def test_links_that_are_headlines_make_a_page_one_to_read() -> None:
    said = "Your card was declined."
    headlines = [f"A {word} that nobody had ever seen" for word in ("ship", "whale", "storm")]
    few = shown("Tide", "Tide", links=headlines[:1], text=said)
    many = shown("Tide", "Tide", links=headlines, text=said)
    assert [detect(*few), detect(*many)] == ["FAILED", "UNKNOWN"]


def test_a_question_that_cannot_be_answered_is_only_talked_of() -> None:
    asked = shown("Tide", "Are you sure?", buttons=("Yes, cancel", "Go back"))
    told = shown("Tide", "Are you sure?", links=("Home",))
    assert [detect(*asked), detect(*told)] == ["FINAL_CONFIRMATION", "UNKNOWN"]


def test_the_rule_of_a_service_stands_whatever_the_page_looks_like() -> None:
    page, phrases = shown("Tide", "Ahoy", links=["Open"] * 5)
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
        "Harbour",
        "Set sail",
        "At 12 fathoms",
        "Don\u2019t sink",
        "大航海時代",
        url="https://sea.example/ship-log?gr%C3%B6%C3%9Fe=1",
        buttons=("All aboard",),
        fields=("A name",),
        radios=("By day",),
        alerts=("High tide",),
    )
    assert detect(page, (), _rule("COMPLETE", Sign(where, says))) == (
        "COMPLETE" if there else "UNKNOWN"
    )


def test_words_are_not_found_across_two_elements() -> None:
    page, _ = shown("Tide", buttons=("Set", "Sail"))
    assert detect(page, (), _rule("COMPLETE", Sign("button", "set sail"))) == "UNKNOWN"


def test_text_counts_only_if_the_page_was_found_to_say_it() -> None:
    page, _ = shown("Tide", "Under way")
    service = _rule("COMPLETE", Sign("text", "Under  way"))
    assert detect(page, (), service) == "UNKNOWN"
    assert detect(page, ("over board",), service) == "UNKNOWN"
    assert detect(page, ("under way",), service) == "COMPLETE"


# ---- rules of a service -------------------------------------------------------------------------


def test_a_plain_rule_of_a_service_is_enough_for_a_page_that_says_nothing_else() -> None:
    page, phrases = shown("Tide", "Ahoy")
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
    one, _ = shown("Tide", "Ahoy")
    two, _ = shown("Tide", "Ahoy", buttons=("All aboard",))
    three, _ = shown("Tide", "Ahoy", buttons=("All aboard",), alerts=("Storm ahead",))
    assert [detect(page, (), service) for page in (one, two, three)] == [
        "UNKNOWN",
        "COMPLETE",
        "UNKNOWN",
    ]


def test_a_rule_without_a_sign_says_nothing() -> None:
    page, _ = shown("Tide", "Ahoy")
    assert detect(page, (), _rule("COMPLETE", weight=100)) == "UNKNOWN"


def test_where_as_much_speaks_for_two_states_it_is_the_one_to_be_careful_with() -> None:
    page, _ = shown("Tide", "Ahoy")
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
        (shown("Stream", buttons=("Go back", "Finish Cancellation")), BY_BUTTON),
        (shown("Finish cancellation", buttons=("Finish cancellation",)), BY_TITLE),
        (shown("Stream", "Finish cancellation", text="finish cancellation"), None),
        (shown("Stream", buttons=("Finish", "Cancellation")), None),
        (shown("Stream", buttons=("Cancel membership",)), None),
    ],
)
def test_a_checkpoint_is_reached_where_its_signs_are(
    seen: tuple[Page, tuple[str, ...]], reached: Checkpoint | None
) -> None:
    assert checkpoint_of(*seen, STREAM) == reached


def test_every_sign_of_a_checkpoint_must_be_there() -> None:
    stop = Checkpoint("no refunds", (Sign("button", "confirm"), Sign("text", "No  refunds")))
    service = Service("stream", checkpoints=(stop,))
    page, _ = shown("Stream", buttons=("Confirm",))
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
        "Add user | Site administration",
        "Add user",
        url="https://desk.example/admin/auth/user/add/",
        fields=("Username", "Password", "Password confirmation"),
        buttons=("Save", "Save and add another"),
    ),
    "with a role": shown(
        "New member",
        "New member",
        fields=("Email", "Password"),
        radios=("Reader", "Editor"),
        buttons=("Invite",),
    ),
    "settings that want the password": shown(
        "Profile",
        "Profile",
        fields=("First name", "Last name", "Email", "Password"),
        buttons=("Save changes",),
    ),
    "a password is changed": shown(
        "Password", "Password", fields=("Password", "Retype password"), buttons=("Change",)
    ),
    "somebody registers": shown(
        "Join", "Join us", fields=("Email", "Password"), buttons=("Create account",)
    ),
}


def test_a_password_among_other_things_is_no_sign_in() -> None:
    for what, (page, phrases) in NO_SIGN_IN.items():
        assert detect(page, phrases) != "LOGIN_REQUIRED", what


def test_one_that_asks_who_it_is_still_is() -> None:
    says_nothing = shown("Tide", "Tide", fields=("Email", "Password"), buttons=("Continue",))
    of_a_bank = shown(
        "Tide", "Tide", fields=("Customer number", "Branch", "PIN"), buttons=("Next",)
    )
    beside = shown("Sign in", "Sign in", fields=("Email", "Password"), buttons=("Create account",))
    for page, phrases in (says_nothing, of_a_bank, beside):
        assert detect(page, phrases) == "LOGIN_REQUIRED", page
