"""An overlay sometimes lies over a page until it is answered: a question about cookies, a
survey."""

from rutter.pipeline.demo_sites.markup import mark

COOKIES = (
    '<div class="overlay" role="dialog" aria-modal="true" aria-label="Your cookies" '
    f"{mark('cookies')}>"
    '<div class="consent"><h2>Your cookies</h2>'
    "<p>One cookie keeps you signed in. It goes when you do.</p>"
    f'<button type="button" class="button primary" {mark("cookies-accept")} '
    "onclick=\"this.closest('[role=dialog]').remove()\">Accept all cookies</button></div></div>"
)
SURVEY = (
    '<div class="overlay" role="dialog" aria-modal="true" aria-label="Tell us what you think" '
    f"{mark('survey')} hidden>"
    '<div class="consent"><h2>Tell us what you think</h2>'
    "<p>It takes half a minute, and you have it every day.</p>"
    f'<button type="button" class="button" {mark("survey-close")} '
    "onclick=\"this.closest('[role=dialog]').remove()\">No, thanks</button></div></div>"
)


def cookies(*, asked: bool) -> str:
    return COOKIES if asked else ""


def survey(after_ms: int) -> str:
    """Comes that much later than its page; 0 not at all."""
    if not after_ms:
        return ""
    shows = "document.currentScript.previousElementSibling"
    return (
        f"{SURVEY}<script>(() => {{ const survey = {shows};"
        f" setTimeout(() => survey.hidden = false, {after_ms}); }})()</script>"
    )
