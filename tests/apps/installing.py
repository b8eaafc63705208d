"""Applications by name and version, each in a folder of its own that git does not see."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(os.environ.get("APPS_CACHE", Path(__file__).parents[2] / ".apps"))


@dataclass(frozen=True)
class Packages:
    """From one of `pip`, `npm` and `debian`, by name and version."""

    kind: str
    names: tuple[str, ...]
    extra: tuple[str, ...] = ()  # further arguments of pip

    def install(self, name: str) -> Path:
        """The folder of its programs; nothing to do where these very versions are."""
        folder = CACHE / name
        stamp = folder / "installed"
        wanted = " ".join((self.kind, *self.names))
        if not stamp.exists() or stamp.read_text() != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            {"pip": self._pip, "npm": self._npm, "debian": self._debian}[self.kind](folder)
            stamp.write_text(wanted)
        return folder / {"pip": "bin", "npm": "node_modules/.bin", "debian": "usr/bin"}[self.kind]

    def _pip(self, folder: Path) -> None:
        run(folder, sys.executable, "-m", "venv", str(folder))
        quiet = ("-qq", "--disable-pip-version-check")
        run(folder, str(folder / "bin/pip"), "install", *quiet, *self.extra, *self.names)

    def _npm(self, folder: Path) -> None:
        run(folder, "npm", "init", "-y")
        run(folder, "npm", "install", "--no-audit", "--no-fund", *self.names)

    def _debian(self, folder: Path) -> None:
        """Unpacked beside the system, not installed into it."""
        run(folder, "apt-get", "download", *self.names)
        for package in folder.glob("*.deb"):
            run(folder, "dpkg-deb", "-x", str(package), str(folder))


def pip(*names: str, extra: tuple[str, ...] = ()) -> Packages:
    return Packages("pip", names, extra)


def npm(*names: str) -> Packages:
    return Packages("npm", names)


def debian(*names: str) -> Packages:
    return Packages("debian", names)


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed: {(done.stderr or done.stdout)[-1500:]}")
