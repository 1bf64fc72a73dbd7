"""Releases or closes the pages of absent clients, and gives notice of a page that was closed to make room."""

import asyncio
import contextlib
import secrets
from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from browse_together.contract import catalogue
from browse_together.contract.calls import ClientRef, Notice, Outcome
from browse_together.contract.cuts import cut
from browse_together.contract.errors import HostGone
from browse_together.contract.events import PageRetired
from browse_together.contract.pages import PageState
from browser_service.clients.listing import elapsed_words
from browser_service.clients.presence import Clients
from browser_service.host.seam import SessionHost
from browser_service.security.auth import Identity
from browser_service.sessions.directory import Directory
from browser_service.spine.host_calls import HostCalls
from browser_service.spine.ledger import Ledger

_CHECK_EVERY_S: Final = 15
_CLOSING: Final = "close_page"
_MOST_URL: Final = 500
_GONE_AFTER_MS: Final = 600_000
"""Long, because only its calls show that a client without a stream is there, also after a restart."""


@dataclass(eq=False)
class AbandonedPages:
    """What hosts cannot do for pages, because only the front knows which clients are there and whom to tell."""

    host: SessionHost
    directory: Directory
    clients: Clients
    ledger: Ledger
    host_calls: HostCalls
    blank_ms: int

    async def run(self) -> None:
        """Release leases and close blank pages now and then, until cancelled."""
        while True:
            await asyncio.sleep(_CHECK_EVERY_S)  # leases expire by the clock alone
            await self.release_leases()
            await self.close_blank()

    async def release_leases(self) -> None:
        """Release the leases of absent clients that have used none of their pages for ten minutes."""
        pages_of: dict[str, list[PageState]] = defaultdict(list)
        for page in self.directory.pages_now():
            if page.holder_id is not None:
                pages_of[page.holder_id].append(page)
        for client_id, pages in pages_of.items():
            is_active = self.clients.present(client_id) or self.ledger.register.running(client_id)
            if not is_active and all(page.idle_ms >= _GONE_AFTER_MS for page in pages):
                await self.host_calls.release(client_id)

    async def close_blank(self) -> None:
        """Close untouched pages of absent clients, unless a person works in one or holds it."""
        for page in self.directory.pages_now() if self.blank_ms else []:
            is_gone = page.holder_id is None or not self.clients.present(page.holder_id)
            is_kept = page.person is not None or page.hold_left_ms
            if page.untouched and is_gone and not is_kept and page.idle_ms >= self.blank_ms:
                with contextlib.suppress(HostGone):
                    await self.host.discard(page.page_id, self.blank_ms)

    def notify_retired(self, event: PageRetired) -> None:
        """Tell the client that left a page, and the newcomer, that it was closed to make room, and where it was."""
        page, newcomer = event.page, event.newcomer
        leaver = ClientRef(client_id=page.left_by_id or page.holder_id or "", label=page.left_by or page.holder_label)
        idle = elapsed_words(page.idle_ms)
        reason = f'"{leaver.label}" had left it {idle} ago' if leaver.label else f"nobody had used it for {idle}"
        for client_id in {leaver.client_id, newcomer.client_id if newcomer else ""} - {""}:
            url = page.url if client_id == leaver.client_id else self.directory.seen_by(page, client_id).url
            was = f". It was at {cut(url, _MOST_URL)}" if url else "."
            text = f"{page.page_id} was closed to make room: {reason}{was}"
            self.clients.notify(client_id, Notice(text=text, page_id=page.page_id))
        if newcomer is not None:
            call_id, update = f"room-{secrets.token_hex(3)}", {"holder_id": newcomer.client_id}
            outcome = Outcome(call_id=call_id, result={}, page=page.model_copy(update=update))
            closing = catalogue.parse({"action": _CLOSING, "pageId": page.page_id, "reason": "to make room"})
            self.ledger.activity.note(_identity(newcomer), closing, outcome, call_id, 0)


def _identity(client: ClientRef) -> Identity:
    return Identity(client_id=client.client_id, label=client.label)
