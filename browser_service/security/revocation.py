"""Refuses signed tokens that were revoked: one by its id, or all that a client was given until then."""

from browser_service.store.journal import Journal
from shared.errors import Unauthorized


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
