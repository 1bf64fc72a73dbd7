"""Pairs the extension: a code that works once gets it a token for its own connection alone."""

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass, field
from typing import Final

from browse_together.contract.errors import Unauthorized
from browse_together.contract.model import Json
from browser_service.clients.tokens import Tokens
from browser_service.rules.bounded import Bounded
from browser_service.rules.window import Clock
from browser_service.security.auth import Revocations, identify_extension
from browser_service.wall.viewing import digest

CODE_LIVES_S: Final = 600.0
_MOST_CODES: Final = 100
_DAYS: Final = 3_650
_NAME: Final = "extension"


@dataclass(eq=False)
class Pairing:
    """The codes, which are kept in memory as digests, and the tokens of extensions, which are among the named ones."""

    tokens: Tokens
    secret: str
    revoked: Revocations
    clock: Clock
    _codes: Bounded[str, None] = field(init=False)

    def __post_init__(self) -> None:
        self._codes = Bounded(_MOST_CODES, ttl_s=CODE_LIVES_S, clock=self.clock)

    def code(self) -> str:
        code = secrets.token_urlsafe(24)
        self._codes[digest(code)] = None
        return code

    async def pair(self, code: str) -> Json:
        """Return what an extension keeps: its token, the token's id, and the key by which it knows this service.
        Raises Unauthorized."""
        self._codes.trim()
        if digest(code) not in self._codes:
            raise Unauthorized("This link was used already, is older than 10 minutes, or is another service's.")
        del self._codes[digest(code)]
        name = f"{_NAME}-{secrets.token_hex(2)}" if _NAME in self.tokens else _NAME
        expires_at = time.time() + _DAYS * 86_400 - 1
        token, record = await self.tokens.create({"name": name, "expiresAt": expires_at, "extension": True})
        return {"token": token, "id": record.token_id, "key": self._key(record.token_id)}

    def proof(self, id_: str, host: str, nonce: str) -> str:
        """Return what tells an extension that this is the service it was paired with, before it sends its token. It is
        valid for the host and port that it dialled: a program at others cannot get it from here and pass it on."""
        return hmac.new(self._key(id_).encode(), f"{host} answers {nonce}".encode(), hashlib.sha256).hexdigest()

    def admit(self, token: str) -> str:
        """Return the id of an extension's token. Raises Unauthorized, also for one that was revoked."""
        return identify_extension(self.secret, token, self.revoked)

    def check(self, id_: str) -> None:
        """Raise Unauthorized if a token was revoked since it was admitted."""
        self.revoked.check_extension(id_)

    def _key(self, id_: str) -> str:
        return hmac.new(self.secret.encode(), f"key of extension {id_}".encode(), hashlib.sha256).hexdigest()
