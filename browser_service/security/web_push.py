"""Encrypts messages for browsers (RFC 8291), and signs them for the push services that pass them on (RFC 8292).

It is not imported before anybody wants such messages, because cryptography takes 9 MB. PyJWT, which is imported without
cryptography, cannot make such signatures.
"""

import hmac
import json
import os
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_CURVE: Final = ec.SECP256R1()
_RECORD: Final = (4_096).to_bytes(4)
_CONTACT: Final = "mailto:browse-together@example.com"
"""The same for everybody, because it is sent along. Apple's service refuses hosts that do not resolve."""


class Sender:
    """Who calls browsers. Its key comes from the account's secret: with another secret, it is another sender."""

    def __init__(self, secret: str) -> None:
        digest = hmac.digest(secret.encode(), b"calls by Web Push", "sha256")
        self._key = ec.derive_private_key(int.from_bytes(digest[1:]), _CURVE)  # 31 bytes: below the curve's order
        self.key = _text(_point(self._key))
        """The public key, which a browser takes calls from."""

    def signature(self, endpoint: str, lasts_s: int) -> str:
        """Return the Authorization header for a push service."""
        place = urlsplit(endpoint)
        claims = {"aud": f"{place.scheme}://{place.netloc}", "exp": int(time.time()) + lasts_s, "sub": _CONTACT}
        said = ".".join(_text(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ES256"}, claims))
        numbers = decode_dss_signature(self._key.sign(said.encode(), ec.ECDSA(SHA256())))
        return f"vapid t={said}.{_text(b''.join(number.to_bytes(32) for number in numbers))}, k={self.key}"

    @staticmethod
    def encrypted(text: bytes, p256dh: str, auth: str) -> bytes:
        """Return a message that only the browser with these keys can read. Raises ValueError for a key that is none."""
        point, salt, ours = _data(p256dh), os.urandom(16), ec.generate_private_key(_CURVE)
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, point)
        secret = _derived(32, _data(auth), b"WebPush: info\0" + point + _point(ours), ours.exchange(ec.ECDH(), theirs))
        key = _derived(16, salt, b"Content-Encoding: aes128gcm\0", secret)
        nonce = _derived(12, salt, b"Content-Encoding: nonce\0", secret)
        sealed = AESGCM(key).encrypt(nonce, text + b"\2", None)  # the mark of the last record
        return b"".join((salt, _RECORD, bytes([len(_point(ours))]), _point(ours), sealed))


def _derived(length: int, salt: bytes, info: bytes, secret: bytes) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


def _point(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _data(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
