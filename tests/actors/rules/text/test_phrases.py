"""Whole words of a text, whatever script, case or identifier they are written in."""

from rutter.actors.rules.text.phrases import folded, lexicon, said_by
from tests.support.case_table import for_each

WORDS = lexicon(
    ("delete", "log out", "cancel _", "^book", "=order", "kündig*", "削除", "حذف", "zrušit _"),
    ("book review*", "delete key", "削除済み"),
)


@for_each(
    "text, said",
    [
        ("Delete", "delete"),
        ("please DELETE it", "delete"),
        ("btnDeleteAccount", "delete"),
        ("delete-btn", "delete"),
        ("do_delete_now", "delete"),
        ("XMLDelete", "delete"),
        ("ｄｅｌｅｔｅ", "delete"),
        ("de\u200blete", "delete"),
        ("d\u0435lete", "delete"),
        ("log-out", "log out"),
        ("Kündigung", "kündig"),
        ("Kundigen", "kündig"),
        ("Cancel plan", "cancel"),
        ("Zrušit předplatné", "zrušit"),
        ("Book a table", "book"),
        ("Home\nBook a table", "book"),
        ("Order", "order"),
        ("x\norder\ny", "order"),
        ("これを削除する", "削除"),
        ("سيتم الحذف حذف", "حذف"),
    ],
)
def test_a_phrase_is_said(text: str, said: str) -> None:
    assert said_by(text, WORDS) == said


@for_each(
    "text",
    [
        *("", "undeleted", "Deleted scenes", "log in\nout of date", "Cancel", "Cancel\nplan"),
        *("My book", "Book reviews", "Order history", "the delete key", "削除済みアイテム"),
    ],
)
def test_a_phrase_is_not_said(text: str) -> None:
    assert said_by(text, WORDS) == ""


def test_a_harmless_phrase_hides_only_what_is_in_it() -> None:
    assert said_by("delete key, then delete", WORDS) == "delete"


def test_marks_of_kana_and_hangul_make_other_letters() -> None:
    assert folded("ガ") != folded("カ")
    assert folded("삭제") == "삭제"


def test_accents_and_letters_that_nothing_takes_apart_are_folded() -> None:
    assert folded("Ödeme Çıkış ŁÓDŹ Køb Straße İptal") == "odeme cikis lodz kob strasse iptal"


CONTROLS = lexicon(
    ("sell", "cancel _", "!pay now", "=yes", "^book", "=はい", "verkaufen"),
    ("book #", "book 0"),
    openers=("please",),
    joints=("and",),
)


@for_each(
    "text, said",
    [
        ("They sell", "sell"),
        ("Sell the shares of this company today", "sell"),
        ("12 Sell the shares of this company today", "sell"),
        ("Please go on, then sell all the shares", "sell"),
        ("Look at all of it & sell", "sell"),
        ("Die Aktien heute noch verkaufen", "verkaufen"),
        ("Three items with everything in them, pay now", "pay now"),
        ("One two three four five\nsell", "sell"),
        ("Yes", "yes"),
        ("はい", "はい"),
    ],
)
def test_a_control_says_it_at_a_place_of_its_own(text: str, said: str) -> None:
    assert said_by(text, CONTROLS) == said


@for_each(
    "text",
    [
        *("They may sell it", "Why the company may in the end sell"),
        *(
            "Die Firma will noch in diesem Jahr verkaufen",
            "Yes or no",
            "はいる",
            "Book #3",
            "Book 3",
        ),
    ],
)
def test_a_sentence_is_not_a_control(text: str) -> None:
    assert said_by(text, CONTROLS) == ""


def test_of_two_phrases_the_longer_counts_whatever_comes_second() -> None:
    words = lexicon(("end", "end my _", "end my plan now"), ("end my day",))
    assert said_by("end my plan now", words) == "end my plan now"
    assert said_by("end my plan", words) == "end my"
    assert said_by("end my day", words) == ""
