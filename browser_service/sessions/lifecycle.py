"""Creates sessions, reopens them at start-up, closes them, and ends expired ones."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from zoneinfo import available_timezones

import structlog

from browse_together.contract.actions.sessions import CreateSession
from browse_together.contract.attached import AttachTarget
from browse_together.contract.calls import ClientRef, Notice
from browse_together.contract.data_files import KEY_FILE
from browse_together.contract.errors import (
    HostGone,
    HumanInControl,
    InvalidRequest,
    JournalFailed,
    Relayed,
    ResourceExhausted,
    ValidationFailed,
    field_details,
)
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import PageState, SessionOptions, SessionSpec
from browse_together.contract.wire import ATTACHED_SESSION, DEFAULT_SESSION
from browser_service.host.seam import SessionHost
from browser_service.sessions.copies import ReadLogins, copied_text, source_of
from browser_service.sessions.directory import Directory, after_restart
from browser_service.sessions.kept_logins import has_logins
from browser_service.sessions.records import SessionRecord, end_notice, options_of
from browser_service.sessions.vault import SessionVault
from browser_service.store.journal import ClosedPage, Journal

_CHECK_EVERY_S = 15
_MOST_OWNED = 50
_MOST_CHATS = 200

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class SessionLifecycle:
    """The opening and closing of a host's sessions, and the storing of those that outlive the process."""

    host: SessionHost
    directory: Directory
    journal: Journal
    vault: SessionVault
    notify: Callable[[str, Notice], None]
    report: Callable[[str], None]
    shared: SessionOptions
    idle_ms: int
    drain: Callable[[str], Awaitable[None]]
    """Waits until everything is stored that the host reported about a session it closed."""
    guarded: bool = False
    shared_attached_to: AttachTarget | None = None
    """Which browser of a person's the shared login is in, if not one of ours."""
    outlives: Callable[[SessionRecord], bool] = lambda record: record.persistent
    """Returns whether a stored session goes on after a restart."""
    on_reopened: Callable[[SessionSpec], None] = field(default=lambda _: None, init=False)
    """Called with each session that goes on after a restart."""
    _unreadable: set[str] = field(default_factory=set, init=False)
    """Names of sessions in the journal that cannot be read; no other session gets them."""

    def __post_init__(self) -> None:
        self._sessions = self.directory.sessions

    async def reopen(self) -> None:
        """Reopen the shared login and the sessions that outlive a restart. Their pages load when they are used."""
        pages = [after_restart(page) for page in await self.journal.pages()]
        stored = await self.vault.records()
        records = [self._shared_login(stored.pop(DEFAULT_SESSION, None))]
        for record in filter(None, stored.values()):
            if self.outlives(record):
                records.append(record)
            else:
                await self.journal.forget_session(record.session_id)
        self._unreadable = {name for name, record in stored.items() if record is None}
        if self._unreadable:
            self.report(
                f"{len(self._unreadable)} sessions cannot be read, because they were sealed with another key; they are "
                f"kept, and come back when the service starts with that key ({KEY_FILE})."
            )
        for closed in await self.journal.closed_pages():
            self.directory.closed.add(closed)
        for record in records:
            self._sessions.add(record)
            spec = await self._spec(record, pages)
            self.on_reopened(spec)
            await self.host.open(spec)
        for page in pages:
            await self._reopen_page(page)

    async def _reopen_page(self, page: PageState) -> None:
        """List a page of an open session. If its session has ended, remember it as closed."""
        if page.session_id in self._sessions:
            self.directory.note(page)
            await self.journal.keep_page(page)  # to store its new revision
        elif page.session_id not in self._unreadable:
            await self._remember_closed(page)

    async def _remember_closed(self, page: PageState) -> None:
        """Remember a page as one whose session ended with the service's last run."""
        closed = ClosedPage.of(page, "").model_copy(update={"by_restart": True})
        self.directory.closed.add(closed)
        await self.journal.close_page(page.page_id, closed)

    def _shared_login(self, former: SessionRecord | None) -> SessionRecord:
        """Return the shared login with today's settings and its earlier usage figures."""
        record = SessionRecord(
            session_id=DEFAULT_SESSION,
            user_id=DEFAULT_SESSION,
            persistent=True,
            guarded=self.guarded,
            shared_login=True,
            options=self.shared,
            attached_to=self.shared_attached_to,
        )
        if former is None:
            return record
        figures = ("created_at", "accessed_at", "requests", "errors")
        return record.model_copy(update={name: getattr(former, name) for name in figures})

    async def _spec(self, record: SessionRecord, pages: list[PageState]) -> SessionSpec:
        state, *earlier = await self.vault.logins(record.session_id) or [{}]
        spec = SessionSpec(
            session_id=record.session_id,
            profile=record.session_id == DEFAULT_SESSION,
            persistent=record.persistent and record.session_id != DEFAULT_SESSION and not record.attached_to,
            attached=record.attached_to is not None,
            options=record.options,
            state=state,
            earlier=earlier,
            pages=[page for page in pages if page.session_id == record.session_id],
        )
        return self.vault.latest.onto(spec)

    async def spec_again(self, session_id: str) -> SessionSpec:
        """Return the spec of a session whose host is gone, with what is known of it here. Raises SessionNotFound."""
        pages = [after_restart(page) for page in self.directory.pages_of(session_id)]
        without_dialogs = [page.model_copy(update={"dialog": None, "target_id": ""}) for page in pages]
        return await self._spec(self._sessions.record(session_id), without_dialogs)

    async def end_unheld(self, session_id: str) -> None:
        """End a session that was not persistent, because no host has it since the service started."""
        if session_id in self._sessions:
            pages = self.directory.pages_of(session_id)
            await self._end(self._sessions.record(session_id))
            for page in pages:
                await self._remember_closed(page)

    async def create(self, owner: ClientRef, action: CreateSession, read_logins: ReadLogins) -> Json:
        """Create a session for the client. Raises ValidationFailed, ResourceExhausted, BrowserLaunchFailed, and why
        logins cannot be copied."""
        session_id = action.session_id or self.directory.other_name("session")
        self._check_free(session_id, owner)
        self._check_room(owner)
        if action.timezone is not None and action.timezone not in (time_zones := available_timezones()) and time_zones:
            raise ValidationFailed(
                f"There is no time zone {action.timezone!r}.",
                hint="For example Europe/Rome; without one pages have this machine's.",
                details=field_details("timezone"),
            )
        source = source_of(action, self._sessions, owner.client_id)
        record = SessionRecord(
            session_id=session_id,
            owner=owner,
            shared=False,
            name=action.called,
            user_id=action.user_id,
            persistent=action.persistent,
            guarded=action.guarded or (source is not None and source.guarded),
            shared_login=source is not None and source.shared_login,
            options=options_of(action),
            expires_at=time.time() + action.ttl / 1000,
        )
        copied = await self._open_new(record, partial(read_logins, source.session_id, action.sites) if source else None)
        go_on = next_call("goto", session_id=session_id, url="...")
        told: Json = {}
        if source is not None:
            told = {"guarded": record.guarded, "copied": copied_text(source.session_id, copied)}
        expires_at = record.describe()["expiresAt"]
        return {"sessionId": session_id, "shared": False, "expiresAt": expires_at, **told, "next": go_on}

    @property
    def attached(self) -> dict[str, AttachTarget]:
        """Return which browsers of a person's have which sessions beside the shared login."""
        records = [each for each in self._sessions.all() if each.session_id != DEFAULT_SESSION]
        return {each.session_id: each.attached_to for each in records if each.attached_to is not None}

    def check_attachable(self, session_id: str) -> None:
        """Raise InvalidRequest if something else than a person's browser has the name."""
        if session_id not in self.attached and self.directory.is_taken(session_id, ""):
            raise InvalidRequest(
                f"The user's own browser is session {session_id!r}, and a page or session has that name.",
                hint=f"Close it: {next_call('close_page', page_id=session_id)}.",
            )

    async def attach(self, target: AttachTarget) -> None:
        """Open the session of a person's browser, or note what it is attached to now. Raises InvalidRequest."""
        session_id = target.session_id
        self.check_attachable(session_id)
        if session_id not in self.attached:
            own = {"session_id": session_id, "user_id": session_id, "name": "the user's own browser"}
            record = self._shared_login(None).model_copy(update={**own, "attached_to": target})
            self._sessions.add(record)
            await self.vault.begin(record, {})
            await self.host.open(await self._spec(record, []))
        before = self._sessions.usual
        self._sessions.usual = session_id if target.default else DEFAULT_SESSION if before == session_id else before
        for name, former in self.attached.items():
            record = self._sessions.record(name)
            chosen = target if name == session_id else former
            record.attached_to = chosen.model_copy(update={"default": name == self._sessions.usual})
            await self.vault.write(record)

    async def put(self, client_id: str, session_id: str) -> None:
        """Let a client's calls that name no page go to a person's browser, until its person says otherwise; without a
        session, to where they went before. Raises ValidationFailed."""
        if session_id and session_id not in self.attached:
            known = ", ".join(self.attached) or "none"
            raise ValidationFailed(f"Attached to are: {known}.", details=field_details("sessionId"))
        for name in self.attached:
            record = self._sessions.record(name)
            others = [each for each in record.chats if each != client_id]
            chats = [*others[1 - _MOST_CHATS :], client_id] if name == session_id else others
            if chats != record.chats:
                record.chats = chats
                await self.vault.write(record)

    async def detach(self, session_id: str) -> None:
        """Close the session of a person's browser, if it is one."""
        if session_id in self.attached:
            if self._sessions.usual == session_id:
                self._sessions.usual = DEFAULT_SESSION
            await self._end(self._sessions.record(session_id))

    async def describe(self, session_id: str, client_id: str) -> Json:
        self._sessions.check_use(session_id, client_id)
        record = self._sessions.record(session_id)
        (listed,) = (each for each in self._sessions.listed(client_id) if each["sessionId"] == session_id)
        return {
            **record.describe(),
            "browserType": record.options.browser_type or self.shared.browser_type,
            "owner": listed["owner"],
            "shared": record.shared,
            "pageCount": self.directory.page_counts()[session_id],
            "savedStates": [*await self.vault.journal.saved_names(session_id)],
        }

    def listed(self, client_id: str, user_id: str | None, *, persistent: bool | None) -> Json:
        page_counts = self.directory.page_counts()
        sessions = [
            {**each, "pages": page_counts[str(each["sessionId"])]}
            for each in self._sessions.listed(client_id)
            if user_id in {None, each["userId"]} and persistent in {None, each["persistent"]}
        ]
        return {"sessions": [*sessions]}

    async def share(self, session_id: str, client_id: str, *, shared: bool) -> Json:
        record = self._sessions.check_owner(session_id, client_id)
        record.shared = shared
        await self.vault.write(record)
        return {"sessionId": session_id, "shared": shared}

    async def extend(self, session_id: str, client_id: str, ttl_ms: int) -> Json:
        record = self._sessions.check_owner(session_id, client_id)
        record.expires_at = time.time() + ttl_ms / 1000
        await self.vault.write(record)
        return {"sessionId": session_id, "expiresAt": record.describe()["expiresAt"]}

    async def close(self, session_id: str, client_id: str) -> Json:
        """Close the client's session, and keep its logins for a day. Raises HumanInControl."""
        record = self._sessions.check_owner(session_id, client_id)
        for page in self.directory.pages_of(session_id):
            if page.person is not None:
                raise HumanInControl(
                    f'A person is at "{page.page_id}" of session "{session_id}": {page.person.what}.',
                    hint=page.person.next_calls(page.page_id)
                    if page.asker_id == client_id
                    else "Close it when they have done.",
                    details={"sessionId": session_id},
                )
        spec = await self._close_on_host(record)
        told: Json = {"observed": f"session {session_id} is closed"}
        if spec is not None and has_logins(spec.state):
            told |= await self.vault.kept.keep(client_id, record, spec.state)
            told["observed"] = f"{told['observed']}; {told.pop('words')}"
        await self._forget(record)
        return {"closed": session_id, **told}

    async def reopen_closed(self, owner: ClientRef, session_id: str, name: str) -> None:
        """Open a closed session of the client again, without pages, if `name` is that of its kept logins. Raises
        SessionExpired, ValidationFailed, ResourceExhausted."""
        kept = None if session_id in self._sessions else await self.vault.kept.find(name, owner.client_id)
        if kept is None or kept.owner_id != owner.client_id:
            return
        if kept.record.expired:
            raise self._sessions.over(session_id)
        self._check_free(session_id, owner)
        self._check_room(owner)
        await self._open_new(kept.record.model_copy(update={"session_id": session_id, "accessed_at": time.time()}))

    async def _open_new(self, record: SessionRecord, read_logins: Callable[[], Awaitable[Json]] | None = None) -> Json:
        """Store and open a session, and return the logins that it begins with. If it cannot have its browser, or these,
        raise the reason before anything is stored."""
        self._sessions.add(record)
        try:
            await self._check_browser(record)
            state = {} if read_logins is None else await read_logins()
            await self.vault.begin(record, state)
            spec = await self._spec(record, [])
            await self.host.open(spec.model_copy(update={"state": state}))
        except BaseException:
            self._sessions.drop(record)  # a session that could not be stored and opened as requested does not exist
            raise
        return state

    async def _check_browser(self, record: SessionRecord) -> None:
        if record.options.headless is not None:
            self._sessions.shared_browser.check_headless(headless=record.options.headless)
        if problem := await self.host.problem(record.options):
            raise Relayed(problem)

    async def run(self) -> None:
        """Close expired sessions, forget kept logins that are a day old, and store usage figures, until cancelled."""
        while True:
            try:
                await self.close_expired()
                await self.vault.kept.forget_old()
                await self.write_usage()
            except JournalFailed as error:
                log.warning("the journal cannot be written", reason=str(error))
            await asyncio.sleep(_CHECK_EVERY_S)  # sessions expire by the clock alone

    async def close_expired(self) -> None:
        """Close expired and idle sessions, except those where a person is working. A held page keeps an idle session
        open."""
        for record in self._sessions.all():
            unused = not record.persistent and time.time() - record.accessed_at > self.idle_ms / 1000
            if record.owner is None or not (record.expired or unused):
                continue
            pages = self.directory.pages_of(record.session_id)
            if any(page.person is not None or (page.hold_left_ms and not record.expired) for page in pages):
                continue
            log.info("a session is over", session=record.session_id, expired=record.expired)
            text = end_notice(record.session_id, timed_out=record.expired)
            for client_id in {page.holder_id for page in pages} - {None}:
                self.notify(str(client_id), Notice(text=text))
            try:
                await self._end(record, over=True)
            except HostGone as gone:
                log.warning("a session that is over cannot be closed yet", session=record.session_id, reason=str(gone))

    async def _end(self, record: SessionRecord, *, over: bool = False) -> None:
        """Close a session on the host, and free its name once nothing of it is left."""
        await self._close_on_host(record)
        await self._forget(record, over=over)

    async def _close_on_host(self, record: SessionRecord) -> SessionSpec | None:
        spec = await self.host.close(record.session_id)
        await self.drain(record.session_id)
        return spec

    async def _forget(self, record: SessionRecord, *, over: bool = False) -> None:
        if self._sessions.drop(record, over=over):
            await self.vault.journal.forget_session(record.session_id)
        with contextlib.suppress(HostGone):  # what it still knows of the session went with it
            await self.host.settle(record.session_id)

    def _check_free(self, session_id: str, owner: ClientRef) -> None:
        taken = session_id in self._unreadable or session_id == ATTACHED_SESSION
        if taken or self.directory.is_taken(session_id, owner.client_id):
            raise ValidationFailed(
                f"{session_id!r} is taken: sessions and pages share their names.",
                hint="Leave sessionId out, and a free name is made.",
                details=field_details("sessionId"),
            )

    def _check_room(self, owner: ClientRef) -> None:
        if self._sessions.count_owned(owner.client_id) >= _MOST_OWNED:
            raise ResourceExhausted(
                f"You have {_MOST_OWNED} sessions, which is the limit.",
                hint=f"Close one: {next_call('list_sessions')}, {next_call('close_session', ...)}.",
            )

    async def write_down(self) -> None:
        """Write all persistent sessions to a new journal."""
        for record in self._sessions.all():
            await self.vault.write(record)

    async def write_usage(self) -> None:
        """Store the usage figures of the sessions used since the last time."""
        used = self._sessions.take_used()
        try:
            for record in used:
                await self.vault.write(record)
        except JournalFailed:
            self._sessions.put_back(used)
            raise

    async def finish(self) -> None:
        """Store the last usage figures, when no more calls will come."""
        with contextlib.suppress(JournalFailed):  # the journal has logged it
            await self.write_usage()
