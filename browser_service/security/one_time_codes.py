"""Turns a named secret into what is typed: its value, or the current one-time code."""

import binascii
from base64 import b32decode
from collections.abc import Iterator
from math import ceil
from typing import Final
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.named_secrets import NamedSecret, OneTimeCodes
from browser_service.rules.host_clock import MOST_APART_S

REMADE_AFTER_S: Final = 10
"""For how long texts to hide are used, because codes change."""
_KNOWN_AFTER_S: Final = 600
"""How long a typed code may still be visible on a page."""


def secret_of(name: str, text: str, origins: tuple[str, ...], *, totp: bool) -> NamedSecret:
    """Make a secret from its text, or with `totp` from an authenticator's. Raises ValidationError, ValidationFailed."""
    if totp:
        return from_authenticator(name, text, origins)
    return NamedSecret(name=name, value=text, origins=origins)


def from_authenticator(name: str, text: str, origins: tuple[str, ...]) -> NamedSecret:
    """Make a secret from an authenticator key or otpauth:// link that a site shows. Raises ValidationFailed."""
    codes, key = OneTimeCodes(), text
    if text.startswith("otpauth:"):
        parts = urlsplit(text)
        if parts.netloc != "totp":
            raise _no_key(f"an otpauth link of the kind {parts.netloc!r}, and only totp is known")
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        key = given.get("secret", "")
        rule = {name: given[name] for name in ("digits", "period", "algorithm") if name in given}
        try:
            codes = OneTimeCodes.model_validate(rule)
        except ValidationError:
            raise _no_key(f"for codes of a kind that is not known: {rule}") from None
    key = "".join(key.split()).upper().rstrip("=")
    secret = NamedSecret(name=name, value=key, origins=origins, codes=codes)
    typed_text(secret, 0)
    return secret


def typed_text(secret: NamedSecret, at: float) -> str:
    """Return what is typed at a Unix time in seconds: the value, or the code of that time (RFC 6238)."""
    if secret.codes is None:
        return secret.value
    # This import takes 20 ms, and only codes need it.
    from cryptography.hazmat.primitives.hashes import SHA1, SHA256, SHA512  # noqa: PLC0415 - as said
    from cryptography.hazmat.primitives.twofactor.totp import TOTP  # noqa: PLC0415 - as said

    kinds: dict[str, type[SHA1 | SHA256 | SHA512]] = {"SHA1": SHA1, "SHA256": SHA256, "SHA512": SHA512}
    try:
        key = b32decode(secret.value + "=" * (-len(secret.value) % 8))
    except binascii.Error:
        raise _no_key("no base32 text (letters A to Z and digits 2 to 7)") from None
    algorithm = kinds[secret.codes.algorithm]()
    totp = TOTP(key, secret.codes.digits, algorithm, secret.codes.period, enforce_key_length=False)
    return totp.generate(int(at)).decode()


def appearances(secret: NamedSecret, at: float) -> Iterator[str]:
    """Yield each text by which a page or file could reveal the secret."""
    yield secret.value
    if secret.codes is not None:
        period = secret.codes.period
        ahead = period * ceil((MOST_APART_S + REMADE_AFTER_S) / period)
        for passed in range(-ahead, _KNOWN_AFTER_S + period, period):
            yield typed_text(secret, max(0, at - passed))


def _no_key(what: str) -> ValidationFailed:
    return ValidationFailed(
        f"The authenticator's key is {what}.",
        hint="Give the key that the site shows beside its QR code, or the otpauth:// link in it.",
        details=field_details("value"),
    )
