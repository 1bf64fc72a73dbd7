"""Makes selectors that find an element again after its site has changed, the most lasting first."""

import json
from typing import Final

from browser_service.host.elements.filled_fields import Lasting
from browser_service.host.elements.locators import is_ref, leading_ref
from browser_service.host.reading import places, tree
from browser_service.host.reading.snapshot import ClientView

_MOST_NAME: Final = 80
_ITEMS: Final = frozenset({"row", "listitem", "article", "treeitem"})
_INTO_FRAME: Final = " >> internal:control=enter-frame >> "


def selectors(view: ClientView | None, given: str, frame: str | None, found: Lasting | None) -> list[str]:
    """Return the selectors of the element that a client named by a selector or ref. `found` is what a script says of
    the element, if one met it."""
    own = [] if leading_ref(given) else [given]
    into = f"{found['frame']}{_INTO_FRAME}" if found and found["frame"] and not frame else ""
    by_script = [into + each for each in found["selectors"]] if found else []
    if into:
        own = [each for each in own if "enter-frame" in each]
    elif view is not None and is_ref(given):
        own = _as_shown(view, given)
        if own and by_script and by_script[0].startswith("role="):
            by_script.pop(0)  # its script can only guess the name that the tree has
    by_role = [each for each in own if "role=" in each]
    return [*dict.fromkeys([*by_role, *by_script, *(each for each in own if each not in by_role)])]


def _as_shown(view: ClientView, ref: str) -> list[str]:
    """Return the selector of the role and name that the client was shown; within the element's row or section, if
    others have them too. A ref in a frame has none."""
    index = None if tree.prefix_of(ref) in view.frames else tree.index_of(view.tree, ref)
    if index is None:
        return []
    node = view.tree[index]
    if not node.name or len(node.name) > _MOST_NAME or node.role == "generic":
        return []
    own = f"role={node.role}[name={json.dumps(node.name, ensure_ascii=False)}]"
    if sum(each.name == node.name and each.role == node.role for each in view.tree) == 1:
        return [own]
    role, _, name = places.place(view.tree, index).partition(" ")
    if not name or role in {"under", "in"}:
        return []
    around = f"role={role} >> internal:has-text={name}s" if role in _ITEMS else f"role={role}[name={name}]"
    return [f"{around} >> {own}"]
