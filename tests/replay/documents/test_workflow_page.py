"""A workflow as a page: plain words, pictures inside, nothing from elsewhere, nothing believed."""

import msgspec

from rutter.events.action import Action, ByRole, Target, Text
from rutter.events.checks import ReadBack, TextVisible
from rutter.events.page import Artifact
from rutter.events.workflow import Expectation, Fork, Place, Step, Workflow
from rutter.replay.documents.workflow_page import render

SHOP = Place("https://shop.example", "/desk")
KEPT, GONE = Artifact("a" * 64, 4, "image/png"), Artifact("b" * 64, 4, "image/png")


def load(artifact: Artifact) -> bytes | None:
    return b"\x89PNG" if artifact == KEPT else None


def press(name: str, **more: object) -> Step:
    step = Step(Action("click", target=Target((ByRole("button", name),))), before=SHOP)
    return msgspec.structs.replace(step, **more)


def test_each_step_stands_beside_its_picture_with_what_is_known_of_it() -> None:
    back = ReadBack("https://shop.example/orders", (TextVisible("1008"),))
    after = Expectation(moved=True, place=Place(SHOP.origin, "/orders"), read_back=back)
    flow = Workflow(
        "order",
        3,
        (
            press("Send", picture=KEPT, after=after, irreversible=True),
            press("No, thanks", picture=GONE, optional=True),
            press("Pick up", optional=True, fork=Fork(1, 2)),
        ),
        parameters=("customer",),
    )
    page = render(flow, load)

    assert page.count("data:image/png;base64,iVBORw==") == 1
    assert page.count("the picture is gone") == 1
    assert page.count("no picture") == 1
    for said in (
        "order version 3", "Parameters: customer", "click &#39;Send&#39;", "leads to /orders",
        "cannot be undone", "way 2 of fork 1", "at https://shop.example/orders",
    ):  # fmt: skip
        assert said in page, said


def test_what_a_page_said_is_text_and_nothing_else() -> None:
    name = "<img src=https://evil.example/x onerror=alert(1)>"
    typed = Step(Action("type", target=press(name).action.target, value=Text("</td><script>")))
    page = render(Workflow("<b>", 1, (press(name), typed)), load)

    assert "<script" not in page
    assert "<img src=https" not in page
    assert "<h1>&lt;b&gt; version 1</h1>" in page
    assert "default-src 'none'" in page
