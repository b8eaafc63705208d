"""The wording holds the words and the addresses of the streaming service, as built and as
redesigned."""

from rutter.pipeline.demo_sites.gaffsail.switches import Switches

AS_BUILT = {
    "login_title": "Sign in",
    "sign_in": "Sign in",
    "email": "Email",
    "account_title": "Account",
    "account_heading": "Account",
    "cancel": "Cancel membership",
    "leaving_title": "",
    "leaving_heading": "",
    "leave": "",
    "offer_title": "An offer for you",
    "offer_heading": "Stay with us for half price",
    "offer_text": "If you stay, the next three months cost half as much.",
    "accept": "Stay for half price",
    "pause_instead": "Pause for a month instead",
    "decline": "Continue to cancel",
    "survey_title": "Why are you leaving?",
    "survey_heading": "Why are you leaving?",
    "reason": "Main reason",
    "continue": "Continue",
    "confirm_title": "Finish cancellation",
    "confirm_heading": "Finish cancellation",
    "finish": "Finish cancellation",
    "keep": "Keep my membership",
    "done_title": "Cancelled",
    "done_heading": "Your membership is cancelled",
}
REDESIGNED = {
    "login_title": "Log in",
    "sign_in": "Log in",
    "email": "Email address",
    "account_title": "Your plan",
    "account_heading": "Your plan",
    "cancel": "Leave Gaffsail",
    "leaving_title": "Before you leave",
    "leaving_heading": "What you would miss if you leave",
    "leave": "I still want to leave",
    "offer_title": "One month free",
    "offer_heading": "How about a month on us?",
    "offer_text": "We would love you to stay: the next month is free.",
    "accept": "Take the free month",
    "pause_instead": "Take a break instead",
    "decline": "No thanks, end my membership",
    "confirm_title": "One last step",
    "confirm_heading": "Please confirm that you are leaving",
    "finish": "End membership now",
    "keep": "Take me back",
    "done_title": "Goodbye",
    "done_heading": "Membership cancelled",
}
# One label of a release: all else is as it was.
RELABELLED = {
    "cancel": "End my plan",
    "decline": "No thanks, I am leaving",
    "finish": "Yes, end my membership",
    "continue": "Next",
    "sign_in": "Log me in",
}
# The control that says it, by the name that scripts look for.
RECAST = {
    "cancel": "cancel-membership",
    "decline": "decline-offer",
    "finish": "finish-cancellation",
}
REASONS = {
    "price": "Too expensive",
    "choice": "Nothing I want to watch",
    "other-service": "I use another service",
    "other": "Another reason",
}

PATHS = {
    "login": "/login",
    "account": "/account",
    "offer": "/cancel/offer",
    "survey": "/cancel/survey",
    "confirm": "/cancel/confirm",
    "done": "/cancel/done",
    "failed": "/cancel/error",
    "keep": "/cancel/keep",
    "stay": "/cancel/stay",
    "pause": "/pause",
    "paused": "/paused",
    "restart": "/restart",
    "watch": "/watch",
    "sign_out": "/logout",
}
REDESIGNED_PATHS = {
    "login": "/welcome",
    "account": "/my/plan",
    "leaving": "/my/plan/leaving",
    "offer": "/my/plan/one-more-thing",
    "confirm": "/my/plan/last-step",
    "done": "/my/plan/goodbye",
    "failed": "/my/plan/error",
    "keep": "/my/plan/back",
    "stay": "/my/plan/gift",
    "pause": "/my/plan/break",
    "paused": "/my/plan/on-a-break",
    "restart": "/my/plan/again",
    "watch": "/films",
    "sign_out": "/bye",
}
# Which page comes after which on the way out.
WAY_OUT = ("account", "offer", "survey", "confirm")
REDESIGNED_WAY_OUT = ("account", "leaving", "offer", "confirm")


def word(key: str, switches: Switches) -> str:
    if switches.relabelled == key:
        return RELABELLED[key]
    if switches.redesigned and key in REDESIGNED:
        return REDESIGNED[key]
    return AS_BUILT[key]


def path_to(key: str, switches: Switches) -> str:
    return (REDESIGNED_PATHS if switches.redesigned else PATHS)[key]


def page_at(path: str, switches: Switches) -> str | None:
    """What is at this address, if anything."""
    paths = REDESIGNED_PATHS if switches.redesigned else PATHS
    return next((key for key, each in paths.items() if each == path), None)


def page_after(key: str, switches: Switches) -> str:
    """The next page on the way out."""
    way = REDESIGNED_WAY_OUT if switches.redesigned else WAY_OUT
    return way[way.index(key) + 1]
