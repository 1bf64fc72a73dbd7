"""A caller proves itself with a token that it is given, or makes of the account's secret."""

import secrets
import time
from pathlib import Path
from typing import Final

import jwt

from shared.errors import ServiceUnavailable
from shared.secret import read_secret
from shared.wire import TOKEN_ALGORITHM, TOKEN_AUDIENCE

DAY_S: Final = 86_400
_RENEWED_AFTER_S: Final = DAY_S // 2
_LABEL_CHARACTERS: Final = 60


def mint(secret: str, client_id: str, label: str = "", *, operator: bool = False, lifetime_s: int = DAY_S) -> str:
    """Make the token of a client. It has an id of its own, by which it alone can be revoked.

    `label` is what others read of the client, and no authority. An operator may also do what no agent may.
    """
    claims = _claims(client_id, label, lifetime_s) | {"jti": secrets.token_hex(6)}
    if operator:
        claims["operator"] = True
    return jwt.encode(claims, secret, algorithm=TOKEN_ALGORITHM)


def token_id(token: str) -> str:
    """Return what a token is revoked by: its id, as the token itself says it, unproven. An id stays as it is."""
    if "." not in token:
        return token
    try:
        return str(jwt.decode(token, options={"verify_signature": False}).get("jti", ""))
    except jwt.InvalidTokenError:
        return ""


class Credentials:
    """A client has an id and a label, and a token that proves them.

    The token is the given one, or that in a file, or made of the account's secret: the last is made anew twice a day,
    and has no id, since revoking it alone would not keep out who makes the next.
    """

    def __init__(
        self,
        client_id: str,
        data_dir: Path,
        *,
        label: str = "",
        token: str | None = None,
        token_file: Path | None = None,
        caller: str = "This client",
    ) -> None:
        self.client_id = client_id
        self.label = label
        self._data_dir = data_dir
        self._given = token
        self._file = token_file
        self._caller = caller
        self._token: str | None = None
        self._made_at = 0.0

    def introduce(self, name: str) -> None:
        """Take another label, which people read. The next token has it."""
        label = " ".join(name.split())[:_LABEL_CHARACTERS] or self.label
        if label != self.label:
            self.label = label
            self.forget()

    def forget(self) -> None:
        """Read the file or the secret again for the next token."""
        self._token = None

    def headers(self) -> dict[str, str]:
        """Return the header that proves the client; none where there is no secret yet: the service's refusal then says
        what is needed. Raises ServiceUnavailable for a file or a secret that makes no token."""
        if self._token is None or time.time() - self._made_at > _RENEWED_AFTER_S:
            self._token, self._made_at = self._given or self._read() or self._make(), time.time()
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    @property
    def source(self) -> str:
        """Say in a sentence where the token comes from."""
        if self._given:
            return f"{self._caller} sends the token in BROWSE_TOKEN."
        if self._file:
            return f"{self._caller} sends the token in {self._file} (BROWSE_TOKEN_FILE)."
        if self._token is None:
            return f"{self._caller} has no token: there is no secret in {self._data_dir}."
        return f"{self._caller} made its token from the secret in {self._data_dir}."

    def _read(self) -> str | None:
        if self._file is None:
            return None
        try:
            return self._file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ServiceUnavailable(
                f"The token file {self._file} cannot be read: {error}.",
                hint="BROWSE_TOKEN_FILE says which one; `browse-together token` prints a token for it.",
                details={"context": {"reason": "token file"}},
            ) from None

    def _make(self) -> str | None:
        try:
            secret = read_secret(self._data_dir)
        except FileNotFoundError:
            return None
        return jwt.encode(_claims(self.client_id, self.label, DAY_S), secret, algorithm=TOKEN_ALGORITHM)


def _claims(client_id: str, label: str, lifetime_s: int) -> dict[str, object]:
    now = int(time.time())
    return {"sub": client_id, "label": label, "aud": TOKEN_AUDIENCE, "iat": now, "exp": now + lifetime_s}
