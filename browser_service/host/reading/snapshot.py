"""Snapshots: the whole page as a tree with refs, and what each client was shown of it, which makes refs safe."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from playwright.async_api import ElementHandle, Locator, Page
from playwright.async_api import Error as PlaywrightError

from browser_service.host.reading import identity, tree
from browser_service.host.reading.tree import Node, Tree
from browser_service.host.scripts import script

_REMEMBERED: Final = 50_000
_FRAME_MS: Final = 1_000
TITLE_CHARACTERS: Final = 200
_STATE: Final = script("document_state")
_TYPED_IN_FRAME: Final = script("typed_secrets")

Moves = Callable[[], int]
"""How often the page has gone anywhere: while it has not, the document is the same."""


@dataclass(frozen=True)
class State:
    document: float
    mark: int
    focus: int
    title: str
    busy: int
    typed: list[str]

    def is_like(self, other: "State") -> bool:
        """Whether nothing in the document is otherwise; where its focus is may be."""
        return (self.document, self.mark) == (other.document, other.mark)


@dataclass
class Look:
    """A page at one moment: its document, those of its frames by the prefix of their refs, and all that it shows."""

    state: State
    moves: int
    frames: dict[str, float]
    tree: Tree


@dataclass(frozen=True)
class Refs:
    """Of one element: its own, where it has a line of its own in the tree, and with it those of all that is in it."""

    own: str | None
    inner: frozenset[str]


@dataclass
class Seen:
    """What a client was shown of a document: what each ref it has stands for, how the page looked when it was last
    looked at for this client, and how in the last snapshot that it was given."""

    document: float
    moves: int = -1
    state: State | None = None
    """Of how it last looked."""
    at: float = 0.0
    """When that was, by the monotonic clock."""
    acted: bool = False
    """Whether the client has acted since: what differs may be of that."""
    elements: dict[str, str] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)
    """What tells the row that an element is in from its like."""
    older: dict[str, str] = field(default_factory=dict)
    """What those stood for that were of a document before, the page's or a frame's."""
    frames: dict[str, float] = field(default_factory=dict)
    tree: Tree = field(default_factory=list)
    given: Tree | None = None

    def looked(self, look: Look) -> None:
        changed = {prefix for prefix, began in self.frames.items() if look.frames.get(prefix) != began}
        for ref in [ref for ref in self.elements if tree.prefix_of(ref) in changed]:
            self.older[ref] = self.elements.pop(ref)  # a new document in a frame begins to count anew
        self.tree, self.frames, self.moves = look.tree, look.frames, look.moves
        self.is_now(look.state)

    def is_now(self, state: State) -> None:
        """Note that the page was looked at, whether or not it differed."""
        self.state, self.at, self.acted = state, time.monotonic(), False

    def give(self, nodes: Iterable[Node]) -> None:
        """The client is shown these: their refs are its from now on."""
        if len(self.elements) > _REMEMBERED:
            self.elements.clear()
            self.rows.clear()
        shown = {node.ref: node.what for node in nodes if node.ref}
        self.elements.update(shown)
        self.rows.update(identity.rows(self.tree, {*shown}))

    def give_all(self) -> None:
        """The client is given the whole as a snapshot."""
        self.give(self.tree)
        self.given = self.tree


async def document_of(page: Page) -> float:
    """The identity of the current document: when it began. Survives pushState, changes with every load."""
    return float(await page.evaluate("performance.timeOrigin"))


async def state_of(page: Page, turns: int = 0) -> State:
    """`turns`: how often the page's own tasks come first, such as to report what broke in a script."""
    try:
        return State(*await page.evaluate(_STATE, [turns, TITLE_CHARACTERS]))
    except PlaywrightError as error:
        if "Execution context was destroyed" not in str(error):
            raise
    return State(*await page.evaluate(_STATE, [turns, TITLE_CHARACTERS]))  # the page went elsewhere meanwhile


async def take(page: Page, moves: Moves, timeout_ms: int, *, boxes: bool = False, known: State | None = None) -> Look:
    """The whole page's tree, without what was typed as a password. `known`: its state of just now.

    Always the whole page in AI mode: any other form makes Playwright forget the refs that it does not print.
    """
    while True:
        before = moves()
        reading = page.aria_snapshot(mode="ai", boxes=boxes, timeout=timeout_ms)
        state, text = (known, await reading) if known else await asyncio.gather(state_of(page), reading)
        if moves() == before:
            break
        known = None
    nodes, typed = tree.parse(text), state.typed
    frames: dict[str, float] = {}
    for prefix, ref in _frames(nodes).items():
        try:
            inner = page.locator(f"aria-ref={ref}")
            frames[prefix], more = await inner.evaluate(_TYPED_IN_FRAME, timeout=_FRAME_MS)
        except PlaywrightError:  # it went, or does not respond: nothing that is typed in it is shown
            more = [tree.words(node.text) for node in nodes if node.ref and tree.prefix_of(node.ref) == prefix]
        typed = [*typed, *more]
    tree.hide(nodes, typed)
    return Look(state, before, frames, tree.without_root(nodes))


def _frames(nodes: Tree) -> dict[str, str]:
    """A ref in each frame, by the prefix of its refs; the page's own elements come first, and are of none."""
    found: dict[str, str] = {}
    for ref in [node.ref for node in nodes if node.ref]:
        found.setdefault(tree.prefix_of(ref), ref)
    return dict([*found.items()][1:])


async def refs_of(page: Page, found: Locator, most: int, timeout_ms: int) -> list[Refs]:
    """The refs of the first elements of a locator. Makes Playwright forget the others: a look must follow."""
    refs: list[Refs] = []
    for number in range(min(await found.count(), most)):
        if number and "aria-ref=" in str(found):  # which the look at the one before has made it forget
            await page.aria_snapshot(mode="ai", timeout=timeout_ms)
        element = found.nth(number)
        handle = await element.element_handle(timeout=timeout_ms)
        nodes = tree.parse(await element.aria_snapshot(mode="ai", timeout=timeout_ms))
        inner = [node.ref for node in nodes if node.ref]
        its_own = inner[0] if inner and await _is(page, inner[0], handle) else None
        refs.append(Refs(its_own, frozenset(inner)))
    return refs


async def _is(page: Page, ref: str, element: ElementHandle) -> bool:
    return bool(await page.locator(f"aria-ref={ref}").evaluate("(e, other) => e === other", element))
