"""Who this gateway is to the service: a client id that outlives the connection, and the token that proves it."""

import os
import re
import time
from uuid import uuid4

import jwt

from mcp_gateway.settings import Settings
from shared.errors import ServiceUnavailable
from shared.secret import read_secret
from shared.wire import CLIENT_ID_PATTERN, TOKEN_ALGORITHM, TOKEN_AUDIENCE

_HOUR_S = 3600
_LABEL_CHARACTERS = 60


class Identity:
    """The token is made from the account's secret, which the service creates, or given in the settings."""

    def __init__(self, settings: Settings, chat: str | None = None) -> None:
        self.settings = settings
        self.client_id = settings.client_id or chat or _chat_id() or f"gw-{uuid4().hex[:12]}"
        self.label = "gateway"
        self._token: str | None = None
        self._minted_at = 0.0

    def introduce(self, name: str) -> None:
        """Call oneself what the host calls itself; a label for people, no authority."""
        label = " ".join(name.split())[:_LABEL_CHARACTERS] or self.label
        if label != self.label:
            self.label = label
            self.forget()

    def forget(self) -> None:
        """Read the secret and make the token anew, next time."""
        self._token = None

    def headers(self) -> dict[str, str]:
        if self._token is None or time.time() - self._minted_at > 12 * _HOUR_S:
            self._token, self._minted_at = self._given() or self._mint(), time.time()
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    @property
    def source(self) -> str:
        """Where the token comes from, in words."""
        if self.settings.token:
            return "This gateway sends the token in BROWSE_TOKEN."
        if self.settings.token_file:
            return f"This gateway sends the token in {self.settings.token_file} (BROWSE_TOKEN_FILE)."
        if self._token is None:
            return f"This gateway has no token: there is no secret in {self.settings.data_dir}."
        return f"This gateway made its token from the secret in {self.settings.data_dir}."

    def _given(self) -> str | None:
        """Raises ServiceUnavailable for a file that cannot be read."""
        if self.settings.token:
            return self.settings.token.get_secret_value()
        if self.settings.token_file:
            try:
                return self.settings.token_file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise ServiceUnavailable(
                    f"The token file {self.settings.token_file} cannot be read: {error}.",
                    hint="BROWSE_TOKEN_FILE says which one; `browse-together token` prints a token for it.",
                    details={"context": {"reason": "token file"}},
                ) from None
        return None

    def _mint(self) -> str | None:
        """None where there is no secret: the service's refusal then says what is needed. Raises ServiceUnavailable for
        one that makes no token."""
        try:
            secret = read_secret(self.settings.data_dir)
        except FileNotFoundError:
            return None
        now = int(time.time())
        claims = {
            "sub": self.client_id,
            "label": self.label,
            "aud": TOKEN_AUDIENCE,
            "iat": now,
            "exp": now + 24 * _HOUR_S,
        }
        return jwt.encode(claims, secret, algorithm=TOKEN_ALGORITHM)


def _chat_id() -> str | None:
    """The id that the host gives the chat: the same after a restart, so that its pages are still its own."""
    chat = f"claude-code:{os.environ.get('CLAUDE_CODE_SESSION_ID', '')}"
    return chat if not chat.endswith(":") and re.fullmatch(CLIENT_ID_PATTERN, chat) else None
