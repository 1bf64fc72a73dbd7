"""Writes a page's requests as an HTTP Archive 1.2, with no more of each than the caller may see."""

import asyncio
import base64
import hashlib
import io
import json
import mimetypes
import zipfile
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Final, Literal, TypeVar
from urllib.parse import parse_qsl, urlsplit

from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browser_service.host.network.traffic import MOST_BODY, Headers, RequestRecord, RequestView
from shared.model import Json
from shared.wire import APP_NAME, VERSION

_T = TypeVar("_T")
_AT_ONCE: Final = 20
_ASKS_WITHIN_S: Final = 2.0
_WITHHELD: Final = "Not sent while you held the page: headers and bodies are withheld."
_PHASES: Final = (
    ("dns", "domainLookupStart", "domainLookupEnd"),
    ("connect", "connectStart", "connectEnd"),
    ("ssl", "secureConnectionStart", "connectEnd"),
)


@dataclass(frozen=True)
class Archive:
    """Says what of the requests goes into the file."""

    sight: RequestView
    content: Literal["omit", "embed", "attach"] = "omit"
    minimal: bool = False

    async def of(self, sent: Iterable[RequestRecord]) -> tuple[bytes, str]:
        """Return the file and its MIME type: JSON, or a zip if bodies are attached."""
        found = [*sent]
        files: dict[str, bytes] = {}
        room = asyncio.Semaphore(_AT_ONCE)

        async def entry(one: RequestRecord) -> Json:
            async with room:
                return await self._entry(one, files)

        entries = await asyncio.gather(*map(entry, found))
        pages = [] if self.minimal else self._pages(found, entries)
        log: Json = {
            "version": "1.2",
            "creator": {"name": APP_NAME, "version": VERSION},
            "pages": [*pages],
            "entries": [*entries],
        }
        data = json.dumps({"log": log}, ensure_ascii=False, indent=1).encode()
        return (_zipped(data, files), "application/zip") if self.content == "attach" else (data, "application/json")

    def _pages(self, found: list[RequestRecord], entries: list[Json]) -> list[Json]:
        """Make a page for each document of the main frame; the entries that follow refer to it."""
        pages: list[Json] = []
        for sent, entry in zip(found, entries, strict=True):
            if sent.is_document:
                pages.append(
                    {
                        "startedDateTime": entry["startedDateTime"],
                        "id": f"page_{len(pages) + 1}",
                        "title": sent.url(self.sight.client_id),
                        "pageTimings": {"onContentLoad": -1, "onLoad": -1},
                    }
                )
            if pages:
                entry["pageref"] = pages[-1]["id"]
        return pages

    async def _entry(self, sent: RequestRecord, files: dict[str, bytes]) -> Json:
        timings = _timings(sent)
        entry: Json = {
            "startedDateTime": sent.started.isoformat(timespec="milliseconds"),
            "time": _total(timings),
            "request": await self._request(sent),
            "response": await self._response(sent, files),
            "cache": {},
            "timings": timings,
        }
        if not self.sight.owns(sent):
            entry["comment"] = _WITHHELD
        elif sent.response is not None and not self.minimal and (address := await _known(sent.response.server_addr())):
            entry["serverIPAddress"] = address["ipAddress"].strip("[]")
        return entry

    async def _request(self, sent: RequestRecord) -> Json:
        headers = await self.sight.request_headers(sent)
        url = sent.url(self.sight.client_id)
        request: Json = {
            "method": sent.request.method,
            "url": url,
            "httpVersion": await _version(sent),
            "cookies": [] if self.minimal else _cookies(headers, "cookie"),
            "headers": _listed(headers),
            "queryString": _query(url),
            "headersSize": -1,
            "bodySize": -1,
        }
        if self.content != "omit" and (body := await self.sight.request_body(sent)) is not None:
            request["postData"] = {"mimeType": _header(headers, "content-type") or "", "text": body}
        return request

    async def _response(self, sent: RequestRecord, files: dict[str, bytes]) -> Json:
        headers = await self.sight.response_headers(sent)
        mime_type = _header(headers, "content-type") or "x-unknown"
        sizes = None
        if sent.response is not None and sent.ended_at is not None and not self.minimal:
            sizes = await _known(sent.request.sizes())
        response: Json = {
            "status": sent.response.status if sent.response else 0,
            "statusText": sent.response.status_text if sent.response else "",
            "httpVersion": await _version(sent),
            "cookies": [] if self.minimal else _cookies(headers, "set-cookie"),
            "headers": _listed(headers),
            "content": await self._content(sent, mime_type, files),
            "redirectURL": _header(headers, "location") or "",
            "headersSize": sizes["responseHeadersSize"] if sizes else -1,
            "bodySize": sizes["responseBodySize"] if sizes else -1,
        }
        if sent.failure:
            response["_failureText"] = sent.failure
        return response

    async def _content(self, sent: RequestRecord, mime_type: str, files: dict[str, bytes]) -> Json:
        content: Json = {"size": -1, "mimeType": mime_type}
        body = None if self.content == "omit" else await self.sight.response_body(sent)
        if body is None:
            return content
        content["size"] = len(body)
        if len(body) > MOST_BODY * 10:
            return {**content, "comment": "Too large to be kept."}
        if self.content == "attach":
            suffix = mimetypes.guess_extension(mime_type.partition(";")[0].strip()) or ".bin"
            name = hashlib.sha1(body, usedforsecurity=False).hexdigest() + suffix
            files[name] = body
            return {**content, "_file": name}
        try:
            return {**content, "text": body.decode("utf-8")}
        except UnicodeDecodeError:
            return {**content, "text": base64.b64encode(body).decode(), "encoding": "base64"}


async def _known(asking: Awaitable[_T]) -> _T | None:
    """Ask the driver, and return None if it no longer knows."""
    try:
        async with asyncio.timeout(_ASKS_WITHIN_S):
            return await asking
    except (PlaywrightError, TimeoutError):
        return None


async def _version(sent: RequestRecord) -> str:
    return (await _known(sent.response.http_version()) if sent.response else None) or "HTTP/1.1"


def _timings(sent: RequestRecord) -> Json:
    """Return the milliseconds of each phase; -1 for one that did not take place."""
    timing = sent.request.timing
    timings: Json = {"blocked": -1}
    for name, start, end in _PHASES:
        begins, ends = timing[start], timing[end]  # type: ignore[literal-required] # the names above
        timings[name] = round(ends - begins, 3) if begins >= 0 and ends >= begins else -1
    asked, first, last = timing["requestStart"], timing["responseStart"], timing["responseEnd"]
    if asked >= 0 and first >= asked:
        return {**timings, "send": 0, "wait": round(first - asked, 3), "receive": round(max(0.0, last - first), 3)}
    return {**timings, "send": 0, "wait": sent.ms or 0, "receive": 0}


def _total(timings: Json) -> float:
    """Add up all phases but ssl, which is part of connect."""
    spent = [value for name, value in timings.items() if name != "ssl" and isinstance(value, int | float) and value > 0]
    return round(sum(spent), 3)


def _listed(headers: Headers) -> list[JsonValue]:
    return [{"name": name, "value": value} for name, value in headers]


def _header(headers: Headers, wanted: str) -> str | None:
    return next((value for name, value in headers if name.lower() == wanted), None)


def _query(url: str) -> list[JsonValue]:
    found = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    return [{"name": name, "value": value} for name, value in found]


def _cookies(headers: Headers, wanted: str) -> list[JsonValue]:
    """Parse the cookies of Cookie or Set-Cookie; there are none if the values are redacted."""
    found: list[JsonValue] = []
    for name, value in headers:
        if name.lower() == wanted:
            cookies: SimpleCookie = SimpleCookie()
            try:
                cookies.load(value)
            except CookieError:
                continue
            found += [{"name": cookie, "value": morsel.value} for cookie, morsel in cookies.items()]
    return found


def _zipped(har: bytes, files: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as into:
        into.writestr("har.har", har)
        for name, data in files.items():
            into.writestr(name, data)
    return archive.getvalue()
