"""Given an action, the element it was resolved to and who proposed it: allow, ask or deny."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.rules.policy import policy
from rutter.actors.rules.policy.hosts import is_private
from rutter.actors.rules.policy.policy import (
    CALLERS,
    DEFAULT_POLICY,
    DENYLIST,
    READING,
    RECORDED,
    REQUIRED,
    RULES,
    PolicyCase,
    PolicyVerdict,
    is_irreversible,
    judge,
    missing_field,
    stands,
)
from rutter.events.action import (
    Action,
    ActionType,
    ByPoint,
    ByRole,
    ByText,
    DialogAnswer,
    Parameter,
    Secret,
    Target,
    Text,
    Untrusted,
)
from rutter.events.page import Resolved
from rutter.events.policy import Policy, PolicyRule
from rutter.events.service_pack import Checkpoint, Sign
from rutter.events.workflow import Driver, StandingApproval
from tests.support.case_table import for_each
from tests.support.shop_facts import ORIGIN, any_action, click, css, element, fill

TYPES: tuple[ActionType, ...] = get_args(ActionType)
UNRECORDED: tuple[Driver, ...] = ("prediction", "model", "agent")


def verdict(
    action: Action,
    what: Resolved | None = None,
    driver: Driver = "script",
    policy: Policy = DEFAULT_POLICY,
) -> PolicyVerdict:
    return judge(PolicyCase(policy=policy, action=action, driver=driver, element=what))


def visit(url: str, **policy: object) -> PolicyVerdict:
    return verdict(Action("navigate", url=url), policy=Policy("1", **policy))  # type: ignore[arg-type]


# -- required fields (E1) ----------------------------------------------------------------------


@for_each("kind", TYPES)
def test_a_well_formed_action_misses_nothing(kind: ActionType) -> None:
    assert missing_field(any_action(kind)) == ""


@for_each(
    "kind, field",
    [
        ("navigate", "url"),
        ("click", "target"),
        ("type", "target"),
        ("press", "key"),
        ("select", "target"),
        ("scroll", "direction"),
        ("wait_for", "target"),
        ("wait", "ms"),
        ("extract", "target"),
    ],
)
def test_an_action_with_nothing_but_its_type_misses_its_first_field(
    kind: ActionType, field: str
) -> None:
    assert missing_field(Action(kind)) == field


@for_each("kind", ["type", "select"])
def test_typing_and_selecting_need_a_value_too(kind: ActionType) -> None:
    assert missing_field(Action(kind, target=css("#a"))) == "value"


@for_each("kind", ["click", "type", "select", "scroll", "wait_for", "extract"])
def test_a_target_without_a_locator_is_no_target(kind: ActionType) -> None:
    assert missing_field(Action(kind, target=Target(()), value=Text("a"))) == "target"


def test_a_scroll_to_an_element_needs_no_direction() -> None:
    assert missing_field(Action("scroll", target=css("#footer"))) == ""


def test_the_table_of_required_fields_names_every_action_type() -> None:
    assert set(REQUIRED) == set(TYPES)


# -- the denylist (E1) -------------------------------------------------------------------------


@for_each("word", DENYLIST)
@for_each("driver", sorted(RECORDED))
def test_a_risky_word_asks_a_person_when_the_step_is_recorded(word: str, driver: Driver) -> None:
    said = verdict(click(), element(name=f"please {word} now"), driver)
    assert (said.effect, said.rule) == ("ask", "denylist")


@for_each("driver", UNRECORDED)
def test_a_risky_word_denies_what_a_model_an_agent_or_free_prediction_proposed(
    driver: Driver,
) -> None:
    assert verdict(click(), element(name="Delete"), driver) == PolicyVerdict(
        "deny", "denylist", "the element says 'delete'"
    )


def test_every_driver_is_either_recorded_or_not() -> None:
    assert {*RECORDED, *UNRECORDED} == set(get_args(Driver))


@for_each(
    "action",
    [
        click("#logout"),
        Action("click", target=Target((ByRole("button", "Sign Out"),))),
        Action("click", target=Target((ByText("BUY now"),))),
        fill("input[name=payment]"),
    ],
)
def test_the_word_counts_in_any_locator_of_the_element(action: Action) -> None:
    assert verdict(action).rule == "denylist"


@for_each(
    "what",
    [
        element(name="REMOVE"),
        element(text=Untrusted("go to checkout")),
        element(href="https://shop.example/account/1"),
        element(form_action="https://shop.example/settings", submits=True),
    ],
)
def test_the_word_counts_in_whatever_the_element_says_it_is(what: Resolved) -> None:
    assert verdict(click("#plain"), what).rule == "denylist"


@for_each(
    "what",
    [
        element("a", name="Terms", href="https://accounts.shop.example/terms"),
        element(form_action="https://shop.example/account/checkout"),
    ],
)
def test_the_name_of_a_host_and_a_form_that_is_not_sent_say_nothing(what: Resolved) -> None:
    assert verdict(click("#plain"), what).effect == "allow"


def test_to_type_where_such_a_word_stands_can_be_undone() -> None:
    field = element("input", name="Account number", role="textbox")
    assert not is_irreversible(PolicyCase(DEFAULT_POLICY, fill(), "workflow", field))
    assert verdict(fill(), field, "agent").effect == "deny"


def test_only_the_first_200_characters_of_an_elements_text_are_read() -> None:
    mine = Policy("1", denylist=("z",))
    for before, effect in ((199, "ask"), (200, "allow")):
        said = verdict(click(), element(text=Untrusted("x" * before + "z")), policy=mine)
        assert said.effect == effect


def test_coordinates_say_nothing() -> None:
    assert verdict(Action("click", target=Target((ByPoint(1, 2),)))).effect == "allow"


@for_each("kind", sorted(READING))
def test_reading_what_sounds_risky_is_no_risk(kind: ActionType) -> None:
    action = Action(kind, target=css("#delete-all"), ms=1)
    assert verdict(action, element(name="Delete all"), "model").effect == "allow"


def test_the_list_is_configuration() -> None:
    mine = Policy("7", denylist=("launch",))
    assert verdict(click("#delete"), policy=mine).effect == "allow"
    assert verdict(click("#launch"), policy=mine).effect == "ask"


def test_a_configured_word_matches_whatever_its_case() -> None:
    mine = Policy("7", denylist=("Launch MISSILES",))
    assert verdict(click(), element(name="launch missiles"), policy=mine).effect == "ask"


# -- hosts (E2) --------------------------------------------------------------------------------


@for_each("url", ["http://example.com/", "https://example.com:8443/a?b#c"])
def test_a_public_web_address_may_be_visited(url: str) -> None:
    assert visit(url) == PolicyVerdict("allow", "nothing_matched", "no rule is against it")


@for_each(
    "url",
    [
        *("file:///etc/passwd", "javascript:alert(1)", "data:text/html,<b>", "chrome://settings"),
        *("ftp://example.com/", "view-source:https://example.com", "not an address", "", "http://"),
    ],
)
def test_anything_but_http_and_https_is_denied(url: str) -> None:
    assert (visit(url).effect, visit(url).rule) == ("deny", "scheme")


def test_a_denied_scheme_is_named() -> None:
    assert visit("file:///etc/passwd").reason == "file is not a web address"
    assert visit("nonsense").reason == "that is not a web address"


def test_the_empty_page_is_nowhere_and_may_be_visited() -> None:
    assert visit("about:blank").effect == "allow"


@for_each(
    "url",
    [
        *("http://localhost/", "http://LOCALHOST./", "http://shop.localhost/"),
        *("http://printer.local/", "http://metadata.google.internal/", "http://127.0.0.1/"),
        *("http://127.0.0.1./", "http://127.1/", "http://0x7f.1/", "http://2130706433/"),
        *("http://0.0.0.0/", "http://10.1.2.3/", "http://172.16.0.1/", "http://192.168.1.1/"),
        *("http://169.254.169.254/latest/meta-data", "http://100.64.0.1/", "http://[::1]/"),
        *("http://[::]/", "http://[fe80::1]/", "http://[fd00::1]/", "http://[::ffff:127.0.0.1]/"),
        *("http://[::ffff:10.0.0.1]/", "https:\\\\127.0.0.1\\"),
    ],
)
def test_private_networks_are_denied_however_they_are_written(url: str) -> None:
    assert (visit(url).effect, visit(url).rule) == ("deny", "private_network")


def test_a_denied_private_host_says_how_to_allow_it() -> None:
    assert visit("http://localhost:8000/a").reason == (
        "localhost:8000 is private; name it with --allow localhost:8000"
    )


@for_each("named", ["localhost", "localhost:8000"])
def test_a_private_host_that_was_named_is_allowed(named: str) -> None:
    assert visit("http://localhost:8000/", hosts=(named,)).effect == "allow"


def test_a_host_named_with_a_port_is_allowed_on_that_port_alone() -> None:
    assert visit("http://127.0.0.1:8000/", hosts=("127.0.0.1:8000",)).effect == "allow"
    assert visit("http://127.0.0.1:8001/", hosts=("127.0.0.1:8000",)).effect == "deny"
    assert visit("http://127.0.0.1/", hosts=("127.0.0.1:8000",)).effect == "deny"


@for_each("url, named", [("http://127.0.0.1/", "127.0.0.1:80"), ("https://[::1]/", "[::1]:443")])
def test_the_port_that_a_scheme_implies_can_be_named(url: str, named: str) -> None:
    assert visit(url, hosts=(named,)).effect == "allow"


def test_a_longer_host_is_another_host() -> None:
    assert visit("http://localhost.evil.localhost/", hosts=("localhost",)).effect == "deny"


def test_without_public_hosts_only_named_ones_are_allowed() -> None:
    closed = {"public_hosts": False, "hosts": ("shop.example",)}
    assert visit("https://shop.example/x", **closed).effect == "allow"
    assert visit("https://other.example/x", **closed) == PolicyVerdict(
        "deny", "host", "other.example is not among the allowed hosts"
    )
    assert visit("https://shop.example/", public_hosts=False).effect == "deny"


def test_where_one_is_matters_only_to_a_navigation() -> None:
    assert verdict(Action("click", target=css("#a"), url="http://127.0.0.1/")).effect == "allow"


@for_each(
    "host, private",
    [
        ("localhost", True),
        ("LocalHost.", True),
        ("[::1]", True),
        ("10.0.0.1.", True),
        ("example.com", False),
        ("8.8.8.8", False),
        ("[2606:4700::1111]", False),
        ("notlocalhost", False),
    ],
)
def test_private_hosts_are_known(host: str, private: bool) -> None:
    assert is_private(host) is private


RISKY = ["/logout", "/account/delete", "/Account%2FDel%65te", "/a/../checkout", "/de\tlete"]


@for_each("driver", UNRECORDED)
@for_each("path", RISKY)
def test_an_address_with_a_risky_path_is_denied_to_who_did_not_record_it(
    path: str, driver: Driver
) -> None:
    said = verdict(Action("navigate", url=f"https://shop.example{path}"), driver=driver)
    assert (said.effect, said.rule) == ("deny", "denylist")
    assert said.reason.startswith("the address says")


@for_each("driver", sorted(RECORDED))
@for_each("path", RISKY)
def test_a_recorded_address_is_gone_to_whatever_its_path_says(path: str, driver: Driver) -> None:
    said = verdict(Action("navigate", url=f"https://shop.example{path}"), driver=driver)
    assert said.effect == "allow"


def test_a_risky_word_in_the_name_of_a_host_is_no_risk() -> None:
    go = Action("navigate", url="https://checkout.example/")
    assert verdict(go, driver="agent").effect == "allow"


# -- secrets and forms -------------------------------------------------------------------------


def test_a_literal_never_goes_into_a_secret_field() -> None:
    said = verdict(fill("#pw", "hunter2"), element("input", secret=True), "person")
    assert (said.effect, said.rule) == ("deny", "secret_in_clear")


def test_a_secret_goes_into_a_secret_field_and_a_parameter_which_is_logged_does_not() -> None:
    field = element("input", secret=True)
    assert verdict(fill("#pw", Secret("pw")), field).effect == "allow"
    said = verdict(fill("#pw", Parameter("pw")), field)
    assert (said.effect, said.rule) == ("deny", "secret_in_clear")


def test_a_secret_for_a_plain_field_asks_first() -> None:
    said = verdict(fill("#name", Secret("pw")), element("input"))
    assert (said.effect, said.rule) == ("ask", "secret_in_plain_field")


@for_each("driver", UNRECORDED)
@for_each("kind", ["type", "select"])
def test_a_secret_that_nobody_recorded_the_typing_of_asks_first_and_says_where(
    kind: ActionType, driver: Driver
) -> None:
    typed = Action(kind, target=css("#pw"), value=Secret("pw"))
    said = verdict(typed, element("input", secret=True), driver)
    reason = f"the secret 'pw' would be typed on {ORIGIN}, and nobody recorded that"
    assert said == PolicyVerdict("ask", "secret_unbound", reason)


@for_each("driver", sorted(RECORDED))
def test_a_secret_goes_where_it_was_recorded_to_go(driver: Driver) -> None:
    said = verdict(fill("#pw", Secret("pw")), element("input", secret=True), driver)
    assert said.effect == "allow"


@for_each("method", ["post", "dialog", "put"])
@for_each("action", [click(), Action("press", key="Enter")])
def test_sending_a_form_that_is_no_plain_get_asks_first(action: Action, method: str) -> None:
    said = verdict(action, element(submits=True, form_method=method))
    assert said == PolicyVerdict("ask", "sends_a_form", f"it sends a form ({method.upper()})")


@for_each("method", ["", "get"])
def test_a_get_form_may_be_sent(method: str) -> None:
    assert verdict(click(), element(submits=True, form_method=method)).effect == "allow"


def test_a_field_inside_a_form_does_not_send_it() -> None:
    assert verdict(click(), element("input", form_method="post")).effect == "allow"
    sending = element("input", submits=True, form_method="post")
    assert verdict(fill(), sending).effect == "allow"


# -- the table ---------------------------------------------------------------------------------


def test_deny_beats_ask_whichever_rule_comes_first() -> None:
    mixed = element("input", name="payment", secret=True)
    said = verdict(fill("#payment", "4111"), mixed, "script")
    assert (said.effect, said.rule) == ("deny", "secret_in_clear")


def test_of_two_that_ask_the_first_in_the_table_is_named() -> None:
    both = element(name="Submit", submits=True, form_method="post")
    assert verdict(click(), both).rule == "denylist"


def test_a_rule_that_breaks_is_a_denial_never_an_opening() -> None:
    broken = PolicyCase(
        policy=Policy("1", denylist=(3,)),  # type: ignore[arg-type]
        action=click(),
        driver="script",
        element=element(),
    )
    assert judge(broken) == PolicyVerdict("deny", "denylist", broken_rule_reason(broken))


def broken_rule_reason(case: PolicyCase) -> str:
    for rule in RULES:
        try:
            rule(case)
        except (TypeError, AttributeError) as error:
            return f"the rule failed: {type(error).__name__}"
    raise AssertionError("no rule broke")


@for_each(
    "what, expected",
    [
        (element(name="Search"), False),
        (element(name="Submit order"), True),
        (element(submits=True, form_method="post"), True),
        (element(submits=True, form_method="get"), False),
        (element(name="Sign in", submits=True, form_method="post", signs_in=True), False),
        (element(name="Pay now", submits=True, form_method="post", signs_in=True), True),
        (element("div", name=""), True),
        (element("div", name="", kind="editor"), False),
    ],
)
def test_irreversible_is_what_sends_or_sounds_like_it(what: Resolved, expected: bool) -> None:
    assert (
        is_irreversible(PolicyCase(DEFAULT_POLICY, click("#plain"), "workflow", what)) is expected
    )


def test_a_form_that_asks_for_the_password_to_delete_something_is_irreversible() -> None:
    goodbye = element(name="Delete my account", submits=True, form_method="post", signs_in=True)
    assert is_irreversible(PolicyCase(DEFAULT_POLICY, click("#bye"), "workflow", goodbye))


def test_standing_approval_is_for_this_element_on_this_origin() -> None:
    standing_approval = StandingApproval(ORIGIN, "e1")
    assert stands(standing_approval, element(digest="e1"))
    assert not stands(standing_approval, element(digest="e2"))
    assert not stands(StandingApproval("https://evil.example", "e1"), element(digest="e1"))
    assert not stands(None, element(digest="e1"))
    assert not stands(standing_approval, None)


# -- what a page asks, and files -------------------------------------------------------------------

YES, NO = DialogAnswer(accept=True), DialogAnswer()


@for_each("driver", get_args(Driver))
def test_saying_yes_to_a_page_is_asked_for_and_cannot_be_undone(driver: Driver) -> None:
    action = msgspec.structs.replace(click("#plain"), dialogs=(NO, YES))
    asked = verdict(action, element(), driver)
    assert (asked.effect, asked.rule) == ("ask", "accepts_a_dialog")
    assert is_irreversible(PolicyCase(DEFAULT_POLICY, action, driver, element()))


def test_saying_no_to_a_page_needs_nobody() -> None:
    action = msgspec.structs.replace(click("#plain"), dialogs=(NO,))
    assert verdict(action, element()).effect == "allow"
    assert not is_irreversible(PolicyCase(DEFAULT_POLICY, action, "script", element()))


def test_signing_in_with_a_yes_is_no_mere_door() -> None:
    door = element(name="Sign in", signs_in=True)
    action = msgspec.structs.replace(click("#door"), dialogs=(YES,))
    assert is_irreversible(PolicyCase(DEFAULT_POLICY, action, "workflow", door))


@for_each("driver", get_args(Driver))
def test_a_file_that_nobody_recorded_is_asked_for(driver: Driver) -> None:
    where = element(tag="input", kind="file")
    said = verdict(fill("#file", Parameter("document")), where, driver)
    assert (said.rule == "uploads_a_file") == (driver not in RECORDED)
    assert (said.effect == "ask") == (driver not in RECORDED)


# -- where it leads, what it carries, what it says ---------------------------------------------

SHOP = "https://shop.example"
ALL_DRIVERS: tuple[Driver, ...] = get_args(Driver)


def shop_only(**more: object) -> Policy:
    return Policy("s", hosts=("shop.example",), public_hosts=False, **more)  # type: ignore[arg-type]


@for_each("driver", ALL_DRIVERS)
def test_a_link_to_a_host_that_is_not_allowed_is_not_followed(driver: Driver) -> None:
    link = element("a", name="More", href="https://evil.example/more")
    said = verdict(click(), link, driver, shop_only(resources=("evil.example",)))
    assert (said.effect, said.rule) == ("deny", "host")
    assert verdict(click(), element("a", name="More", href=SHOP), driver, shop_only()).effect == (
        "allow"
    )


def test_a_form_that_is_sent_to_another_host_is_not_sent() -> None:
    form = element(submits=True, form_method="post", form_action="https://evil.example/take")
    assert verdict(click(), form, "workflow", shop_only()).rule == "host"
    assert verdict(click(), form, "workflow", shop_only()).effect == "deny"


def test_a_page_that_may_only_be_loaded_from_is_not_worked_on() -> None:
    elsewhere = msgspec.structs.replace(element(), origin="https://cdn.example")
    said = verdict(click(), elsewhere, "workflow", shop_only(resources=("cdn.example",)))
    assert (said.effect, said.rule) == ("deny", "host")
    read = Action("extract", target=css("#a"))
    assert verdict(read, elsewhere, "workflow", shop_only()).effect == "allow"


@for_each("driver", sorted(CALLERS))
@for_each(
    "address, on, effect",
    [
        (f"{SHOP}/find?q=what+i+read", SHOP, "ask"),
        (f"{SHOP}/#what-i-read", SHOP, "ask"),
        (f"{SHOP}/x/{'a' * 65}", SHOP, "ask"),
        (f"{SHOP}/{'a/' * 40}", SHOP, "ask"),
        (f"{SHOP}/orders", SHOP, "allow"),
        (f"{SHOP}/?", SHOP, "allow"),
        (f"{SHOP}/", "https://other.example", "allow"),
        (f"{SHOP}/what/i/read", "https://other.example", "ask"),
        (f"{SHOP}/what", f"{SHOP}.evil.example", "ask"),
        (f"{SHOP}/what", "", "ask"),
    ],
)
def test_an_address_that_a_caller_made_up_asks_where_it_may_carry_data(
    address: str, on: str, effect: str, driver: Driver
) -> None:
    page = f"{on}/list" if on else ""
    case = PolicyCase(DEFAULT_POLICY, Action("navigate", url=address), driver, page=page)
    assert judge(case).effect == effect


@for_each("key", ["Enter", "Control+Enter", "NumpadEnter"])
def test_enter_in_a_field_without_a_form_may_send_it(key: str) -> None:
    chat = element("div", name="Message", role="textbox")
    enter = Action("press", key=key)
    assert verdict(enter, chat, "agent").rule == "key_unknown"
    assert is_irreversible(PolicyCase(DEFAULT_POLICY, enter, "workflow", chat))
    assert verdict(Action("press", key="a"), chat, "agent").effect == "allow"
    typed_over = Action("press", key="Shift+Backspace")
    assert verdict(typed_over, chat, "agent").effect == "allow"
    # A plain search is known by its form.
    search = element("input", name="Search", submits=True, form_method="get")
    assert verdict(enter, search, "workflow").effect == "allow"


@for_each(
    "key, effect",
    [
        ("Delete", "ask"),
        ("Control+Enter", "ask"),
        ("Meta+Backspace", "ask"),
        ("x", "ask"),
        ("F5", "ask"),
        ("Control++", "ask"),
        ("Tab", "allow"),
        ("Shift+Tab", "allow"),
        ("ArrowDown", "allow"),
        ("Escape", "allow"),
        ("Enter", "allow"),
        ("Space", "allow"),
    ],
)
def test_a_key_on_what_is_not_typed_into_does_what_nobody_knows(key: str, effect: str) -> None:
    row = element("li", name="Invoice 7", role="option")
    press = Action("press", key=key)
    assert verdict(press, row, "agent").effect == effect
    assert is_irreversible(PolicyCase(DEFAULT_POLICY, press, "workflow", row)) is (effect == "ask")


def test_a_caller_may_go_back_to_where_a_person_let_it_begin() -> None:
    start = f"{SHOP}/find?q=tea"
    case = PolicyCase(DEFAULT_POLICY, Action("navigate", url=start), "agent", start=start)
    assert judge(case).effect == "allow"
    assert judge(msgspec.structs.replace(case, start=f"{start}x")).effect == "ask"


def test_a_recorded_address_may_carry_what_it_was_recorded_with() -> None:
    assert (
        verdict(Action("navigate", url=f"{SHOP}/find?q=tea"), driver="workflow").effect == "allow"
    )


def test_an_address_with_a_password_in_it_is_refused() -> None:
    assert visit("http://user:pass@shop.example/").rule == "userinfo"


@for_each("driver", ALL_DRIVERS)
def test_a_secret_is_typed_on_its_own_origin_alone(driver: Driver) -> None:
    field = element("input", secret=True)
    at_home = Policy("s", secret_origins=(("pw", ORIGIN),))
    assert verdict(fill("#pw", Secret("pw")), field, driver, at_home).effect == "allow"
    stranger = msgspec.structs.replace(field, origin="https://shop.example.evil.example")
    said = verdict(fill("#pw", Secret("pw")), stranger, driver, at_home)
    assert (said.effect, said.rule) == ("deny", "secret_elsewhere")


def test_a_secret_that_is_said_to_a_dialog_is_judged_as_well() -> None:
    asks = msgspec.structs.replace(click(), dialogs=(DialogAnswer(accept=True, secret="pw"),))
    away = Policy("s", secret_origins=(("pw", "https://bank.example"),))
    assert verdict(asks, element(), "workflow", away).rule == "secret_elsewhere"


@for_each("label", ["Pay now", "Jetzt kaufen", "Confirmer la commande", "Send"])
def test_what_cannot_be_undone_asks_whoever_proposes_it(label: str) -> None:
    said = verdict(click(), element(name=label), "workflow")
    assert said.effect == "ask"
    assert is_irreversible(PolicyCase(DEFAULT_POLICY, click(), "workflow", element(name=label)))
    assert verdict(click(), element(name=label), "agent").effect != "allow"


def test_enter_in_a_field_does_what_the_button_of_its_form_says() -> None:
    enter = Action("press", key="Enter")
    search = element("input", name="Query", submits=True, form_method="get", role="textbox")
    assert verdict(enter, search, "workflow").effect == "allow"
    pays = msgspec.structs.replace(search, icon=Untrusted("Pay now"))
    assert verdict(enter, pays, "workflow").rule == "final_wording"


def test_what_would_be_chosen_of_a_list_is_judged() -> None:
    choose = Action("select", target=css("#do"), value=Text("3"))
    listed = element("select", name="With all of them", role="combobox")
    assert verdict(choose, listed, "agent").effect == "allow"
    chosen = msgspec.structs.replace(listed, icon=Untrusted("Delete them"))
    assert verdict(choose, chosen, "agent").effect == "deny"
    assert verdict(choose, chosen, "workflow").effect == "ask"
    pays = msgspec.structs.replace(listed, icon=Untrusted("Pay now"))
    assert is_irreversible(PolicyCase(DEFAULT_POLICY, choose, "workflow", pays))
    sends = msgspec.structs.replace(listed, submits=True, form_method="post")
    assert verdict(choose, sends, "agent").rule == "sends_a_form"


def test_a_key_that_only_moves_the_focus_sets_nothing_off() -> None:
    button = element(name="Pay now")
    assert verdict(Action("press", key="Tab"), button, "workflow").effect == "allow"
    assert verdict(Action("press", key="Enter"), button, "workflow").effect == "ask"
    assert verdict(Action("press", key="Control+Enter"), button, "workflow").effect == "ask"


@for_each("icon", ["", "fa fa-mystery", "fa fa-trash"])
def test_a_button_that_says_nothing_may_do_anything(icon: str) -> None:
    mute = element(name="", icon=Untrusted(icon))
    assert verdict(click(), mute, "workflow").effect == "ask"
    assert is_irreversible(PolicyCase(DEFAULT_POLICY, click(), "agent", mute))
    assert verdict(Action("press", key="Enter"), mute, "agent").effect == "ask"


@for_each(
    "known",
    [
        element(name="", icon=Untrusted("fa fa-chevron-right")),
        element(name="\u00d7"),
        element(name="\u00d7", text=Untrusted("\u00d7")),
        element("label", name="I agree to the terms", kind="checkbox"),
        element("input", name="", kind="checkbox"),
        element("a", name="", href=f"{ORIGIN}/home"),
        element(name="", text=Untrusted("Next")),
    ],
)
def test_what_shows_what_it_does_is_no_riddle(known: Resolved) -> None:
    assert verdict(click(), known, "agent").effect == "allow"


def at(state: str, action: Action, what: Resolved, driver: Driver = "workflow") -> PolicyVerdict:
    return judge(PolicyCase(DEFAULT_POLICY, action, driver, what, state))


def test_on_the_last_page_a_person_types_it_out() -> None:
    said = at("FINAL_CONFIRMATION", click(), element(name="Yes, go on"))
    assert (said.effect, said.rule, said.kind) == ("ask", "final_confirmation", "confirm")
    # It asks more than the form that it sends, which asks too.
    send = element(name="Finish", submits=True, form_method="post")
    assert at("FINAL_CONFIRMATION", click(), send).kind == "confirm"
    asks = Policy("p", rules=(PolicyRule("mine", "ask"),))
    stricter = judge(PolicyCase(asks, click(), "workflow", send, "FINAL_CONFIRMATION"))
    assert (stricter.kind, stricter.always) == ("confirm", True)
    back = element("a", name="Back", href=f"{ORIGIN}/cart")
    assert at("FINAL_CONFIRMATION", click(), back).effect == "allow"
    assert at("FINAL_CONFIRMATION", fill(), element("input", name="Note")).effect == "allow"
    part = element("div", name="P-1500", role="gridcell")
    assert at("FINAL_CONFIRMATION", click(), part).effect == "allow"
    assert (
        judge(PolicyCase(DEFAULT_POLICY, click(), "model", part, "FINAL_CONFIRMATION")).effect
        != "allow"
    )


def test_signing_in_by_enter_is_a_door_where_the_page_is_one() -> None:
    field = element("input", name="Password", submits=True, form_method="post", signs_in=True)
    enter = Action("press", key="Enter")
    case = PolicyCase(DEFAULT_POLICY, enter, "workflow", field, "LOGIN_REQUIRED")
    assert not is_irreversible(case)
    assert is_irreversible(msgspec.structs.replace(case, state="UNKNOWN"))
    assert judge(case).kind == "login"
    no_door = element(name="Delete my login", submits=True, form_method="post", signs_in=True)
    assert is_irreversible(PolicyCase(DEFAULT_POLICY, click(), "workflow", no_door))


CHECKPOINT = Checkpoint("finish", (Sign("title", "finish cancellation"),))


def test_at_a_checkpoint_of_the_service_everything_but_reading_asks() -> None:
    case = PolicyCase(DEFAULT_POLICY, click(), "agent", element(), checkpoint=CHECKPOINT)
    said = judge(case)
    assert (said.effect, said.kind, said.always) == ("ask", "service", False)
    read = msgspec.structs.replace(case, action=Action("extract", target=css("#a")))
    assert judge(read).effect == "allow"
    aside = Action("navigate", url=f"{SHOP}/orders", aside=True)
    assert (
        judge(PolicyCase(DEFAULT_POLICY, aside, "workflow", checkpoint=CHECKPOINT)).effect
        == "allow"
    )
    always = msgspec.structs.replace(CHECKPOINT, always=True)
    assert judge(msgspec.structs.replace(case, checkpoint=always)).always


# -- rules that a person wrote --------------------------------------------------------------------

WRITTEN = PolicyRule(
    "no-typing-here",
    "deny",
    actions=("type",),
    origins=(ORIGIN,),
    says=("note",),
    drivers=("agent", "workflow"),
    reason="notes are for people",
)


def ruled(rule: PolicyRule, action: Action, what: Resolved | None, driver: Driver) -> PolicyVerdict:
    return judge(PolicyCase(Policy("p", rules=(rule,)), action, driver, what))


def test_a_written_rule_holds_where_all_of_its_columns_agree() -> None:
    note = element("input", name="Note to the seller")
    said = ruled(WRITTEN, fill(), note, "agent")
    assert said == PolicyVerdict("deny", "no-typing-here", "notes are for people", always=True)
    assert ruled(WRITTEN, click(), note, "agent").effect == "allow"
    assert ruled(WRITTEN, fill(), element("input", name="Amount"), "agent").effect == "allow"
    assert ruled(WRITTEN, fill(), note, "person").effect == "allow"
    away = msgspec.structs.replace(note, origin="https://other.example")
    assert ruled(WRITTEN, fill(), away, "agent").effect == "allow"


@for_each(
    "columns, matches",
    [
        ({"tools": ("browser_fill",)}, True),
        ({"tools": ("browser_click",)}, False),
        ({"roles": ("textbox",)}, True),
        ({"roles": ("button",)}, False),
        ({"side_effects": ("write",)}, True),
        ({"side_effects": ("auth", "read")}, False),
        ({}, True),
    ],
)
def test_a_column_that_is_empty_holds_for_everything(
    columns: dict[str, tuple[str, ...]], matches: bool
) -> None:
    rule = PolicyRule("r", "ask", **columns)  # type: ignore[arg-type]
    said = ruled(rule, fill(), element("input", name="Note", role="textbox"), "agent")
    assert said.effect == ("ask" if matches else "allow")


def test_a_written_rule_that_allows_lifts_nothing() -> None:
    said = ruled(PolicyRule("go", "allow"), click(), element(name="Pay now"), "workflow")
    assert said.effect == "ask"


def test_a_denial_beats_a_question_whatever_their_order() -> None:
    both = (PolicyRule("ask-first", "ask"), PolicyRule("never", "deny"))
    for rules in (both, both[::-1]):
        case = PolicyCase(Policy("p", rules=rules), click(), "workflow", element())
        assert judge(case).rule == "never"


EFFECTS = st.sampled_from(["allow", "ask", "deny"])


@given(st.lists(EFFECTS, max_size=6))
def test_more_rules_never_allow_more(effects: list[str]) -> None:
    """Whatever rules are added, the verdict is at least as strict as without them."""
    strictness = {"allow": 0, "ask": 1, "deny": 2}
    reached = 0
    rules: list[PolicyRule] = []
    for number, effect in enumerate(effects):
        rules.append(PolicyRule(f"r{number}", effect))  # type: ignore[arg-type]
        case = PolicyCase(Policy("p", rules=tuple(rules)), click(), "workflow", element())
        now = strictness[judge(case).effect]
        assert now >= reached
        reached = now


class Broken(Exception):
    """Not one of the errors that anybody thought of."""


def test_whatever_breaks_in_a_rule_is_a_denial(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(case: PolicyCase) -> PolicyVerdict | None:
        raise Broken

    monkeypatch.setattr(policy, "RULES", (breaks,))
    assert judge(PolicyCase(DEFAULT_POLICY, click(), "person")) == PolicyVerdict(
        "deny", "breaks", "the rule failed: Broken"
    )


@for_each(
    "action, rule",
    [
        (Action("drag", target=css("#card"), to=css("#done")), "nothing_matched"),
        (Action("drag", target=css("#card"), to=css("#delete-zone")), "denylist"),
        (Action("drag", target=css("#card"), to=Target((ByRole("region", "Pay now"),))), "final"),
        (Action("hover", target=css("#delete")), "nothing_matched"),
        (Action("wheel", target=css("#delete"), by=(0, 9)), "nothing_matched"),
        (Action("click", target=css("#delete"), count=2), "denylist"),
    ],
)
def test_a_hand_is_judged_by_what_it_sets_off(action: Action, rule: str) -> None:
    said = verdict(action, element("div", name="Card 7", text=Untrusted("Card 7")))
    assert said.rule.startswith(rule)
    assert (said.effect == "allow") == (rule == "nothing_matched")
