"""Serves a site under a name of the internet, and makes a browser that finds it there."""

import base64
import hashlib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from playwright.async_api import async_playwright

from browser_service.host.sessions.executables import find_executable
from browser_service.host.sessions.options import LaunchOptions
from tests.support.site import Site


class NamedSite(Site):
    """A site over TLS, with its own certificate."""

    def __init__(self, name: str, directory: Path) -> None:
        super().__init__()
        self.name = name
        self.key_hash = _certify(name, directory / "site.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(directory / "site.pem")
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )  # in the thread of each connection, so that a slow one holds up no other

    def url(self, path: str = "/", host: str = "") -> str:
        return f"https://{host or self.name}{path}"


@contextmanager
def named_site(name: str, directory: Path) -> Iterator[NamedSite]:
    with NamedSite(name, directory) as site:
        yield site


async def browser_that_knows(site: NamedSite, directory: Path, features: str = "") -> Path:
    """Return an executable that starts this machine's browser with that name and certificate, and with features beside
    those that it is told to have: Chromium heeds only the last switch that names some."""
    async with async_playwright() as playwright:
        browser = find_executable(playwright, LaunchOptions(profile_dir=directory))
    script = directory / "browser"
    script.write_text(
        "#!/bin/sh\n"
        "for given; do\n"  # of two such switches one alone would hold
        '    shift; case "$given" in --host-resolver-rules=*) ;;\n'
        f'    --enable-features=*) set -- "$@" "$given,{features}";; *) set -- "$@" "$given";; esac\n'
        "done\n"
        f'exec "{browser}" --host-resolver-rules="MAP {site.name}:443 127.0.0.1:{site.port}" '
        f'--ignore-certificate-errors-spki-list={site.key_hash} "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return script


def _certify(name: str, file: Path) -> str:
    """Write a key and its certificate; the hash of the key, by which Chromium is told to trust it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + certificate.public_bytes(pem))
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(public).digest()).decode()
