"""Given a page that keeps a run out or shows nothing: what its caller is told."""

from rutter.events.critic import Barrier, PageAssessed
from rutter.events.tools import ToolAnswered
from tests.actors.planner.test_tool_led import Desk, call, saw

CAPTCHA = Barrier("captcha", ("frame",), "Cloudflare", "a frame of Cloudflare")


def test_a_caller_of_tools_is_told_with_every_answer_about_that_page() -> None:
    desk = Desk()
    desk.tell(call("get_snapshot", "c1"))
    told = desk.tell(saw()) + desk.tell(PageAssessed("", CAPTCHA))
    assert told == (ToolAnswered("c1", True, barrier=CAPTCHA),)
    desk.tell(call("get_snapshot", "c2"))
    assert desk.saw() == (ToolAnswered("c2", True),)
