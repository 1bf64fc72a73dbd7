"""A person's own browser and its tabs. Agents know only those that the person shares."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.traits import Effect
from browse_together.contract.attached import AttachmentState, AttachTarget, PersonTab, TabShare, is_stand_in
from browse_together.contract.background import AtMost
from browse_together.contract.calls import ClientRef
from browse_together.contract.errors import (
    BrowserCrashed,
    Forbidden,
    InvalidRequest,
    PageNotFound,
    ResourceExhausted,
    TimedOut,
    field_details,
)
from browse_together.contract.events import PageOpened
from browse_together.contract.pages import PageState
from browse_together.contract.quoting import quoted
from browser_service.host.calls import RunningCalls
from browser_service.host.events import EventLog
from browser_service.host.pages.entry import PageEntry
from browser_service.host.pages.registry import PageRegistry
from browser_service.host.pages.room import Room
from browser_service.host.sessions.launcher import Launcher
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.sessions.windows import Target
from browser_service.security.urls import UrlPolicy

_ADOPTED_WITHIN_S: Final = 10
_LISTS_WITHIN_S: Final = 2
_TITLE: Final = 60


@dataclass(eq=False)
class PersonTabs:
    """The attached browser, and its tabs that no agent opened. Nothing is kept about tabs that are not shared: the
    browser is asked anew each time."""

    launcher: Launcher
    pages: dict[str, PageEntry]
    sessions: dict[str, SessionEntry]
    registry: PageRegistry
    room: Room
    policy: UrlPolicy
    running: RunningCalls
    log: EventLog
    cancel: Callable[[str], Awaitable[None]]
    """The function that stops a call."""

    def choose(self, target: AttachTarget) -> None:
        self.launcher.attachments.of(target.session_id).target = target

    async def attach(self, target: AttachTarget) -> None:
        await self.launcher.attachments.of(target.session_id).attach(target)

    async def detach(self, session_id: str) -> None:
        await self.launcher.attachments.of(session_id).detach()

    async def attachment(self, session_id: str) -> AttachmentState:
        session = self.sessions.get(session_id)
        if session is not None and session.attached:
            await self._take_up(session)
        stands = self.launcher.attachments.of(session_id).describe()
        unshared = self._count_unshared(session) if session is not None else 0
        return stands.model_copy(update={"session_id": session_id, "unshared": unshared})

    def count_unshared(self) -> int:
        """Return how many tabs no agent knows of; 0 while no browser is attached. It costs no message."""
        return sum(map(self._count_unshared, self._attached()))

    def _count_unshared(self, session: SessionEntry) -> int:
        if session.opened is None or not session.live or (windows := session.windows) is None:
            return 0
        known = {entry.record.tab.page for entry in self.pages.values() if entry.record.tab is not None}
        return sum(page not in known and not windows.is_opening(page.url) for page in session.opened.pages)

    async def _take_up(self, session: SessionEntry) -> None:
        """Open the session of a browser that is attached to, so that its tabs are known. Nobody is asked."""
        if not session.live and self.launcher.attachments.of(session.session_id).runs:
            async with AtMost(_ADOPTED_WITHIN_S, BrowserCrashed):
                await session.context()

    async def tabs(self) -> list[PersonTab]:
        return [tab for listed in await asyncio.gather(*map(self._tabs_of, self._attached())) for tab in listed]

    async def _tabs_of(self, session: SessionEntry) -> list[PersonTab]:
        await self._take_up(session)
        shown = (self._shown(session, target) for target in await _targets(session))
        return [tab for tab in shown if tab is not None]

    async def share_tab(self, share: TabShare) -> PageState:
        sessions = self._attached()
        if not sessions:
            raise InvalidRequest("No browser of yours is attached to.", hint="browse-together attach chrome")
        session, family = await self._find(share.tab_id, sessions)
        self._check_linked(family, share)
        states = {each.target_id: await self._share_one(session, each, share) for each in family}
        self._answer(share, states[share.tab_id])
        return states[share.tab_id]

    async def unshare_tab(self, tab_id: str) -> list[PageState]:
        targets: list[Target] = []
        async with AtMost(_LISTS_WITHIN_S, PlaywrightError):  # a browser that does not answer keeps no tab shared
            entry = self._entry(tab_id)
            targets = await _targets(entry.session) if entry is not None else []
        family = {tab_id, *(each.target_id for each in _family(tab_id, targets or self._known()))}
        taken = [entry for each in family if (entry := self._entry(each)) is not None and entry.record.lent]
        pages = [entry.record.state() for entry in taken]
        await asyncio.gather(*map(self._take_back, taken))
        return pages

    # --- inside --------------------------------------------------------------------------------------------------

    def _attached(self) -> list[SessionEntry]:
        return [session for session in self.sessions.values() if session.attached]

    async def _find(self, tab_id: str, sessions: list[SessionEntry]) -> tuple[SessionEntry, list[Target]]:
        """Return the session in whose browser a tab is, and the tab with all that its scripts can reach. A browser that
        is not attached to now is attached to only if there is no other. Raises PageNotFound."""
        for session in sessions:
            if len(sessions) == 1 or self.launcher.attachments.of(session.session_id).runs:
                await session.context()
                if family := _family(tab_id, await _targets(session)):
                    return session, family
        raise PageNotFound(f"There is no tab {tab_id!r} now.", hint="browse-together tabs")

    def _known(self) -> list[Target]:
        """Return the shared tabs as they are known without the browser."""
        targets = {entry.page_id: entry.record.target_id for entry in self.pages.values()}
        lent = [entry.record for entry in self.pages.values() if entry.record.lent]
        return [Target(each.target_id, "", each.url, targets.get(each.opener_id or "")) for each in lent]

    def _entry(self, target_id: str) -> PageEntry | None:
        return next((entry for entry in self.pages.values() if entry.record.target_id == target_id), None)

    def _shown(self, session: SessionEntry, target: Target) -> PersonTab | None:
        """Describe a tab for its owner; None for an agent's own window."""
        place = session.session_id
        tab = PersonTab(tab_id=target.target_id, title=target.title, url=target.url, session_id=place)
        if (entry := self._entry(target.target_id)) is None:
            return tab
        record = entry.record
        if not record.of_person:
            return None
        label = record.lease.label if record.lent_to and record.lease is not None else None
        return tab.model_copy(update={"page_id": record.page_id, "access": record.lent or "act", "with_label": label})

    def _check_linked(self, family: Iterable[Target], share: TabShare) -> None:
        """Raise InvalidRequest if a tab that is not shared could be reached by scripts of the one that is to be."""
        others = [each for each in family if each.target_id != share.tab_id and self._entry(each.target_id) is None]
        if others and not share.linked:
            named = ", ".join(quoted(each.title or each.url, _TITLE) for each in others)
            raise InvalidRequest(
                f"Scripts of this tab can reach another that you do not share: {named}. Nothing was shared.",
                hint="Share them together (--linked), or open its address in a new tab and share that.",
                details=field_details("linked"),
            )

    async def _share_one(self, session: SessionEntry, target: Target, share: TabShare) -> PageState:
        self.policy.check(target.url)
        entry = self._entry(target.target_id)
        if entry is not None and not entry.record.of_person:
            raise Forbidden(f"{entry.page_id} is an agent's own window.", hint="browse-together tabs")
        if entry is None:
            entry = await self._adopt(session, target, share)
        else:
            _lend(entry, share)
            await self._end_acts(entry, share)
        if share.client_id is not None:
            to_read = ", to read" if share.access == "read" else ""
            entry.tell(share.client_id, f'The person shares "{entry.page_id}" with you{to_read}.')
        entry.record.tell_changed()
        return entry.record.state()

    async def _end_acts(self, entry: PageEntry, share: TabShare) -> None:
        """End the acts on a shared tab that its new access does not allow."""
        for run in self.running.on_page(entry.page_id):
            others = share.client_id not in {None, run.call.client_id}
            if run.action.effect is not Effect.READS and (share.access == "read" or others):
                await self.cancel(run.call.call_id)

    async def _adopt(self, session: SessionEntry, target: Target, share: TabShare) -> PageEntry:
        """Make an entry for a tab, which agents learn of once all is known of it."""
        await self.room.make(session.session_id, None)
        if most := self.room.reached_limit(session.session_id):
            raise ResourceExhausted(f"{most} pages are open, which is the limit.", hint="Close some of the agents'.")
        windows = await session.current_windows()
        page = await windows.find(target.target_id) if windows is not None else None
        if page is None:
            raise PageNotFound(f"The tab {target.target_id!r} is closed, or asleep.", hint="Look at it, then repeat.")
        is_meant, session_id = target.target_id == share.tab_id, session.session_id
        awaited = self._awaited(share) if is_meant else None
        if awaited is not None and (
            awaited.session is not session or (share.page_id and is_stand_in(awaited.page_id))
        ):  # it stands for a tab of another browser, or has no name of its own
            awaited = None
        if (known := self._entry(target.target_id)) is not None:  # it was shared meanwhile
            _lend(known, share)
            return known
        page_id = share.page_id if is_meant and share.page_id else self.registry.free_id(share.page_id or session_id)
        state = PageState(page_id=page_id, session_id=session_id, of_person=True)
        entry = awaited or self.registry.add(state, session)
        entry.record.target_id = target.target_id  # so that it is found, and taken back, from now on
        _lend(entry, share)  # before anything of it is known
        try:
            async with asyncio.timeout(_ADOPTED_WITHIN_S):
                await entry.adopt(page)
            _check_lent(entry)
        except BaseException as error:  # a cancel too: nobody else gives it back
            await entry.give_back(page)
            if awaited is None:
                self.registry.forget(entry.record)
            entry.record.target_id, entry.record.lent, entry.record.lent_to = "", None, None
            if isinstance(error, BrowserCrashed | TimeoutError):
                raise TimedOut("The tab did not answer; it is not shared.", hint="Look at it, then repeat.") from error
            raise
        entry.record.awaits_tab = False
        await entry.tab_life.read_title()
        self.log.emit(PageOpened(page=entry.record.state()))
        return entry

    def _awaited(self, share: TabShare) -> PageEntry | None:
        """Return the page that only stands for the tab that was asked for; None if the share answers no request."""
        for entry in self.pages.values():
            person = entry.record.person
            if share.request_id and person is not None and person.question.request_id == share.request_id:
                return entry
        return None

    def _answer(self, share: TabShare, page: PageState) -> None:
        """End the request that the share answers."""
        entry = self._awaited(share)
        if entry is not None and entry.record.person is not None:
            self.registry.people.give_tab(entry.record.person, page.page_id)

    async def _take_back(self, entry: PageEntry) -> None:
        record = entry.record
        holder, record.taken_back = record.holder_id, True
        self.registry.forget(record)
        for run in self.running.on_page(record.page_id):
            run.stopped_by = "the person"
            await self.cancel(run.call.call_id)
        await entry.give_back()
        if holder:
            entry.tell(holder, f'The person took "{record.page_id}" back.')


async def _targets(session: SessionEntry) -> list[Target]:
    windows = await session.current_windows()
    return await windows.targets() if windows is not None else []


def _check_lent(entry: PageEntry) -> None:
    if entry.record.taken_back:
        raise PageNotFound("The tab was taken back meanwhile.", hint="browse-together tabs")


def _lend(entry: PageEntry, share: TabShare) -> None:
    """Note what a person shares, and with whom."""
    record, ownership = entry.record, entry.record.ownership
    record.lent, record.lent_to = share.access, share.client_id
    if share.client_id is not None:
        if record.holder_id != share.client_id:
            ownership.give(ClientRef(client_id=share.client_id, label=share.label))
        ownership.share("private")
    elif ownership.private:
        ownership.free()


def _family(target_id: str, targets: Iterable[Target]) -> list[Target]:
    """Return a tab with all that its scripts can reach, by who opened whom."""
    targets = [*targets]
    family, before = {target_id}, 0
    while before != len(family):
        before = len(family)
        for each in targets:
            if each.opener_id and (each.target_id in family or each.opener_id in family):
                family |= {each.target_id, each.opener_id}
    return [each for each in targets if each.target_id in family]
