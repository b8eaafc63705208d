"""One HTML file to share: complete, and nothing a page said is more than text in it."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from rutter.events.advisor import AdviceLost
from rutter.events.page import Artifact
from rutter.events.planner import AdviceRequested
from rutter.replay.documents.session_report import render
from rutter.replay.story.advice import AdviceStory, VisionStory
from rutter.replay.story.session_story import tell
from rutter.replay.story.told_session import EvidenceStory, StepStory, Story
from rutter.replay.story.wording import with_values
from tests.replay.story.test_kinds_story import story as told
from tests.support import step_kinds
from tests.support.case_table import for_each
from tests.support.golden_logs import envelopes, names, older

PICTURE = Artifact("ab" * 32, 4, "image/png")


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(story: Story, picture: bytes | None = None) -> Tags:
    tags = Tags()
    tags.feed(render(story, lambda _: picture))
    return tags


@for_each("name", [n for n in (*names(), *older()) if n.endswith("order")])
def test_every_step_of_a_real_run_is_in_it(name: str) -> None:
    log = envelopes(name)
    session = next(e.session for e in log if e.session.startswith("run-"))
    story = tell(e for e in log if e.session == session)
    text = parsed(story).text
    for step in story.steps:
        assert with_values(step.words, story.values) in text
    assert "Juniper Tankers" in text
    assert "the recorded end is reached" in text


@given(st.text(max_size=40))
def test_what_a_page_said_stays_text(said: str) -> None:
    hostile = f"{said}<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
    step = StepStory(1, "workflow", hostile, hostile, verdict=hostile, reason=hostile)
    step.evidence = [EvidenceStory("DOM", hostile, 1.0, hostile)]
    step.vision = VisionStory("VERIFIED", hostile, hostile)
    step.files = step.downloads = step.dialogs = [hostile]
    step.state = step.differed = hostile
    step.advice = [AdviceStory("plan", hostile, hostile, advised=hostile, why=hostile)]
    step.read_backs = [StepStory(2, "workflow", hostile, hostile)]
    story = Story(session=hostile, name=hostile, detail=hostile, steps=[step])
    story.advice = [AdviceStory("plan", hostile, hostile, ended="failed", error=hostile)]
    story.values, story.results, story.unknown = {hostile: hostile}, {hostile: hostile}, hostile
    tags = parsed(story)
    assert not [tag for tag, _ in tags.seen if tag in ("script", "iframe", "object", "link")]
    assert not [a for _, attributes in tags.seen for a in attributes if a.startswith("on")]
    assert [tag for tag, _ in tags.seen].count("img") == 0


def test_kinds_phases_evidence_and_looks_elsewhere_are_in_it() -> None:
    text = parsed(told(*step_kinds.read_back(), *step_kinds.read(3), *step_kinds.checked(4))).text

    assert "look at https://shop.example/orders?of=me for 'Order 7'" in text
    assert "observation: PLAN -> OBSERVE -> COMMIT" in text
    assert "evidence: DOM 'Order 7' (sample 'Your Order 7 is'), confidence 1" in text
    assert "it changed nothing" in text
    assert "COMMIT; confidence 0.65" in text
    assert "state differed: expected COMPLETE, is RETENTION_OFFER" in text


def test_what_models_advised_and_cost_is_in_it() -> None:
    lost = (AdviceRequested("a3", "plan", "ollama", "m:7b"), AdviceLost("a3"))
    text = parsed(told(*step_kinds.repaired(), *lost)).text

    assert "3 model calls, 1280 tokens, $0.0048 and 1 call of unknown cost" in text
    assert "advice: repair, anthropic m-2 (try 2): click #save" in text
    assert "Advice that led to no step" in text
    assert "plan, ollama m:7b: lost" in text


def test_a_picture_is_inside_the_file_and_nothing_is_fetched() -> None:
    story = Story(screenshot=PICTURE, steps=[])
    tags = parsed(story, b"\x89PNG")
    (image,) = [attributes for tag, attributes in tags.seen if tag == "img"]
    assert (image["src"] or "").startswith("data:image/png;base64,")
    (policy,) = [a for tag, a in tags.seen if tag == "meta" and "http-equiv" in a]
    assert "default-src 'none'" in (policy["content"] or "")


def test_a_picture_that_is_gone_is_said_to_be() -> None:
    assert "the picture is gone" in parsed(Story(screenshot=PICTURE)).text
