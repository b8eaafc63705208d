"""The company's authority vouches for servers that no public one knows: those inside, and whatever
a proxy shows that opens TLS. It is trusted beside the public ones, by the browser and by our own
clients.

Chromium on Linux takes what it trusts besides from a database of NSS below its home: ours has one
of its own (docs/decisions/025-company-networks.md).
"""

import hashlib
import re
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from requests.utils import DEFAULT_CA_BUNDLE_PATH

from rutter.events.errors import BadInput
from rutter.pipeline.config.settings import Settings, environment

CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")
TOOL = "certutil"
TOOL_S = 30
# Of which a browser with another home would no longer find the person's own.
PLACES = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
    "XAUTHORITY": ".Xauthority",
}


class CompanyAuthority(NamedTuple):
    """An authority is trusted by a browser that has this home, and by who reads this bundle."""

    home: Path
    bundle: Path

    def for_the_browser(self, env: Mapping[str, str]) -> dict[str, str]:
        """Its environment: all is where it was, but for the database."""
        old = Path(env.get("HOME") or Path.home())
        places = {name: str(old / place) for name, place in PLACES.items()}
        return {**places, **env, "HOME": str(self.home)}


def company_authority(settings: Settings) -> CompanyAuthority | None:
    """What `network.authority` names, made ready in the data directory. Raises `BadInput`."""
    named = settings.config.text("network.authority")
    if not named:
        return None
    certificates = _certificates(named)
    trust = settings.data / "trust"
    base = Path(environment().get("SSL_CERT_FILE") or DEFAULT_CA_BUNDLE_PATH)
    public = base.read_text("utf-8", "replace")
    if base.is_relative_to(trust) and all(each in public for each in certificates):
        return CompanyAuthority(base.parent / "home", base)  # made by this process before
    digest = hashlib.sha256("\n".join((*certificates, public)).encode()).hexdigest()[:16]
    place = trust / digest
    if not place.is_dir():
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as made:
            draft = Path(made, digest)
            _make(draft, certificates, public)
            if not place.is_dir():  # another process may have been faster
                draft.rename(place)
    return CompanyAuthority(place / "home", place / "bundle.pem")


def _certificates(named: str) -> list[str]:
    try:
        text = Path(named).expanduser().read_text("ascii", "replace")
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", "") or error
        raise BadInput(f"network.authority: {named} cannot be read ({why})") from error
    found = CERTIFICATE.findall(text)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata="\n".join(found))
    except (ssl.SSLError, ValueError) as error:
        raise _no_authority(named) from error
    if len(context.get_ca_certs()) != len(found):
        raise _no_authority(named)
    return found


def _no_authority(named: str) -> BadInput:
    return BadInput(
        f"network.authority: {named} holds something else than certificates of authorities",
        "name the company's root certificate, as PEM",
    )


def _make(draft: Path, certificates: list[str], public: str) -> None:
    database = draft / "home" / ".pki" / "nssdb"
    database.mkdir(mode=0o700, parents=True)
    (draft / "bundle.pem").write_text("\n".join((public, *certificates, "")))
    tool = shutil.which(TOOL)
    if tool is None:
        raise BadInput(
            f"{TOOL} is not here: without it the browser cannot be told of network.authority",
            "install it (Debian: apt install libnss3-tools)",
        )
    at = ("-d", f"sql:{database}")
    try:
        _told(tool, "-N", "--empty-password", *at)
        for number, each in enumerate(certificates):
            _told(tool, "-A", "-a", *at, "-t", "C,,", "-n", f"company-{number}", said=each)
    except (OSError, subprocess.SubprocessError) as error:
        raise BadInput(f"{TOOL} did not take network.authority ({error})") from error


def _told(*command: str, said: str = "") -> None:
    options = {"input": said.encode(), "capture_output": True, "timeout": TOOL_S}
    subprocess.run(command, check=True, **options)  # type: ignore[call-overload]
