"""The wheel: one package and nothing beside it, whatever else is installed there."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("events", "actors", "replay", "pipeline")
# Somebody else's package of a name that was ours once.
FOREIGN = "class Events: pass\n"
BESIDE = """
import events, rutter, rutter.events.event, sys
assert events.Events and not hasattr(rutter.events, "Events")
assert rutter.__file__.startswith(sys.argv[1]), rutter.__file__
print(*sorted(name for name in sys.modules if name.startswith("rutter")))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    building = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(building, cwd=ROOT, check=True, capture_output=True)
    [built] = place.glob("*.whl")
    return built


def of_the_product() -> set[str]:
    """Every file of the four folders, as git would take it along."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file())
    kept = {path.relative_to(ROOT) for path in found if "__pycache__" not in path.parts}
    own = {Path("__init__.py"), Path("__main__.py"), Path("py.typed")}
    return {f"rutter/{path.as_posix()}" for path in kept | own}


def test_it_holds_rutter_and_what_describes_it_and_all_of_that(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    described = {name for name in names if ".dist-info/" in name.partition("/")[0] + "/"}
    assert names - described == of_the_product()
    assert {name.split("/")[0] for name in described} == {"rutter_agent-0.1.0.dist-info"}


def test_installed_beside_a_package_that_is_called_events_both_work(
    wheel: Path, tmp_path: Path
) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "__init__.py").write_text(FOREIGN)
    asked = [sys.executable, "-c", BESIDE, str(tmp_path)]
    told = subprocess.run(
        asked, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    assert not [name for name in told.stdout.split() if "pipeline" in name], "it loads lazily"
