"""Takes snapshots (a page's tree with refs), and records what each client was shown, which makes refs safe."""

import time
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, Protocol

from playwright.async_api import ElementHandle, Locator, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browse_together.contract.cuts import shortened
from browser_service.host import world
from browser_service.host.reading import beside, identity, tree
from browser_service.host.reading.folding import folded
from browser_service.host.reading.tree import Node, Tree
from browser_service.host.reading.tree_text import (
    NOTHING_BEYOND,
    BeyondTree,
    beyond_tree,
    mark_frames,
    parsed,
    too_large,
    tree_text,
)
from browser_service.host.reading.unseen import NOTHING_UNSEEN, Judgement, Unseen, judgement
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, made

_WORDS: Final = 160
_MOST_GIVEN: Final = 100
_GIVEN_CHARACTERS: Final = 200
_MOST_REFS: Final = 50_000
_FRAME_MS: Final = 1_000
TITLE_CHARACTERS: Final = 200
_STATE: Final = bounded(script("document_state"))
_FRAME: Final = bounded(script("typed_secrets"))
_MOST_ELEMENTS: Final = 50_000
"""Pages with more elements get no tree."""
_MOST_SEARCHED: Final = 100_000_000
"""The most characters searched for typed secrets, each secret counted separately: 0.04 to 0.25 s."""
_IS_SAME: Final = "([e, other]) => e === other"
TIME_ORIGIN: Final = bounded("() => performance.timeOrigin")

Typed = tuple[list[str], list[str]]
"""Texts typed into secret fields: first those to hide everywhere, then those to hide only in fields."""


class Moving(Protocol):
    """The page of which a snapshot is taken, with the number of times that it went elsewhere."""

    @property
    def moves(self) -> int: ...


"""Returns the page's count of navigations. While it stays the same, so does the document."""


@dataclass(frozen=True)
class State:
    document: float
    mark: int
    focus: int
    title: str
    busy: int
    typed: Typed
    unseen: Judgement | None = None
    """None if the caller knew the mark, or did not ask for it."""
    announced: list[tuple[str, str]] | None = None
    """The roles and words of the page's announcements; None if the caller knew the mark."""
    elements: int = 0
    rolls: int = 0
    """Scrolling in the middle of the window: 1 if possible, 2 if scrolled, 0 if neither or the mark was not known."""
    beyond: BeyondTree = NOTHING_BEYOND

    def is_like(self, other: "State") -> bool:
        """Return whether the document is unchanged, apart from its focus."""
        return (self.document, self.mark) == (other.document, other.mark)

    def news(self, before: "State") -> list[str]:
        """Return the announcements that `before` did not have, one line each."""
        if self.announced is None or before.announced is None:
            return []
        return [
            f"+ {role}: {words}" for role, words in self.announced if words and (role, words) not in before.announced
        ]


@dataclass
class PageView:
    """A page at one moment: its state, when each frame's document began (by ref prefix), and its tree."""

    state: State
    moves: int
    frames: dict[str, float]
    tree: Tree
    unseen: Unseen = NOTHING_UNSEEN


@dataclass(frozen=True)
class Refs:
    """An element's own ref, if the tree has a line for it, and the refs inside it."""

    own: str | None
    inner: frozenset[str]


@dataclass
class ClientView:
    """What a client was shown of a document: its refs, the page at the last look, and the last snapshot."""

    document: float
    moves: int = -1
    state: State | None = None
    looked_at: float = 0.0
    acted_since: bool = False
    """True if the client has acted since then, which may explain differences."""
    elements: dict[str, str] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)
    """What identifies the row of each element, by the element's ref."""
    former_elements: dict[str, str] = field(default_factory=dict)
    """Role and name of each element that a ref of an earlier document (the page's or a frame's) belonged to."""
    frames: dict[str, float] = field(default_factory=dict)
    tree: Tree = field(default_factory=list)
    unseen: Unseen = NOTHING_UNSEEN
    snapshot: Tree | None = None
    """The tree of the last full snapshot shown to the client, with the changes reported since."""
    given: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_GIVEN))
    """The texts that replies since the last look gave as contents of fields."""
    restless: Counter[str] = field(default_factory=Counter)
    """How often each element, by ref, changed without any act."""

    def note_given(self, texts: Iterable[str]) -> None:
        """Note texts that a reply gave as contents of fields, so that no later reply reports them as news."""
        self.given.extend(text for text in texts if len(text) <= _GIVEN_CHARACTERS)

    def update(self, page: PageView) -> None:
        """Take over the page's present view."""
        changed = {prefix for prefix, began in self.frames.items() if page.frames.get(prefix) != began}
        for ref in [ref for ref in self.elements if tree.prefix_of(ref) in changed]:
            self.former_elements[ref] = self.elements.pop(ref)  # in the frame's new document, refs start again
        self.tree, self.frames, self.moves, self.unseen = page.tree, page.frames, page.moves, page.unseen
        self.note_state(page.state)

    def note_state(self, state: State) -> None:
        """Note that the page was looked at, whether or not it changed."""
        self.state, self.looked_at, self.acted_since = state, time.monotonic(), False

    def add_refs(self, nodes: Iterable[Node]) -> None:
        """Allow the client to use the refs of these nodes, which a reply shows it."""
        if len(self.elements) > _MOST_REFS:
            self.elements.clear()
            self.rows.clear()
        elements = {node.ref: node.role_and_name for node in nodes if node.ref}
        self.elements.update(elements)
        self.rows |= dict.fromkeys(elements, "") | identity.rows(self.tree, {*elements})

    def add_snapshot(self) -> None:
        """Allow the client to use all refs, because a reply shows it the whole snapshot."""
        self.add_refs(self.tree)
        self.snapshot = self.tree


async def document_of(page: Page) -> float:
    """Return when the current document began. It survives pushState and changes with every load."""
    return made(float, await world.evaluate(page, TIME_ORIGIN))


async def state_of(page: Page, turns: int = 0, known: State | None = None) -> State:
    """Read the state after `turns` of the page's own tasks, such as one that reports a script error. If the document is
    unchanged, invisible text is taken from the `known` state."""
    asked = state_question(turns, known)
    try:
        found = await world.evaluate(page, _STATE, asked)
    except PlaywrightError as error:
        if "Execution context was destroyed" not in str(error):
            raise
        found = await world.evaluate(page, _STATE, asked)  # the page navigated meanwhile
    return with_unseen(made(state_from, found), known)


def state_question(turns: int, known: State | None) -> list[JsonValue]:
    """Return the argument for the script that reads the state."""
    return [turns, TITLE_CHARACTERS, known.mark if known else None]


def with_unseen(state: State, known: State | None) -> State:
    if known is None:
        return state
    announced = known.announced if state.announced is None else state.announced
    return replace(state, unseen=state.unseen or known.unseen, announced=announced)


def state_from(found: Any) -> State:  # Any: JSON, of a page
    state = State(*found)
    state = replace(state, typed=_typed(state.typed))
    beyond = beyond_tree(state.beyond)
    return replace(state, unseen=judgement(state.unseen), announced=_announced(state), beyond=beyond)


def _typed(found: Any) -> Typed:  # Any: JSON, of a page
    masked, told = found
    return [*map(str, masked)], [*map(str, told)]


def _announced(state: State) -> list[tuple[str, str]] | None:
    """Return the announcements that the script found, each as one line, without those that show a typed password."""
    if state.announced is None:
        return None
    found = [(str(role), shortened(" ".join(str(words).split()), _WORDS)) for role, words in state.announced]
    hidden = [secret for text in state.typed[0] if len(secret := " ".join(text.split())) >= tree.LEAST_SECRET]
    known = [(role, words) for role, words in found if role in tree.ANNOUNCED]
    return [each for each in known if not any(secret in each[1] for secret in hidden)]


async def take(
    page: Page,
    moving: Moving,
    timeout_ms: int,
    *,
    boxes: bool = False,
    known: State | None = None,
) -> PageView:
    """Read the whole page's tree without typed secrets, and without invisible text.
    `known` is the page's state from just before.

    It takes the whole page in AI mode: in any other form Playwright forgets the refs that it does not print.
    """
    while True:
        before = moving.moves
        state = known or await state_of(page)
        if state.elements > _MOST_ELEMENTS:
            raise too_large(f"{state.elements:,} elements, and {_MOST_ELEMENTS:,}")
        whole = page.locator(":root") if state.beyond.bodiless else page
        text = await tree_text(whole, timeout_ms, boxes=boxes)
        if moving.moves == before:
            break
        known = None
    nodes, typed = await parsed(text), [state.typed]
    await mark_frames(page, nodes)
    own, *inner_frames = _frames(nodes).items() or [("", 0)]
    words, hidden = _unseen(nodes, own[0], state.unseen)
    frames: dict[str, float] = {}
    for prefix, index in inner_frames:
        try:
            inner = page.locator(f"aria-ref={nodes[index].ref}")
            answer = await world.evaluate(inner, _FRAME, timeout_ms=_FRAME_MS)
            frames[prefix], in_frame, judged = made(_frame, answer)
            words_within, hidden_within = _unseen(nodes, prefix, judged)
            words, hidden = words + words_within, hidden + hidden_within
            hidden += [index] if judged and judged["all"] else []
        except PlaywrightError:  # the frame is gone or does not respond: all of its texts are hidden
            in_frame = [node.words for node in nodes if _is_of(node, prefix)], []
        typed.append(in_frame)
    unseen = Unseen([*dict.fromkeys(words)], frozenset(nodes[index].ref or "" for index in hidden))
    seen, count = unseen.out_of(nodes)
    masked, told = ([*dict.fromkeys(chain(*texts))] for texts in zip(*typed, strict=True))
    if len(masked) * sum(len(node.name) for node in seen) > _MOST_SEARCHED:
        raise too_large(f"{len(masked):,} texts in fields for secrets, and names of more characters than")
    tree.hide_secrets(seen, masked, told)
    shown = folded(tree.without_root(seen))
    beside.mark_fields(shown)
    return PageView(state, before, frames, shown, replace(unseen, count=count))


def _frame(found: Any) -> tuple[float, Typed, Judgement | None]:  # Any: JSON, of a page
    began, typed, unseen = found
    return float(began), _typed(typed), judgement(unseen)


def _unseen(nodes: Tree, prefix: str, judged: Judgement | None) -> tuple[list[str], list[int]]:
    """Return a document's invisible words, and the indexes of its invisible frames, and name its frames. Its refs begin
    with `prefix`."""
    if judged is None:
        return [], []
    frames = [i for i, node in enumerate(nodes) if node.role == "iframe" and _is_of(node, prefix)]
    hidden = list[int]()
    if len(frames) == len(judged["frames"]):
        for index, (is_hidden, name) in zip(frames, judged["frames"], strict=True):
            nodes[index].name = name
            hidden += [index] if is_hidden else []
    return [*judged["words"]], hidden


def _is_of(node: Node, prefix: str) -> bool:
    return node.ref is not None and tree.prefix_of(node.ref) == prefix


def _frames(nodes: Tree) -> dict[str, int]:
    """Return each document's first node by the prefix of its refs: the page's own first, then its frames'."""
    found: dict[str, int] = {}
    for index, node in enumerate(nodes):
        if node.ref:
            found.setdefault(tree.prefix_of(node.ref), index)
    return found


async def refs_of(page: Page, locator: Locator, most: int, timeout_ms: int) -> list[Refs]:
    """Return the refs of a locator's first elements. Playwright forgets all other refs: take a new tree afterwards."""
    found: list[Refs] = []
    for number in range(min(await locator.count(), most)):
        if number and "aria-ref=" in str(locator):  # the previous element's tree has made Playwright forget the ref
            await tree_text(page, timeout_ms)
        element = locator.nth(number)
        handle = await world.handle_of(element, timeout_ms)
        nodes = await parsed(await tree_text(element, timeout_ms))
        refs = [node.ref for node in nodes if node.ref]
        own = refs[0] if refs and await _is_same(page, refs[0], handle) else None
        found.append(Refs(own, frozenset(refs)))
    return found


async def _is_same(page: Page, ref: str, element: ElementHandle) -> bool:
    other = await world.handle_of(page.locator(f"aria-ref={ref}"))
    return bool(await world.evaluate_all([other, element], _IS_SAME))
