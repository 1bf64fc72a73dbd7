"""Reads logins of other browsers (a Playwright storage state or a cookies.txt) and puts them into a session."""

import json
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browser_service.host.scripts import script
from shared.errors import ValidationFailed, field_details
from shared.model import Json

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

    from browser_service.host.session import SessionEntry

_DOMAIN: Final = re.compile(r"\.?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?|\[[0-9a-f:.]+\]")
_SAME_SITES: Final = ("Strict", "Lax", "None")
_TAKEN: Final = ("name", "value", "domain", "path", "expires", "httpOnly", "secure", "sameSite", "partitionKey")
_HTTP_ONLY: Final = "#HttpOnly_"
_COLUMNS: Final = 7
_SHOWN: Final = 5
_WRITE: Final = script("local_storage")
_BLANK: Final = "<!doctype html>"


@dataclass
class LoginFile:
    """Holds what a file has, and what becomes of it. A refused cookie is reported by its name alone."""

    cookies: list[Json] = field(default_factory=list)
    storage: dict[str, list[Json]] = field(default_factory=dict)
    databases: dict[str, list[Json]] = field(default_factory=dict)
    refused: list[Json] = field(default_factory=list)
    imported: Counter[tuple[str, str]] = field(default_factory=Counter)

    def refuse(self, site: str, what: str, why: str) -> None:
        self.refused.append({"site": site, "what": what, "why": why})

    def by_site(self) -> list[Json]:
        sites = sorted({site for site, _ in self.imported})
        return [self._of(site) for site in sites]

    def _of(self, site: str) -> Json:
        counts: Json = {"cookies": self.imported[site, "cookies"], "localStorage": self.imported[site, "localStorage"]}
        databases: Json = {"indexedDB": self.imported[site, "indexedDB"]} if self.imported[site, "indexedDB"] else {}
        return {"site": site, **counts, **databases}

    @property
    def summary(self) -> str:
        sites = [
            f"{one['site']} ({_counted(one['cookies'], 'cookie')}"
            + (f", {_counted(one['localStorage'], 'entry')} of local storage" if one["localStorage"] else "")
            + (f", {_counted(one['indexedDB'], 'database')})" if "indexedDB" in one else ")")
            for one in self.by_site()
        ]
        lines = [f"brought: {', '.join(sites)}" if sites else "nothing was brought"]
        lines += [f"not brought: {one['what']} of {one['site']}: {one['why']}" for one in self.refused[:_SHOWN]]
        if len(self.refused) > _SHOWN:
            lines.append(f"and {len(self.refused) - _SHOWN} more that were not brought")
        return "\n".join(lines)


def read(content: str, site: str | None) -> LoginFile:
    """Read what a file has for a site. Raises ValidationFailed for another format, or if it has nothing for it."""
    found = LoginFile()
    cookies, origins = _state(content) if content.lstrip().startswith("{") else (_lines(content, found), [])
    wanted = (site or "").lower().lstrip(".")
    for cookie in cookies:
        domain = str(cookie.get("domain") or "").lower()
        if _is_of(domain.lstrip("."), wanted):
            _take(found, {**cookie, "domain": domain})
    for origin in origins:
        _take_origin(found, origin, wanted)
    if not (found.cookies or found.storage or found.databases or found.refused):
        raise _empty_error(site)
    return found


async def import_into(session: "SessionEntry", found: LoginFile) -> None:
    """Put all into the session, one by one, so that what the browser refuses does not cost the others."""
    context = await session.context()
    for cookie in found.cookies:
        await _add(context, session, cookie, found)
    for origin, items in found.storage.items():
        host = urlsplit(origin).hostname or origin
        if not session.permits(origin):
            found.refuse(host, "local storage", "the URL policy does not allow the host")
            continue
        try:
            await _store(session, origin, items)
        except PlaywrightError as error:
            found.refuse(host, "local storage", f"the browser refused it: {str(error).splitlines()[0][:120]}")
        else:
            found.imported[host, "localStorage"] += len(items)
    if found.databases:
        await _databases(session, found)


async def _databases(session: "SessionEntry", found: LoginFile) -> None:
    """Restore the databases. They come with a whole state alone, so add them to the state that the session has."""
    brought = {origin: list_ for origin, list_ in found.databases.items() if session.permits(origin)}
    why = "the URL policy does not allow the host"
    if session.profile:
        brought, why = (
            {},
            "the shared login takes none, because all its storage would be written anew: use your own session",
        )
    elif brought:
        state = await session.storage()
        try:
            await session.restore(
                {**state, "origins": _merged(cast("list[Json]", state.get("origins") or []), brought)}
            )
        except PlaywrightError as error:
            await session.restore(state)
            brought, why = {}, f"the browser refused it: {str(error).splitlines()[0][:120]}"
    for origin, databases in found.databases.items():
        host = urlsplit(origin).hostname or origin
        if origin in brought:
            found.imported[host, "indexedDB"] += len(databases)
        else:
            found.refuse(host, "IndexedDB", why)


def _merged(origins: list[Json], brought: dict[str, list[Json]]) -> list[JsonValue]:
    by_origin: dict[str, Json] = {str(one["origin"]): one for one in origins}
    for origin, databases in brought.items():
        one = by_origin.setdefault(origin, {"origin": origin, "localStorage": []})
        names = {database.get("name") for database in databases}
        kept = [each for each in cast("list[Json]", one.get("indexedDB") or []) if each.get("name") not in names]
        one["indexedDB"] = [*kept, *databases]
    return [*by_origin.values()]


async def _add(context: "BrowserContext", session: "SessionEntry", cookie: Json, found: LoginFile) -> None:
    name, domain = str(cookie["name"]), str(cookie["domain"])
    site = domain.lstrip(".")
    if not session.permits(f"https://{site}/"):
        found.refuse(site, f"cookie {name}", "the URL policy does not allow the host")
        return
    try:
        await context.add_cookies([cookie])  # type: ignore[list-item] # checked by the browser
    except PlaywrightError:
        found.refuse(site, f"cookie {name}", "the browser refused it")
        return
    has = {(c.get("name"), c.get("domain"), c.get("path"), c.get("value")) for c in await context.cookies()}
    if (name, domain, cookie["path"], cookie["value"]) in has:
        found.imported[site, "cookies"] += 1
    else:
        found.refuse(site, f"cookie {name}", "the browser did not keep it")


async def _store(session: "SessionEntry", origin: str, items: list[Json]) -> None:
    """Write local storage through an empty page of that origin, without a request to the site."""
    page = await session.open_window()
    try:
        await page.route("**/*", lambda route: route.fulfill(body=_BLANK, content_type="text/html"))
        await page.goto(f"{origin}/", wait_until="commit")
        await page.evaluate(_WRITE, items)
    finally:
        await page.close()


def _state(content: str) -> tuple[list[Json], list[Json]]:
    """Read the cookies and origins of a Playwright storage state."""
    try:
        state = json.loads(content)
    except ValueError as error:
        raise _unreadable_error(f"it is no JSON: {error}") from None
    cookies, origins = state.get("cookies", []), state.get("origins", [])
    if not ("cookies" in state or "origins" in state) or not _objects(cookies) or not _objects(origins):
        raise _unreadable_error('a storage state is {"cookies": [{...}], "origins": [{...}]}')
    return cookies, origins


def _objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _lines(content: str, found: LoginFile) -> list[Json]:
    """Read a cookies.txt in Netscape's format: domain, subdomains, path, secure, expires, name, value."""
    cookies: list[Json] = []
    for number, text in enumerate(content.splitlines(), 1):
        line = text.removeprefix(_HTTP_ONLY)
        if not line.strip() or (line.startswith("#") and line is text):
            continue
        columns = line.split("\t")
        if len(columns) == _COLUMNS - 1:
            columns.append("")  # an empty value, whose tab an editor took away
        if len(columns) != _COLUMNS or not re.fullmatch(r"-?\d+(\.\d+)?", columns[4]):
            found.refuse("?", f"line {number}", "it has not the seven columns of a cookies.txt, separated by tabs")
            continue
        domain, subdomains, path, secure, expires, name, value = columns
        bare = domain.lstrip(".")
        cookies.append(
            {
                "domain": f".{bare}" if subdomains.upper() == "TRUE" else bare,
                "path": path,
                "secure": secure.upper() == "TRUE",
                "expires": float(expires) or -1,
                "name": name,
                "value": value,
                "httpOnly": line is not text,
            }
        )
    if not cookies:
        raise _unreadable_error("no line of it is a cookie")
    return cookies


def _take(found: LoginFile, cookie: Json) -> None:
    domain, name, path = str(cookie["domain"]), cookie.get("name"), cookie.get("path") or "/"
    expires, same_site = cookie.get("expires"), cookie.get("sameSite")
    session_only = expires in (None, -1, 0)
    site, what = domain.lstrip(".") or "?", f"cookie {name}"
    if not isinstance(name, str) or not name or not isinstance(cookie.get("value"), str):
        found.refuse(site, "a cookie", "it has no name or no value")
    elif not isinstance(path, str) or not (session_only or isinstance(expires, int | float)):
        found.refuse(site, what, "its path or its date of expiry is none")
    elif _DOMAIN.fullmatch(domain) is None:
        found.refuse(site, what, "its domain is none")
    elif not session_only and cast("float", expires) <= time.time():
        found.refuse(site, what, "it has expired")
    elif why := _prefix_broken(name, cookie, domain, path):
        found.refuse(site, what, why)
    else:
        kept: Json = {key: cookie[key] for key in _TAKEN if cookie.get(key) is not None}
        kept |= {"path": path, "expires": -1 if session_only else expires}
        if same_site not in _SAME_SITES:
            kept.pop("sameSite", None)
        found.cookies.append(kept)


def _prefix_broken(name: str, cookie: Json, domain: str, path: str) -> str | None:
    """Say which promise of its name's prefix a cookie breaks; browsers refuse such a cookie."""
    if name.startswith(("__Host-", "__Secure-")) and cookie.get("secure") is not True:
        return "its name promises that it is secure, and it is not"
    if name.startswith("__Host-") and (domain.startswith(".") or path != "/"):
        return "its name promises that it is of one host and of the path /, and it is not"
    return None


def _take_origin(found: LoginFile, origin: Json, wanted: str) -> None:
    url, items = origin.get("origin"), origin.get("localStorage") or []
    parts = urlsplit(url) if isinstance(url, str) else urlsplit("")
    if not _is_of(parts.hostname or "", wanted):
        return
    host = parts.hostname or "?"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        found.refuse(host, "local storage", "its origin is none")
    elif not _objects(items) or not all(_is_item(item) for item in cast("list[Json]", items)):
        found.refuse(host, "local storage", "it is no list of names and values")
    elif items:
        chosen = cast("list[Json]", items)
        found.storage.setdefault(f"{parts.scheme}://{parts.netloc}", []).extend(
            {"name": item["name"], "value": item["value"]} for item in chosen
        )
    databases = origin.get("indexedDB") or []
    if databases and not _objects(databases):
        found.refuse(host, "IndexedDB", "it is no list of databases")
    elif databases and parts.scheme in {"http", "https"} and parts.hostname:
        found.databases[f"{parts.scheme}://{parts.netloc}"] = cast("list[Json]", databases)


def _is_item(item: Json) -> bool:
    return isinstance(item.get("name"), str) and isinstance(item.get("value"), str)


def _is_of(host: str, wanted: str) -> bool:
    return not wanted or host == wanted or host.endswith(f".{wanted}")


def _counted(count: JsonValue, what: str) -> str:
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else plural}"


def _unreadable_error(why: str) -> ValidationFailed:
    return ValidationFailed(
        f"content of import_login cannot be read: {why}.",
        hint="Give a Playwright storage state (JSON), or a cookies.txt as browser extensions export it.",
        details=field_details("content"),
    )


def _empty_error(site: str | None) -> ValidationFailed:
    of_site = f" of {site}" if site else ""
    return ValidationFailed(
        f"content of import_login has nothing{of_site} in it.",
        hint="Leave `site` out to bring all that it has." if site else "Export it while you are signed in.",
        details=field_details("site" if site else "content"),
    )
