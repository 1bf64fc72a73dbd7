"""Proves who calls, by a token that is given or made from the account's secret."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

import jwt

from shared.errors import ServiceUnavailable
from shared.secret import read_secret
from shared.wire import CHAT, PERSON_AUDIENCE, TOKEN_ALGORITHM, TOKEN_AUDIENCE, TOKEN_NAME

DAY_S: Final = 86_400
_RENEWED_AFTER_S: Final = DAY_S // 2
_LABEL_CHARACTERS: Final = 60


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
    """Make the token of a client. It has an id of its own, by which it alone can be revoked.

    `label` is the name that others read, and gives no rights. An operator may also do what no agent may. `claims` are
    further ones, such as the limits.
    """
    claims = {**claims, **_claims(client_id, label, lifetime_s), "jti": secrets.token_hex(6)}
    if operator:
        claims["operator"] = True
    return jwt.encode(claims, secret, algorithm=TOKEN_ALGORITHM)


def mint_key(secret: str, request_id: str, *, client_id: str = "", label: str = "") -> str:
    """Make the key of a person who answers a request: whoever has it may answer that one, and do nothing else. With a
    client it is of the person in that client's chat, for what the client itself asked."""
    claims = {"sub": request_id, "aud": PERSON_AUDIENCE, "exp": int(time.time()) + DAY_S}
    chat = {"client": client_id, "label": label} if client_id else {}
    return jwt.encode({**claims, **chat}, secret, algorithm=TOKEN_ALGORITHM)


def token_id(token: str) -> str:
    """Return what a token is revoked by: its id, as the token itself says it, unproven. An id stays as it is."""
    return str(token_claims(token).get("jti", "")) if "." in token else token


def token_claims(token: str) -> dict[str, object]:
    """Return what a token says, unproven: only the service knows whether it is so. Empty for what is no token."""
    try:
        claims: dict[str, object] = jwt.decode(token, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return {}
    return claims


@dataclass(eq=False)
class Credentials:
    """A client's id and label, and the token that proves them. Clients that share a named token are told apart by their
    ids, which are sent along.

    The token is the given one, or that in a file, or made from the account's secret. The last is made anew twice a day,
    and has no id, because revoking it alone would not keep out who makes the next.
    """

    client_id: str
    data_dir: Path
    label: str = ""
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    caller: str = "This client"
    """The subject of the sentence about where the token comes from."""
    _current: str | None = field(default=None, init=False, repr=False)
    _made_at: float = field(default=0.0, init=False)
    _shares: bool | None = field(default=None, init=False)

    def introduce(self, name: str) -> bool:
        """Take another label, which people read. The next token has it. Returns whether it is another."""
        label = " ".join(name.split())[:_LABEL_CHARACTERS] or self.label
        if label == self.label:
            return False
        self.label = label
        self.forget()
        return True

    def forget(self) -> None:
        """Read the file or the secret again for the next token."""
        self._current = self._shares = None

    def headers(self) -> dict[str, str]:
        """Return the header that proves the client; none if there is no secret yet: the service's error then says what
        is needed. Raises ServiceUnavailable for a file or a secret that makes no token."""
        if self._current is None or time.time() - self._made_at > _RENEWED_AFTER_S:
            self._current, self._made_at = self.token or self._read() or self._make(), time.time()
        if not self._current:
            return {"Connection": "close"}  # nobody has proven anything there, and the next request may have a token
        chat = {CHAT: self.client_id} if self.is_shared else {}
        return {"Authorization": f"Bearer {self._current}", **chat}

    def claims(self) -> dict[str, object]:
        """Return what a given token says, unproven; empty where it is made here, or cannot be read."""
        try:
            given = self.token or self._read()
        except ServiceUnavailable:  # which the first call says
            given = None
        return token_claims(given) if given else {}

    @property
    def is_shared(self) -> bool:
        """True for a token of a name, which several chats may have: each is a client of its own."""
        if self._shares is None:
            self._shares = TOKEN_NAME in self.claims()
        return self._shares

    @property
    def are_given(self) -> bool:
        """Return whether an agent may hold the token, which was given and not made here."""
        return bool(self.token or self.token_file)

    def person_key(self, request_id: str) -> str:
        """Make the key by which the person in this client's chat answers what the client asked. It is empty without
        the secret, and for who was given a token."""
        try:
            secret = "" if self.are_given else read_secret(self.data_dir)
        except FileNotFoundError:
            return ""
        return mint_key(secret, request_id, client_id=self.client_id, label=self.label) if secret else ""

    @property
    def source(self) -> str:
        """Say in a sentence where the token comes from."""
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
        return jwt.encode(_claims(self.client_id, self.label, DAY_S), secret, algorithm=TOKEN_ALGORITHM)


def _claims(client_id: str, label: str, lifetime_s: int) -> dict[str, object]:
    now = int(time.time())
    return {"sub": client_id, "label": label, "aud": TOKEN_AUDIENCE, "iat": now, "exp": now + lifetime_s}
