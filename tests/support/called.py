"""Stands in for a browser that is called by Web Push: has the keys of its subscription, and reads what comes."""

import base64
import json
import os
from dataclasses import dataclass, field

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.support.json import AnyJson
from tests.support.site import Received


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _data(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _derived(length: int, salt: bytes, info: bytes, secret: bytes) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


@dataclass
class CalledBrowser:
    endpoint: str
    _key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    _auth: bytes = field(default_factory=lambda: os.urandom(16))

    @property
    def subscription(self) -> dict[str, str]:
        return {"endpoint": self.endpoint, "p256dh": _text(_point(self._key.public_key())), "auth": _text(self._auth)}

    def read(self, body: bytes) -> AnyJson:
        """Decrypt a message (RFC 8291). Any: JSON."""
        salt, end = body[:16], 21 + body[20]
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), body[21:end])
        info = b"WebPush: info\0" + _point(self._key.public_key()) + body[21:end]
        secret = _derived(32, self._auth, info, self._key.exchange(ec.ECDH(), theirs))
        key = _derived(16, salt, b"Content-Encoding: aes128gcm\0", secret)
        nonce = _derived(12, salt, b"Content-Encoding: nonce\0", secret)
        text, mark, _ = AESGCM(key).decrypt(nonce, body[end:], None).rpartition(b"\2")
        assert mark, "it does not end as a last record does"
        return json.loads(text)


def proven(received: Received, key: str, audience: str) -> dict[str, AnyJson]:
    """Return what the sender says of itself (RFC 8292), after checking that the key signed it. Any: JSON."""
    scheme, token, given = received.headers["Authorization"].replace(",", "").split()
    assert (scheme, given) == ("vapid", f"k={key}")
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), _data(key))
    return dict(jwt.decode(token.removeprefix("t="), public, algorithms=["ES256"], audience=audience))
