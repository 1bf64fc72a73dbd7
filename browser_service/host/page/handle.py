"""Shows a page to one call: handlers are given it, and nothing else of the page.

It is long because all that handlers may ask of a page stands here.
"""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, TypeVar

from playwright.async_api import CDPSession, Frame, Locator, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browser_service.host import errors
from browser_service.host.call_run import Undoes
from browser_service.host.cursors import reader
from browser_service.host.elements import frames as in_frames
from browser_service.host.elements import locators
from browser_service.host.elements.handles import taken
from browser_service.host.events import well_formed
from browser_service.host.files import ArtifactPort, Files, dated
from browser_service.host.observation import Observation
from browser_service.host.page.current_tab import CurrentTab
from browser_service.host.page.observer import Observer
from browser_service.host.page.record import BLANK, PageRecord
from browser_service.host.page.recovery import Recovery
from browser_service.host.page.settings import PageSettings
from browser_service.host.page.tab import Tab
from browser_service.host.page.titles import Titles
from browser_service.host.reading import identity, snapshot, tree
from browser_service.host.reading.folding import folded
from browser_service.host.reading.snapshot import ClientView, Refs, State
from browser_service.host.reading.unseen import InvisibleText
from browser_service.host.recording.console import Console
from browser_service.host.recording.recording import Recorder
from browser_service.host.recovery.filled_fields import Field, FilledFields
from browser_service.host.results import Evaluates
from browser_service.host.screencast import Screencast
from browser_service.host.session import SessionEntry
from browser_service.rules.human_requests import HumanRequests
from browser_service.rules.turns import PageQueue
from browser_service.security.act_rules import ActRules
from browser_service.security.urls import abridged
from shared.actions.base import Action
from shared.actions.dialogs import HandleDialog
from shared.calls import Artifact, Call
from shared.cuts import cut
from shared.errors import BrowserCrashed, ElementGone, StaleRevision, ValidationFailed, field_details
from shared.events import HostEvent
from shared.model import Json
from shared.named_secrets import NamedSecret
from shared.next_calls import next_call
from shared.pages import Access

R = TypeVar("R")
_SAME: Final = 5
_HEAD: Final = 1_000
_NAMED: Final = 60


PartRunner = Callable[["BrowserPage", Action], Awaitable[Json]]
"""Does one action of a call that carries several, on the page as the call sees it."""


@dataclass(eq=False)
class BrowserPage:
    """Is a live page as one call sees it."""

    record: PageRecord
    current: CurrentTab
    session: SessionEntry
    queue: PageQueue
    settings: PageSettings
    recovery: Recovery
    _: KW_ONLY
    call: Call
    artifacts: ArtifactPort
    emit: Callable[[HostEvent], None]
    titles: Titles
    console: Console
    recorder: Recorder
    screencast: Screencast
    filled_fields: FilledFields
    human_requests: HumanRequests
    perform_part: PartRunner
    answer_dialog: Callable[[HandleDialog], Awaitable[Json]]
    act_rules: ActRules
    undoable: Undoes
    """Notes what it takes to undo the act."""
    invisible_text: InvisibleText
    """Says what becomes of the page's texts that nobody sees."""
    reply_shares: int = 1
    """How many parts of a call share the room for text in its reply."""
    quiet: bool = False
    """Other acts of the same call follow: the last of them tells what all did to the page."""
    follows: bool = False
    """Acts of the same call came before: what they asked for may still come."""
    state_after_act: tuple[State, int] | None = None
    """Is the state that the act's own script read, if nothing more was to come, and how often the tab had navigated."""
    files: Files = field(init=False)
    meant_event: str = field(default_factory=lambda: secrets.token_hex(8))
    """Is the event by which listeners in the page are told which element an act by ref gets."""

    def __post_init__(self) -> None:
        self.files = Files(self.artifacts, self.call.client_id, self.reply_shares, self.call.inline_text)

    @property
    def page_id(self) -> str:
        return self.record.page_id

    @property
    def observer(self) -> Observer | None:
        return self.current.observer

    async def do(self, action: Action) -> Json:
        """Do an action that the call carries, and return its result."""
        return await self.perform_part(self, action)

    def tell(self, client_id: str, text: str) -> None:
        """Give a client a notice about the page."""
        self.emit(self.record.notice(client_id, text))

    def set_access(self, access: Access) -> None:
        """Set what others than its holder may do with the page."""
        self.record.ownership.share(access)
        for notice in self.session.tracing.check_page(self.record):
            self.emit(notice)

    def begin_act(self) -> None:
        """Note that the client begins to do something to what the page shows."""
        self.state_after_act = None
        self.record.last_act = (self.call.client_id, self.record.navigations)
        if self.current.tab is not None:
            self.current.tab.acted_on = True

    @property
    def playwright(self) -> Page:
        """Return the Playwright page."""
        return self.tab.page

    @property
    def tab(self) -> Tab:
        """Return the tab behind the pageId. Raises BrowserCrashed where there is none."""
        if self.current.tab is None:
            raise BrowserCrashed(f"Page {self.page_id!r} is not open.")
        return self.current.tab

    @property
    def url(self) -> str:
        """Return the page's URL as it is shown, without the nonce by which a new window is recognised."""
        return BLANK if self.playwright.url.startswith(f"{BLANK}#") else abridged(self.playwright.url)

    async def element(
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
        found = locators.find(self.playwright, selector, frame)
        if waits and frames and not ref and self._of_main_frame(selector, frame):
            await in_frames.check(self.playwright, found, selector)
        if waits:
            self.screencast.aim(found.first)
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
            return await act(locators.as_given(self.playwright, selector, given, strict=strict))
        except PlaywrightError as error:
            if not locators.is_not_as_given(error):
                raise locators.as_of_ref(error) from error
        await self._check_ref(ref)
        return await act(element)

    async def in_frames(self, selector: str, frame: str | None) -> Json:
        """Name the frames that have the element, for a reply that found none on the page itself."""
        if not self._of_main_frame(selector, frame):
            return {}
        where = await in_frames.matching(self.playwright, selector)
        return {"inFrames": f"{in_frames.describe(where)}: {in_frames.way_in(where)}"} if where else {}

    @staticmethod
    def _of_main_frame(selector: str, frame: str | None) -> bool:
        return not frame and not locators.leading_ref(selector) and "enter-frame" not in selector

    async def wait_for_responses(self, seconds: float) -> bool:
        """Wait for responses to requests of the running act, which may change what it left. Returns whether there were
        any requests."""
        return self.observer is not None and await self.observer.wait_for_responses(seconds)

    def cause_since(self, moment: float) -> str:
        """Name the earlier act of which something came since a moment of the monotonic clock; "" for none."""
        cause = self.observer.cause_since(moment) if self.observer is not None else None
        if cause is None:
            return ""
        return f"{'your' if cause.client_id == self.call.client_id else 'the'} {cause.by}"

    def observe(self, action: Action) -> Observation | None:
        """Begin the record of an act, which is named by its element as the client knows it."""
        if self.observer is None:
            return None
        selector = action.requested_selector or ""
        shown = self.view.elements.get(selector, "").partition('"')[2].removesuffix('"') if self.view else ""
        by = f"{action.name()} on {cut(shown or selector, _NAMED)}" if selector else action.name()
        idle = action.text_key != "observed"  # it tells something else, for which nobody waits
        return self.observer.begin(navigates=action.navigates, idle=idle, by=by, client_id=self.call.client_id)

    async def seen_elsewhere(self, observation: Observation) -> list[str]:
        """Describe what came of an act that neither changed the document nor sent anything."""
        state = self.view.state if self.view else None
        least = 2 if self.state_after_act else 1  # two frames are much for a click
        rolls = state is not None and state.rolls >= least
        if self.observer is None or not (rolls or observation.windows):
            return []
        return await self.observer.seen_elsewhere(observation)

    def note_idle(self) -> None:
        """Note that scripts of the page asked for nothing that comes later than the running act's end."""
        if self.observer is not None:
            self.observer.note_idle()

    async def wait_for_later(self) -> bool:
        """Wait until what the running act's scripts asked to be called for soon has come. Returns whether any of
        it came."""
        return self.observer is not None and await self.observer.wait_for_later()

    def pending(self, *, whole: bool = False) -> list[str]:
        """Return the URLs of requests that the page waits for, without those that it sends again and again; `whole`:
        also for the rest of their answers."""
        observer, traffic = self.observer, self.settings.network.traffic
        waits = [
            sent
            for sent in traffic.pending(whole=whole)
            if observer is None or not observer.polling.includes(sent.request)
        ]
        return [sent.url(self.call.client_id) for sent in waits]

    @property
    def navigating_to(self) -> str:
        """Return the URL that the page navigates to, whose server has not answered yet."""
        return self.observer.navigating_to if self.observer else ""

    def outlasted_by_navigation(self, error: PlaywrightError) -> bool:
        """Say whether an act that did not end in time was done: only the navigation that it began goes on."""
        observer = self.observer
        return (
            observer is not None
            and errors.is_timeout(error)
            and errors.began(error)
            and observer.outlasted_by_navigation()
        )

    @property
    def had_effect(self) -> bool:
        """True where the running act was seen to do anything besides what it may have changed on the page."""
        return self.observer is not None and self.observer.had_effect()

    def add_observation(self, *lines: str, silence: str = "") -> None:
        """Note what else was seen of the running act; `silence` says why nothing else may be."""
        if self.observer is not None:
            self.observer.add_lines(lines, silence)

    def secret(self, name: str) -> NamedSecret:
        """Return a secret that the call names, which the front has sent along."""
        return self.call.secrets[name]

    def remember_field(self, selector: str, frame: str | None, found: Field | None, *, strict: bool = True) -> None:
        """Remember what an act left in a field, as FIELD found it: to be filled again where the page dies."""
        if found is not None:
            self.filled_fields.note(self.call.client_id, selector, frame, strict, found)

    def document_of(self, selector: str, frame: str | None) -> Evaluates | None:
        """Return what evaluates in the page's own document if an element is surely in it, else None."""
        ref = locators.leading_ref(selector)
        inside = self.view is not None and ref is not None and tree.prefix_of(ref) in self.view.frames
        return None if frame or inside or "enter-frame" in selector else self.tab

    async def frame(self, selector: str, timeout_ms: int) -> Frame:
        """Find the frame of an iframe element."""
        element = taken(await (await self.element(selector)).element_handle(timeout=timeout_ms))
        frame = await element.content_frame()
        if frame is None:
            raise ValidationFailed(
                f"frame {selector!r} is no iframe.", hint="Name an iframe element.", details=field_details("frame")
            )
        return frame

    async def cdp(self) -> CDPSession:
        return await self.playwright.context.new_cdp_session(self.playwright)

    @property
    def view(self) -> ClientView | None:
        """Return what this client was shown of the page, whichever document that was."""
        return self.current.tab.views.get(self.call.client_id) if self.current.tab is not None else None

    async def refresh_view(self, timeout_ms: int, *, boxes: bool = False, known: State | None = None) -> ClientView:
        """Take a snapshot of the whole page, and return it with what this client was shown of the page before."""
        mode, tab = self.invisible_text, self.tab
        taken = await snapshot.take(tab.page, tab, lambda: self.moves, timeout_ms, mode, boxes=boxes, known=known)
        view = self.view
        if view is None or view.document != taken.state.document:
            former = view.elements if view else {}
            view = ClientView(taken.state.document, former_elements=former)
        self.tab.views[self.call.client_id] = view
        view.update(taken)
        self._note_title(taken.state)
        return view

    def looked_since(self, began_at: float) -> bool:
        """Say whether the client's look at the document that the page has now, with its whole title, was not before a
        moment of the monotonic clock."""
        view = self.view
        if view is None or view.state is None or len(view.state.title) >= snapshot.TITLE_CHARACTERS:
            return False
        return view.moves == self.moves and view.looked_at >= began_at

    def seen(self, part: tree.Tree) -> tree.Tree:
        """Return a part of the page without what nobody sees, as it was judged last."""
        return folded(self.view.unseen.out_of(part)[0] if self.view else part)

    def of_unseen(self, count: int) -> Json:
        """Return for a reply how many texts nobody sees, which were left out or marked."""
        if not count:
            return {}
        done = "marked" if self.invisible_text == "mark" else f"left out: {next_call('content', unseen=True)}"
        texts = "1 text that nobody sees is" if count == 1 else f"{count} texts that nobody sees are"
        return {"invisible": count, "advice": f"{texts} {done}"}

    async def state(self, turns: int = 0) -> State:
        """Read a state that differs whenever the page does, in a tenth of the time of a snapshot."""
        known = self.view.state if self.view else None
        state = await snapshot.state_of(self.tab, self.invisible_text, turns, known)
        self._note_title(state)
        return state

    def state_question(self, turns: int) -> list[JsonValue]:
        """Return what a script is asked for that reads the state beside something else: for `note_state`."""
        return snapshot.state_question(self.invisible_text, turns, self.view.state if self.view else None)

    def note_state(self, found: list[JsonValue]) -> None:
        """Note the state that such a script read after the running act."""
        try:
            state = snapshot.with_unseen(snapshot.state_from(found), self.view.state if self.view else None)
        except (TypeError, ValueError, LookupError):  # a page that replaced what makes it
            return
        self._note_title(state)
        self.state_after_act = state, self.moves
        self.note_idle()

    def _note_title(self, state: State) -> None:
        if len(state.title) < snapshot.TITLE_CHARACTERS:  # a longer one is cut there
            self.titles.note(well_formed(state.title))

    @property
    def moves(self) -> int:
        """Return how often the tab has navigated."""
        return self.observer.moves if self.observer else 0

    async def refs(self, found: Locator, most: int, timeout_ms: int) -> list[Refs]:
        """Return the refs of the first `most` elements of a locator. The client may use them from now on."""
        refs = await snapshot.refs_of(self.playwright, found, most, timeout_ms)
        view = await self.refresh_view(timeout_ms)
        own = {each.own for each in refs}
        view.add_refs(node for node in view.tree if node.ref in own)
        return refs

    async def keep(
        self, data: bytes, mime_type: str, what: str, name: str | None = None, *, inline: bool = True
    ) -> Json:
        """Save bytes as a file of that name, or one that says `what` they are. Returns its description for a reply."""
        return await self.files.keep(data, mime_type, name or dated(what, self.page_id), inline=inline)

    async def save_text(self, key: str, text: str, mime_type: str, what: str, name: str | None = None) -> Json:
        """Save `text` as a file, and return its head under `key` with a cursor to read on."""
        text = await self.files.conceal(text)
        artifact = await self.keep(text.encode(), mime_type, what, name, inline=False)
        head = text[: text.rfind("\n", 0, _HEAD) + 1 or _HEAD] if len(text) > _HEAD else text
        cursor: Json = {"cursor": f"{artifact['artifactId']}:{len(head)}"} if len(head) < len(text) else {}
        return {key: head, **cursor, "length": len(text), "artifact": artifact}

    async def artifact_data(self, artifact_id: str) -> tuple[bytes, str]:
        """Return the bytes and the MIME type of an artifact that an earlier reply to this client named."""
        return await self.artifacts.data(artifact_id, reader(self.call))

    async def artifact(self, artifact_id: str) -> Artifact:
        """Return the description of an artifact, without its bytes."""
        return await self.artifacts.describe(artifact_id, reader(self.call))

    async def upload(self, name: str, most: int) -> bytes:
        """Read a file of the folders that the operator opened for uploads, of `most` bytes at most."""
        return await self.artifacts.upload(name, most)

    async def cached(self, name: str, max_age_ms: int, read: Callable[[], Awaitable[Json]]) -> Json:
        """Return what `read` finds, or found for the same client not longer ago than that, at the same revision."""
        key = self.call.client_id, name
        return await self.tab.read_cache.get(key, lambda: self.record.revision, max_age_ms, read)

    async def _check_ref(self, ref: str, *, waits: bool = True) -> None:
        """Raise StaleRevision or ElementGone for a ref that no longer means what it meant when the client got it."""
        view, old_name = await self._shown(ref)
        row, began = view.rows.get(ref, ""), view.frames.get(tree.prefix_of(ref))
        found = await identity.look(self.playwright, ref, old_name, row) if waits or began else None
        if waits and found is None:
            raise await self._gone_error(ref, old_name, "is gone from the page")
        if waits and found and found["now"]:
            await self._check_identity(ref, old_name, row, found["now"])
        if began and found and found["began"] != began:
            raise self._outdated(ref, old_name)

    async def _shown(self, ref: str) -> tuple[ClientView, str]:
        """Return the client's view of the page, and what a ref is of. Raises StaleRevision if it is of nothing that the
        client was shown of the document."""
        view = self.view
        old_name = (view.elements.get(ref) or view.former_elements.get(ref)) if view else None
        if view is None or old_name is None:
            raise self._stale_error(
                f"ref {ref} is of nothing that you were shown of what {self.page_id!r} shows now.", ref
            )
        if ref not in view.elements or not await self._shows(view):
            raise self._outdated(ref, old_name)
        return view, old_name

    def _outdated(self, ref: str, old_name: str) -> StaleRevision:
        return self._stale_error(
            f"ref {ref} ({old_name}) is of an older document than {self.page_id!r} shows now.", ref
        )

    async def _shows(self, view: ClientView) -> bool:
        """Say whether the page still shows the document that a client was shown."""
        moves = self.moves
        if view.moves != moves and await snapshot.document_of(self.tab) == view.document:
            view.moves = moves
        return view.moves == moves

    def _stale_error(self, message: str, ref: str) -> StaleRevision:
        hint = f"Take a new snapshot: {next_call('snapshot', page_id=self.page_id)}."
        return StaleRevision(message, hint=hint, details={"selector": ref, "url": self.url})

    async def _check_identity(self, ref: str, old_name: str, row: str, now: str) -> None:
        """Raise ElementGone for an element that the page has made another one of, or moved to another row, as far as
        the tree shows it; `now` is what it seems to be."""
        view = await self.refresh_view(timeout_ms=5_000)
        found_node = next((node for node in view.tree if node.ref == ref), None)
        if found_node is None or found_node.role_and_name != old_name or not identity.is_same_row(view.tree, ref, row):
            of_row = f" in the row of {' '.join(row.split())!r}" if row else ""
            raise await self._gone_error(ref, old_name + of_row, f"is not that any more: {now} now", row)

    async def _gone_error(self, ref: str, old_name: str, what: str, row: str = "") -> ElementGone:
        row = row or (self.view.rows.get(ref, "") if self.view and '"' not in old_name else "")
        view = await self.refresh_view(timeout_ms=5_000)
        role_and_name = self.view.elements.get(ref, old_name) if self.view else old_name
        is_like_others = not row and '"' not in role_and_name  # without a name, all rows are the same
        similar = [node for node in view.tree if node.ref not in {None, ref} and node.role_and_name == role_and_name]
        similar = [] if is_like_others else similar
        in_rows = identity.rows(view.tree, {str(node.ref) for node in similar}) if row else {}
        same = [node for node in similar if not row or in_rows.get(str(node.ref)) == row][:_SAME]
        view.add_refs(same)
        hint = f"{', '.join(str(node.ref) for node in same)} has the same role and name now." if same else None
        return ElementGone(f"ref {ref} ({old_name}) {what}.", hint=hint, details={"selector": ref, "url": self.url})
