"""Where the data is: what was typed, then the environment, then the platform's own place."""

from pathlib import Path

import pytest

from rutter.pipeline.config.settings import default_data, environment, load


def test_what_was_typed_comes_first() -> None:
    env = {"RUTTER_DATA": "/env", "XDG_DATA_HOME": "/xdg"}

    assert load("/typed", env=env).data == Path("/typed")


def test_then_the_variable_of_ours() -> None:
    assert load(env={"RUTTER_DATA": "/env", "XDG_DATA_HOME": "/xdg"}).data == Path("/env")


def test_then_the_place_of_the_platform() -> None:
    assert load(env={"XDG_DATA_HOME": "/xdg"}).data == Path("/xdg/rutter")
    assert load(env={}).data == Path.home() / ".local" / "share" / "rutter"
    assert load(env={"RUTTER_DATA": ""}).data == default_data({})


def test_a_home_directory_is_spelled_out() -> None:
    assert load("~/voyages", env={}).data == Path.home() / "voyages"
    assert load(env={"RUTTER_DATA": "~/voyages"}).data == Path.home() / "voyages"


def test_the_browser_is_named_by_the_environment_and_hidden_by_default() -> None:
    assert load(env={}).chromium is None
    assert load(env={"RUTTER_CHROMIUM": ""}).chromium is None
    assert load(env={"RUTTER_CHROMIUM": "/opt/chromium"}).chromium == "/opt/chromium"
    assert (load(env={}).headless, load(env={}, headless=False).headless) == (True, False)


def test_the_directory_has_its_files_in_it() -> None:
    directory = load("/data", env={}).directory

    assert directory.log == Path("/data/log.db")
    assert directory.projections == Path("/data/projections.db")


def test_without_one_given_it_is_the_real_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUTTER_DATA", "/from/the/environment")

    assert load().data == Path("/from/the/environment")
    assert environment()["RUTTER_DATA"] == "/from/the/environment"
