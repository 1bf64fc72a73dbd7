"""The elements of a page, as one client names them: by selectors, and by the refs that it was shown."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Locator

from browser_service.host.elements import frames as in_frames
from browser_service.host.elements import locators
from browser_service.host.elements.handles import taken
from browser_service.host.pages.current_tab import CurrentTab
from browser_service.host.pages.effects import Effects
from browser_service.host.pages.looks import Looks
from browser_service.host.pages.screencast import Screencast
from browser_service.host.reading import identity, snapshot, tree
from browser_service.host.reading.snapshot import ClientView
from shared.errors import ElementGone, StaleRevision, ValidationFailed, field_details
from shared.model import Json
from shared.next_calls import next_call

R = TypeVar("R")
_SAME: Final = 5


class Elements:
    """The way to a page's elements for one client."""

    def __init__(
        self, page_id: str, current: CurrentTab, looks: Looks, effects: Effects, screencast: Screencast
    ) -> None:
        self._page_id, self._current, self._screencast = page_id, current, screencast
        self._looks, self._effects = looks, effects
        self.meant_event = secrets.token_hex(8)
        """DOM event that tells our listeners in the page which element a ref resolved to."""

    async def find(
        self,
        selector: str,
        frame: str | None = None,
        *,
        strict: bool = False,
        waits: bool = True,
        frames: bool = True,
        for_act: bool = False,
    ) -> Locator:
        """Return the element of a selector or ref; if not `strict`, the first that matches.

        Raises ElementNotFound at once where only frames have it, unless `frames` is false, or `waits` is false, which
        means that there may be no element yet. `for_act`: what it is gets checked by `act`, before which nothing of
        it is told.
        """
        ref = locators.leading_ref(selector)
        if ref and for_act:
            await self._shown(ref)
        elif ref:
            await self._check_ref(ref, waits=waits or ref != selector)
        if frame and locators.is_ref(frame):
            await self._check_ref(frame)
        found = locators.find(self._current.open_tab.page, selector, frame)
        if waits and frames and not ref and self._of_main_frame(selector, frame):
            await in_frames.check(self._current.open_tab.page, found, selector)
        if waits:
            self._screencast.aim(found.first)
        return found if strict else found.first

    async def act(self, element: Locator, selector: str, act: Callable[[Locator], Awaitable[R]], *, strict: bool) -> R:
        """Do an act on an element that was found for it. That of a ref gets it only if it is what the ref was given
        for, which Playwright makes sure of as it looks it up: a message before the act would cost a way there and back.

        Words that style sheets write are not seen there: where it seems to be another, this looks closer.
        """
        if not (ref := locators.leading_ref(selector)):
            return await act(element)
        view, role_and_name = await self._shown(ref)
        expected = identity.expected(role_and_name, view.rows.get(ref, ""))
        began, event = view.frames.get(tree.prefix_of(ref), 0), self.meant_event if ref == selector else ""
        try:
            given = {**expected, "began": began, "event": event}
            return await act(locators.as_given(self._current.open_tab.page, selector, given, strict=strict))
        except PlaywrightError as error:
            if not locators.is_not_as_given(error):
                raise locators.without_engines(error) from error
        await self._check_ref(ref)
        return await act(element)

    async def in_frames(self, selector: str, frame: str | None) -> Json:
        """Name the frames that have the element, for a reply that found none on the page itself."""
        if not self._of_main_frame(selector, frame):
            return {}
        where = await in_frames.matching(self._current.open_tab.page, selector)
        return {"inFrames": f"{in_frames.describe(where)}: {in_frames.way_in(where)}"} if where else {}

    @staticmethod
    def _of_main_frame(selector: str, frame: str | None) -> bool:
        return not frame and not locators.leading_ref(selector) and "enter-frame" not in selector

    async def frame(self, selector: str, timeout_ms: int) -> Frame:
        """Find the frame of an iframe element."""
        element = taken(await (await self.find(selector)).element_handle(timeout=timeout_ms))
        frame = await element.content_frame()
        if frame is None:
            raise ValidationFailed(
                f"frame {selector!r} is no iframe.", hint="Name an iframe element.", details=field_details("frame")
            )
        return frame

    async def _check_ref(self, ref: str, *, waits: bool = True) -> None:
        """Raise StaleRevision or ElementGone for a ref that no longer means what it meant when the client got it."""
        view, old_name = await self._shown(ref)
        row, began = view.rows.get(ref, ""), view.frames.get(tree.prefix_of(ref))
        found = await identity.look(self._current.open_tab.page, ref, old_name, row) if waits or began else None
        if waits and found is None:
            raise await self._gone_error(ref, old_name, "is gone from the page")
        if waits and found and found["now"]:
            await self._check_identity(ref, old_name, row, found["now"])
        if began and found and found["began"] != began:
            raise self._outdated(ref, old_name)

    async def _shown(self, ref: str) -> tuple[ClientView, str]:
        """Return the client's view of the page, and what a ref is of. Raises StaleRevision if it is of nothing that the
        client was shown of the document."""
        view = self._looks.view
        old_name = (view.elements.get(ref) or view.former_elements.get(ref)) if view else None
        if view is None or old_name is None:
            raise self._stale_error(
                f"ref {ref} is of nothing that you were shown of what {self._page_id!r} shows now.", ref
            )
        if ref not in view.elements or not await self._shows(view):
            raise self._outdated(ref, old_name)
        return view, old_name

    def _outdated(self, ref: str, old_name: str) -> StaleRevision:
        return self._stale_error(
            f"ref {ref} ({old_name}) is of an older document than {self._page_id!r} shows now.", ref
        )

    async def _shows(self, view: ClientView) -> bool:
        """Say whether the page still shows the document that a client was shown."""
        moves = self._effects.moves
        if view.moves != moves and await snapshot.document_of(self._current.open_tab) == view.document:
            view.moves = moves
        return view.moves == moves

    def _stale_error(self, message: str, ref: str) -> StaleRevision:
        hint = f"Take a new snapshot: {next_call('snapshot', page_id=self._page_id)}."
        return StaleRevision(message, hint=hint, details={"selector": ref, "url": self._current.open_tab.url})

    async def _check_identity(self, ref: str, old_name: str, row: str, now: str) -> None:
        """Raise ElementGone for an element that the page has made another one of, or moved to another row, as far as
        the tree shows it; `now` is what it seems to be."""
        view = await self._looks.refresh_view(timeout_ms=5_000)
        found_node = next((node for node in view.tree if node.ref == ref), None)
        if found_node is None or found_node.role_and_name != old_name or not identity.is_same_row(view.tree, ref, row):
            of_row = f" in the row of {' '.join(row.split())!r}" if row else ""
            raise await self._gone_error(ref, old_name + of_row, f"is not that any more: {now} now", row)

    async def _gone_error(self, ref: str, old_name: str, what: str, row: str = "") -> ElementGone:
        row = row or (self._looks.view.rows.get(ref, "") if self._looks.view and '"' not in old_name else "")
        view = await self._looks.refresh_view(timeout_ms=5_000)
        role_and_name = self._looks.view.elements.get(ref, old_name) if self._looks.view else old_name
        is_like_others = not row and '"' not in role_and_name  # without a name, all rows are the same
        similar = [node for node in view.tree if node.ref not in {None, ref} and node.role_and_name == role_and_name]
        similar = [] if is_like_others else similar
        in_rows = identity.rows(view.tree, {str(node.ref) for node in similar}) if row else {}
        same = [node for node in similar if not row or in_rows.get(str(node.ref)) == row][:_SAME]
        view.add_refs(same)
        hint = f"{', '.join(str(node.ref) for node in same)} has the same role and name now." if same else None
        return ElementGone(
            f"ref {ref} ({old_name}) {what}.", hint=hint, details={"selector": ref, "url": self._current.open_tab.url}
        )
