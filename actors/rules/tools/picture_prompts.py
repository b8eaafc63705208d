"""A picture prompt says what a picture of a page is read for: one of three kinds (S4 W8), or what
the caller asks in words of its own."""

from functools import cache
from typing import Final, Literal, get_args

import msgspec

from rutter.actors.rules.text.phrase_file import check_names, load_table

PictureTask = Literal["text", "table", "layout"]
ALL_TEXT: Final = "Extract all visible text"


class PicturePrompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of picture_prompts.toml."""

    prompt: str
    told: str


@cache
def picture_prompts() -> dict[str, PicturePrompt]:
    found = load_table(__package__, "picture_prompts.toml", dict[str, PicturePrompt])
    check_names(found, set(get_args(PictureTask)), "picture_prompts.toml")
    return found


def task_of(prompt: str) -> PictureTask | None:
    """Which of the kinds it is, however it is spelt; none, where it is a question of its own."""
    asked = " ".join(prompt.split()).casefold().rstrip(".")
    kinds: tuple[PictureTask, ...] = get_args(PictureTask)
    return next(
        (kind for kind in kinds if picture_prompts()[kind].prompt.casefold() == asked), None
    )


def told_to_models(prompt: str) -> str:
    """What a language model is told to do with the pictures."""
    kind = task_of(prompt)
    return prompt if kind is None else picture_prompts()[kind].told
