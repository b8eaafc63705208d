"""One HTML file to share: complete, and nothing a page said is more than text in it."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from events.page import Artifact
from replay.report import render
from replay.story import StepStory, Story, tell
from tests.goldens import envelopes

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


def test_every_step_of_a_real_run_is_in_it() -> None:
    log = envelopes("order")
    session = next(e.session for e in log if e.session.startswith("run-"))
    story = tell(e for e in log if e.session == session)
    text = parsed(story).text
    for step in story.steps:
        assert step.words in text
    assert "Juniper Tankers" in text
    assert "the recorded end is reached" in text


@given(st.text(max_size=40))
def test_what_a_page_said_stays_text(said: str) -> None:
    hostile = f"{said}<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
    step = StepStory(1, "workflow", hostile, hostile, verdict=hostile, reason=hostile)
    step.evidence = [hostile]
    story = Story(session=hostile, name=hostile, detail=hostile, steps=[step])
    story.values, story.results, story.unknown = {hostile: hostile}, {hostile: hostile}, hostile
    tags = parsed(story)
    assert not [tag for tag, _ in tags.seen if tag in ("script", "iframe", "object", "link")]
    assert not [a for _, attributes in tags.seen for a in attributes if a.startswith("on")]
    assert [tag for tag, _ in tags.seen].count("img") == 0


def test_a_picture_is_inside_the_file_and_nothing_is_fetched() -> None:
    story = Story(screenshot=PICTURE, steps=[])
    tags = parsed(story, b"\x89PNG")
    (image,) = [attributes for tag, attributes in tags.seen if tag == "img"]
    assert (image["src"] or "").startswith("data:image/png;base64,")
    (policy,) = [a for tag, a in tags.seen if tag == "meta" and "http-equiv" in a]
    assert "default-src 'none'" in (policy["content"] or "")


def test_a_picture_that_is_gone_is_said_to_be() -> None:
    assert "the picture is gone" in parsed(Story(screenshot=PICTURE)).text
