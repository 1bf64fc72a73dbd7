"""Makes named tokens for the account's owner, and knows which exist and when each was last used."""

import asyncio
import math
import time
from dataclasses import dataclass, field
from typing import Annotated, Final

import structlog
from pydantic import AfterValidator, Field, ValidationError

from browse_together.client.credentials import mint, mint_extension, mint_host, token_id
from browse_together.contract.background import Background
from browse_together.contract.calls import ClientRef
from browse_together.contract.errors import JournalFailed, RateLimited, ValidationFailed, field_details
from browse_together.contract.limits import UNLIMITED, Limits
from browse_together.contract.model import Json, first_fault
from browse_together.contract.timestamps import iso
from browse_together.contract.wire import POOL_PATTERN, TOKEN_LIMITS, TOKEN_NAME, TOKEN_NAME_PATTERN
from browser_service.security.auth import HostToken, Identity, Revocations, token_client, token_name
from browser_service.security.origins import origin_pattern
from browser_service.store.tables import TokenRecord, TokenTable

_USE_NOTED_EVERY_S: Final = 60.0
_MOST_CHATS: Final = 64
_CHAT_S: Final = 3_600.0
"""A chat that was silent for this long gives up its place."""
_MOST_DAYS: Final = 3_650
_DAY_S: Final = 86_400
_OPTIONS: Final = {"toolsets": "--toolset", "origins": "--origin", "expiresAt": "--expires", "pool": "POOL"}

log = structlog.get_logger(__name__)


def _origins(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(origin_pattern, given)))


class TokenRequest(Limits):
    """The request for a token: of callers, with their limits; or of hosts of a pool, or of the extension, which have
    none, because they call nothing."""

    origins: Annotated[tuple[str, ...], Field(max_length=50), AfterValidator(_origins)] = ()
    name: str = Field(pattern=TOKEN_NAME_PATTERN)
    expires_at: float
    pool: str = Field(default="", pattern=POOL_PATTERN)
    extension: bool = False

    @property
    def limits(self) -> Limits:
        return Limits.model_validate(self.model_dump(include=set(Limits.model_fields)))

    def token(self, secret: str, lifetime_s: int) -> str:
        if self.pool:
            return mint_host(secret, self.name, self.pool, lifetime_s)
        if self.extension:
            return mint_extension(secret, self.name, lifetime_s)
        limits = self.limits.model_dump(mode="json", exclude_defaults=True)
        claims = {TOKEN_NAME: self.name, TOKEN_LIMITS: limits}
        return mint(secret, token_client(self.name), self.name, lifetime_s=lifetime_s, claims=claims)


@dataclass(eq=False)
class Tokens:
    """The token records, in memory and in the journal. A token itself is shown once and never stored."""

    table: TokenTable
    secret: str
    revoked: Revocations
    _records: dict[str, TokenRecord] = field(default_factory=dict)
    _chats: dict[str, dict[str, float]] = field(default_factory=dict)
    """For each token name, when each of its chats was last heard."""
    _writing: Background = field(default_factory=Background)

    async def open(self) -> None:
        self._records = {record.name.casefold(): record for record in await self.table.all()}

    async def close(self) -> None:
        """Write the last uses before the service ends."""
        await self._writing.finish()
        await asyncio.gather(*map(self.table.keep, self._records.values()), return_exceptions=True)

    async def create(self, given: Json) -> tuple[str, TokenRecord]:
        """Return a new token and its record. Raises ValidationFailed, which names the option."""
        request, now = _parsed(given), time.time()
        if not now < request.expires_at <= now + _MOST_DAYS * _DAY_S:
            problem = "is over already" if request.expires_at <= now else "is too far away"
            raise _invalid("expiresAt", f"the time that the token is to end {problem}; give 30d, 12h or a date to come")
        former = self._records.get(request.name.casefold())
        if former is not None and self.state(former) == "valid":
            raise ValidationFailed(
                f"--name: there is a token {former.name!r} already.",
                hint=f"End it first, browse-together token revoke {former.name}, or take another name.",
                details=field_details("name"),
            )
        token = request.token(self.secret, math.ceil(request.expires_at) - int(now))  # they count whole seconds
        record = TokenRecord(
            name=request.name,
            token_id=token_id(token),
            limits=request.limits,
            pool=request.pool,
            extension=request.extension,
            made_at=now,
            expires_at=request.expires_at,
        )
        await self.table.keep(record)
        self._records[request.name.casefold()] = record
        log.info("a token was made", name=record.name, limits=_allowed(record))
        return token, record

    def listed(self) -> list[Json]:
        """Describe all tokens, the latest last."""
        return [self.described(record) for record in sorted(self._records.values(), key=lambda each: each.made_at)]

    def described(self, record: TokenRecord) -> Json:
        return {
            "name": record.name,
            "limits": _allowed(record),
            "state": self.state(record),
            "madeAt": iso(record.made_at),
            "usedAt": iso(record.used_at) if record.used_at else None,
            "expiresAt": iso(record.expires_at),
        }

    def state(self, record: TokenRecord) -> str:
        if self.revoked.holds(record.token_id):
            return "revoked"
        return "valid" if record.expires_at > time.time() else "expired"

    def find(self, name: str) -> TokenRecord:
        """Return the record with this name. Raises ValidationFailed."""
        if record := self._records.get(name.casefold()):
            return record
        names = ", ".join(record.name for record in self._records.values())
        raise ValidationFailed(
            f"There is no token {name[:80]!r}.",
            hint=f"There are: {names}." if names else "browse-together token create makes one.",
            details=field_details("name"),
        )

    def with_limits(self, client: ClientRef) -> Identity:
        """Return a client with the limits of its named token, if it has one."""
        name = token_name(client.client_id)
        if (record := self._records.get(name.casefold())) is None:
            return Identity(client_id=client.client_id)
        return Identity(client_id=client.client_id, token_name=record.name, limits=record.limits)

    def name_of(self, token_id: str) -> str:
        """Return the name of the token with this id; empty if it has none."""
        return next((each.name for each in self._records.values() if each.token_id == token_id), "")

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._records

    def note_use(self, caller: Identity) -> None:
        """Note that a token was used, and write that down now and then. Raises RateLimited for one chat too many: each
        chat has its own limits, so a caller could escape them by inventing chats."""
        record = self._records.get(caller.token_name.casefold())
        now = time.time()
        chats = self._chats.setdefault(caller.token_name, {})
        if caller.client_id not in chats and len(chats) >= _MOST_CHATS:
            chats = self._chats[caller.token_name] = {key: at for key, at in chats.items() if now - at < _CHAT_S}
            if len(chats) >= _MOST_CHATS:
                raise RateLimited(
                    f'{_MOST_CHATS} chats share the token "{caller.token_name}" already, which is the limit.',
                    hint="Give some of them another: browse-together token create.",
                )
        chats[caller.client_id] = now
        self._note(record, caller.token_id)

    def note_host(self, token: HostToken) -> None:
        """Note that a host dialled in with a token, and write that down now and then."""
        self._note(self._records.get(token.name.casefold()), token.token_id)

    def _note(self, record: TokenRecord | None, token_id: str) -> None:
        now = time.time()
        if record is None or record.token_id != token_id or now - (record.used_at or 0) < _USE_NOTED_EVERY_S:
            return
        record.used_at = now
        self._writing.spawn(self._write(record))

    async def _write(self, record: TokenRecord) -> None:
        try:
            await self.table.keep(record)
        except JournalFailed as error:
            log.warning("the use of a token cannot be written", reason=str(error))


def _allowed(record: TokenRecord) -> str:
    if record.extension:
        return "shares tabs, by the extension"
    return f"admits hosts of {record.pool}" if record.pool else record.limits.words


def _parsed(given: Json) -> TokenRequest:
    try:
        request = TokenRequest.model_validate(given)
    except ValidationError as error:
        place, message = first_fault(error)
        name = place.partition(".")[0] or "name"
        if name == "name":
            message = "a name has up to 40 letters, digits, '.', '_' and '-', such as ci-reader"
        if name == "pool":
            message = "a pool's name has up to 31 small letters, digits and '-', such as rack"
        raise _invalid(name, message) from None
    if request.pool and request.extension:
        raise _invalid("pool", "a token is of hosts or of the extension, not of both")
    if (request.pool or request.extension) and request.limits != UNLIMITED:
        raise _invalid(
            "pool" if request.pool else "extension", "hosts and the extension call nothing, and have no limits"
        )
    return request


def _invalid(name: str, problem: str) -> ValidationFailed:
    option = _OPTIONS.get(name, f"--{name}")
    return ValidationFailed(
        f"{option}: {problem}.", hint="browse-together token create --help", details=field_details(name)
    )
