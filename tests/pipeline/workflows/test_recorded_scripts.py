"""Scripts of the DevTools Recorder that lead into shadow roots, frames and other pages."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_shell import Rutter, check_logs
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

HOME = """<h1>Home</h1>
<iframe srcdoc="<button id=inner onclick='parent.mark(&quot;frame&quot;)'>Inner</button>"></iframe>
<my-box></my-box>
<a id=out target=_blank href="BESIDE">Beside</a>
<script>
  function mark(where) { document.querySelector("h1").textContent += " " + where; }
  const root = document.querySelector("my-box").attachShadow({ mode: "open" });
  root.innerHTML = "<button id=deep onclick=\\"mark('shadow')\\">Deep</button>";
</script>"""
BESIDE = "<h1>Beside</h1><button id=here onclick=\"this.textContent = 'clicked'\">Here</button>"


def click(*selectors: Any, **more: Any) -> dict[str, Any]:
    return {"type": "click", "selectors": list(selectors), "offsetX": 1, "offsetY": 1, **more}


def test_a_script_through_shadow_roots_frames_and_pages_is_recorded_and_sailed(
    server: PageServer, tmp_path: Path
) -> None:
    beside = server.show(BESIDE)
    steps = [
        {"type": "navigate", "url": server.show(HOME.replace("BESIDE", beside))},
        click(["#inner"], ["aria/Inner"], frame=[0]),
        click(["my-box", "#deep"], ["pierce/#deep"], ["xpath///my-box"]),
        click(["#out"]),
        click(["#here"], target=beside),
    ]
    script, yes = tmp_path / "odd.json", tmp_path / "yes.json"
    script.write_text(json.dumps({"title": "odd", "steps": steps}))
    yes.write_text(json.dumps([{"approved": True, "phrase": "confirm"}] * 9))
    rutter = Rutter(tmp_path / "data")
    host = server.url.removeprefix("http://")
    ended = rutter("record", "odd", "--script", script, "--allow", host, "--answers", yes)
    assert ended.code == 0, ended

    tabs = [step["action"].get("tab") for step in rutter.json("workflows", "show", "odd")["steps"]]
    assert tabs == [None, None, None, None, 1]
    sailed = rutter("run", "odd", "--answers", yes)
    assert sailed.code == 0, sailed
    check_logs(rutter.data)
