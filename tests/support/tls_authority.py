"""A test authority vouches for a server of this machine, and a browser is told to trust it."""

import base64
import hashlib
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from rutter.actors.world.browser import chromium


def issued(authority: "Authority", name: str) -> ssl.SSLContext:
    """A server of that name, for which the authority vouches."""
    issuer = x509.load_pem_x509_certificate(authority.pem)
    signing = serialization.load_pem_private_key(authority.key, None)
    assert isinstance(signing, ec.EllipticCurvePrivateKey)
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"of {name}")]))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(signing, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    written = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return Authority(pem, written, "").server("http/1.1")


class Authority(NamedTuple):
    """It has one certificate, for `localhost` and `127.0.0.1`, that vouches for itself."""

    pem: bytes
    key: bytes
    digest: str  # of its public key, as Chromium's switch takes it

    @property
    def trusted(self) -> str:
        """The switch by which a browser trusts it, and nothing else that it would not."""
        return f"--ignore-certificate-errors-spki-list={self.digest}"

    @contextmanager
    def trusted_by_browsers(self) -> Iterator[None]:
        """By those that are started meanwhile."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chromium, "QUIET", (*chromium.QUIET, self.trusted))
            yield

    def server(self, *protocols: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as kept:
            chain = Path(kept, "chain.pem")
            chain.write_bytes(self.pem + self.key)
            context.load_cert_chain(chain)
        context.set_alpn_protocols(list(protocols))
        return context


def authority() -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding, form = serialization.Encoding, serialization.PrivateFormat.PKCS8
    public = key.public_key().public_bytes(
        encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return Authority(
        certificate.public_bytes(encoding.PEM),
        key.private_bytes(encoding.PEM, form, serialization.NoEncryption()),
        base64.b64encode(hashlib.sha256(public).digest()).decode(),
    )
