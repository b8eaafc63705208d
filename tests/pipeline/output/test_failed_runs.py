"""What a failed run says: where, what the page says, and what to do next."""

import json
from pathlib import Path
from typing import Any

import pytest

from rutter.events.action import Action, ByRole, Target
from rutter.events.checks import AlertSaid, ReadBack, TextVisible
from rutter.events.workflow import Expectation, Step, Workflow
from rutter.pipeline.cli.session_end import report, tell_repaired, tell_unproven
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import Thresholds
from rutter.replay.story.advice import AdviceStory
from rutter.replay.story.proofs import ProofStory
from rutter.replay.story.told_session import EvidenceStory, StepStory, Story
from tests.support.case_table import for_each
from tests.support.old_stories import tagged
from tests.support.scripted_logs import keep


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    keep(tmp_path / "log.db")
    return Settings(data=tmp_path)


def failed(reason: str, verdict: str = "failed", **more: object) -> Story:
    step = StepStory(
        step=20,
        driver="workflow",
        words="click 'Place order'",
        why="workflow_step_17_of_19",
        verdict=verdict,
        reason=reason,
        evidence=[EvidenceStory("DOM", "saved", 0.2, "Out of rope")],
    )
    detail = f"{verdict}: {reason}"
    told = {"name": "order", "reason": "failed", "failure": "verification_failed", **more}
    return tagged(Story(session="s", detail=detail, steps=[step], **told))  # type: ignore[arg-type]


def told(
    story: Story, settings: Settings, capsys: pytest.CaptureFixture[str], *, verbose: bool = False
) -> str:
    assert report(story, settings, Terminal(verbose=verbose), done="") == 6
    return capsys.readouterr().out


def test_a_failure_names_the_step_as_the_workflow_does_and_what_the_page_says(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    out = told(failed("alert 'saved': the page does not say it"), settings, capsys)
    assert out.startswith("[FAIL] order: not finished\n     Step 17: ")
    assert "Out of rope" not in out
    full = told(failed("alert 'saved': the page does not say it"), settings, capsys, verbose=True)
    assert "the page says: Out of rope" in full
    assert "rutter workflows edit order --no-expect 17" in full


def test_what_may_have_happened_is_looked_at_before_it_is_run_again(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    story = failed("the_server_has_not_answered", "unknown", unknown="nobody knows")
    out = told(story, settings, capsys)
    assert "Look whether it was done before you run it again" in out
    assert "--no-expect" not in out


def test_a_run_that_may_have_done_something_is_continued_by_its_session(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = failed("no answer", "unknown", unknown="nobody knows", purpose="run")
    cut = Story(session="s", purpose="run", name="order", reason="interrupted")
    for story in (unknown, cut):
        report(story, settings, Terminal(), done="")
        assert capsys.readouterr().out.splitlines()[-2].endswith("run order --from s")


def test_no_screenshot_helps_with_a_file(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    out = told(failed("file_exists 'a.txt': there is no such file"), settings, capsys)
    assert "Look at the file" in out


# -- free runs -------------------------------------------------------------------------------------


def freely(detail: str, **more: object) -> Story:
    given = {"session": "s", "purpose": "free", "reason": "failed", "detail": detail}
    return tagged(Story(**{**given, **more}))  # type: ignore[arg-type]


DENIED = StepStory(2, "prediction", "click 'Submit'", "", rule="denylist", verdict="rejected")
NO_SIGNS = "no criteria of success are configured: it cannot be verified"


@for_each(
    "story, code, todo",
    [
        (
            freely("no_predictions_available", failure="lost"),
            3,
            "Show it once what to do, under a NAME that you choose: rutter record NAME --url",
        ),
        (
            freely("confidence_too_low_0.42", failure="lost"),
            3,
            "Show it what is meant: rutter record NAME --url URL, or lower --threshold",
        ),
        (
            freely("value_unknown_0.93", failure="lost"),
            3,
            "Type the same again with --set FIELD=VALUE behind it",
        ),
        (
            freely("12 steps were taken", reason="max_steps"),
            3,
            "Allow it more: agent.internal.max_steps in the configuration",
        ),
        (
            freely("the element says 'submit'", reason="policy_denied", steps=[DENIED]),
            4,
            "If this step is meant, leave its word out of policy.denylist",
        ),
        (
            freely(NO_SIGNS, reason="completed_unverified"),
            6,
            "Say what shows that it is done, such as --success heading=TEXT",
        ),
        (
            freely("none of 1 signs of success is on the page", reason="completed_unverified"),
            6,
            "Look at the screenshot; if it is done, correct --success",
        ),
    ],
)
def test_a_free_run_says_what_would_have_led_it_on(
    settings: Settings, capsys: pytest.CaptureFixture[str], story: Story, code: int, todo: str
) -> None:
    assert end(story, settings, capsys, code)[-2].startswith(todo)


@for_each(
    "said, threshold, suggest, limit",
    [
        ("0.42", 700_000, 500_000, "run.suggest (0.50)"),
        ("0.50", 700_000, 500_000, "run.suggest (0.50)"),  # 0.497, in two decimals
        ("0.62", 700_000, 500_000, "run.threshold (0.70)"),  # a model was asked instead
        ("0.42", 700_000, 1_000_000, "run.threshold (0.70)"),
    ],
)
def test_what_was_not_sure_enough_names_the_limit_that_it_fell_below(
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    said: str,
    threshold: int,
    suggest: int,
    limit: str,
) -> None:
    story = freely(f"confidence_too_low_{said}", failure="lost")
    report(story, settings, Terminal(), done="", sure=Thresholds("foresight", threshold, suggest))
    assert f"It is less than {limit}: show it what is meant" in capsys.readouterr().out


def test_what_was_read_is_told_though_nothing_shows_that_it_is_done(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    story = freely(NO_SIGNS, reason="completed_unverified", results={"total": "12.50"})
    assert "total = 12.50" in end(story, settings, capsys, 6)


def test_a_workflow_that_takes_too_many_steps_is_still_to_be_recorded_again(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    story = Story(session="s", purpose="run", name="order", reason="max_steps", detail="38 steps")
    again = "Look at its steps, then record it again: it goes round in circles"
    assert f"{again}: rutter show s" in end(story, settings, capsys, 3)


# -- runs that a model led ------------------------------------------------------------------------


def led(**more: object) -> Story:
    given = {"session": "s", "purpose": "tools", "name": "film", "goal": "End it", "led": True}
    return tagged(Story(**{**given, **more}))  # type: ignore[arg-type]


def end(
    story: Story, settings: Settings, capsys: pytest.CaptureFixture[str], code: int
) -> list[str]:
    assert report(story, settings, Terminal(verbose=True), done="the goal is reached") == code
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


STOPPED = StepStory(3, "model", "click 'End it'", "call", url="https://a.example/login?x=1")


def test_a_dry_run_says_that_it_was_one_and_where_it_stopped(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = led(
        reason="completed_unverified", detail="dry run: it ends it", dry_run=True, steps=[STOPPED]
    )
    lines = end(tried, settings, capsys, 0)
    assert lines[0].startswith("[OK] film to the goal 'End it': tried, nothing that cannot be")
    assert "Stopped before step 3 (click 'End it'): it ends it" in lines
    assert "the goal is reached" not in " ".join(lines)


def test_an_end_that_nobody_verified_is_no_success_in_a_dry_run_either(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    story = led(reason="completed_unverified", detail="no sign is on the page", dry_run=True)
    lines = end(story, settings, capsys, 6)
    assert lines[0] == "[FAIL] film to the goal 'End it': not sure whether it worked"
    assert lines[1] == "All steps were done, and no sign is on the page."


ALONE = "record the way: rutter record film --url URL"


@for_each(
    "more, code, why, todo",
    [
        (
            {"reason": "no_op_loop", "detail": "the same call on the same page: browser_click"},
            3,
            "why: the same call on the same page: browser_click",
            "The model is stuck",
        ),
        (
            {"reason": "max_failures", "detail": "3 calls", "unmet": "none of 1: heading 'over'"},
            6,
            "it was said to be done, but none of 1: heading 'over'",
            "If it is done, correct --success",
        ),
        (
            {"reason": "failed", "detail": "failed", "gave_up": "there is no 'End it'"},
            6,
            "why: the model gave up: it says \"there is no 'End it'\"",
            "Look at the page, then say the goal in other words, or " + ALONE,
        ),
        (
            {
                "reason": "policy_denied",
                "failure": "needs_person",
                "detail": "the site asks to sign in",
                "steps": [STOPPED],
            },
            5,
            "why: the site asks to sign in",
            "Sign in once, and later runs are signed in: rutter login https://a.example",
        ),
        (
            {"reason": "failed", "failure": "lost", "detail": "no model may be asked, and nothing"},
            3,
            "why: no model may be asked, and nothing",
            "Let a model be asked (agent.internal.enabled = true",
        ),
        (
            {
                "reason": "policy_denied",
                "failure": "policy_denied",
                "detail": "a person said no: 'confirm' was not typed out (in --answers: ...)",
                "steps": [StepStory(3, "model", "click 'End it'", "call", untyped=True)],
            },
            4,
            "why: a person said no: 'confirm' was not typed out (in --answers: ...)",
            "Run it again and type the word as it stands",
        ),
    ],
)
def test_what_to_do_where_a_model_led(
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    more: dict[str, object],
    code: int,
    why: str,
    todo: str,
) -> None:
    lines = end(led(**more), settings, capsys, code)
    assert why in lines
    assert any(line.startswith(todo) for line in lines), lines


def asked(provider: str, ended: str, error: str = "") -> AdviceStory:
    code = error.partition(":")[0]
    return AdviceStory("act", provider, "m", ended=ended, error=error, code=code)


def test_all_who_did_not_answer_are_named_with_what_to_do(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = [asked("anthropic", "failed", "unauthorised: no"), asked("openai", "failed", "timeout")]
    story = led(
        reason="failed", failure="model_unavailable", detail="openai: timeout", advice=calls
    )
    lines = end(story, settings, capsys, 8)
    assert "why: openai: timeout; anthropic: unauthorised: no" in lines
    todo = lines[-2]
    assert "check models.anthropic.key" in todo
    assert "openai took too long" in todo


@pytest.mark.parametrize(
    ("calls", "why", "who"),
    [
        ([asked("openai", "called")], "call", "openai"),
        ([], "way_ACCOUNT_ACTIVE_1", "the service's own way"),
    ],
)
def test_who_went_on_where_one_did_not_answer_is_said(
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    calls: list[AdviceStory],
    why: str,
    who: str,
) -> None:
    step = StepStory(1, "script", "click", why)
    failed = asked("anthropic", "failed", "overloaded: busy")
    story = led(reason="completed", steps=[step], advice=[failed, *calls])
    lines = end(story, settings, capsys, 0)
    assert f"anthropic did not answer (overloaded: busy): {who} went on" in lines


def test_a_repair_is_told_with_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    other = Action("click", target=Target((ByRole("button", "Send order"),)))
    old, new = Workflow("order", 1, (Step(PLACE),)), Workflow("order", 2, (Step(other),))
    tell_repaired(old, new, Terminal())
    assert capsys.readouterr().out.strip() == (
        "Learned: order is version 2 now, with 1 step changed."
    )


def test_what_was_spent_is_always_in_the_json(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    report(led(reason="completed"), settings, Terminal(as_json=True), done="")
    said = json.loads(capsys.readouterr().out)
    spent = [said[name] for name in ("model_calls", "tokens", "cost_microdollars")]
    assert (spent, said["goal"]) == ([0, 0, 0], "End it")


# -- what a recording does not prove ---------------------------------------------------------------

PLACE = Action("click", target=Target((ByRole("button", "Place order"),)))


FOUND = ReadBack("here", (TextVisible("${number}"),))
SAVE = Action("click", target=Target((ByRole("button", "Save"),)))


def after_recording(capsys: pytest.CaptureFixture[str], *steps: Step, found: bool = False) -> str:
    proofs = [ProofStory(1, read_back=FOUND)] if found else []
    story = Story(purpose="record", proofs=proofs)
    tell_unproven(Workflow("order", 1, steps), story, Settings(data=Path()), Terminal())
    return capsys.readouterr().out


def test_what_was_found_after_a_person_is_proposed_to_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = [StepStory(1, "script", "go", "it"), StepStory(2, "person", "save", "done by a person")]
    steps = (Step(Action("navigate", url="https://shop.example/")), Step(SAVE))
    story = Story(purpose="record", steps=done, read_backs={2: FOUND})
    tell_unproven(Workflow("order", 1, steps), story, Settings(data=Path()), Terminal())
    out = capsys.readouterr().out
    assert 'After "Save" (step 2), the page shows <number> when it is loaded again.' in out
    assert "workflows edit order --read-back '2=here text_visible:${number}'" in out
    # As a part of what was known before, its steps are counted otherwise.
    tell_unproven(Workflow("order", 2, steps[1:]), story, Settings(data=Path()), Terminal())
    assert "--read-back" not in capsys.readouterr().out


def test_that_nothing_could_be_looked_at_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    story = tagged(
        Story(purpose="record", reason="completed", detail="the person was done (window_closed)")
    )
    tell_unproven(Workflow("order", 1, (sender(),)), story, Settings(data=Path()), Terminal())
    assert "The window was closed, so Rutter could not look by itself" in capsys.readouterr().out


def sender(action: Action = SAVE, **more: Any) -> Step:
    return Step(action, **{"irreversible": True, **more})


def test_every_step_that_is_not_read_back_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Expectation(learned=(AlertSaid("saved", whole=True),), moved=True)
    out = after_recording(capsys, sender(PLACE), Step(SAVE), sender(after=shown))
    assert 'cannot tell whether "Place order" (step 1) really worked' in out
    assert "workflows edit order --read-back '1=here text_visible:TEXT'" in out
    assert 'cannot tell whether "Save" (step 3) really worked' in out
    assert "step 2" not in out


@pytest.mark.parametrize(
    "step",
    [
        sender(state="LOGIN_REQUIRED"),
        sender(Action("type", target=SAVE.target)),
        sender(after=Expectation(read_back=FOUND)),  # stated by somebody, who knows
    ],
)
def test_a_step_that_has_nothing_to_prove_is_not(
    step: Step, capsys: pytest.CaptureFixture[str]
) -> None:
    assert after_recording(capsys, step) == ""


def test_a_read_back_that_was_found_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    out = after_recording(capsys, sender(after=Expectation(read_back=FOUND)), found=True)
    assert 'After "Save" (step 1), Rutter will load the page again' in out
    assert "(found by itself). To take it out: rutter" in out
    assert "workflows edit order --no-expect 1" in out


# -- whether a run was read back -------------------------------------------------------------------

ANSWERED = ProofStory(1, 11, "acknowledged", "the server's answer")


def ran(*proofs: ProofStory, **more: Any) -> Story:
    steps = [
        StepStory(1, "workflow", "click 'Save'", "workflow_step_12_of_12", verdict="confirmed")
    ]
    return tagged(
        Story(purpose="run", name="order", version=1, proofs=[*proofs], steps=steps, **more)
    )


@for_each(
    "proof, line, next_line",
    [
        (ProofStory(1, 11, "stored", "the read-back"), "the result was read back", ""),
        (
            ANSWERED,
            "the result was not read back: the server answered and the page showed what it showed",
            "--read-back '12=here text_visible:TEXT'",
        ),
        (
            ProofStory(1, 11, "acknowledged", "what the page showed"),
            "the result was not read back: the page showed what it showed before",
            "--read-back '12=here text_visible:TEXT'",
        ),
        (
            ProofStory(1, 11, "stored", "the page loaded anew", FOUND),
            "the result was read back",
            "workflows edit order --read-back '12=here text_visible:${number}'",
        ),
    ],
)
def test_a_completed_run_says_whether_its_result_was_read_back(
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    proof: ProofStory,
    line: str,
    next_line: str,
) -> None:
    assert report(ran(proof, reason="completed"), settings, Terminal(), done="done") == 0
    out = capsys.readouterr().out
    assert line in out.splitlines()[0]
    assert (next_line in out) if next_line else ("--read-back" not in out)


def test_a_run_that_sent_nothing_says_nothing_of_it(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    report(ran(reason="completed"), settings, Terminal(), done="done")
    assert "read back" not in capsys.readouterr().out
    report(ran(reason="completed"), settings, Terminal(as_json=True), done="done")
    said = json.loads(capsys.readouterr().out)
    assert (said["proof"], said["proofs"]) == (None, [])
    report(ran(ANSWERED, reason="completed"), settings, Terminal(as_json=True), done="done")
    said = json.loads(capsys.readouterr().out)
    assert said["proof"] == said["proofs"][0]["grade"] == "acknowledged"


@pytest.mark.parametrize(
    ("proofs", "detail", "happened", "then"),
    [
        (
            [ProofStory(1, 11)],
            "nothing shows that the application has what was sent by step 12",
            "Rutter cannot tell whether it (step 12) really worked: no page showed it",
            "tell Rutter what shows it (TEXT: words that the page has only then): rutter",
        ),
        (
            [ANSWERED],
            "nothing shows that the application has what was sent by step 12",
            "the site accepted it, and nothing was found that shows it",
            "--read-back '12=here text_visible:TEXT'",
        ),
        (
            [],
            "the page has not sent what it sent when this was recorded: POST /notes",
            "the page did not send what it sent when this was recorded",
            "before you run it again",
        ),
    ],
)
def test_what_is_not_proven_says_which_step_and_how_to_prove_it(
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    proofs: list[ProofStory],
    detail: str,
    happened: str,
    then: str,
) -> None:
    story = ran(*proofs, reason="completed_unverified", detail=detail)
    assert report(story, settings, Terminal(), done="done") == 6
    out = capsys.readouterr().out
    assert "[FAIL] order: not sure whether it worked" in out
    assert happened in out
    assert then in out.splitlines()[-2]
