"""Releases what absent clients hold, and revokes tokens and forgets clients for the account's owner."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from browse_together.contract.calls import ClientRef
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import BrowseError, HostGone
from browse_together.contract.model import Json
from browser_service.clients.colours import Colours
from browser_service.clients.names import Names
from browser_service.clients.presence import Clients
from browser_service.clients.threads import Threads
from browser_service.clients.tokens import Tokens
from browser_service.security.auth import Revocations, is_of_token
from browser_service.sessions.directory import Directory
from browser_service.spine.feed import Feeds
from browser_service.spine.host_calls import HostCalls
from browser_service.spine.ledger import Ledger
from browser_service.spine.register import Record

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Administration:
    directory: Directory
    clients: Clients
    colours: Colours
    names: Names
    revoked: Revocations
    tokens: Tokens
    ledger: Ledger
    host_calls: HostCalls
    feeds: Feeds
    threads: Threads

    async def client_gone(self, client_id: str, *, departed: bool) -> None:
        """Stop the client's calls, and release its leases. Its pages, logins and downloads live on. So do its requests
        to people, because a person may be at work on one, and the same chat may come back; and its tasks, unless it
        has `departed` for good."""
        running = [*self.ledger.register.running(client_id)]
        tasks = () if departed else tuple(f"{each.call_id}." for each in running if each.is_task)
        for record in running:
            goes_on = ACTIONS[record.action].asks_person or f"{record.call_id}.".startswith(tasks)  # or a flow's step
            if not goes_on:
                await self.host_calls.stop(record)
        await self._release_all(client_id)

    async def revoke(self, clients: set[str]) -> Json:
        """Lock out these clients (ids or labels), whatever their token, until they are restored, and end their streams
        and calls. Return their ids, and how many of them have been here."""
        ids, seen_ids = await self._named(clients)
        try:
            await self.revoked.clients(ids, time.time())
        finally:
            await self._cut_off(lambda record: record.client_id in ids, ids)
        log.info("clients were revoked", clients=len(ids))
        return {"clients": [*sorted(ids)], "known": len(seen_ids)}

    async def revoke_token(self, token_id: str) -> Json:
        try:
            await self.revoked.token(token_id, time.time())
        finally:
            await self._cut_off(lambda record: record.token_id == token_id, self._sharing(token_id))
        log.info("a token was revoked", token=token_id)
        return {"tokenId": token_id}

    async def revoke_named(self, name: str) -> Json:
        """Revoke the token with this name, for everybody who shares it. Raises ValidationFailed."""
        record = self.tokens.find(name)
        return {**await self.revoke_token(record.token_id), "name": record.name}

    async def restore(self, names: list[str]) -> Json:
        """Readmit tokens by name, and clients by id or label. Return whether any of them was revoked."""
        token_ids = [self.tokens.find(name).token_id for name in names if name in self.tokens]
        ids, _ = await self._named({*names})
        restored = await self.revoked.restore(token_ids, ids)
        log.info("revoked ones were restored", restored=restored)
        return {"restored": restored}

    async def forget(self, client: str) -> Json:
        """Remove the records and notices of a client (its id, or all with a label), and if it is absent, also its
        leases and its name on the pages that it left. Return how many records, notices and leases."""
        ids, _ = await self._named({client})
        labels_of = await self._labels()
        running = self.ledger.register.running
        absent_ids = [each for each in ids if not self.clients.present(each) and not running(each)]
        leases_before = sum(len(self.directory.held_by(each)) for each in absent_ids)
        for each in absent_ids:
            await self._release_all(each)
        labels = {label for each in absent_ids for label in labels_of.get(each, ())}
        await self._forget_leavers(absent_ids, labels | ({client} if len(absent_ids) == len(ids) else set()))
        leases = leases_before - sum(len(self.directory.held_by(each)) for each in absent_ids)
        notices = sum(self.clients.drop_notices(each) + self.threads.forget(each) for each in ids)
        removed: Json = {"records": await self.ledger.activity.forget(ids), "notices": notices, "leases": leases}
        await self.colours.forget(ids)
        await self.names.forget(ids)
        log.info("a client was forgotten", **removed)
        return removed

    async def rename(self, client: str, name: str) -> Json:
        """Give a client (its name, handle or id) another name, also in what is on record. Raises ValidationFailed."""
        client_id, former = self.names.find(client)
        name = await self.names.give(client_id, name)
        self.clients.remember(client_id, name)
        await self.ledger.activity.rename(client_id, name)
        with contextlib.suppress(HostGone):  # with which its leases are gone
            await self.host_calls.host.rename(ClientRef(client_id=client_id, label=name), former)
        await self.feeds.drain()
        self.clients.on_presence()
        return {"name": name}

    async def _release_all(self, client_id: str, *, for_good: bool = False) -> None:
        await self.host_calls.release(client_id, for_good=for_good)

    async def _forget_leavers(self, client_ids: list[str], labels: set[str]) -> None:
        """Take the names of these clients from the pages that they left."""
        with contextlib.suppress(HostGone):  # with which its pages are gone
            await self.host_calls.host.forget(client_ids, sorted({label.casefold() for label in labels} - {""}))
        await self.feeds.drain()

    def _sharing(self, token_id: str) -> set[str]:
        """Return the clients with pages that share the named token with this id."""
        name = self.tokens.name_of(token_id)
        holders = {page.holder_id for page in self.directory.pages() if page.holder_id}
        return {each for each in holders if name and is_of_token(each, name)}

    async def _cut_off(self, concerns: Callable[[Record], bool], client_ids: set[str]) -> None:
        """End the streams, calls and leases of clients that were revoked."""
        self._end_streams()
        for record in [record for record in self.ledger.register.running() if concerns(record)]:
            with contextlib.suppress(BrowseError):  # it has just ended, or its host is gone
                await self.host_calls.cancel(record.client_id, record.call_id)
        for client_id in client_ids:
            await self._release_all(client_id, for_good=True)

    def _end_streams(self) -> None:
        """End all streams. Clients that are still admitted reconnect before they count as gone."""
        self.clients.end_streams()
        self.ledger.activity.cut_streams()

    async def _named(self, clients: set[str]) -> tuple[set[str], set[str]]:
        """Return the ids that these ids and labels mean, and which of them have been here."""
        labels_of = await self._labels()
        names = {client.casefold() for client in clients}
        matching_ids = {
            client_id
            for client_id, labels in labels_of.items()
            if client_id and names & {label.casefold() for label in labels}
        }
        return clients | matching_ids, matching_ids | (clients & labels_of.keys())

    async def _labels(self) -> dict[str, set[str]]:
        """Return the labels of all clients that are known, by their ids."""
        labels_of = await self.ledger.activity.clients()
        for page in self.directory.pages():
            labels_of.setdefault(page.holder_id or "", set()).add(page.holder_label)
            labels_of.setdefault(page.left_by_id or "", set()).add(page.left_by)
        for client_id, label in self.clients.labels():
            labels_of.setdefault(client_id, set()).add(label)
        return labels_of
