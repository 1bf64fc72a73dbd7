"""One client's reads of a page, and what this client was shown of it."""

import contextlib
import time
from collections.abc import Awaitable, Callable

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import FloatRect, Locator, Page
from pydantic import JsonValue

from browse_together.contract.actions.traits import CalledTool
from browse_together.contract.model import Json, weight
from browse_together.contract.next_calls import next_call
from browser_service.host.elements import locators
from browser_service.host.elements.closed_fields import ClosedTree
from browser_service.host.events import well_formed
from browser_service.host.reading import snapshot, tree
from browser_service.host.reading.folding import folded
from browser_service.host.reading.snapshot import ClientView, Refs, State
from browser_service.host.reading.tree_text import closed_advice
from browser_service.host.record.record import PageRecord
from browser_service.host.tabs.observation import Observation
from browser_service.host.tabs.tab import MOST_READ_WEIGHT, Read


class Looks:
    """One client's reads of a page, without the texts that no person can see."""

    def __init__(self, record: PageRecord, client_id: str) -> None:
        self.state_after_act: tuple[State, int] | None = None
        """The state that the act's own script read, if no more effects were due, and the tab's count of navigations
        then."""
        self._record, self._client_id = record, client_id

    @property
    def view(self) -> ClientView | None:
        """Return what this client was shown of the page, maybe of an earlier document."""
        return self._record.tab.views.get(self._client_id) if self._record.tab is not None else None

    async def refresh_view(self, timeout_ms: int, *, boxes: bool = False, known: State | None = None) -> ClientView:
        """Take a snapshot of the whole page, and return the client's view of the page, updated with it."""
        tab = self._record.open_tab
        taken = await snapshot.take(tab.page, self._record.observer, timeout_ms, boxes=boxes, known=known)
        view = self.view
        if view is None or view.document != taken.state.document:
            former = view.elements if view else {}
            view = ClientView(taken.state.document, former_elements=former)
        self._record.open_tab.views[self._client_id] = view
        view.update(taken)
        self._note_title(taken.state)
        return view

    async def closed(self, element: Locator | None = None) -> Json:
        """Return the part of a reply that names what closed shadow trees draw on the page, or within an element."""
        tab, around = self._record.open_tab, None
        with contextlib.suppress(PlaywrightError):  # the page has gone elsewhere: what it drew is not there
            trees = await tab.closed_fields.trees(tab.cdp, tab.page)
            around = await element.first.bounding_box() if element is not None and trees else None
            if element is not None:
                trees = [each for each in trees if around and _is_within(each, around)]
            return closed_advice([each.host for each in trees])
        return {}

    @property
    def shown_state(self) -> State | None:
        """Return the document's state as this client last saw it."""
        return self.view.state if self.view else None

    def name_of(self, selector: str) -> str:
        """Return the name that this client was shown for a ref; "" for none."""
        return self.view.elements.get(selector, "").partition('"')[2].removesuffix('"') if self.view else ""

    async def seen_elsewhere(self, observation: Observation) -> list[str]:
        """Describe the effects of an act that neither changed the document nor sent anything."""
        state, observer = self.shown_state, self._record.observer
        least = 2 if self.state_after_act else 1  # two frames are much for a click
        return await observer.seen_elsewhere(observation, rolls=state is not None and state.rolls >= least)

    def looked_since(self, began_at: float) -> bool:
        """Say whether the client read the current document, with its whole title, at or after `began_at` (monotonic
        clock)."""
        view = self.view
        if view is None or view.state is None or len(view.state.title) >= snapshot.TITLE_CHARACTERS:
            return False
        return view.moves == self._record.observer.moves and view.looked_at >= began_at

    def seen(self, part: tree.Tree) -> tree.Tree:
        """Return a part of the page without texts that no person can see, by the last snapshot's judgement."""
        return folded(self.view.unseen.out_of(part)[0] if self.view else part)

    def of_unseen(self, count: int) -> Json:
        """Return the reply's fields about `count` texts that no person can see, and that were left out."""
        if not count:
            return {}
        texts = "1 text that nobody sees is" if count == 1 else f"{count} texts that nobody sees are"
        return {"invisible": count, "advice": f"{texts} left out: {next_call('content', unseen=True)}"}

    async def state(self, turns: int = 0) -> State:
        """Read a state that differs whenever the page does. It takes a tenth of a snapshot's time."""
        state = await snapshot.state_of(self._record.open_tab.page, turns, self.shown_state)
        self._note_title(state)
        return state

    def state_question(self, turns: int) -> list[JsonValue]:
        """Return the arguments by which an act's script also reads the state, for `note_state`."""
        return snapshot.state_question(turns, self.shown_state)

    def note_state(self, found: list[JsonValue]) -> None:
        """Note the state that an act's script read at its end, in answer to `state_question`."""
        try:
            state = snapshot.with_unseen(snapshot.state_from(found), self.shown_state)
        except (TypeError, ValueError, LookupError):  # the page replaced what the script needs
            return
        self._note_title(state)
        self.state_after_act = state, self._record.observer.moves
        self._record.observer.note_idle()

    def _note_title(self, state: State) -> None:
        if len(state.title) < snapshot.TITLE_CHARACTERS:  # a longer one is cut there
            self._record.note_title(well_formed(state.title))

    async def refs(self, found: Locator, most: int, timeout_ms: int) -> list[Refs]:
        """Return the refs of the first `most` elements of a locator. The client may use them from now on."""
        refs = await snapshot.refs_of(self._record.open_tab.page, found, most, timeout_ms)
        view = await self.refresh_view(timeout_ms)
        own = {each.own for each in refs}
        view.add_refs(node for node in view.tree if node.ref in own)
        return refs

    def note_tools(self, marks: dict[CalledTool, str]) -> None:
        """Note the marks of the tools that this client is shown, or whose calls are checked."""
        for tool, mark in marks.items():
            self._record.open_tab.listed_tools[self._client_id, tool] = mark

    def tool_mark(self, tool: CalledTool) -> str:
        """Return the mark of a tool as it was noted for this client; "" if it was not."""
        return self._record.open_tab.listed_tools.get((self._client_id, tool), "")

    def document_of(self, selector: str, frame: str | None) -> Page | None:
        """Return the page if the element is surely there, else None."""
        ref = locators.leading_ref(selector)
        inside = self.view is not None and ref is not None and tree.prefix_of(ref) in self.view.frames
        return None if frame or inside or "enter-frame" in selector else self._record.open_tab.page

    async def cached(self, name: str, max_age_ms: int, read: Callable[[], Awaitable[Json]]) -> Json:
        """Return what `read` finds, or what it found for this client and revision at most `max_age_ms` ago. Clients may
        not see each other's results."""
        key, reads, record = (self._client_id, name), self._record.open_tab.reads, self._record
        known, at, revision = reads.get(key), time.monotonic(), record.revision
        if known is not None and known.revision == revision and (at - known.at) * 1000 < max_age_ms:
            return known.found
        found = await read()
        reads.pop(key, None)
        if max_age_ms and record.revision == revision and weight(found) <= MOST_READ_WEIGHT:
            reads[key] = Read(revision, at, found)
        return found


def _is_within(part: ClosedTree, box: FloatRect) -> bool:
    return 0 <= part.x - box["x"] <= box["width"] and 0 <= part.y - box["y"] <= box["height"]
