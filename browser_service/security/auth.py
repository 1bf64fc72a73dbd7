"""Identifies a caller or a host by a signed token, and refuses revoked ones."""

import hashlib
import re
import shlex
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import inf
from typing import NamedTuple

import jwt
from pydantic import Field, ValidationError

from browse_together.contract.calls import ClientRef
from browse_together.contract.errors import Unauthorized
from browse_together.contract.limits import UNLIMITED, Limits, limits_of
from browse_together.contract.wire import (
    CHAT,
    CLIENT_ID_PATTERN,
    EXTENSION_AUDIENCE,
    HOST_AUDIENCE,
    PERSON_AUDIENCE,
    TOKEN_ALGORITHM,
    TOKEN_AUDIENCE,
    TOKEN_NAME,
    TOKEN_POOL,
)
from browse_together.contract.words import quotable
from browser_service.store.journal import Journal

_RESTORE = "browse-together token restore"
_FOR_HOSTS = "Make one where the service runs: browse-together token host POOL > FILE"
_PAIR_ANEW = "Pair it anew: browse-together extension"
_EXPIRED = "The token has expired."
_INVALID = "The token is not valid here."


class Identity(ClientRef):
    """A client with a proven identity, and the rights that its token gives."""

    client_id: str = Field(pattern=CLIENT_ID_PATTERN)
    label: str = Field(default="", max_length=80)
    operator: bool = Field(default=False, description="May also do what no agent may, such as remove records.")
    request_id: str = Field(default="", description="The one request to a person that it may answer, and nothing else.")
    in_chat: bool = Field(default=False, description="Is the person in the chat of this client.")
    looks_on: bool = Field(default=False, description="Is a person who only looks at the wall.")
    limits: Limits = Field(default=UNLIMITED, description="What its token allows.")
    session: str = Field(default="", description="Where its calls go that name no other session, nor a page.")
    token_name: str = Field(default="", description="The name of the token, if `token create` made it.")
    token_id: str = Field(default="", description="What the token is revoked by.")
    expires_at: float | None = Field(default=None, description="When the token ends, as Unix time.")

    @property
    def of_person(self) -> bool:
        """Return whether a person acts, and no agent."""
        return self.operator or self.looks_on or bool(self.request_id)

    @property
    def ref(self) -> ClientRef:
        """Return the client without its rights, as it is stored and shown."""
        return ClientRef(client_id=self.client_id, label=self.label)

    def is_sibling(self, client_id: str) -> bool:
        """Return whether a client is this one, or another chat with the same named token."""
        return client_id == self.client_id or (bool(self.token_name) and is_of_token(client_id, self.token_name))


class HostToken(NamedTuple):
    """A proven token of hosts: the pool that it admits to, and what it is revoked by."""

    pool: str
    name: str
    token_id: str
    expires_at: float


def token_client(name: str, chat: str = "") -> str:
    """Return the client id for a named token. Each chat that shares the token is its own client, identified by a digest
    of the chat's id: no reply ever contains the id, so no other chat can take it."""
    own = f":{hashlib.sha256(chat.encode()).hexdigest()[:24]}" if chat else ""
    return f"token:{name}{own}"


def token_name(client_id: str) -> str:
    """Return the name of the token that a client has; empty if it has no named one."""
    kind, _, rest = client_id.partition(":")
    return rest.partition(":")[0] if kind == "token" else ""


def is_of_token(client_id: str, name: str) -> bool:
    return token_name(client_id).casefold() == name.casefold() != ""


class Revocations:
    """Revoked tokens and clients: checked in memory, stored in the journal for the next start."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._tokens: dict[str, float] = {}
        self._clients: dict[str, float] = {}
        self.on_token: Callable[[str], None] = lambda _: None
        """Hears the id of each token that is revoked."""

    async def open(self) -> None:
        self._tokens, self._clients = await self._journal.revoked()

    def check(self, caller: Identity) -> None:
        """Raise Unauthorized for a token that expired or was revoked, also since its call began, and for a client that
        was revoked by id or label, whichever token it has. The account's owner is never locked out."""
        expires_at = inf if caller.expires_at is None else caller.expires_at
        if caller.token_id in self._tokens or time.time() >= expires_at:
            name = caller.token_name
            another = f"browse-together token create --name {name}" if name else "browse-together token"
            self._check_token(caller.token_id, caller.expires_at, f"The account's owner gives another: {another}", name)
        if caller.operator or not self._clients:
            return
        names = {caller.client_id.casefold(), caller.label.casefold()}
        if revoked := sorted(names & self._clients.keys()):
            name = caller.label if revoked[0] == caller.label.casefold() else revoked[0]
            raise Unauthorized(
                f'"{caller.label or caller.client_id}" was revoked by the account\'s owner: no token lets it in.',
                hint=f"The owner lets it in again: {_RESTORE} {shlex.quote(name)}.",
            )

    def check_host(self, token: HostToken) -> None:
        """Raise Unauthorized for a token of hosts that expired or was revoked, also since its link began."""
        self._check_token(token.token_id, token.expires_at, _FOR_HOSTS, token.name)

    def _check_token(self, token_id: str, expires_at: float | None, another: str, name: str) -> None:
        if token_id in self._tokens:
            restored = f"; or this one again: {_RESTORE} {name}" if name else ""
            raise Unauthorized("The token was revoked.", hint=f"{another}{restored}.")
        if expires_at is not None and time.time() >= expires_at:
            raise Unauthorized(_EXPIRED, hint=f"{another}.")

    def check_extension(self, token_id: str) -> None:
        """Raise Unauthorized for a token of the extension that was revoked, also since its socket began."""
        if self.holds(token_id):
            raise Unauthorized("The extension's token was revoked.", hint=_PAIR_ANEW)

    def holds(self, token_id: str) -> bool:
        return token_id in self._tokens

    async def token(self, token_id: str, at: float) -> None:
        self._tokens[token_id] = at
        self.on_token(token_id)
        await self.write_down()

    async def clients(self, names: Iterable[str], at: float) -> None:
        """Revoke clients by id or label, in any case."""
        self._clients |= dict.fromkeys(map(str.casefold, names), at)
        await self.write_down()

    async def restore(self, token_ids: Iterable[str], names: Iterable[str]) -> bool:
        """Undo revocations of tokens, and of clients by id or label. Return whether any of them was revoked."""
        tokens, clients = self._tokens.keys() & {*token_ids}, self._clients.keys() & {*map(str.casefold, names)}
        for kept, gone in ((self._tokens, tokens), (self._clients, clients)):
            for name in gone:
                del kept[name]
        await self._journal.forget_revoked({*tokens}, {*clients})
        return bool(tokens or clients)

    async def write_down(self) -> None:
        await self._journal.keep_revoked(self._tokens, self._clients)


def person_for(secret: str, request_id: str, authorization: str | None) -> Identity | None:
    """Return the person who proves, by link or from the chat that asked, to have the request's key; None for anybody
    else."""
    try:
        claims = _claims(secret, _bearer(authorization), PERSON_AUDIENCE)
        chat_id, label = claims.get("client"), quotable(str(claims.get("label", ""))[:80])
        person = Identity(client_id=str(chat_id or "person"), label=label, request_id=request_id, in_chat=bool(chat_id))
    except (Unauthorized, ValidationError):
        return None
    return person if claims["sub"] == request_id else None


def identify(
    secret: str, authorization: str | None, revoked: Revocations | None = None, chat: str | None = None
) -> Identity:
    """Return the client that an Authorization header proves. `chat` tells apart the chats that share a named token.
    Raises Unauthorized, which names the reason and nothing else."""
    try:
        identity = _verify(secret, _bearer(authorization))
    except ValidationError:
        raise Unauthorized(_INVALID) from None
    if time.time() >= (identity.expires_at or 0):
        raise Unauthorized(_EXPIRED)
    if chat and identity.token_name:
        if not re.fullmatch(CLIENT_ID_PATTERN, chat):
            raise Unauthorized(f"{CHAT} is no name of a chat.", hint="Letters, digits and . _ : @ -, 128 at most.")
        identity = identity.model_copy(update={"client_id": token_client(identity.token_name, chat)})
    if revoked is not None:
        revoked.check(identity)
    return identity


def identify_host(secret: str, authorization: str | None, revoked: Revocations) -> HostToken:
    """Return the token of hosts that an Authorization header proves. Raises Unauthorized, which says how to get one."""
    claims = _claims(secret, _bearer(authorization), HOST_AUDIENCE, f"{_FOR_HOSTS}.")
    found = HostToken(str(claims[TOKEN_POOL]), str(claims[TOKEN_NAME]), str(claims["jti"]), float(str(claims["exp"])))
    revoked.check_host(found)
    return found


def identify_extension(secret: str, token: str, revoked: Revocations) -> str:
    """Return the id of an extension's token. Raises Unauthorized, also for one that was revoked."""
    token_id = str(_claims(secret, token, EXTENSION_AUDIENCE, _PAIR_ANEW)["jti"])
    revoked.check_extension(token_id)
    return token_id


def _bearer(authorization: str | None) -> str:
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthorized("The request has no bearer token.")
    return token.strip()


def _claims(secret: str, token: str, audience: str, hint: str | None = None) -> dict[str, object]:
    """Return the claims of a token that was signed with the secret for an audience. Raises Unauthorized."""
    needed = ["sub", "aud", "exp"]
    try:
        return {
            **jwt.decode(token, secret, algorithms=[TOKEN_ALGORITHM], audience=audience, options={"require": needed})
        }
    except jwt.ExpiredSignatureError:
        raise Unauthorized(_EXPIRED, hint=hint) from None
    except jwt.InvalidAudienceError:
        raise Unauthorized(
            "The token is of another kind: callers, hosts and extensions each have theirs.", hint=hint
        ) from None
    except jwt.InvalidTokenError:
        raise Unauthorized(_INVALID, hint=hint) from None


@lru_cache(maxsize=1_000)
def _verify(secret: str, token: str) -> Identity:
    """Verify a token. The result is cached, because a client sends the same token with every call."""
    payload = _claims(secret, token, TOKEN_AUDIENCE)
    return Identity(
        client_id=str(payload["sub"]),
        label=quotable(str(payload.get("label", ""))[:80]),
        operator=payload.get("operator") is True,
        limits=limits_of(payload),
        token_name=str(payload.get(TOKEN_NAME, "")),
        token_id=str(payload.get("jti", "")),
        expires_at=float(str(payload["exp"])),
    )
