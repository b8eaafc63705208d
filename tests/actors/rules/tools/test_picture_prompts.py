"""The three prompts of the seeds are known however they are spelt; any other is told as it is."""

from rutter.actors.rules.tools.picture_prompts import (
    ALL_TEXT,
    picture_prompts,
    task_of,
    told_to_models,
)


def test_the_seeds_prompts_are_data_and_any_other_is_the_callers_own() -> None:
    assert [each.prompt for each in picture_prompts().values()] == [
        "Extract all visible text",
        "Extract pricing table",
        "Describe the page layout and main content",
    ]
    assert task_of(ALL_TEXT) == task_of("  extract ALL visible text. ") == "text"
    assert "reading order" in told_to_models(ALL_TEXT)
    own = "What does the Sloop cost?"
    assert (task_of(own), told_to_models(own)) == (None, own)
