"""Writes a page's requests as an HTTP Archive 1.2, limited to what the caller may see."""

import asyncio
import base64
import contextlib
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

from browse_together.contract.background import AtMost
from browse_together.contract.model import Json
from browse_together.contract.wire import APP_NAME, VERSION
from browser_service.host.network.traffic import MOST_BODY, Headers, RequestRecord, RequestView

_T = TypeVar("_T")
_MOST_AT_ONCE: Final = 20
_ANSWERS_WITHIN_S: Final = 2.0
_WITHHELD: Final = "Not sent while you held the page: headers and bodies are withheld."
_PHASES: Final = (
    ("dns", "domainLookupStart", "domainLookupEnd"),
    ("connect", "connectStart", "connectEnd"),
    ("ssl", "secureConnectionStart", "connectEnd"),
)


@dataclass(frozen=True)
class Archive:
    """The parts of requests that go into the file."""

    view: RequestView
    content: Literal["omit", "embed", "attach"] = "omit"
    minimal: bool = False

    async def write(self, requests: Iterable[RequestRecord]) -> tuple[bytes, str]:
        """Return the file and its MIME type: JSON, or a zip if bodies are attached."""
        records = [*requests]
        bodies: dict[str, bytes] = {}
        slots = asyncio.Semaphore(_MOST_AT_ONCE)

        async def entry(record: RequestRecord) -> Json:
            async with slots:
                return await self._entry(record, bodies)

        entries = await asyncio.gather(*map(entry, records))
        log: Json = {
            "version": "1.2",
            "creator": {"name": APP_NAME, "version": VERSION},
            "pages": [] if self.minimal else [*self._pages(records, entries)],
            "entries": [*entries],
        }
        data = json.dumps({"log": log}, ensure_ascii=False, indent=1).encode()
        return (_zip(data, bodies), "application/zip") if self.content == "attach" else (data, "application/json")

    def _pages(self, records: list[RequestRecord], entries: list[Json]) -> list[Json]:
        """Return a HAR page for each document of the main frame. The entries that follow it refer to it."""
        pages: list[Json] = []
        for record, entry in zip(records, entries, strict=True):
            if record.is_document:
                pages.append(
                    {
                        "startedDateTime": entry["startedDateTime"],
                        "id": f"page_{len(pages) + 1}",
                        "title": record.url(self.view.client_id),
                        "pageTimings": {"onContentLoad": -1, "onLoad": -1},
                    }
                )
            if pages:
                entry["pageref"] = pages[-1]["id"]
        return pages

    async def _entry(self, record: RequestRecord, bodies: dict[str, bytes]) -> Json:
        timings = _timings(record)
        entry: Json = {
            "startedDateTime": record.started.isoformat(timespec="milliseconds"),
            "time": _total(timings),
            "request": await self._request(record),
            "response": await self._response(record, bodies),
            "cache": {},
            "timings": timings,
        }
        if not self.view.owns(record):
            entry["comment"] = _WITHHELD
        elif (
            record.response is not None and not self.minimal and (address := await _ask(record.response.server_addr()))
        ):
            entry["serverIPAddress"] = address["ipAddress"].strip("[]")
        return entry

    async def _request(self, record: RequestRecord) -> Json:
        headers = await self.view.request_headers(record)
        url = record.url(self.view.client_id)
        request: Json = {
            "method": record.request.method,
            "url": url,
            "httpVersion": await _version(record),
            "cookies": [] if self.minimal else _cookies(headers, "cookie"),
            "headers": _objects(headers),
            "queryString": _query(url),
            "headersSize": -1,
            "bodySize": -1,
        }
        if self.content != "omit" and (body := await self.view.request_body(record)) is not None:
            request["postData"] = {"mimeType": _header(headers, "content-type") or "", "text": body}
        return request

    async def _response(self, record: RequestRecord, bodies: dict[str, bytes]) -> Json:
        headers = await self.view.response_headers(record)
        mime_type = _header(headers, "content-type") or "x-unknown"
        sizes = None
        if record.response is not None and record.ended_at is not None and not self.minimal:
            sizes = await _ask(record.request.sizes())
        response: Json = {
            "status": record.response.status if record.response else 0,
            "statusText": record.response.status_text if record.response else "",
            "httpVersion": await _version(record),
            "cookies": [] if self.minimal else _cookies(headers, "set-cookie"),
            "headers": _objects(headers),
            "content": await self._content(record, mime_type, bodies),
            "redirectURL": _header(headers, "location") or "",
            "headersSize": sizes["responseHeadersSize"] if sizes else -1,
            "bodySize": sizes["responseBodySize"] if sizes else -1,
        }
        if record.failure:
            response["_failureText"] = record.failure
        return response

    async def _content(self, record: RequestRecord, mime_type: str, bodies: dict[str, bytes]) -> Json:
        content: Json = {"size": -1, "mimeType": mime_type}
        body = None if self.content == "omit" else await self.view.response_body(record)
        if body is None:
            return content
        content["size"] = len(body)
        if len(body) > MOST_BODY * 10:
            return {**content, "comment": "Too large to be kept."}
        if self.content == "attach":
            suffix = mimetypes.guess_extension(mime_type.partition(";")[0].strip()) or ".bin"
            name = hashlib.sha1(body, usedforsecurity=False).hexdigest() + suffix
            bodies[name] = body
            return {**content, "_file": name}
        try:
            return {**content, "text": body.decode("utf-8")}
        except UnicodeDecodeError:
            return {**content, "text": base64.b64encode(body).decode(), "encoding": "base64"}


async def _ask(question: Awaitable[_T]) -> _T | None:
    """Await an answer of the driver; None if the driver no longer knows the request."""
    async with AtMost(_ANSWERS_WITHIN_S, PlaywrightError):
        return await question
    return None


async def _version(record: RequestRecord) -> str:
    return (await _ask(record.response.http_version()) if record.response else None) or "HTTP/1.1"


def _timings(record: RequestRecord) -> Json:
    """Return the milliseconds of each phase; -1 for a phase that did not happen."""
    timing = record.request.timing
    timings: Json = {"blocked": -1}
    for name, start, end in _PHASES:
        begins, ends = timing[start], timing[end]  # type: ignore[literal-required] # the names above
        timings[name] = round(ends - begins, 3) if begins >= 0 and ends >= begins else -1
    requested, first, last = timing["requestStart"], timing["responseStart"], timing["responseEnd"]
    if requested >= 0 and first >= requested:
        return {**timings, "send": 0, "wait": round(first - requested, 3), "receive": round(max(0.0, last - first), 3)}
    return {**timings, "send": 0, "wait": record.ms or 0, "receive": 0}


def _total(timings: Json) -> float:
    """Sum up all phases except ssl, which is part of connect."""
    spent = [value for name, value in timings.items() if name != "ssl" and isinstance(value, int | float) and value > 0]
    return round(sum(spent), 3)


def _objects(headers: Headers) -> list[JsonValue]:
    return [{"name": name, "value": value} for name, value in headers]


def _header(headers: Headers, name: str) -> str | None:
    return next((value for each, value in headers if each.lower() == name), None)


def _query(url: str) -> list[JsonValue]:
    return _objects(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def _cookies(headers: Headers, header: str) -> list[JsonValue]:
    """Parse the cookies of a Cookie or Set-Cookie header. Redacted values give none."""
    pairs: Headers = []
    for name, value in headers:
        if name.lower() == header:
            with contextlib.suppress(CookieError):
                pairs += [(cookie, morsel.value) for cookie, morsel in SimpleCookie(value).items()]
    return _objects(pairs)


def _zip(har: bytes, bodies: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("har.har", har)
        for name, body in bodies.items():
            file.writestr(name, body)
    return archive.getvalue()
