"""Puts the logins of a file into a session."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browse_together.contract.errors import Forbidden, field_details
from browse_together.contract.model import Json
from browser_service.host import world
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, read
from browser_service.host.sessions.login_file import LoginFile
from browser_service.host.sessions.logins import TakesLogins, cookies_in
from browser_service.host.sessions.person_window import cookie_key
from browser_service.security.http_logins import Credentials
from browser_service.security.urls import origin_of

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

    from browser_service.host.sessions.session import SessionEntry

_WRITE_STORAGE: Final = bounded(script("local_storage"))
_BLANK: Final = "<!doctype html>"
_PART: Final = "part"
"""Key of a saved state that is put back beside what the session has, and not in its place."""
_FORBIDDEN: Final = "the URL policy does not allow the host"
_PROFILE_REFUSES: Final = (
    "the shared login takes none, because all its storage would be written anew: use your own session"
)


async def import_into(session: "SessionEntry", file: LoginFile, take: TakesLogins) -> None:
    """Put all logins of a file into the session, one by one, so that one that the browser refuses does not cost the
    others. What they replace is given to `take`."""
    context = await session.context()
    before = {cookie_key(cookie): cookie for cookie in await cookies_in(context)}
    found = [(cookie, before[key]) for cookie in file.cookies if (key := cookie_key(cookie)) in before]
    if replaced := [old for cookie, old in found if old["value"] != cookie["value"]]:
        take(part_of_state(cookies=[*replaced]))
    taken = [cookie for cookie in file.cookies if await _is_taken(context, session, cookie, file)]
    stored = {(c.get("name"), c.get("domain"), c.get("path"), c.get("value")) for c in await context.cookies()}
    for cookie in taken:
        name, site = str(cookie["name"]), str(cookie["domain"]).lstrip(".")
        if (name, cookie["domain"], cookie["path"], cookie["value"]) in stored:
            file.imported[site, "cookies"] += 1
        else:
            file.refuse(site, f"cookie {name}", "the browser did not keep it")
    for origin, items in file.storage.items():
        reason = await _import_storage(session, origin, items, take) if session.policy.permits(origin) else _FORBIDDEN
        if reason:
            file.refuse(_host(origin), "local storage", reason)
        else:
            file.imported[_host(origin), "localStorage"] += len(items)
    if file.databases:
        await _import_databases(session, file, take)


def part_of_state(**taken: JsonValue) -> Json:
    """Return what an act took of a session's logins: `cookies` and `origins` in Playwright's form, `httpLogins`."""
    return {_PART: True, **taken}


def is_part(state: Json) -> bool:
    """Return whether a saved state is only a part, which is put back beside what the session has."""
    return _PART in state


async def put_back(session: "SessionEntry", state: Json, take: TakesLogins) -> str:
    """Put back what an act took, and word what is back; the session's other logins stay. What that replaces is given to
    `take`."""
    file = LoginFile(
        cookies=cast("list[Json]", state.get("cookies") or [])
    )  # as `part_of_state` was given it, and below
    for each in reversed(
        cast("list[Json]", state.get("origins") or [])
    ):  # of several values, the first is written last
        for found, name in ((file.storage, "localStorage"), (file.databases, "indexedDB")):
            if items := cast("list[Json]", each.get(name) or []):
                found.setdefault(str(each["origin"]), []).extend(items)
    await import_into(session, file, take)
    logins = {origin: Credentials(*each) for origin, *each in cast("list[list[str]]", state.get("httpLogins") or [])}
    back = await session.sign_ins.put_back(logins)
    for origin in logins.keys() - {*back}:
        file.refuse(_host(origin), "the login by HTTP", "there is another one by now")
    signed_in = [f"signed in again by HTTP at {', '.join(back)}"] if back else []
    brought = [file.summary] if file.imported or file.refused else []
    return "; ".join([*signed_in, *brought])


async def _is_taken(context: "BrowserContext", session: "SessionEntry", cookie: Json, file: LoginFile) -> bool:
    """Add a cookie, and say whether the browser took it. Report a refused one in `file`."""
    name, site = str(cookie["name"]), str(cookie["domain"]).lstrip(".")
    if not session.policy.permits(f"https://{site}/"):
        file.refuse(site, f"cookie {name}", _FORBIDDEN)
        return False
    try:
        await context.add_cookies([cookie])  # type: ignore[list-item] # checked by the browser
    except PlaywrightError:
        file.refuse(site, f"cookie {name}", "the browser refused it")
        return False
    return True


async def _import_storage(session: "SessionEntry", origin: str, items: list[Json], take: TakesLogins) -> str:
    """Write local storage through an empty page of that origin, without a request to the site. Return the browser's
    reason if it refuses."""
    try:
        async with _empty_page(session, origin) as page:
            replaced = read(list[Json], await world.evaluate(page, _WRITE_STORAGE, items))
    except PlaywrightError as error:
        return _refusal(error)
    if replaced:
        take(part_of_state(origins=[{"origin": origin, "localStorage": [*replaced]}]))
    return ""


@asynccontextmanager
async def _empty_page(session: "SessionEntry", origin: str) -> "AsyncIterator[Page]":
    """Open an empty page of an origin, without a request to the site."""
    page = await session.open_window()
    try:
        await page.route("**/*", lambda route: route.fulfill(body=_BLANK, content_type="text/html"))
        await page.goto(f"{origin}/", wait_until="commit")
        yield page
    finally:
        await page.close()


async def read_some(session: "SessionEntry", sites: list[str]) -> Json:
    """Return all cookies of a session, and its storage of some origins. Raises Forbidden for one that no page may
    visit."""
    origins = {str(origin_of(site)) for site in sites}
    if refused := [origin for origin in sorted(origins) if not session.policy.permits(origin)]:
        raise Forbidden(f"There is no storage of {refused[0]}: {_FORBIDDEN}.", details=field_details("sites"))
    if not origins:
        return {"cookies": [*await cookies_in(await session.context())]}
    for origin in sorted(origins):  # Playwright reads only origins that the browser has visited since its start
        async with _empty_page(session, origin):
            pass
    state = await session.storage()
    stored = cast("list[Json]", state.get("origins") or [])  # as Playwright writes it
    return {"cookies": state["cookies"], "origins": [each for each in stored if each["origin"] in origins]}


async def _import_databases(session: "SessionEntry", file: LoginFile, take: TakesLogins) -> None:
    """Restore the databases. Playwright only restores a whole state, so add them to the state that the session has."""
    permitted = {origin: databases for origin, databases in file.databases.items() if session.policy.permits(origin)}
    reason = _FORBIDDEN
    if session.profile:
        permitted, reason = {}, _PROFILE_REFUSES
    elif permitted:
        state = await session.storage()
        try:
            origins = cast("list[Json]", state.get("origins") or [])  # as a login file has been checked
            if replaced := _replaced(origins, permitted):
                take(part_of_state(origins=[*replaced]))
            await session.restore({**state, "origins": _merge(origins, permitted)})
        except PlaywrightError as error:
            await session.restore(state)
            permitted, reason = {}, _refusal(error)
    for origin, databases in file.databases.items():
        if origin in permitted:
            file.imported[_host(origin), "indexedDB"] += len(databases)
        else:
            file.refuse(_host(origin), "IndexedDB", reason)


def _replaced(origins: list[Json], added: dict[str, list[Json]]) -> list[Json]:
    """Return the databases of a storage state that have the names of added ones."""
    found = []
    for state in origins:
        names = {database.get("name") for database in added.get(str(state["origin"]), [])}
        # as in `_merge`
        same = [each for each in cast("list[Json]", state.get("indexedDB") or []) if each.get("name") in names]
        if same:
            found.append(Json(origin=state["origin"], localStorage=[], indexedDB=[*same]))
    return found


def _merge(origins: list[Json], added: dict[str, list[Json]]) -> list[JsonValue]:
    """Add databases to the origins of a storage state, replacing those of the same name."""
    by_origin: dict[str, Json] = {str(state["origin"]): state for state in origins}
    for origin, databases in added.items():
        state = by_origin.setdefault(origin, {"origin": origin, "localStorage": []})
        names = {database.get("name") for database in databases}
        # as there
        others = [each for each in cast("list[Json]", state.get("indexedDB") or []) if each.get("name") not in names]
        state["indexedDB"] = [*others, *databases]
    return [*by_origin.values()]


def _refusal(error: PlaywrightError) -> str:
    return f"the browser refused it: {str(error).splitlines()[0][:120]}"


def _host(origin: str) -> str:
    return urlsplit(origin).hostname or origin
