"""Proves a client's identity, by a given token or one made from the account's secret."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

import jwt

from browse_together.contract.errors import ServiceUnavailable
from browse_together.contract.secret import read_secret
from browse_together.contract.wire import (
    CHAT,
    EXTENSION_AUDIENCE,
    HOST_AUDIENCE,
    PERSON_AUDIENCE,
    TOKEN_ALGORITHM,
    TOKEN_AUDIENCE,
    TOKEN_NAME,
    TOKEN_POOL,
)

DAY_S: Final = 86_400
_RENEWED_AFTER_S: Final = DAY_S // 2
LABEL_CHARACTERS: Final = 60


_NO_CLAIMS: Final = MappingProxyType[str, object]({})


def mint(
    secret: str,
    client_id: str,
    label: str = "",
    *,
    operator: bool = False,
    lifetime_s: int = DAY_S,
    claims: Mapping[str, object] = _NO_CLAIMS,
) -> str:
    """Make the token of a client. Its own id allows revoking this token alone.

    `label` is the name that others read; it gives no rights. An operator may do things that no agent may. `claims` are
    further claims, such as limits, or another audience.
    """
    own = {"jti": secrets.token_hex(6), **({"operator": True} if operator else {})}
    return jwt.encode({**_claims(client_id, label, lifetime_s), **claims, **own}, secret, algorithm=TOKEN_ALGORITHM)


def mint_key(secret: str, request_id: str, *, client_id: str = "", label: str = "") -> str:
    """Make the key for answering one request to a person; its bearer can do nothing else. With `client_id` it is the
    key of the person in that client's chat, for what the client itself asked."""
    claims = {"sub": request_id, "aud": PERSON_AUDIENCE, "exp": int(time.time()) + DAY_S}
    chat = {"client": client_id, "label": label} if client_id else {}
    return jwt.encode({**claims, **chat}, secret, algorithm=TOKEN_ALGORITHM)


def mint_host(secret: str, name: str, pool: str, lifetime_s: int) -> str:
    """Make a token that admits hosts of a pool, and allows nothing else."""
    claims = {"aud": HOST_AUDIENCE, TOKEN_NAME: name, TOKEN_POOL: pool}
    return mint(secret, name, lifetime_s=lifetime_s, claims=claims)


def mint_extension(secret: str, name: str, lifetime_s: int) -> str:
    """Make a token that shares tabs and takes them back, by the extension's socket alone."""
    return mint(secret, name, lifetime_s=lifetime_s, claims={"aud": EXTENSION_AUDIENCE, TOKEN_NAME: name})


def token_id(token: str) -> str:
    """Return the id that revokes a token, as the token claims it, without verification. An id is returned unchanged."""
    return str(token_claims(token).get("jti", "")) if "." in token else token


def token_claims(token: str) -> dict[str, object]:
    """Return a token's claims without verification, which only the service can do. Empty if it is no token."""
    try:
        claims: dict[str, object] = jwt.decode(token, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return {}
    return claims


@dataclass(eq=False)
class Credentials:
    """A client's id and label, and the token that proves them. Clients that share a named token also send their ids.

    The token is the given one, the one in a file, or made from the account's secret. A made one is renewed twice a day,
    and has no id, because its maker could make another after a revocation.
    """

    client_id: str
    data_dir: Path
    label: str = ""
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    caller: str = "This client"
    """The subject of the sentence about the token's source."""
    operator: bool = False
    """True if a token that is made here is the account's own person's."""
    _current: str | None = field(default=None, init=False, repr=False)
    _made_at: float = field(default=0.0, init=False)
    _shares: bool | None = field(default=None, init=False)

    def introduce(self, name: str) -> bool:
        """Change the label, which people read, for the next token. Returns whether it is different."""
        label = " ".join(name.split())[:LABEL_CHARACTERS] or self.label
        if label == self.label:
            return False
        self.label = label
        self.forget()
        return True

    def forget(self) -> None:
        """Discard the present token, so that the next one is read or made anew."""
        self._current = self._shares = None

    def headers(self) -> dict[str, str]:
        """Return the headers that prove the client's identity. Without a secret they contain no token, and the
        service's error says what is needed. Raises ServiceUnavailable if the file or secret cannot be read."""
        if self._current is None or time.time() - self._made_at > _RENEWED_AFTER_S:
            self._current, self._made_at = self.token or self._read() or self._make(), time.time()
        if not self._current:
            return {"Connection": "close"}  # unproven; the next request may carry a token
        chat = {CHAT: self.client_id} if self.is_shared else {}
        return {"Authorization": f"Bearer {self._current}", **chat}

    def claims(self) -> dict[str, object]:
        """Return a given token's claims without verification; empty if the token is made here or cannot be read."""
        try:
            given = self.token or self._read()
        except ServiceUnavailable:  # the first call reports it
            given = None
        return token_claims(given) if given else {}

    @property
    def is_shared(self) -> bool:
        """True for a named token, which several chats may share: each is a separate client."""
        if self._shares is None:
            self._shares = TOKEN_NAME in self.claims()
        return self._shares

    @property
    def are_given(self) -> bool:
        """Return whether the token was given and not made here, so that an agent may have it too."""
        return bool(self.token or self.token_file)

    def person_key(self, request_id: str) -> str:
        """Make the key with which the person in this client's chat answers the client's request. Empty without the
        secret, or with a given token."""
        try:
            secret = "" if self.are_given else read_secret(self.data_dir)
        except FileNotFoundError:
            return ""
        return mint_key(secret, request_id, client_id=self.client_id, label=self.label) if secret else ""

    @property
    def source(self) -> str:
        """Return a sentence about the token's source."""
        if self.token:
            return f"{self.caller} sends the token in BROWSE_TOKEN."
        if self.token_file:
            return f"{self.caller} sends the token in {self.token_file} (BROWSE_TOKEN_FILE)."
        if self._current is None:
            return f"{self.caller} has no token: there is no secret in {self.data_dir}."
        return f"{self.caller} made its token from the secret in {self.data_dir}."

    def _read(self) -> str | None:
        if self.token_file is None:
            return None
        try:
            return self.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ServiceUnavailable(
                f"The token file {self.token_file} cannot be read: {error}.",
                hint="BROWSE_TOKEN_FILE says which one; `browse-together token` prints a token for it.",
                details={"context": {"reason": "token file"}},
            ) from None

    def _make(self) -> str | None:
        try:
            secret = read_secret(self.data_dir)
        except FileNotFoundError:
            return None
        claims = _claims(self.client_id, self.label, DAY_S) | ({"operator": True} if self.operator else {})
        return jwt.encode(claims, secret, algorithm=TOKEN_ALGORITHM)


def _claims(client_id: str, label: str, lifetime_s: int) -> dict[str, object]:
    now = int(time.time())
    return {"sub": client_id, "label": label, "aud": TOKEN_AUDIENCE, "iat": now, "exp": now + lifetime_s}
