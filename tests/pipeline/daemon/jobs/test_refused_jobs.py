"""What a daemon refuses before it takes it on: from then on it is in the log."""

from pathlib import Path

import pytest

from rutter.events.errors import BadInput
from rutter.events.jobs import RunWorkflow
from rutter.pipeline.config.settings import Settings, load
from rutter.pipeline.daemon.jobs.runner import check_run
from tests.support.scripted_logs import keep_locked


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """`sign-in` is known, and the configuration says where its secret is."""
    keep_locked(tmp_path / "log.db")
    pin, config = tmp_path / "pin", tmp_path / "rutter.toml"
    pin.write_text("0000")
    config.write_text(f'[secrets.pin]\nsource = "file:{pin}"\n')
    return load(str(tmp_path), config=str(config))


def test_a_value_that_holds_a_secret_is_not_taken_on(settings: Settings) -> None:
    check_run(RunWorkflow("sign-in", values={"user": "mate"}), settings, agent=False)
    with pytest.raises(BadInput, match="the value of secret 'pin'"):
        check_run(RunWorkflow("sign-in", values={"user": "mate of 0000"}), settings, agent=False)
