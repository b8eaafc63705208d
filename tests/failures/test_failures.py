"""The page of failures is what the program says of them, in words that people know."""

import re

from rutter.events.faults import faults
from rutter.pipeline.cli.parser import parser
from tests.failures import told
from tests.failures.told import runs

# What nobody who never saw this project knows, or takes for something else (words.md). What is in
# quotes the page said, or a person.
INSIDE = re.compile(
    r"\b(turns?|gates?|ways?|standing|settled?|settles?|looks?(?! for)|sail(?:s|ed|ing)?|"
    r"\w+_\w+|selector|locator|DOM|verdict|evidence|policy|lost|rejected|confirmed|interrupted)\b"
)
ALLOWED = re.compile(
    r'"[^"]*"|https?://\S+|/\S+|rutter .*$|Look (?:on|at|whether|whose)\b.*?\.', re.MULTILINE
)


def test_the_page_says_what_the_program_says() -> None:
    assert told.PAGE.read_text() == told.page(), "python -m tests.failures.told"


def test_there_are_as_many_as_were_asked_for_and_each_in_words_of_its_own() -> None:
    said = [run.told().splitlines()[1].strip() for run in runs()]
    assert len(said) >= 40
    assert len(set(said)) >= 35


def test_a_failure_is_told_without_inside_words() -> None:
    said = {run.name: INSIDE.findall(ALLOWED.sub("", run.told())) for run in runs()}
    assert {name: words for name, words in said.items() if words} == {}


def test_a_failure_says_what_happened_and_what_to_type() -> None:
    for run in runs():
        head, what, *rest = run.told().splitlines()
        assert head.startswith("[FAIL] "), run.name
        assert what.strip().endswith("."), run.name
        commands = [each.partition("rutter ")[2] for each in rest if "rutter " in each]
        assert len(commands) >= 2, f"{run.name}: what to do, and where the details are"
        for command in commands:  # it ends the process where there is no such one
            parser().parse_known_args(command.replace("...", "1").split())


def test_with_verbose_it_says_how_it_was_decided() -> None:
    for run in runs():
        shortly, in_full = (set(run.told(verbose=each).splitlines()) for each in (False, True))
        assert shortly < in_full, run.name


def test_the_words_of_all_faults_have_no_inside_words() -> None:
    for code, fault in faults().codes.items():
        for said in (fault.words, fault.stayed):
            assert INSIDE.findall(said) == [], (code, said)
