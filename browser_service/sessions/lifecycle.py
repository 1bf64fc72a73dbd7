"""Sessions over time: made, kept in the journal, brought back at the start, ended when their time is over."""

import asyncio
import contextlib
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from zoneinfo import available_timezones

import structlog
from pydantic import Field, JsonValue, ValidationError

from browser_service.clients.presence import Clients
from browser_service.host.seam import SessionHost
from browser_service.security.seal import KEY_FILE, Seal
from browser_service.sessions.closed_pages import ClosedPage
from browser_service.sessions.records import SessionRecord, end_of
from browser_service.spine.directory import Address, Directory, revived
from browser_service.store.journal import Journal
from shared.actions.sessions import CreateSession
from shared.calls import ClientRef, Notice
from shared.errors import (
    HumanInControl,
    JournalFailed,
    Relayed,
    ResourceExhausted,
    StateNotFound,
    ValidationFailed,
    of_field,
)
from shared.model import Json, Model
from shared.next_calls import next_call
from shared.pages import PageState, Proxy, SessionOptions, SessionSpec, Size
from shared.wire import DEFAULT_SESSION

_LOOKS_EVERY_S = 15
_MOST = 50
"""Sessions of one client."""

log = structlog.get_logger(__name__)


class Closed(Model):
    """A session that was closed, as it was."""

    record: SessionRecord
    spec: SessionSpec
    saved: dict[str, Json] = Field(default={}, repr=False)


class Keeper:
    """What of sessions must outlive the process; what a host has of them comes from here."""

    def __init__(
        self,
        host: SessionHost,
        directory: Directory,
        journal: Journal,
        seal: Seal,
        clients: Clients,
        *,
        say: Callable[[str], None],
        shared: SessionOptions,
        idle_ms: int,
        blank_ms: int,
        closed: Callable[[str], Awaitable[None]],
    ) -> None:
        """`closed` returns when nothing more that a host told of a session it closed will be kept."""
        self._closed = closed
        self._host = host
        self._directory = directory
        self._sessions = directory.sessions
        self._journal = journal
        self._seal = seal
        self._clients = clients
        self._say = say
        self._shared = shared
        self._idle_s = idle_ms / 1000
        self._blank_ms = blank_ms
        self._unreadable: set[str] = set()
        """Sessions that are in the journal and cannot be read: their names are taken."""

    # --- the start -----------------------------------------------------------------------------------------------

    async def reopen(self) -> None:
        """The shared login and the persistent sessions with their pages, as they were: each page comes back when it is
        used."""
        await self._journal.forget_ended_sessions()
        kept = await self._journal.sessions()
        records = [self._shared_login(kept.pop(DEFAULT_SESSION, None))]
        for session_id, sealed in kept.items():
            if record := self._read(sealed):
                records.append(record)
            else:
                self._unreadable.add(session_id)
        if self._unreadable:
            self._say(
                f"{len(self._unreadable)} sessions cannot be read, because they were sealed with another key; they are "
                f"kept, and come back when the service starts with that key ({KEY_FILE})."
            )
        pages = [revived(page) for page in await self._journal.pages()]
        for closed in await self._journal.closed_pages():
            self._directory.closed.add(closed)
        for record in records:
            self._sessions.add(record)
            await self._host.open(await self._spec(record, pages))
        names = set(self._sessions.names())
        for page in pages:
            if page.session_id in names:
                self._directory.note(page)
                await self._journal.keep_page(page)  # its revision is a new one
            elif page.session_id not in self._unreadable:
                closed = ClosedPage.of(page, "").model_copy(update={"by_restart": True})
                self._directory.closed.add(closed)
                await self._journal.close_page(page.page_id, closed)

    def _shared_login(self, sealed: bytes | None) -> SessionRecord:
        """By today's settings, with the account of its use from before."""
        record = SessionRecord(
            session_id=DEFAULT_SESSION, user_id=DEFAULT_SESSION, persistent=True, options=self._shared
        )
        before = self._read(sealed) if sealed else None
        if before is None:
            return record
        account = ("created_at", "accessed_at", "requests", "errors")
        return record.model_copy(update={name: getattr(before, name) for name in account})

    async def _spec(self, record: SessionRecord, pages: list[PageState]) -> SessionSpec:
        state, *earlier = await self._states(record.session_id) or [{}]
        return SessionSpec(
            session_id=record.session_id,
            profile=record.session_id == DEFAULT_SESSION,
            persistent=record.persistent and record.session_id != DEFAULT_SESSION,
            options=record.options,
            state=state,
            earlier=earlier,
            pages=[page for page in pages if page.session_id == record.session_id],
        )

    async def _states(self, session_id: str) -> list[Json]:
        """Its logins: the newest, and what they were before. What cannot be read is kept, and passed over."""
        sealed = await self._journal.states(session_id)
        opened = [_logins(self._seal.open(each)) for each in sealed]
        states = [state for state in opened if state is not None]
        if sealed and opened[0] is None:
            await self._journal.set_state_aside(session_id)
            instead = "those from before are used" if states else "people sign in anew"
            self._say(
                f'The saved logins of session "{session_id}" cannot be read (another key, or damage): {instead}. '
                f"They are kept, and read again when the service starts with that key ({KEY_FILE})."
            )
        return states

    def _read(self, sealed: bytes) -> SessionRecord | None:
        try:
            return SessionRecord.model_validate(self._seal.open(sealed))
        except ValidationError:
            return None

    # --- one session ---------------------------------------------------------------------------------------------

    async def create(self, owner: ClientRef, asked: CreateSession) -> Json:
        session_id = asked.session_id or self._free()
        if session_id in self._sessions or session_id in self._unreadable or self._directory.get(session_id):
            raise ValidationFailed(
                f"{session_id!r} is taken: sessions and pages share their names.",
                hint="Leave sessionId out, and a free name is made.",
                details=of_field("sessionId"),
            )
        self._check_room(owner)
        if asked.timezone is not None and asked.timezone not in (known := available_timezones()) and known:
            raise ValidationFailed(
                f"There is no time zone {asked.timezone!r}.",
                hint="For example Europe/Rome; without one pages have this machine's.",
                details=of_field("timezone"),
            )
        record = SessionRecord(
            session_id=session_id,
            owner=owner,
            shared=False,
            name=asked.called,
            user_id=asked.user_id,
            persistent=asked.persistent,
            options=_options(asked),
            expires_at=time.time() + asked.ttl / 1000,
        )
        self._sessions.add(record)
        try:
            await self._make(record)
        except BaseException:
            self._sessions.drop(record)  # what cannot be kept as it was asked for is not made
            raise
        go_on = next_call("goto", session_id=session_id, url="...")
        return {"sessionId": session_id, "shared": False, "expiresAt": record.described()["expiresAt"], "next": go_on}

    async def _make(self, record: SessionRecord) -> None:
        """Raises what keeps it from having a browser, before anything of it is written down."""
        if record.options.headless is not None:
            self._sessions.shared_browser.check_headless(headless=record.options.headless)
        if problem := await self._host.problem(record.options):
            raise Relayed(problem)
        await self._journal.forget_session(record.session_id)  # of one that did not come back: its logins are not its
        await self._keep(record)
        await self._host.open(await self._spec(record, []))

    async def describe(self, session_id: str, client_id: str) -> Json:
        self._sessions.check_use(session_id, client_id)
        record = self._sessions.record(session_id)
        (shown,) = (each for each in self._sessions.shown(client_id) if each["sessionId"] == session_id)
        return {
            **record.described(),
            "browserType": record.options.browser_type or self._shared.browser_type,
            "owner": shown["owner"],
            "shared": record.shared,
            "pageCount": self._pages()[session_id],
            "savedStates": [*await self._journal.saved_names(session_id)],
        }

    def listed(self, client_id: str, user_id: str | None, *, persistent: bool | None) -> Json:
        counts = self._pages()
        shown = [
            {**each, "pages": counts[str(each["sessionId"])]}
            for each in self._sessions.shown(client_id)
            if user_id in {None, each["userId"]} and persistent in {None, each["persistent"]}
        ]
        return {"sessions": [*shown]}

    async def share(self, session_id: str, client_id: str, *, shared: bool) -> Json:
        record = self._sessions.owned(session_id, client_id)
        record.shared = shared
        await self._keep(record)
        return {"sessionId": session_id, "shared": shared}

    async def extend(self, session_id: str, client_id: str, ttl_ms: int) -> Json:
        record = self._sessions.owned(session_id, client_id)
        record.expires_at = time.time() + ttl_ms / 1000
        await self._keep(record)
        return {"sessionId": session_id, "expiresAt": record.described()["expiresAt"]}

    async def close(self, session_id: str, client_id: str) -> Closed | None:
        """What it takes to have it back; None where it held nothing."""
        record = self._sessions.owned(session_id, client_id)
        for page in await self._host.describe():
            if page.session_id == session_id and page.person is not None:
                raise HumanInControl(
                    f'A person is at "{page.page_id}" of session "{session_id}": {page.person.what}.',
                    hint=page.person.next_calls(page.page_id)
                    if page.asker_id == client_id
                    else "Close it when they have done.",
                    details={"sessionId": session_id},
                )
        saved = {name: await self.saved(session_id, name) for name in await self._journal.saved_names(session_id)}
        spec = await self._end(record)
        held = spec is not None and (spec.pages or any(spec.state.values()) or saved or record.of_page)
        return Closed(record=record, spec=spec, saved=saved) if spec is not None and held else None

    async def bring_back(self, owner: ClientRef, closed: Closed) -> str:
        """A session that was closed, with its logins, pages and saved states; under other names where others have
        theirs now. Says what it has."""
        if closed.record.expired:
            raise self._sessions.over(closed.record.session_id)
        self._check_room(owner)
        record, spec = self._named_anew(closed)
        self._sessions.add(record)
        self._directory.unmint(Address(record.session_id))
        await self._journal.forget_session(record.session_id)
        await self._keep(record)
        for name, state in closed.saved.items():
            await self._journal.keep_saved(record.session_id, name, self._seal.close(state))
        if record.persistent:
            await self._journal.keep_state(record.session_id, self._seal.close(spec.state))
        await self._host.open(spec)
        for page in spec.pages:
            self._directory.note(page)
        was = closed.record.session_id
        anew = {old.page_id: new.page_id for old, new in zip(closed.spec.pages, spec.pages, strict=True)} | {
            was: record.session_id
        }
        renamed = "".join(f"; {old} is another's name now, so this is {new}" for old, new in anew.items() if old != new)
        pages = ", ".join(page.page_id for page in spec.pages) or "none"
        return f"session {was} is open again, with its logins; its pages load when they are used: {pages}{renamed}"

    def _named_anew(self, closed: Closed) -> tuple[SessionRecord, SessionSpec]:
        was = closed.record.session_id
        session_id = self._directory.claim(was)
        names = {
            page.page_id: session_id if page.page_id == was else self._directory.claim(page.page_id)
            for page in closed.spec.pages
        }
        pages = [
            page.model_copy(
                update={"page_id": names[page.page_id], "session_id": session_id, "revision": page.revision + 1}
            )
            for page in closed.spec.pages
        ]
        former = {names[page_id]: known for page_id, known in closed.spec.former.items()}
        named = {"session_id": session_id, "pages": pages, "former": former}
        used = {"session_id": session_id, "accessed_at": time.time()}
        return closed.record.model_copy(update=used), closed.spec.model_copy(update=named)

    async def saved(self, session_id: str, name: str) -> Json:
        """What save_session_state kept under a name."""
        sealed = await self._journal.saved(session_id, name)
        state = self._seal.open(sealed) if sealed else None
        if not isinstance(state, dict):
            names = await self._journal.saved_names(session_id)
            raise StateNotFound(
                f"Nothing is saved as {name!r} of session {session_id!r}.",
                hint=f"Saved: {', '.join(names)}." if names else f"{next_call('save_session_state')} saves it.",
                details={"sessionId": session_id, **of_field("name", saved=[*names])},
            )
        return state

    # --- their end -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Close what is over, until cancelled."""
        while True:
            try:
                await self.close_expired()
                await self.close_blank()
                await self.keep_used()
            except JournalFailed as error:
                log.warning("the journal cannot be written", reason=str(error))
            await asyncio.sleep(_LOOKS_EVERY_S)

    async def close_expired(self) -> None:
        """Sessions whose time is over, and those that nobody uses any more; none that a person is at or holds."""
        for record in self._sessions.all():
            if record.owner is None or not (record.expired or self._idle(record)):
                continue
            pages = [page for page in self._directory.pages() if page.session_id == record.session_id]
            if any(page.person is not None or (page.hold_left_ms and not record.expired) for page in pages):
                continue
            log.info("a session is over", session=record.session_id, expired=record.expired)
            text = end_of(record.session_id, timed_out=record.expired)
            for client_id in {page.holder_id for page in pages} - {None}:
                self._clients.notify(str(client_id), Notice(text=text))
            await self._end(record, over=True)

    async def close_blank(self) -> None:
        """Pages of clients that are gone, and that nothing was done on; none that a person is at or holds."""
        for page in await self._host.describe() if self._blank_ms else []:
            gone = page.holder_id is None or not self._clients.present(page.holder_id)
            kept = page.person is not None or page.hold_left_ms
            if page.untouched and gone and not kept and page.idle_ms >= self._blank_ms:
                await self._host.discard(page.page_id, self._blank_ms)

    async def _end(self, record: SessionRecord, *, over: bool = False) -> SessionSpec | None:
        """Its name is free again when nothing is left of it."""
        spec = await self._host.close(record.session_id)
        await self._closed(record.session_id)
        if self._sessions.drop(record, over=over):
            await self._journal.forget_session(record.session_id)
        return spec

    def _check_room(self, owner: ClientRef) -> None:
        if self._sessions.owned_by(owner.client_id) >= _MOST:
            raise ResourceExhausted(
                f"You have {_MOST} sessions.",
                hint=f"Close one: {next_call('list_sessions')}, {next_call('close_session', ...)}.",
            )

    def _idle(self, record: SessionRecord) -> bool:
        return not record.persistent and time.time() - record.accessed_at > self._idle_s

    async def write_down(self) -> None:
        """All persistent sessions, in a journal that lacks them."""
        for record in self._sessions.all():
            await self._keep(record)

    async def keep_used(self) -> None:
        """How often and when sessions were used, of those that were used since."""
        used = self._sessions.take_used()
        try:
            for record in used:
                await self._keep(record)
        except JournalFailed:
            self._sessions.put_back(used)
            raise

    async def finish(self) -> None:
        """The last of it, when no call will follow."""
        with contextlib.suppress(JournalFailed):  # which the journal has logged
            await self.keep_used()

    async def _keep(self, record: SessionRecord) -> None:
        if record.persistent:
            await self._journal.keep_session(record.session_id, self._seal.close(record.model_dump(mode="json")))

    def _pages(self) -> Counter[str]:
        return Counter(page.session_id for page in self._directory.pages())

    def _free(self) -> str:
        while (session_id := f"session-{secrets.token_hex(3)}") in self._sessions:
            pass
        return session_id


def _logins(state: JsonValue) -> Json | None:
    """As Playwright has them; cookies alone were once kept as a list. None for what is neither."""
    if isinstance(state, list):
        return {"cookies": state}
    return state if isinstance(state, dict) and isinstance(state.get("cookies", []), list) else None


def _options(asked: CreateSession) -> SessionOptions:
    given = asked.model_fields_set
    return SessionOptions(
        browser_type=asked.browser_type if "browser_type" in given else None,
        viewport=Size(width=asked.viewport.width, height=asked.viewport.height),
        user_agent=asked.user_agent,
        locale=asked.locale,
        timezone=asked.timezone,
        permissions=asked.permissions,
        proxy=Proxy(**asked.proxy.model_dump()) if asked.proxy else None,
        own_browser=asked.own_browser,
        headless=asked.headless,
    )
