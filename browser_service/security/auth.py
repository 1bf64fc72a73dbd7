"""Identifies the caller by a signed token, and refuses revoked ones."""

import time
from functools import lru_cache
from typing import NamedTuple

import jwt
from pydantic import Field, ValidationError

from browser_service.store.journal import Journal
from shared.calls import ClientRef
from shared.errors import Unauthorized
from shared.wire import CLIENT_ID_PATTERN, TOKEN_ALGORITHM, TOKEN_AUDIENCE

_DAY_S = 86_400
_PERSON = f"{TOKEN_AUDIENCE}/person"


class Identity(ClientRef):
    """Names a client that has proven who it is, and the rights that its token gives."""

    client_id: str = Field(pattern=CLIENT_ID_PATTERN)
    label: str = Field(default="", max_length=80)
    operator: bool = Field(default=False, description="May also do what no agent may, such as remove records.")
    request_id: str = Field(default="", description="The one request to a person that it may answer, and nothing else.")
    scopes: frozenset[str] = Field(default=frozenset(), description="What its token is limited to; none is, yet.")

    @property
    def ref(self) -> ClientRef:
        """Return the client without its rights, as it is stored and shown."""
        return ClientRef(client_id=self.client_id, label=self.label)


class Revocations:
    """Decides from memory; the journal keeps the revocations for the next start."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._tokens: dict[str, float] = {}
        self._clients: dict[str, float] = {}

    async def open(self) -> None:
        self._tokens, self._clients = await self._journal.revoked()

    def check(self, client_id: str, token_id: str, issued_at: float) -> None:
        """Raise Unauthorized for a revoked token. A token issued to the client after the second of its revocation is
        valid."""
        until = self._clients.get(client_id)
        if token_id in self._tokens or (until is not None and issued_at <= until):
            raise Unauthorized(
                "The token was revoked.", hint="The account's owner gives another: browse-together token."
            )

    async def token(self, token_id: str, at: float) -> None:
        self._tokens[token_id] = at
        await self.write_down()

    async def clients(self, client_ids: set[str], at: float) -> None:
        self._clients |= dict.fromkeys(client_ids, at)
        await self.write_down()

    async def write_down(self) -> None:
        await self._journal.keep_revoked(self._tokens, self._clients)


class TokenClaims(NamedTuple):
    """Holds the claims of a token whose signature is valid."""

    identity: Identity
    expires_at: float
    token_id: str
    issued_at: float


def mint_key(secret: str, request_id: str) -> str:
    """Make the key in the link to a request: whoever has it may answer that request, and do nothing else."""
    claims = {"sub": request_id, "aud": _PERSON, "exp": int(time.time()) + _DAY_S}
    return jwt.encode(claims, secret, algorithm=TOKEN_ALGORITHM)


def person_for(secret: str, request_id: str, authorization: str | None) -> Identity | None:
    """Return the person who came by the link of a request; None for anybody else."""
    _, _, token = (authorization or "").partition(" ")
    try:
        jwt.decode(
            token.strip(),
            secret,
            algorithms=[TOKEN_ALGORITHM],
            audience=_PERSON,
            subject=request_id,
            options={"require": ["sub", "aud", "exp"]},
        )
    except jwt.InvalidTokenError:
        return None
    return Identity(client_id="person", request_id=request_id)


def identify(secret: str, authorization: str | None, revoked: Revocations | None = None) -> Identity:
    """Return the client that an Authorization header proves. Raises Unauthorized, which says why and no more."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthorized("The request has no bearer token.")
    try:
        claims = _verify(secret, token.strip())
    except jwt.ExpiredSignatureError:
        raise Unauthorized("The token has expired.") from None
    except (jwt.InvalidTokenError, ValidationError):
        raise Unauthorized("The token is not valid here.") from None
    if time.time() >= claims.expires_at:
        raise Unauthorized("The token has expired.")
    if revoked is not None:
        revoked.check(claims.identity.client_id, claims.token_id, claims.issued_at)
    return claims.identity


@lru_cache(maxsize=1_000)
def _verify(secret: str, token: str) -> TokenClaims:
    """Verify a token. The result is cached, because a client sends one token with all of its calls."""
    payload = jwt.decode(
        token,
        secret,
        algorithms=[TOKEN_ALGORITHM],
        audience=TOKEN_AUDIENCE,
        options={"require": ["sub", "aud", "exp"]},
    )
    label, operator = str(payload.get("label", ""))[:80], payload.get("operator") is True
    identity = Identity(client_id=payload["sub"], label=label, operator=operator)
    return TokenClaims(identity, float(payload["exp"]), str(payload.get("jti", "")), float(payload.get("iat", 0)))
