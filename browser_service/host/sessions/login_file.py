"""Reads the logins in a file of another browser: a Playwright storage state, or a cookies.txt."""

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, cast
from urllib.parse import SplitResult, urlsplit

from pydantic import JsonValue

from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.json_lines import strict
from browse_together.contract.model import Json

_DOMAIN: Final = re.compile(r"\.?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?|\[[0-9a-f:.]+\]")
_SAME_SITES: Final = ("Strict", "Lax", "None")
_COOKIE_KEYS: Final = ("name", "value", "domain", "path", "expires", "httpOnly", "secure", "sameSite", "partitionKey")
_HTTP_ONLY: Final = "#HttpOnly_"
_COLUMNS: Final = 7
_MOST_SHOWN: Final = 5
_MOST_VALUES: Final = 200_000
_LATEST: Final = 1e12
"""A time in Unix seconds later than any that a browser knows."""


@dataclass
class LoginFile:
    """The logins of a file, with what was imported and what was refused. A refused cookie is reported by its name
    alone."""

    cookies: list[Json] = field(default_factory=list)
    storage: dict[str, list[Json]] = field(default_factory=dict)
    databases: dict[str, list[Json]] = field(default_factory=dict)
    refused: list[Json] = field(default_factory=list)
    imported: Counter[tuple[str, str]] = field(default_factory=Counter)

    def refuse(self, site: str, subject: str, reason: str) -> None:
        self.refused.append({"site": site, "what": subject, "why": reason})

    def by_site(self) -> list[Json]:
        return [self._describe(site) for site in sorted({site for site, _ in self.imported})]

    def _describe(self, site: str) -> Json:
        kinds = ["cookies", "localStorage"] + ["indexedDB"] * bool(self.imported[site, "indexedDB"])
        return {"site": site, **{kind: self.imported[site, kind] for kind in kinds}}

    @property
    def summary(self) -> str:
        sites = [
            f"{one['site']} ({_count(one['cookies'], 'cookie')}"
            + (f", {_count(one['localStorage'], 'entry')} of local storage" if one["localStorage"] else "")
            + (f", {_count(one['indexedDB'], 'database')})" if "indexedDB" in one else ")")
            for one in self.by_site()
        ]
        lines = [f"brought: {', '.join(sites)}" if sites else "nothing was brought"]
        lines += [f"not brought: {one['what']} of {one['site']}: {one['why']}" for one in self.refused[:_MOST_SHOWN]]
        if len(self.refused) > _MOST_SHOWN:
            lines.append(f"and {len(self.refused) - _MOST_SHOWN} more that were not brought")
        return "\n".join(lines)


def read(content: str, site: str | None) -> LoginFile:
    """Read a file's logins for a site (None: for all). Raises ValidationFailed for another format, or if there are
    none."""
    file, domain = LoginFile(), (site or "").lower().lstrip(".")
    is_state = content.lstrip().startswith("{")
    cookies, origins = _parse_state(content) if is_state else (_parse_cookies_txt(content, file), [])
    for cookie in cookies:
        cookie_domain = str(cookie.get("domain") or "").lower()
        if _belongs_to(cookie_domain.lstrip("."), domain):
            _add_cookie(file, {**cookie, "domain": cookie_domain})
    for origin in origins:
        _add_origin(file, origin, domain)
    if not (file.cookies or file.storage or file.databases or file.refused):
        raise _empty_error(site)
    return file


def _parse_state(content: str) -> tuple[list[Json], list[Json]]:
    """Return the cookies and origins of a Playwright storage state."""
    try:
        text = content.encode()
        state = cast("Json", strict.loads(text, _MOST_VALUES))  # it begins as an object
        strict.check_text(state, text)
    except ValueError as error:
        raise _unreadable_error(f"it is no JSON: {error}") from None
    cookies, origins = state.get("cookies", []), state.get("origins", [])
    if not ("cookies" in state or "origins" in state) or not _are_objects(cookies) or not _are_objects(origins):
        raise _unreadable_error('a storage state is {"cookies": [{...}], "origins": [{...}]}')
    return cast("list[Json]", cookies), cast("list[Json]", origins)


def _parse_cookies_txt(content: str, file: LoginFile) -> list[Json]:
    """Return the cookies of a file in Netscape's format: domain, subdomains, path, secure, expires, name, value."""
    cookies: list[Json] = []
    for number, text in enumerate(content.splitlines(), 1):
        line = text.removeprefix(_HTTP_ONLY)
        if not line.strip() or (line.startswith("#") and line is text):
            continue
        columns = line.split("\t")
        if len(columns) == _COLUMNS - 1:
            columns.append("")  # an empty value, whose tab an editor took away
        if len(columns) != _COLUMNS or not re.fullmatch(r"-?\d+(\.\d+)?", columns[4]):
            file.refuse("?", f"line {number}", "it has not the seven columns of a cookies.txt, separated by tabs")
            continue
        domain, subdomains, path, secure, expires, name, value = columns
        host = domain.lstrip(".")
        cookies.append(
            {
                "domain": f".{host}" if subdomains.upper() == "TRUE" else host,
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


def _add_cookie(file: LoginFile, cookie: Json) -> None:
    domain, name, path = str(cookie["domain"]), cookie.get("name"), cookie.get("path") or "/"
    expires = cookie.get("expires")
    session_only = expires in (None, -1, 0)
    site, subject = domain.lstrip(".") or "?", f"cookie {name}"
    if not isinstance(name, str) or not name or not isinstance(cookie.get("value"), str):
        file.refuse(site, "a cookie", "it has no name or no value")
    elif not isinstance(path, str) or not (session_only or _is_time(expires)):
        file.refuse(site, subject, "its path or its date of expiry is none")
    elif _DOMAIN.fullmatch(domain) is None:
        file.refuse(site, subject, "its domain is none")
    elif not session_only and cast("float", expires) <= time.time():  # it was checked above
        file.refuse(site, subject, "it has expired")
    elif broken := _broken_promise(name, cookie, domain, path):
        file.refuse(site, subject, broken)
    else:
        values = {**cookie, "path": path, "expires": -1 if session_only else expires}
        if cookie.get("sameSite") not in _SAME_SITES:
            values["sameSite"] = None
        file.cookies.append({key: values[key] for key in _COOKIE_KEYS if values.get(key) is not None})


def _broken_promise(name: str, cookie: Json, domain: str, path: str) -> str | None:
    """Say which promise of its name's prefix a cookie breaks, if any; browsers refuse such a cookie."""
    if name.startswith(("__Host-", "__Secure-")) and cookie.get("secure") is not True:
        return "its name promises that it is secure, and it is not"
    if name.startswith("__Host-") and (domain.startswith(".") or path != "/"):
        return "its name promises that it is of one host and of the path /, and it is not"
    return None


def _add_origin(file: LoginFile, state: Json, domain: str) -> None:
    """Add the local storage and the databases of an origin to the file's, or refuse them."""
    url, items, databases = state.get("origin"), state.get("localStorage") or [], state.get("indexedDB") or []
    parts = _parts(url if isinstance(url, str) else "")
    if not _belongs_to(parts.hostname or "", domain):
        return
    host, origin = parts.hostname or "?", f"{parts.scheme}://{parts.netloc}"
    is_origin = parts.scheme in {"http", "https"} and bool(parts.hostname)
    if not is_origin:
        file.refuse(host, "local storage", "its origin is none")
    elif not _are_objects(items) or not all(_is_item(item) for item in cast("list[Json]", items)):
        file.refuse(host, "local storage", "it is no list of names and values")
    elif items:
        pairs: list[Json] = [{"name": item["name"], "value": item["value"]} for item in cast("list[Json]", items)]
        file.storage.setdefault(origin, []).extend(pairs)
    if databases and not _are_objects(databases):
        file.refuse(host, "IndexedDB", "it is no list of databases")
    elif databases and is_origin:
        file.databases[origin] = cast("list[Json]", databases)


def _is_time(value: JsonValue) -> bool:
    return isinstance(value, int | float) and abs(value) < _LATEST


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # brackets around what is no address
        return urlsplit("")


def _are_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _is_item(item: Json) -> bool:
    return isinstance(item.get("name"), str) and isinstance(item.get("value"), str)


def _belongs_to(host: str, domain: str) -> bool:
    return not domain or host == domain or host.endswith(f".{domain}")


def _count(count: JsonValue, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def _unreadable_error(reason: str) -> ValidationFailed:
    return ValidationFailed(
        f"content of import_login cannot be read: {reason}.",
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
