"""`rutter init` and `rutter config show`, and what a configuration does to the other commands."""

import stat
from pathlib import Path

import pytest

from rutter.pipeline.config import settings
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions.attendant import BoundSecrets
from rutter.pipeline.sessions.start import recorded_homes
from tests.support import scripted_logs
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter, refused

CANARY = "correct horse battery 7"


def configure(rutter: Rutter, text: str) -> Path:
    rutter.data.mkdir(mode=0o700, exist_ok=True)
    file = rutter.data / "config.toml"
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_init_says_where_things_are_and_writes_the_defaults_once(rutter: Rutter) -> None:
    file = rutter.data / "config.toml"
    ended = rutter("init")
    assert ended.code == 0, ended
    assert f"data:     {rutter.data}" in ended.out
    assert f"config:   {file} (written" in ended.out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(rutter.data.stat().st_mode) == 0o700
    file.write_text("[policy]\nupload_mb = 7\n")
    again = rutter("init")
    assert f"config:   {file}\n" in again.out
    assert file.read_text() == "[policy]\nupload_mb = 7\n"
    assert rutter.json("init")["written"] is False


def test_show_tells_every_value_and_where_it_came_from(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = configure(
        rutter,
        "[policy]\nupload_mb = 7\nallowed_domains = ['shop.example']\n"
        "[[policy.rules]]\nname = 'no refunds'\neffect = 'deny'\nsays = ['refund']\n"
        "[secrets.password]\nsource = 'env:SHOP_PASSWORD'\norigins = ['https://shop.example']\n",
    )
    monkeypatch.setenv("SHOP_PASSWORD", CANARY)
    monkeypatch.setenv("BROWSER_POOL_SIZE", "2")
    said = rutter.json("config", "show")
    assert said["file"] == str(file)
    assert said["values"]["policy.upload_mb"] == {"value": 7, "source": f"{file} line 2"}
    pool = {"value": 2, "source": "the variable BROWSER_POOL_SIZE"}
    assert said["values"]["browser.pool_size"] == pool
    assert said["values"]["run.threshold"] == {"value": 0.7, "source": "default"}
    assert said["secrets"]["password"]["source"] == "env:SHOP_PASSWORD"
    assert said["policy"]["hosts"] == ["shop.example"]
    assert said["policy"]["version"].startswith("1-")
    shown = rutter("config")
    assert "deny: no refunds" in shown.out
    assert "env:SHOP_PASSWORD on https://shop.example" in shown.out
    assert CANARY not in shown.out + shown.err + str(said)


def test_without_a_file_show_says_where_it_would_be(rutter: Rutter, tmp_path: Path) -> None:
    ended = rutter("config", "show")
    assert f"no configuration file; it would be {rutter.data / 'config.toml'}" in ended.out
    refused(rutter("--config", tmp_path / "none.toml", "config"), "cannot be read")


@pytest.mark.parametrize(
    "command", [("sessions",), ("run", "order"), ("config", "show"), ("demo",)]
)
def test_no_command_starts_with_a_configuration_that_cannot_be_used(
    rutter: Rutter, command: tuple[str, ...]
) -> None:
    configure(rutter, "[policy]\nallowed_domain = ['shop.example']\n")
    refused(rutter(*command), "line 2: there is no key policy.allowed_domain")


def test_a_variable_that_is_nearly_ours_is_refused(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_INTERNAL_MAX_STEP", "3")
    refused(rutter("sessions"), "did you mean AGENT_INTERNAL_MAX_STEPS?")


def test_a_run_whose_hosts_the_allowlist_lacks_is_refused_before_a_browser_starts(
    rutter: Rutter,
) -> None:
    scripted_logs.keep(rutter.data / "log.db")
    configure(rutter, "policy.allowed_domains = ['other.example']\n")
    ended = rutter("run", "order", "--set", "customer=Fairlead Offshore")
    refused(ended, "shop.example is not among the allowed hosts -> it must be in policy.allowed")


@pytest.mark.parametrize("allow", ["evil.example", "127.0.0.1:9", "http://shop.example"])
def test_allowing_more_than_the_configuration_does_is_refused(rutter: Rutter, allow: str) -> None:
    scripted_logs.keep(rutter.data / "log.db")
    configure(rutter, "policy.allowed_domains = ['shop.example']\n")
    ended = rutter("run", "order", "--set", "customer=Fairlead Offshore", "--allow", allow)
    refused(ended, allow)


def test_a_free_run_outside_of_the_allowlist_is_refused(rutter: Rutter) -> None:
    configure(rutter, "policy.allowed_domains = ['shop.example']\n")
    refused(rutter("run", "--free", "--url", "https://evil.example/"), "evil.example is not among")


def test_a_secret_of_the_configuration_is_read_from_where_it_says(rutter: Rutter) -> None:
    scripted_logs.keep_locked(rutter.data / "log.db")
    configure(rutter, "[secrets.pin]\nsource = 'env:RUTTER_TEST_NOT_SET'\n")
    ended = rutter("run", "sign-in", "--set", "user=mate")
    refused(ended, "RUTTER_TEST_NOT_SET is not set")
    refused(rutter("run", "sign-in", "--secret", "code"), "the configuration has no secret 'code'")


def test_a_recording_at_a_host_that_the_allowlist_lacks_needs_somebody_to_ask(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":99")
    configure(rutter, "policy.allowed_domains = ['shop.example']\n")
    refused(rutter("record", "x", "--url", "https://evil.example/"), "evil.example is not among")


def test_in_a_free_run_a_secret_belongs_where_it_begins_if_any_workflow_types_it_there(
    rutter: Rutter,
) -> None:
    scripted_logs.keep_locked(rutter.data / "log.db")
    home = ("pin", "https://shop.example")
    here, bound = "https://shop.example/login?x", BoundSecrets({"pin": "0000", "code": "1"})
    told = BoundSecrets({"pin": "0000"}, (("pin", "https://other.example"),))
    with Tables(settings.load(str(rutter.data), env={})) as tables:
        assert recorded_homes(bound, tables, here) == [home]
        assert recorded_homes(bound, tables, "https://evil.example/") == []
        assert recorded_homes(bound, tables, "https://shop.example:8443/") == []
        assert recorded_homes(told, tables, here) == []
    nowhere = Tables(settings.load(str(rutter.data / "none"), env={}))
    assert recorded_homes(BoundSecrets({"pin": "0000"}), nowhere, here) == []


WRITTEN = """# ours
[policy]  # of the shop
upload_mb = 3 # small
allowed_domains = ["shop.example"]

[agent.internal]
max_steps = 9
"""


@for_each(
    "key, value, was, now",
    [
        ("policy.upload_mb", "7", "upload_mb = 3 #", "upload_mb = 7 #"),
        ("policy.allowed_domains", "a.example, *.b.example", "shop.example", '"*.b.example"'),
        ("policy.download_mb", "8", "", "download_mb = 8"),
        ("agent.ghost.enabled", "true", "", "[agent.ghost]\nenabled = true"),
        ("agent.provider", "ollama", "", 'provider = "ollama"'),
        ("run.threshold", "0.6", "", "[run]\nthreshold = 0.6"),
        ("secrets.pin.source", "env:PIN", "", '[secrets.pin]\nsource = "env:PIN"'),
    ],
)
def test_one_value_is_set_and_all_else_that_is_written_stays(
    rutter: Rutter, key: str, value: str, was: str, now: str
) -> None:
    file = configure(rutter, WRITTEN)
    assert rutter("config", "set", key, value).code == 0
    text = file.read_text()
    assert was in WRITTEN
    assert not was or was not in text
    assert now in text
    kept = [line for line in WRITTEN.splitlines() if not was or was not in line]
    assert all(line in text.splitlines() for line in kept)
    headers = [line.partition("#")[0] for line in text.splitlines() if line.startswith("[")]
    assert len(headers) == len(set(headers))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    if not key.startswith("secrets"):
        said = rutter.json("config", "show")["values"][key]["source"]
        assert said.startswith(str(file))


@for_each(
    "key, value, said",
    [
        ("policy.upload_m", "7", "did you mean policy.upload_mb?"),
        ("policy.upload_mb", "much", "rutter config set policy.upload_mb 50"),
        ("policy.upload_mb", "-1", "policy.upload_mb"),
        ("policy", "7", "there is no key policy"),
        ("run.threshold", "7", "run.threshold"),
        ("secrets.pin.source", "hunter2", "env:VARIABLE"),
        ("secrets.pin.colour", "blue", "colour"),
        ("agent.internal.enabled", "true", "agent.internal.allowed_tools names no tool"),
    ],
)
def test_what_would_be_refused_at_the_next_start_is_not_written(
    rutter: Rutter, key: str, value: str, said: str
) -> None:
    file = configure(rutter, WRITTEN)
    refused(rutter("config", "set", key, value), said)
    assert file.read_text() == WRITTEN


def test_what_init_writes_takes_the_tables_of_the_docs_and_set_values(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    rutter("init")
    file = rutter.data / "config.toml"
    with file.open("a") as end:
        end.write('\n[logins]\nkey = "env:LOGIN_KEY"\n[policy]\nupload_mb = 7\n')
    assert rutter("config", "set", "policy.download_mb", "8").code == 0
    values = rutter.json("config", "show")["values"]
    assert [values[f"policy.{each}_mb"]["value"] for each in ("upload", "download")] == [7, 8]
    monkeypatch.setenv("RUTTER_POLICY_UPLOAD_MB", "5")
    told = rutter("config", "set", "policy.upload_mb", "9")
    assert "but the variable RUTTER_POLICY_UPLOAD_MB stands above it: unset that" in told.out
    with file.open("a") as end:
        end.write("[logins]\n")
    refused(rutter("sessions"), "rutter config set KEY VALUE finds the place")


def test_a_link_stays_one_to_where_the_person_keeps_the_file(
    rutter: Rutter, tmp_path: Path
) -> None:
    link, kept = configure(rutter, WRITTEN), tmp_path / "kept.toml"
    link.rename(kept)
    link.symlink_to(kept)
    assert rutter("config", "set", "policy.upload_mb", "7").code == 0
    assert link.readlink() == kept
    assert "upload_mb = 7 #" in kept.read_text()


def test_where_a_table_has_no_place_it_is_said_what_to_write(rutter: Rutter) -> None:
    configure(rutter, "agent = {ghost = {enabled = true}}\n")
    told = rutter("config", "set", "agent.internal.max_steps", "9")
    refused(told, "write [agent.internal] there as a table of its own")


def test_the_first_value_that_is_set_makes_the_file(rutter: Rutter) -> None:
    assert rutter("config", "set", "run.screenshots", "true").code == 0
    assert rutter.json("config", "show")["values"]["run.screenshots"]["value"] is True
