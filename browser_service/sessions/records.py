"""The front half's records of sessions: who owns each, and who may use it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import Field

from browse_together.contract.actions.sessions import CreateSession
from browse_together.contract.actions.seven import BrowserLaunch
from browse_together.contract.attached import AttachTarget
from browse_together.contract.calls import ClientRef
from browse_together.contract.errors import (
    BrowserLaunchFailed,
    Forbidden,
    SessionExpired,
    SessionNotFound,
    field_details,
)
from browse_together.contract.installation import command
from browse_together.contract.model import Json, Model
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import Proxy, SessionOptions, Size
from browse_together.contract.similarity import nearest
from browse_together.contract.timestamps import iso
from browse_together.contract.wire import ATTACHED_SESSION, DEFAULT_SESSION
from browser_service.rules.bounded import Bounded

_EXPIRED_KEPT = 500


@dataclass(frozen=True)
class Browser:
    """The browser that a session runs in."""

    engine: str = "chromium"
    headless: bool = True
    viewport: tuple[int, int] = (1280, 720)

    def __str__(self) -> str:
        return f"{self.engine}, headless: {str(self.headless).lower()}"

    def with_launch(self, launch: BrowserLaunch) -> "Browser":
        """Return this browser with the launch options applied. Raises BrowserLaunchFailed if that is impossible."""
        fields_set = launch.model_fields_set
        headless = launch.headless if "headless" in fields_set else self.headless
        self.check_headless(headless=headless)
        engine = launch.browser_type if "browser_type" in fields_set else self.engine
        viewport = (launch.viewport.width, launch.viewport.height) if launch.viewport else self.viewport
        return Browser(engine, headless, viewport)

    def check_headless(self, *, headless: bool) -> None:
        """Raise BrowserLaunchFailed for a browser with windows in a headless service, which may have no display."""
        if self.headless and not headless:
            raise BrowserLaunchFailed(
                f"Browsers of this service have no windows ({self}).",
                hint="Leave headless out; or set HEADLESS=false for the service, which then needs a display.",
                details=field_details("headless"),
            )


class SessionRecord(Model):
    """A session as the front half knows it. The journal stores the persistent ones."""

    session_id: str
    owner: ClientRef | None = Field(default=None, description="Nobody owns the shared login.")
    shared: bool = True
    name: str | None = None
    user_id: str | None = None
    persistent: bool = False
    guarded: bool = Field(default=False, description="What is read in it goes nowhere else without a person.")
    shared_login: bool = Field(default=False, description="Its logins are the shared login's, or began as a copy.")
    attached_to: AttachTarget | None = Field(default=None, description="Which browser of a person's it is.")
    chats: list[str] = Field(default=[], description="The clients that a person put there.")
    options: SessionOptions = SessionOptions()
    created_at: float = Field(default_factory=time.time)
    accessed_at: float = Field(default_factory=time.time)
    expires_at: float | None = None
    of_page: bool = Field(default=False, description="It was made for a page, and ends with the last of its pages.")
    requests: int = Field(default=0, description="Calls that worked in it.")
    errors: int = Field(default=0, description="Those of them that failed.")

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and time.time() >= self.expires_at

    def describe(self) -> Json:
        """Describe the session, without its proxy's password, to a client that may use it."""
        proxy = self.options.proxy
        return {
            "id": self.session_id,
            "name": self.name,
            "userId": self.user_id or "",
            "persistent": self.persistent,
            "guarded": self.guarded,
            "browserType": self.options.browser_type,
            "viewport": self.options.viewport.model_dump(),
            "userAgent": self.options.user_agent,
            "locale": self.options.locale,
            "timezone": self.options.timezone,
            "ownBrowser": self.options.own_browser,
            "permissions": [*self.options.permissions],
            "proxy": proxy.model_dump(exclude={"password"}, exclude_none=True) if proxy else None,
            "createdAt": iso(self.created_at),
            "lastAccessedAt": iso(self.accessed_at),
            "expiresAt": iso(self.expires_at) if self.expires_at else None,
            "requestCount": self.requests,
            "errorCount": self.errors,
        }


class Sessions:
    def __init__(self) -> None:
        self._records: dict[str, SessionRecord] = {}
        self._over = Bounded[str, bool](_EXPIRED_KEPT)
        """Sessions that the service ended: True if their time was over, False if nobody used them."""
        self._detached = Bounded[str, AttachTarget](_EXPIRED_KEPT)
        """Browsers of a person's that were let go, by their sessions."""
        self._used: set[str] = set()
        self.any_guarded = False
        self.host_of: Callable[[str], str | None] = lambda _: None
        """Names the host that has a session now; None if none has, or there is only the service itself."""
        self.shared_browser = Browser()
        self.usual = DEFAULT_SESSION
        """The session of calls that name none."""

    def add(self, record: SessionRecord) -> None:
        self._records[record.session_id] = record
        self.any_guarded = self.any_guarded or record.guarded
        self._over.pop(record.session_id, None)

    def drop(self, record: SessionRecord, *, over: bool = False) -> bool:
        """Remove exactly this record, not a newer one of the same name, and return whether it was there. `over` means
        that the service ended the session."""
        session_id = record.session_id
        if self._records.get(session_id) is not record:
            return False
        del self._records[session_id]
        if record.attached_to is not None:
            self._detached[session_id] = record.attached_to
        if over:
            self._over[session_id] = record.expired
        return True

    @property
    def attached(self) -> list[str]:
        """Return the sessions whose browsers are a person's own."""
        return [each.session_id for each in self._records.values() if each.attached_to is not None]

    @property
    def persons(self) -> str | None:
        """Return the session whose browser is meant if none is named: the usual one, or the first that was attached."""
        return self.usual if self.usual in self.attached else next(iter(self.attached), None)

    def chosen_for(self, client_id: str) -> str:
        """Return the session into whose browser a person put a client; empty if they did not."""
        return next((each for each in self.attached if client_id in self._records[each].chats), "")

    def is_attached(self, session_id: str) -> bool:
        record = self._records.get(session_id)
        return record is not None and record.attached_to is not None

    def is_everybodys(self, session_id: str) -> bool:
        """Return whether the session belongs to nobody: the shared login, or the user's own browser."""
        record = self._records.get(session_id)
        return record is None or record.owner is None

    def count_owned(self, client_id: str) -> int:
        return sum(each.owner is not None and each.owner.client_id == client_id for each in self._records.values())

    def all(self) -> list[SessionRecord]:
        return [*self._records.values()]

    def count_call(self, session_id: str | None, *, failed: bool) -> None:
        if session_id is not None and (record := self._records.get(session_id)):
            record.accessed_at = time.time()
            record.requests += 1
            record.errors += failed
            self._used.add(session_id)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._records

    def names(self) -> list[str]:
        return sorted(self._records)

    def may_use(self, session_id: str, client_id: str) -> bool:
        record = self._records.get(session_id)
        return record is None or record.shared or record.owner is None or record.owner.client_id == client_id

    def check_recipient(self, session_id: str, client: ClientRef) -> None:
        """Raise Forbidden if a client is about to receive a page of a session that it may not use."""
        if not self.may_use(session_id, client.client_id):
            raise Forbidden(
                f'"{client.label}" may not use session "{session_id}", which is not shared; nothing was handed over.',
                hint=f"Share the session first: {next_call('share_session', session_id=session_id)}.",
                details={"sessionId": session_id},
            )

    def is_guarded(self, session_id: str | None) -> bool:
        """Return whether data read in the session may go elsewhere only after a person agreed."""
        record = self._records.get(session_id or "")
        return record is not None and record.guarded

    def has_shared_login(self, session_id: str | None) -> bool:
        """Return whether the session is the shared login, or began with a copy of its cookies."""
        record = self._records.get(session_id or "")
        return session_id == DEFAULT_SESSION or (record is not None and record.shared_login)

    def is_persistent(self, session_id: str) -> bool:
        return session_id in self and self.record(session_id).persistent

    def owner(self, session_id: str) -> str | None:
        """Return the id of the session's owner, or None."""
        record = self._records.get(session_id)
        return record.owner.client_id if record is not None and record.owner is not None else None

    def private_to(self, session_id: str) -> ClientRef | None:
        """Return the owner if only the owner may use the session; None if all may, or it is unknown."""
        record = self._records.get(session_id)
        return record.owner if record is not None and not record.shared else None

    def check_use(self, session_id: str, client_id: str, *, by_person: bool = False) -> None:
        """Raise Forbidden if the session belongs to another client that has not shared it, unless the account's own
        person uses it; SessionNotFound or SessionExpired if it is gone."""
        record = self._records.get(session_id)
        if record is None:
            raise self.not_found(session_id)
        if record.expires_at is not None and record.expired:
            raise _over(session_id, timed_out=True)
        if not (by_person or record.shared or record.owner is None or record.owner.client_id == client_id):
            raise Forbidden(
                f'Session "{session_id}" belongs to "{_label(record)}", who has not shared it.',
                hint=f'The shared login is "default"; {next_call("create_session")} makes one of your own.',
                details={"sessionId": session_id},
            )

    def check_owner(self, session_id: str, client_id: str) -> SessionRecord:
        """Return the record of a session that the client owns. Raises Forbidden, SessionNotFound, SessionExpired."""
        record = self.record(session_id)
        if record.owner is None:
            what = "the user's own browser" if record.attached_to else "the shared login"
            raise Forbidden(
                f'Session "{session_id}" is {what}: it belongs to all, and no agent shares or closes it.',
                hint=f"{next_call('create_session')} makes one of your own.",
                details={"sessionId": session_id},
            )
        if record.owner.client_id != client_id:
            raise Forbidden(f'Session "{session_id}" belongs to "{_label(record)}".', details={"sessionId": session_id})
        return record

    def listed(self, client_id: str) -> list[Json]:
        return [
            {
                "sessionId": record.session_id,
                "owner": {"label": _label(record), "you": record.owner.client_id == client_id}
                if record.owner
                else None,
                "shared": record.shared,
                "name": record.name,
                "userId": record.user_id or "",
                "persistent": record.persistent,
                "guarded": record.guarded,
                "usable": self.may_use(record.session_id, client_id),
                **({"host": host} if (host := self.host_of(record.session_id)) else {}),
            }
            for record in self._records.values()
        ]

    def over(self, session_id: str) -> SessionExpired:
        return _over(session_id, timed_out=True)

    def not_found(self, session_id: str) -> SessionNotFound | SessionExpired:
        if session_id in self._over:
            return _over(session_id, timed_out=self._over[session_id])
        if session_id == ATTACHED_SESSION or session_id in self._detached:
            target = self._detached.get(session_id) or AttachTarget(browser="chrome")
            attach = command("attach", *target.model_copy(update={"default": False}).arguments)
            return SessionNotFound(
                "The user's own browser is not attached to.",
                hint=f'The user does that: {attach}. The shared login is "{DEFAULT_SESSION}".',
                details={"sessionId": session_id},
            )
        similar = nearest(session_id, self._records)
        return SessionNotFound(
            f"There is no session {session_id!r}.",
            hint=f'Did you mean "{similar[0]}"?'
            if similar
            else f"It can be made: {next_call('create_session', session_id=session_id)}. The shared login is "
            f'"{DEFAULT_SESSION}".',
            details={"sessionId": session_id},
        )

    def take_used(self) -> list[SessionRecord]:
        """Return the sessions used since the last call of this function."""
        session_ids, self._used = self._used, set()
        return [record for session_id in session_ids if (record := self._records.get(session_id))]

    def put_back(self, used: list[SessionRecord]) -> None:
        """Mark sessions as used again, because they could not be stored."""
        self._used |= {record.session_id for record in used}

    def record(self, session_id: str) -> SessionRecord:
        """Return a session's record. Raises SessionNotFound, SessionExpired."""
        record = self._records.get(session_id)
        if record is None:
            raise self.not_found(session_id)
        return record


def end_notice(session_id: str, *, timed_out: bool) -> str:
    """Word the notice that a session was ended, and why."""
    over, unused = f'The time of session "{session_id}" is over', f'Session "{session_id}" was not used for long'
    return f"{over if timed_out else unused}: it was closed, with its pages."


def _over(session_id: str, *, timed_out: bool) -> SessionExpired:
    anew, stays = ("with more time", {"ttl": 604_800_000}) if timed_out else ("to stay", {"persistent": True})
    return SessionExpired(
        end_notice(session_id, timed_out=timed_out),
        hint=f"Make it anew, {anew}: {next_call('create_session', session_id=session_id, **stays)}.",
        details={"sessionId": session_id},
    )


def _label(record: SessionRecord) -> str:
    return (record.owner.label if record.owner else "") or "another client"


def options_of(action: CreateSession) -> SessionOptions:
    fields_set = action.model_fields_set
    return SessionOptions(
        browser_type=action.browser_type if "browser_type" in fields_set else None,
        viewport=Size(width=action.viewport.width, height=action.viewport.height),
        user_agent=action.user_agent,
        locale=action.locale,
        timezone=action.timezone,
        permissions=action.permissions,
        proxy=Proxy(**action.proxy.model_dump()) if action.proxy else None,
        own_browser=action.own_browser,
        headless=action.headless,
    )
