"""Given a machine made of small shell scripts, which browser is found, and how one is installed."""

import os
import select
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from rutter.events.errors import WorldBroken
from rutter.pipeline.config.chromium_install import (
    PACKAGE_MANAGERS,
    PATH_NAMES,
    WELL_KNOWN,
    ChromiumNotFound,
    Installer,
    attempt,
    find_chromium,
)

ROOT_UID, USER_UID = 0, 1000
BROWSER = 'echo "Chromium 1.2.3"'
BROKEN_BROWSER = 'echo "libnss3.so: cannot open shared object file" >&2; exit 127'


class Machine:
    """Its own PATH, its own file system root, its own Playwright; every command writes its call."""

    def __init__(self, home: Path) -> None:
        self.bin = home / "bin"
        self.root = home / "root"
        self.calls_file = home / "calls"
        self.downloaded = home / "cache" / "chrome"
        self.modules = home / "modules"
        self.reports: list[str] = []
        self.node = self.script(home / "node", "echo v24.0.0")
        self.playwright("raise SystemExit('Error: no network')")

    @property
    def env(self) -> Mapping[str, str]:
        return {
            "PATH": str(self.bin),
            "PYTHONPATH": str(self.modules),
            "PLAYWRIGHT_NODEJS_PATH": str(self.node),
        }

    @property
    def calls(self) -> list[str]:
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    def script(self, path: Path, body: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def command(self, name: str, body: str = BROWSER) -> Path:
        call = f'echo "{name} $*" >> {shlex.quote(str(self.calls_file))}'
        return self.script(self.bin / name, f"{call}\n{body}")

    def sudo(self) -> None:
        self.command("sudo", 'shift; exec "$@"')

    def brings(self, target: Path, body: str = BROWSER) -> str:
        """The body of a command that puts a browser at `target`."""
        parcel = self.script(self.root / "parcels" / target.name, body)
        return f"/bin/cp {shlex.quote(str(parcel))} {shlex.quote(str(target))}"

    def playwright(self, on_command: str) -> None:
        """A playwright package whose command line does this, and which names `downloaded`."""
        package = self.modules / "playwright"
        package.mkdir(parents=True, exist_ok=True)
        self.downloaded.parent.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(
            "import sys, subprocess\n"
            f"with open({str(self.calls_file)!r}, 'a') as calls:\n"
            "    print('playwright', *sys.argv[1:], file=calls)\n"
            f"{on_command}\n"
        )
        (package / "sync_api.py").write_text(
            "from contextlib import nullcontext\n"
            "from types import SimpleNamespace as Space\n"
            "def sync_playwright():\n"
            f"    chromium = Space(executable_path={str(self.downloaded)!r})\n"
            "    return nullcontext(Space(chromium=chromium))\n"
        )

    def find(self, setting: str | None = None, **extra: str) -> Path | None:
        return find_chromium(setting, {**self.env, **extra}, root=self.root)

    def install(self, uid: int = ROOT_UID) -> Path:
        return Installer(self.reports.append, self.env, self.root, uid).install()

    def ensure(self, uid: int = ROOT_UID, **extra: str) -> Path:
        env = {**self.env, **extra}
        return Installer(self.reports.append, env, self.root, uid).ensure()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "a machine")  # the space is on purpose


# --- finding ---


def test_a_machine_without_a_browser_has_none(machine: Machine) -> None:
    assert machine.find() is None


def test_the_order_is_setting_then_environment_then_path_then_playwright_then_known_places(
    machine: Machine, tmp_path: Path
) -> None:
    well_known = machine.script(machine.root / WELL_KNOWN[sys.platform][0], BROWSER)
    assert machine.find() == well_known
    downloaded = machine.script(machine.downloaded, BROWSER)
    assert machine.find() == downloaded
    on_path = machine.command("google-chrome")
    assert machine.find() == on_path
    in_env = machine.script(tmp_path / "from-env", BROWSER)
    assert machine.find(RUTTER_CHROMIUM=str(in_env)) == in_env
    set_by_hand = machine.script(tmp_path / "from-setting", BROWSER)
    assert machine.find(str(set_by_hand), RUTTER_CHROMIUM=str(in_env)) == set_by_hand


def test_on_the_path_an_earlier_name_wins(machine: Machine) -> None:
    for name in reversed(PATH_NAMES):
        newest = machine.command(name)
        assert machine.find() == newest


def test_finding_starts_no_browser(machine: Machine) -> None:
    machine.command("chromium")
    machine.find()
    assert machine.calls == []


def test_a_setting_may_be_the_name_of_a_command(machine: Machine) -> None:
    mine = machine.command("my-chrome")
    assert machine.find("my-chrome") == mine


def test_an_empty_environment_variable_counts_as_unset(machine: Machine) -> None:
    on_path = machine.command("chromium")
    assert machine.find(RUTTER_CHROMIUM="") == on_path


@pytest.mark.parametrize("kind", ["missing", "not executable", "a directory"])
def test_a_wrong_path_is_an_error_even_when_another_browser_is_there(
    machine: Machine, tmp_path: Path, kind: str
) -> None:
    machine.command("chromium")
    wrong = tmp_path / "wrong"
    if kind == "not executable":
        wrong.write_text("text")
    if kind == "a directory":
        wrong.mkdir()
    with pytest.raises(ChromiumNotFound, match=f"the chromium setting is {wrong}, .*; correct it"):
        machine.find(str(wrong))
    with pytest.raises(ChromiumNotFound, match=f"RUTTER_CHROMIUM is {wrong}, .*; correct it"):
        machine.find(RUTTER_CHROMIUM=str(wrong))


# --- installing ---


def test_playwright_is_tried_first_and_is_enough(machine: Machine) -> None:
    machine.command("apt-get", machine.brings(machine.bin / "chromium"))
    parcel = machine.script(machine.root / "parcel", BROWSER)
    machine.playwright(f"subprocess.run(['/bin/cp', {str(parcel)!r}, {str(machine.downloaded)!r}])")
    assert machine.install() == machine.downloaded
    assert machine.calls == ["playwright install chromium"]


def test_the_package_manager_is_next_and_every_command_is_said(machine: Machine) -> None:
    machine.command("apt-get", machine.brings(machine.bin / "chromium"))
    assert machine.install() == machine.bin / "chromium"
    assert machine.calls == [
        "playwright install chromium",
        "apt-get update -q",
        "apt-get install -y -q --no-install-recommends chromium fonts-liberation",
    ]
    assert machine.reports == [
        f"trying: {shlex.quote(sys.executable)} -m playwright install chromium",
        "playwright: Error: no network",
        "trying: apt-get update -q",
        "trying: apt-get install -y -q --no-install-recommends chromium fonts-liberation",
        f"installed {machine.bin / 'chromium'}",
    ]


def test_stale_package_lists_do_not_keep_the_install_from_being_tried(machine: Machine) -> None:
    body = f'[ "$1" = install ] || exit 100\n{machine.brings(machine.bin / "chromium")}'
    machine.command("apt-get", body)
    assert machine.install() == machine.bin / "chromium"


def test_a_failing_package_manager_hands_over_to_the_next(machine: Machine) -> None:
    machine.command("apt-get", "echo 'E: no such package'; exit 100")
    machine.command("dnf", machine.brings(machine.bin / "chromium-browser"))
    assert machine.install() == machine.bin / "chromium-browser"
    assert machine.calls[-1] == "dnf install -y chromium"


@pytest.mark.parametrize("manager", [remedy.name for remedy in PACKAGE_MANAGERS])
def test_every_package_manager_of_the_table_can_bring_the_browser(
    machine: Machine, manager: str
) -> None:
    machine.command(manager, machine.brings(machine.bin / "google-chrome"))
    assert machine.install() == machine.bin / "google-chrome"


def test_a_download_without_its_libraries_gets_them(machine: Machine) -> None:
    machine.script(machine.downloaded, BROKEN_BROWSER)
    parcel = machine.script(machine.root / "parcel", BROWSER)
    copy = f"subprocess.run(['/bin/cp', {str(parcel)!r}, {str(machine.downloaded)!r}])"
    machine.playwright(f"if 'install-deps' in sys.argv: {copy}")
    assert machine.install() == machine.downloaded
    assert machine.calls == ["playwright install chromium", "playwright install-deps chromium"]
    assert any("does not start (libnss3.so: cannot open" in line for line in machine.reports)


def test_a_user_goes_through_sudo_without_being_asked_for_a_password(machine: Machine) -> None:
    machine.sudo()
    machine.command("apt-get", machine.brings(machine.bin / "chromium"))
    assert machine.install(USER_UID) == machine.bin / "chromium"
    assert machine.calls[1:3] == ["sudo -n apt-get update -q", "apt-get update -q"]


def test_homebrew_is_never_run_through_sudo(machine: Machine) -> None:
    machine.sudo()
    machine.command("brew", machine.brings(machine.bin / "google-chrome"))
    machine.install(USER_UID)
    assert machine.calls[-1] == "brew install --cask google-chrome"
    assert not any(call.startswith("sudo") for call in machine.calls)


def test_a_user_without_sudo_is_told_what_to_type_as_root(machine: Machine) -> None:
    machine.command("apt-get", machine.brings(machine.bin / "chromium"))
    with pytest.raises(ChromiumNotFound) as caught:
        machine.install(USER_UID)
    assert machine.calls == ["playwright install chromium"]
    assert "apt-get: needs root, and there is no sudo" in caught.value.what
    assert caught.value.fix.startswith(
        "type as root: apt-get update -q && apt-get install -y -q --no-install-recommends"
        " chromium fonts-liberation (or set RUTTER_CHROMIUM"
    )


def test_a_user_whose_sudo_wants_a_password_is_told_to_type_sudo(machine: Machine) -> None:
    machine.command("sudo", "echo 'sudo: a password is required' >&2; exit 1")
    machine.command("dnf")
    with pytest.raises(ChromiumNotFound) as caught:
        machine.install(USER_UID)
    assert "dnf: sudo: a password is required" in caught.value.what
    assert caught.value.fix.startswith("type this: sudo dnf install -y chromium (or")


def test_without_any_package_manager_the_download_is_what_to_type(machine: Machine) -> None:
    with pytest.raises(ChromiumNotFound) as caught:
        machine.install()
    assert caught.value.what.endswith("none could be installed (playwright: Error: no network)")
    assert "-m playwright install chromium" in caught.value.fix


def test_the_error_is_one_ascii_line_with_the_reasons_of_all_attempts(machine: Machine) -> None:
    machine.command("apt-get", "printf 'one\\nE: \\303\\274ber\\ntwo\\n'; exit 100")
    machine.command("apk", "printf '\\033[31mfirst\\033[0m\\nlast\\n\\n'; exit 1")
    with pytest.raises(WorldBroken) as caught:
        machine.install()
    message = str(caught.value)
    assert "(playwright: Error: no network; apt-get: E: ?ber; apk: last)" in message
    assert message.isascii()
    assert len(message.splitlines()) == 1


def test_an_install_that_brings_nothing_is_not_believed(machine: Machine) -> None:
    machine.command("apk", "exit 0")
    with pytest.raises(ChromiumNotFound, match="apk: there is no browser"):
        machine.install()


# --- ensuring ---


def test_a_browser_that_starts_is_taken_and_nothing_is_installed(machine: Machine) -> None:
    machine.command("chromium")
    assert machine.ensure() == machine.bin / "chromium"
    assert machine.calls == ["chromium --version"]
    assert machine.reports == []


def test_a_missing_browser_is_installed(machine: Machine) -> None:
    machine.command("pacman", machine.brings(machine.bin / "chromium"))
    assert machine.ensure() == machine.bin / "chromium"


def test_a_browser_that_does_not_start_is_said_and_replaced(machine: Machine) -> None:
    machine.command("chromium", BROKEN_BROWSER)
    machine.command("apk", machine.brings(machine.bin / "chromium"))
    assert machine.ensure() == machine.bin / "chromium"
    assert machine.calls[-1] == "apk add chromium"
    assert machine.reports[0].startswith(f"{machine.bin / 'chromium'} does not start (libnss3.so")


def test_a_named_browser_that_does_not_start_is_an_error_not_replaced(machine: Machine) -> None:
    named = str(machine.command("mine", BROKEN_BROWSER))
    machine.command("apk", machine.brings(machine.bin / "chromium"))
    with pytest.raises(ChromiumNotFound, match=r"does not start .* name another one"):
        machine.ensure(RUTTER_CHROMIUM=named)
    assert machine.calls == ["mine --version"]


# --- the driver between us and the browser ---

BROKEN_NODE = 'echo "node: error while loading shared libraries: libatomic.so.1" >&2; exit 127'


def test_a_driver_without_its_library_gets_it_before_the_browser_is_taken(machine: Machine) -> None:
    machine.command("chromium")
    machine.command("apt-get", machine.brings(machine.node, "echo v24.0.0"))
    machine.script(machine.node, BROKEN_NODE)
    assert machine.ensure() == machine.bin / "chromium"
    assert machine.calls[-1] == "apt-get install -y -q --no-install-recommends libatomic1"
    assert machine.reports[0].endswith("shared libraries: libatomic.so.1")


def test_a_driver_that_stays_broken_is_an_error_that_says_what_to_type(machine: Machine) -> None:
    machine.command("chromium")
    machine.command("apt-get")
    machine.script(machine.node, BROKEN_NODE)
    with pytest.raises(ChromiumNotFound, match=r"driver does not start .*libatomic") as caught:
        machine.ensure(USER_UID)
    assert caught.value.fix.startswith("type as root: apt-get update -q && apt-get install")
    assert caught.value.fix.endswith(" libatomic1")


def test_without_a_package_manager_a_broken_driver_is_still_an_error(machine: Machine) -> None:
    machine.command("chromium")
    machine.script(machine.node, BROKEN_NODE)
    with pytest.raises(ChromiumNotFound, match=r"libatomic.*; install the missing library"):
        machine.ensure()


# --- commands ---


def test_a_command_that_hangs_ends_with_its_children(machine: Machine, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    machine.command("hang", f"exec 3> {shlex.quote(str(fifo))}\n/bin/sleep 600 &\nwait")
    assert attempt(("hang",), machine.env, 0.5) == "no end within 0.5 s"
    # End of file comes when the last holder of the other end is gone, the sleeping child too.
    ready, _, _ = select.select([reader], [], [], 10)
    os.close(reader)
    assert ready


def test_a_file_that_no_kernel_can_run_is_a_reason_not_a_crash(
    machine: Machine, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.touch(0o755)
    assert "Exec format error" in str(attempt((str(empty),), machine.env, 5))


@pytest.mark.parametrize("present", [True, False])
def test_the_command_line_prints_the_path_or_exits_with_1(machine: Machine, present: bool) -> None:
    named = machine.command("chromium") if present else machine.bin / "gone"
    done = subprocess.run(
        (sys.executable, "-m", "rutter.pipeline.config.chromium_install"),
        env={**os.environ, **machine.env, "RUTTER_CHROMIUM": str(named)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    if present:
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{named}\n", "")
    else:
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("RUTTER_CHROMIUM is ")
