"""A script and a page agree on which fields take a secret, before anything is typed into one."""

import re
from pathlib import Path

from rutter import actors
from rutter.events.errors import BadInput
from rutter.pipeline.workflows.recorder_import import RecorderScript, RecorderStep, prepare
from tests.support.case_table import for_each

READING = Path(actors.__path__[0]) / "world" / "browser" / "page" / "reading.js"
SECRET = (
    "password", "userPassword", "passcode", "passphrase", "pwd", "user_pwd", "pin", "userPin",
    "otp", "userOtp", "totp", "one-time", "one time code", "oneTimeCode", "cvc", "card_cvv", "csc",
    "cc-csc", "cc-number", "ccnum", "cardNumber", "card number", "creditCard", "credit card",
    "security code", "securityCode", "verification code", "sms code", "mfa", "2fa_code",
)  # fmt: skip
PLAIN = (
    "name", "note", "quantity", "shipping", "pinned", "spinner", "opinion", "search", "email",
    "postcode", "country code", "customer", "discount", "company", "option", "laptop",
)  # fmt: skip


def words_of_the_page(name: str) -> re.Pattern[str]:
    """A pattern of the page's own script."""
    found = re.search(rf"^const {name} = /(.+)/(i?);", READING.read_text("utf-8"), re.MULTILINE)
    assert found is not None, name
    return re.compile(found[1], re.IGNORECASE if found[2] else 0)


def is_secret_to_the_page(name: str) -> bool:
    patterns = (words_of_the_page("SECRET_WORDS"), words_of_the_page("SECRET_PARTS"))
    return any(pattern.search(name) for pattern in patterns)


def is_secret_to_the_reader(selector: str) -> bool:
    step = RecorderStep("change", selectors=[[selector]], value="hunter2")
    try:
        prepare(RecorderScript([step]), {}, {})
    except BadInput as refused:
        return "looks like a secret field" in str(refused)
    return False


@for_each("name", SECRET)
def test_a_field_of_this_name_takes_a_secret_to_both(name: str) -> None:
    assert is_secret_to_the_page(name)
    assert is_secret_to_the_reader(f'[name="{name}"]')
    assert is_secret_to_the_reader(f"aria/{name}")


@for_each("name", PLAIN)
def test_a_field_of_this_name_is_plain_to_both(name: str) -> None:
    assert not is_secret_to_the_page(name)
    assert not is_secret_to_the_reader(f'[name="{name}"]')
    assert not is_secret_to_the_reader(f"aria/{name}")
