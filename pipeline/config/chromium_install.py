"""Finds the Chromium that Rutter drives, and installs one where there is none.

Finding looks and never starts a browser, so it is cheap enough for every run. Installing is
believed only when the new browser answers `--version`, because a download without its shared
libraries is a file like any other. `python -m rutter.pipeline.config.chromium_install` does both
and prints the path.
"""

import argparse
import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rutter.events.errors import BrowserGone, WorldBroken

PATH_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)

# Where browsers live that put no name on the PATH; relative to the root of the file system.
WELL_KNOWN: Mapping[str, tuple[str, ...]] = {
    "linux": (
        "usr/bin/chromium",
        "usr/lib/chromium/chromium",
        "usr/lib64/chromium-browser/chromium-browser",
        "snap/bin/chromium",
        "opt/google/chrome/chrome",
        "opt/microsoft/msedge/msedge",
    ),
    "darwin": (
        "Applications/Chromium.app/Contents/MacOS/Chromium",
        "Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
}

# A child process, because Playwright's sync API refuses to start inside a running event loop.
PLAYWRIGHT_PROBE = (
    "from playwright.sync_api import sync_playwright\n"
    "with sync_playwright() as p: print(p.chromium.executable_path)"
)
PROBE_TIMEOUT_S = 30  # 0.6 s here; the rest is for a cold disk
DOWNLOAD_TIMEOUT_S = 300  # well over 100 MB; with no name server Playwright gives up in 3 s
PACKAGES_TIMEOUT_S = 600  # package lists, then Chromium and up to a hundred libraries


class ChromiumNotFound(WorldBroken):
    """No browser can be driven, or the one that was named is not there."""


@dataclass(frozen=True)
class Remedy:
    """A remedy gets what is missing. All its commands run; the last one decides if it worked."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    needs_root: bool = True
    timeout_s: int = PACKAGES_TIMEOUT_S


PLAYWRIGHT = (sys.executable, "-m", "playwright")
DOWNLOAD = Remedy("playwright", ((*PLAYWRIGHT, "install", "chromium"),), False, DOWNLOAD_TIMEOUT_S)
LIBRARIES = Remedy("playwright install-deps", ((*PLAYWRIGHT, "install-deps", "chromium"),))

# The packages Debian recommends (printer setup, a notification daemon) stay out, but for the fonts.
APT_INSTALL = ("apt-get", "install", "-y", "-q", "--no-install-recommends")
CHROMIUM_AND_FONTS = ("chromium", "fonts-liberation")
PACKAGE_MANAGERS = (
    Remedy("apt-get", (("apt-get", "update", "-q"), (*APT_INSTALL, *CHROMIUM_AND_FONTS))),
    Remedy("dnf", (("dnf", "install", "-y", "chromium"),)),
    Remedy("pacman", (("pacman", "-Sy", "--noconfirm", "--needed", "chromium"),)),
    Remedy("apk", (("apk", "add", "chromium"),)),
    Remedy("zypper", (("zypper", "--non-interactive", "install", "chromium"),)),
    # Chrome, because it is signed and macOS opens it without a question. Homebrew refuses root.
    Remedy("brew", (("brew", "install", "--cask", "google-chrome"),), needs_root=False),
)


# Playwright speaks to the browser through a Node of its own; a bare Debian lacks its one library.
DRIVER_LIBRARIES = (
    Remedy("apt-get", (("apt-get", "update", "-q"), (*APT_INSTALL, "libatomic1"))),
    Remedy("dnf", (("dnf", "install", "-y", "libatomic"),)),
    Remedy("zypper", (("zypper", "--non-interactive", "install", "libatomic1"),)),
)


def find_chromium(
    setting: str | None = None,
    env: Mapping[str, str] = os.environ,
    *,
    root: Path = Path("/"),
) -> Path | None:
    """The browser to drive, or None; the first that is there wins, what a person named before all.

    `root` is where the well-known locations start, so that a test can have a machine of its own.
    """
    return _named_by_a_person(setting, env) or next(_present(env, root), None)


def require_chromium(setting: str | None) -> Path:
    """The browser that is there. Raises what to do when there is none."""
    found = find_chromium(setting)
    if found is None:
        raise BrowserGone("there is no Chromium on this machine", "run: rutter doctor --fix")
    return found


def why_browser_does_not_start(browser: Path | None, env: Mapping[str, str]) -> str | None:
    """None for a browser that answers; else what it said, such as the library that is missing."""
    if browser is None:
        return "there is no browser"
    problem = attempt((str(browser), "--version"), env, PROBE_TIMEOUT_S)
    return problem and f"does not start ({problem})"


def why_driver_does_not_start(env: Mapping[str, str]) -> str | None:
    """None when Playwright's Node answers. It is asked directly: through Playwright takes 1.2 s."""
    spec = importlib.util.find_spec("playwright")
    package = Path(spec.origin).parent if spec and spec.origin else Path()
    node = Path(env.get("PLAYWRIGHT_NODEJS_PATH") or package / "driver" / "node")
    return attempt((str(node), "--version"), env, PROBE_TIMEOUT_S) if node.is_file() else None


def attempt(command: Sequence[str], env: Mapping[str, str], timeout_s: float) -> str | None:
    """Run a command to its end: None when it worked, else the line of its output that says why."""
    code, output = _run(command, env, timeout_s)
    return None if code == 0 else _telling_line(output) or f"exit code {code}"


@dataclass(frozen=True)
class Installer:
    """The installer applies remedies to one machine, and says each before it tries it. `uid` is who
    runs the package manager; nobody but a test needs to say, nor to have a root of its own."""

    report: Callable[[str], None]
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    root: Path = Path("/")
    uid: int = field(default_factory=os.geteuid)

    def ensure(self, setting: str | None = None) -> Path:
        """The browser that is here and starts, else a new one. A named one is never replaced."""
        browser = find_chromium(setting, self.env, root=self.root)
        problem = why_browser_does_not_start(browser, self.env)
        if browser and problem:
            if _named_by_a_person(setting, self.env):
                fix = "name another one or unset RUTTER_CHROMIUM"
                raise ChromiumNotFound(f"{browser} {problem}", fix)
            self.report(f"{browser} {problem}")
        if browser is None or problem:
            return self.install()
        self._ensure_driver()
        return browser

    def install(self) -> Path:
        """The first browser that starts, from whatever remedy brings it: every way is tried that
        this machine has."""
        self._ensure_driver()
        failures = self._try(self._browser_remedies(), self._browser_problem)
        browser = find_chromium(None, self.env, root=self.root)
        if failures or browser is None:
            remedy = next(self._here(PACKAGE_MANAGERS), DOWNLOAD)
            raise ChromiumNotFound(
                f"no Chromium here, and none could be installed ({'; '.join(failures)})",
                f"{self._what_to_type(remedy)} (or set RUTTER_CHROMIUM to the path of a browser)",
            )
        self.report(f"installed {browser}")
        return browser

    def _ensure_driver(self) -> None:
        """Without Playwright's Node no browser can be driven, nor downloaded."""
        problem = why_driver_does_not_start(self.env)
        if problem is None:
            return
        self.report(f"Playwright's driver does not start: {problem}")
        remedies = tuple(self._here(DRIVER_LIBRARIES))
        if self._try(remedies, lambda: why_driver_does_not_start(self.env)) or not remedies:
            raise ChromiumNotFound(
                f"no browser can be driven: Playwright's driver does not start ({problem})",
                self._what_to_type(remedies[0]) if remedies else "install the missing library",
            )

    def _browser_problem(self) -> str | None:
        browser = find_chromium(None, self.env, root=self.root)
        return why_browser_does_not_start(browser, self.env)

    def _browser_remedies(self) -> Iterator[Remedy]:
        """Lazy: the libraries of a download are asked for only after it came."""
        yield DOWNLOAD
        if _playwright_browser(self.env):
            yield LIBRARIES
        yield from self._here(PACKAGE_MANAGERS)

    def _here(self, remedies: Iterable[Remedy]) -> Iterator[Remedy]:
        """Those whose program this machine has."""
        return (each for each in remedies if _on_path(each.commands[0][0], self.env))

    def _try(self, remedies: Iterable[Remedy], check: Callable[[], str | None]) -> list[str]:
        """Nothing once a remedy has worked and the check agrees, else why each did not."""
        failures = []
        for remedy in remedies:
            problem = self._apply(remedy) or check()
            if problem is None:
                return []
            self.report(f"{remedy.name}: {problem}")
            failures.append(f"{remedy.name}: {problem}")
        return failures

    def _apply(self, remedy: Remedy) -> str | None:
        """Run its commands, as root where it must be; None when the last one worked."""
        prefix: tuple[str, ...] = ()
        if remedy.needs_root and self.uid != 0:
            if not _on_path("sudo", self.env):
                return "needs root, and there is no sudo"
            prefix = ("sudo", "-n")  # -n: a question for a password would wait for ever in a build
        problem: str | None = None
        for command in remedy.commands:
            self.report(f"trying: {shlex.join((*prefix, *command))}")
            problem = attempt((*prefix, *command), self.env, remedy.timeout_s)
        return problem

    def _what_to_type(self, remedy: Remedy) -> str:
        """The same commands for a person, who can give a password or become root."""
        become_root = remedy.needs_root and self.uid != 0
        sudo = "sudo " if become_root and _on_path("sudo", self.env) else ""
        typed = " && ".join(f"{sudo}{shlex.join(command)}" for command in remedy.commands)
        return f"type {'as root' if become_root and not sudo else 'this'}: {typed}"


def _named_by_a_person(setting: str | None, env: Mapping[str, str]) -> Path | None:
    """A path or a command's name. A wrong one is an error: no other browser was asked for."""
    named = (("the chromium setting", setting), ("RUTTER_CHROMIUM", env.get("RUTTER_CHROMIUM")))
    for source, value in named:
        if value:
            found = _on_path(str(Path(value).expanduser()), env)
            if found is None:
                raise ChromiumNotFound(
                    f"{source} is {value}, which is not an executable file",
                    "correct it, or unset it to have a browser looked for",
                )
            return found
    return None


def _present(env: Mapping[str, str], root: Path) -> Iterator[Path]:
    """Every browser on this machine, best first; lazy, because asking Playwright takes 0.6 s."""
    for name in PATH_NAMES:
        if found := _on_path(name, env):
            yield found
    if downloaded := _playwright_browser(env):
        yield downloaded
    for place in WELL_KNOWN.get(sys.platform, ()):
        if found := _on_path(str(root / place), env):
            yield found


def _playwright_browser(env: Mapping[str, str]) -> Path | None:
    """Where Playwright keeps its own browser, if it has downloaded one."""
    code, output = _run((sys.executable, "-c", PLAYWRIGHT_PROBE), env, PROBE_TIMEOUT_S)
    lines = output.splitlines() if code == 0 else []
    return next((path for line in lines if (path := _on_path(line, env))), None)


def _on_path(program: str, env: Mapping[str, str]) -> Path | None:
    """An executable file by its name or its path, absolute."""
    found = shutil.which(program, path=env.get("PATH", ""))
    return Path(found).absolute() if found else None


def _run(command: Sequence[str], env: Mapping[str, str], timeout_s: float) -> tuple[int, str]:
    """Exit code and output. Past its time the whole process group ends, grandchildren included."""
    plain = {**env, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    program = _on_path(command[0], env) or command[0]
    try:
        process = subprocess.Popen(
            (program, *command[1:]),
            env=plain,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return 127, str(error)
    with process:
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return 124, f"no end within {timeout_s:g} s"
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, output


def _telling_line(output: str) -> str:
    """The last line that calls itself an error, else the last line; plain ASCII, and short."""
    ascii_text = re.sub(r"\x1b\[[0-9;]*m", "", output).encode("ascii", "replace").decode()
    lines = [line.strip() for line in ascii_text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(error|e|fatal):", line, re.IGNORECASE)]
    return (errors or lines or [""])[-1][:200]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the path of a browser that starts, installing one if need be; 0, or 1 without one."""
    parser = argparse.ArgumentParser(
        prog="python -m rutter.pipeline.config.chromium_install", description=main.__doc__
    )
    parser.parse_args(argv)
    try:
        print(Installer(lambda line: print(line, file=sys.stderr)).ensure())
    except ChromiumNotFound as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
