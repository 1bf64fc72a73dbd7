"""Undoes acts that lose something for good, from the state that each left for that.

It never overwrites what was set anew since: that stays, and the reply says so. Only a whole session's restored logins
go back as one, since half of a login is none.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from browser_service.host.pages.handle import BrowserPage
from browser_service.host.scripts import script
from browser_service.host.scripts.results import BadResult, bounded, read
from browser_service.host.sessions.person_window import cookie_key
from browser_service.host.stages.session_handle import BrowserSession
from browser_service.security.http_logins import Credentials
from browser_service.security.urls import origin_of
from shared.errors import CannotUndo
from shared.model import Json
from shared.quoting import one_line

UndoState = dict[str, Any]  # Any: JSON
"""JSON, in the form that the act's handler gave it."""
Reversal = Callable[..., Awaitable[Json]]
"""The function that undoes an act. It takes a BrowserPage or a BrowserSession, by its action's scope, and what the act
left."""

_NAMED: Final = 10
_PUT_BACK: Final = script("storage_undo")
_SCROLLED: Final = bounded("() => [Math.round(scrollX), Math.round(scrollY)]")


def cookie_changes(before: Iterable[Mapping[str, object]], after: Iterable[Mapping[str, object]]) -> UndoState:
    """Return the cookies that changed, as they were and as they are now."""
    was, made = _by_key([{**cookie} for cookie in before]), _by_key([{**cookie} for cookie in after])
    changed = [key for key in was | made if _value(was, key) != _value(made, key)]
    lost, new = ([cookies[key] for key in changed if key in cookies] for cookies in (was, made))
    return {"was": lost, "made": new}


async def _close_page(page: BrowserPage, state: UndoState) -> Json:
    try:
        x, y = read(tuple[int, int], await page.playwright.evaluate(_SCROLLED))
    except BadResult:  # the page replaced what tells it: say nothing of its making
        x, y = 0, 0
    scrolled = f", scrolled to {x}, {y}" if x or y else ""
    more = f", with {len(state['history'])} entries of its history" if state["history"] else ""
    return {"url": page.url, "observed": f"page {page.page_id} is open again at {page.url}{scrolled}{more}"}


async def _cookies(session: BrowserSession, state: UndoState) -> Json:
    context = await session.context()
    was, made = _by_key(state["was"]), _by_key(state["made"])
    now = _by_key([{**cookie} for cookie in await context.cookies()])
    newer = [key for key in was | made if _value(now, key) not in {_value(was, key), _value(made, key)}]
    for key in [*made.keys() - was.keys() - {*newer}]:
        name, domain, path = key
        await context.clear_cookies(name=name, domain=domain, path=path)
    if restored := [cookie for key, cookie in was.items() if key not in newer]:
        await context.add_cookies(restored)  # type: ignore[arg-type] # as the browser gave them
    session.entry.logins.save_soon()
    now = _by_key([{**cookie} for cookie in await context.cookies()])
    done = [key for key in was | made if key not in newer and _value(now, key) == _value(was, key)]
    lost = [str(key[0]) for key in was if key not in newer and key not in done]
    removed = {origin: Credentials(*each) for origin, each in state.get("httpLogins", {}).items()}
    back = await session.entry.sign_ins.put_back(removed)
    again = f", logins by HTTP again at {_join(back)}" if back else ""
    report = _report(f"{counted(len(done), 'cookie')} as before{again}", [*done, *back], [str(key[0]) for key in newer])
    return {"observed": report + (f"; expired meanwhile: {_join(lost)}" if lost else "")}


async def _storage(page: BrowserPage, state: UndoState) -> Json:
    if origin_of(page.url) != state["origin"]:
        goto_call = json.dumps({"pageId": page.page_id, "url": state["origin"]})
        raise CannotUndo(
            f"Page {page.page_id!r} is not at {state['origin']} any more, whose storage it was.",
            hint=f"goto {goto_call}, then undo again.",
        )
    restored, newer = await page.playwright.evaluate(_PUT_BACK, [state["kind"], state["was"], state["made"]])
    where = f"in the {state['kind']} storage of {state['origin']}"
    return {"observed": _report(f"{counted(len(restored), 'item')} as before {where}", restored, newer)}


async def _logins(session: BrowserSession, state: UndoState) -> Json:
    await session.entry.restore(state["state"])
    return {"observed": "the logins are as they were before that; what the session has got since is gone"}


REVERSALS: Final[Mapping[str, Reversal]] = MappingProxyType(
    {
        "close_page": _close_page,
        "clear_cookies": _cookies,
        "set_cookies": _cookies,
        "import_login": _cookies,
        "restore_session_state": _logins,
        "set_storage": _storage,
        "remove_storage": _storage,
        "clear_storage": _storage,
    }
)
"""The reversals, by the names of the acts."""


def _report(done: str, restored: Iterable[object], newer: list[str]) -> str:
    """Describe the reversal. Raises CannotUndo if all was set anew."""
    skipped = f"set anew since, and kept so: {_join(newer)}"
    if newer and not [*restored]:
        raise CannotUndo(f"Nothing was put back: {skipped}.", hint="Set it yourself if you want another value.")
    return f"{done}; {skipped}" if newer else done


def counted(count: int, what: str) -> str:
    """Write a number of things as a subject with its verb."""
    return f"1 {what} is" if count == 1 else f"{count} {what}s are"


def _join(names: Iterable[str]) -> str:
    listed = [one_line(name) for name in names]
    more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
    return (", ".join(listed[:_NAMED]) or "none") + more


def _by_key(cookies: list[UndoState]) -> dict[Any, UndoState]:  # Any: a key's parts
    return {cookie_key(cookie): cookie for cookie in cookies}


def _value(cookies: Mapping[Any, UndoState], key: object) -> object:  # Any: as there
    return cookies[key].get("value") if key in cookies else None
