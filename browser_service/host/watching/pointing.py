"""Measures the element of a page to which a person points, and gives it a ref for the page's agent.

Neither the place nor the role and the name come from the page's own scripts, so that no page can have a person point at
something else than they see."""

import asyncio
from collections.abc import Mapping
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.errors import DialogOpen, TimedOut, ValidationFailed
from browse_together.contract.frames import Box as ShownBox
from browse_together.contract.frames import Pointed
from browse_together.contract.quoting import one_line
from browser_service.host import world
from browser_service.host.elements.targets import element_at, name_of
from browser_service.host.reading import snapshot
from browser_service.host.reading.boxes import boxes, frame_insets
from browser_service.host.reading.snapshot import ClientView, PageView
from browser_service.host.reading.tree import Node, prefix_of
from browser_service.host.record.record import PageRecord
from browser_service.host.scripts import script
from browser_service.host.tabs.tab import Tab
from browser_service.host.world.handles import let_go
from browser_service.marks import Box

_WITHIN_S: Final = 3.0
_POINTED: Final = script("pointed")
_NEAR_PX: Final = 2.0
"""How far apart two measurements of one element may be, because a tree rounds them."""


async def point(record: PageRecord, at: tuple[float, float], *, picks: bool) -> Pointed:
    """Return the element at a point of the viewport; if a person `picks` it, with a ref that the page's agent may use.
    Raises DialogOpen, TimedOut or ValidationFailed."""
    if record.dialog is not None:
        raise DialogOpen("The page waits for the answer to its dialog.", hint="Answer that first.")
    tab = record.tab
    if tab is None or not record.live:
        raise ValidationFailed(f"{record.page_id} has no window now.", hint="Look at it anew.")
    try:
        async with asyncio.timeout(_WITHIN_S):
            with let_go():
                found = await _measured(tab, at)
            if not picks or found.box is None or record.holder_id is None:
                return found
            view = await snapshot.take(tab.page, tab.observer, round(_WITHIN_S * 1_000), boxes=True)
            insets = await frame_insets(tab.page, view.tree)
            node = _node_at(view, insets, Box(**found.box.model_dump()))
            if node is None or node.ref is None:
                return found
            _let_use(tab, record.holder_id, view, node)
            return found.model_copy(
                update={"ref": node.ref, "role": node.role, "name": one_line(node.label) or found.name}
            )
    except TimeoutError:
        raise TimedOut("The page does not answer.", hint="Point again in a moment.") from None
    except PlaywrightError as error:
        raise ValidationFailed("The page moved away meanwhile.", hint="Point again.") from error


async def _measured(tab: Tab, at: tuple[float, float]) -> Pointed:
    """Return the place and the name of the element at a point; without a box if there is none."""
    element = await element_at(tab.page, *at)
    meant = await world.element(element, _POINTED) if element is not None else None
    if meant is None or (box := await meant.bounding_box()) is None:
        return Pointed()
    shown = ShownBox(x=box["x"], y=box["y"], width=box["width"], height=box["height"])
    return Pointed(box=shown, name=await name_of(meant))


def _node_at(view: PageView, insets: Mapping[str, tuple[float, float]], box: Box) -> Node | None:
    """Return the innermost node of the tree with this box, or else the smallest that has all of it."""
    placed = [(node, at) for node, at in boxes(view.tree, insets) if node.ref]
    same = [node for node, at in placed if all(abs(a - b) <= _NEAR_PX for a, b in zip(at, box, strict=True))]
    if same:
        return next((node for node in same if node.is_control), same[-1])
    around = [(node, at) for node, at in placed if _has(at, box)]
    return min(around, key=lambda each: each[1].width * each[1].height)[0] if around else None


def _has(outer: Box, inner: Box) -> bool:
    left, top = outer.x - _NEAR_PX, outer.y - _NEAR_PX
    right, bottom = outer.x + outer.width + _NEAR_PX, outer.y + outer.height + _NEAR_PX
    return left <= inner.x and top <= inner.y and inner.x + inner.width <= right and inner.y + inner.height <= bottom


def _let_use(tab: Tab, client_id: str, view: PageView, node: Node) -> None:
    """Let the page's agent use the ref. What it was shown stays as it is, so that its next act still tells all that
    changed."""
    known = tab.views.get(client_id)
    if known is None or known.document != view.state.document:
        known = ClientView(view.state.document, former_elements=known.elements if known else {})
        known.update(view)
        tab.views[client_id] = known
    prefix = prefix_of(node.ref or "")
    known.frames |= {prefix: view.frames[prefix]} if prefix in view.frames else {}
    known.add_refs([node])
