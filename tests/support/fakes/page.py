"""Provides pages, contexts and the browser itself, with the part of Playwright's interface that the host uses.

It is longer than 300 lines because it is one object, with all that callers ask of a page.
"""

import asyncio
import base64
import io
import json
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urljoin, urlsplit

import httpx
from PIL import Image
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from browser_service.host.scripts import script
from tests.support.fakes import scripts
from tests.support.fakes.document import Document, Element, read
from tests.support.fakes.events import Emitter
from tests.support.fakes.network import Cookie, CookieJar, FakeRequest, FakeResponse, FakeRoute

BLANK = "about:blank"
_EVALUATED = script("evaluated")
_CLOSED = "Target page, context or browser has been closed"
_MOST_REDIRECTS = 20
T = TypeVar("T")
_USUAL = {"path": "/", "expires": -1, "httpOnly": False, "secure": False, "sameSite": "Lax"}


class FakeFrame:
    parent_frame = None
    url = BLANK

    def __init__(self, page: "FakePage") -> None:
        self.page = page

    async def evaluate(self, _: str, __: object) -> bool:
        return False  # no page here has fields for secrets


class FakeDialog:
    default_value = ""

    def __init__(self, page: "FakePage", kind: str, message: str) -> None:
        self.page = page
        self.type = kind
        self.message = message
        self.answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def accept(self, _: str = "") -> None:
        self._answered(accepted=True)

    async def dismiss(self) -> None:
        self._answered(accepted=False)

    def _answered(self, *, accepted: bool) -> None:
        if not self.answer.done():
            self.answer.set_result(accepted)
            self.page.context.emit("dialogclosed", self)


class FakeAnswer:
    """The answer to a request, whose body is read in pieces."""

    def __init__(self, answer: dict[str, Any]) -> None:  # Any: as `fetch` gives it
        self.body = str(answer.pop("body", ""))
        self.facts = {**answer, "size": len(self.body)}

    async def evaluate(self, _: str, part: list[int] | None = None) -> str:
        return scripts.packed(self.facts if part is None else self.body[slice(*part)])

    async def dispose(self) -> None: ...


class FakePage(Emitter):
    """One window: where it is, what it shows, and where it was before."""

    viewport_size = None

    def __init__(self, context: "FakeContext", opener: "FakePage | None" = None) -> None:
        super().__init__()
        self.context = context
        self.page = self
        self.main_frame = FakeFrame(self)
        self.frames = [self.main_frame]
        self.document = Document()
        self.url = BLANK
        self._opener = opener
        self._closed = False
        self._history: list[str] = []
        self._ahead: list[str] = []
        self._handlers: list[Callable[[FakeRoute], Awaitable[None]]] = []
        self._requests: list[FakeRequest] = []
        self._alive: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def is_closed(self) -> bool:
        return self._closed

    async def opener(self) -> "FakePage | None":
        return self._opener

    async def close(self, *, run_before_unload: bool = False) -> None:  # noqa: ARG002 - none of its pages asks
        if not self._closed:
            self._closed = True
            self._alive.cancel()
            self.context.pages.remove(self)
            self.emit("close", self)

    async def screenshot(self, **_: object) -> bytes:
        picture = io.BytesIO()
        Image.new("RGB", (1, 1)).save(picture, "JPEG")
        return picture.getvalue()

    async def wait_for_load_state(self, _: str, **__: float) -> None:
        """Do nothing, because each document comes whole."""

    async def bring_to_front(self) -> None:
        """Do nothing, because the page has a window of its own."""

    async def title(self) -> str:
        return self.document.title or urlsplit(self.url).path

    async def requests(self) -> list[FakeRequest]:
        return [*self._requests]

    async def console_messages(self, **_: str) -> list[Any]:  # Any: no page here writes any
        return []

    page_errors = console_messages

    async def route(self, _: str, handler: Callable[[FakeRoute], Awaitable[None]]) -> None:
        self._handlers.append(handler)

    async def set_extra_http_headers(self, headers: dict[str, str]) -> None:
        self.context.headers = headers

    # --- going somewhere -----------------------------------------------------------------------------------------

    async def goto(self, url: str, *, timeout: float = 30_000, **_: object) -> FakeResponse | None:  # noqa: ASYNC109 - as Playwright has it
        return await self._within(timeout, self.go(url))

    async def reload(self, *, timeout: float = 30_000, **_: object) -> FakeResponse | None:  # noqa: ASYNC109 - as Playwright has it
        return await self._within(timeout, self.go(self.url, keep=False))

    async def go_back(self, *, timeout: float = 30_000, **_: object) -> FakeResponse | None:  # noqa: ASYNC109 - as Playwright has it
        return await self._stepped(self._history, self._ahead, timeout)

    async def go_forward(self, *, timeout: float = 30_000, **_: object) -> FakeResponse | None:  # noqa: ASYNC109 - as Playwright has it
        return await self._stepped(self._ahead, self._history, timeout)

    async def _stepped(self, there: list[str], back: list[str], timeout_ms: float) -> FakeResponse | None:
        if not there:
            return None
        back.append(self.url)
        return await self._within(timeout_ms, self.go(there.pop(), keep=False))

    async def _within(self, timeout_ms: float, going: Awaitable[FakeResponse | None]) -> FakeResponse | None:
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                return await going
        except TimeoutError:
            raise PlaywrightTimeoutError(f"Page.goto: Timeout {timeout_ms:.0f}ms exceeded.") from None

    async def go(self, url: str, method: str = "GET", body: str = "", *, keep: bool = True) -> FakeResponse | None:
        """Ask for a document and show it. Raises Playwright's errors."""
        if not url.startswith(("http:", "https:")):
            self._show(url, _inline(url), keep=keep)
            return None
        response = await self.ask_for(url, "document", method, body.encode() if method == "POST" else None)
        self._show(response.url, response.text, keep=keep)
        self.emit("requestfinished", response.request)
        return response

    def _show(self, url: str, source: str, *, keep: bool) -> None:
        if keep and self.url != BLANK:
            self._history.append(self.url)
            self._ahead.clear()
        self.url = self.main_frame.url = url
        self.document = read(source)
        self.emit("framenavigated", self.main_frame)
        self.emit("domcontentloaded", self)

    async def ask_for(self, url: str, kind: str, method: str, body: bytes | None) -> FakeResponse:
        """Send a request, and those that its redirects lead to."""
        for _ in range(_MOST_REDIRECTS):
            response = await self._answered(FakeRequest(url, method, kind, self.main_frame, body))
            location = response.headers.get("location")
            if location is None or not 300 <= response.status < 400:
                return response
            url, method, body = urljoin(url, location), "GET", None
        raise PlaywrightError(f"Page.goto: net::ERR_TOO_MANY_REDIRECTS at {url}")

    async def _answered(self, request: FakeRequest) -> FakeResponse:
        self._requests.append(request)
        self.emit("request", request)
        try:
            await self._check(request)
            response = await self._while_open(self.context.send(request))
        except BaseException as error:
            request.failure = request.failure or _failure(error)
            self.emit("requestfailed", request)
            if isinstance(error, httpx.TransportError):
                raise PlaywrightError(f"Page.goto: {request.failure} at {request.url}") from error
            raise
        request.existing_response = response
        self.emit("response", response)
        return response

    async def _check(self, request: FakeRequest) -> None:
        for handler in self._handlers:
            route = FakeRoute(request)
            await handler(route)
            if route.refused:
                request.failure = "net::ERR_BLOCKED_BY_CLIENT"
                raise PlaywrightError(f"Page.goto: {request.failure} at {request.url}")

    async def _while_open(self, work: Coroutine[object, object, T]) -> T:
        """Run something in the page, which ends when the page closes."""
        task = asyncio.create_task(work)
        try:
            either: set[asyncio.Future[T] | asyncio.Future[None]] = {task, self._alive}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise PlaywrightError(_CLOSED)
            return task.result()
        finally:
            task.cancel()

    @property
    def cookie(self) -> str:
        return self.context.jar.header(self.url).get("Cookie", "")

    async def aria_snapshot(self, **_: object) -> str:
        raise PlaywrightError("A page without a browser has no tree.")

    # --- what it shows -------------------------------------------------------------------------------------------

    async def evaluate(self, text: str, arg: object = None) -> Any:  # Any: whatever a script gives
        if self._closed:
            raise PlaywrightError(_CLOSED)
        if text == _EVALUATED and isinstance(arg, str):
            given = json.loads(arg) if arg.startswith(" ") else {"expression": arg}
            return scripts.packed(await self.evaluate(given["expression"], given.get("argument")))
        return await self._while_open(scripts.evaluate(self, text, arg))

    async def evaluate_handle(self, _: str, arg: dict[str, Any]) -> "FakeAnswer":  # Any: as for `fetch`
        return FakeAnswer(await self._fetched(str(arg["url"]), dict(arg["init"])))

    async def _fetched(self, url: str, init: dict[str, Any]) -> dict[str, Any]:  # Any: as `fetch` takes and gives it
        try:
            found = await self.ask_for(url, "fetch", str(init.get("method", "GET")), None)
        except PlaywrightError as error:
            return {"error": str(error), "timedOut": False}
        self.emit("requestfinished", found.request)
        facts = {"status": found.status, "statusText": "", "url": found.url, "type": "basic", "redirected": False}
        return {**facts, "headers": {**found.headers}, "timedOut": False, "body": found.text}

    async def fetch(self, url: str, method: str, body: str | None) -> int:
        """Send a request as a script of the page does; its status."""
        found = await self.ask_for(urljoin(self.url, url), "fetch", method, body.encode() if body else None)
        self.emit("requestfinished", found.request)
        return found.status

    async def ask(self, kind: str, message: str) -> bool:
        """Show a dialog until it is answered."""
        dialog = FakeDialog(self, kind, message)
        if not self.context.emit("dialog", dialog):
            await dialog.dismiss()
        return bool(await dialog.answer)

    async def find(self, selector: str, timeout_ms: float) -> Element:
        """Wait for an element. Raises TimeoutError."""
        async with asyncio.timeout(timeout_ms / 1000):
            while (found := self.document.find(selector)) is None:
                await self._while_open(asyncio.sleep(0.02))  # the document has no events
        return found

    async def click(self, element: Element) -> None:
        """Do what a click on it does: run its script, follow its link, or send its form."""
        if script := element.attributes.get("onclick"):
            await self.evaluate(script)
        if href := element.attributes.get("href"):
            window = FakePage(self.context, self) if element.attributes.get("target") == "_blank" else self
            if window is not self:
                self.context.add(window)
            await window.go(urljoin(self.url, href))
        elif element.form is not None and element.submits:
            await self._submit(element.form)

    async def _submit(self, form: Element) -> None:
        method, action = form.attributes.get("method", "get").upper(), form.attributes.get("action", self.url)
        url = urljoin(self.url, action)
        await self.go(url if method == "POST" else f"{url}?{form.sent()}", method, form.sent())


class FakeContext(Emitter):
    """Pages with the cookies that they share."""

    def __init__(self, browser: "FakeBrowser", cookies: list[Cookie]) -> None:
        super().__init__()
        self.browser = browser
        self.pages: list[FakePage] = []
        self.jar = CookieJar(cookies)
        self.headers: dict[str, str] = {}

    async def new_page(self) -> FakePage:
        page = FakePage(self)
        self.add(page)
        return page

    def add(self, page: FakePage) -> None:
        self.pages.append(page)
        self.emit("page", page)

    async def send(self, request: FakeRequest) -> FakeResponse:
        """Send one request, as it is, over HTTP."""
        headers = {**self.headers, **self.jar.header(request.url)}
        answer = await self.browser.http(request.url).request(
            request.method, _by_address(request.url), content=request.post_data_buffer,
            headers={"host": urlsplit(request.url).netloc, **headers},
        )  # fmt: skip
        self.jar.take(request.url, answer.headers)
        return FakeResponse(request, answer.status_code, dict(answer.headers), answer.text)

    async def cookies(self, urls: Iterable[str] | None = None) -> list[Cookie]:
        if urls is None:
            return [*self.jar.cookies]
        return [cookie for url in urls for cookie in self.jar.for_url(url)]

    async def add_cookies(self, cookies: Iterable[Any]) -> None:  # Any: as Playwright takes them
        for cookie in cookies:
            host = urlsplit(cookie["url"]).hostname if "url" in cookie else cookie["domain"]
            self.jar.add(cast("Cookie", {**_USUAL, **cookie, "domain": host}))

    async def clear_cookies(
        self, *, name: str | None = None, domain: re.Pattern[str] | None = None, path: str | None = None
    ) -> None:
        self.jar.remove(name, domain, path)

    async def grant_permissions(self, names: Iterable[str], *, origin: str) -> None:
        """Grant nothing: these pages ask for nothing."""

    async def clear_permissions(self) -> None:
        """Take nothing back."""

    async def storage_state(self, **_: object) -> dict[str, Any]:  # Any: as Playwright gives it
        return {"cookies": await self.cookies(), "origins": []}

    async def set_storage_state(self, state: dict[str, Any]) -> None:  # Any: as Playwright gives it
        self.jar = CookieJar(state.get("cookies", []))

    async def set_extra_http_headers(self, headers: dict[str, str]) -> None:
        self.headers = headers

    async def close(self) -> None:
        for page in [*self.pages]:
            await page.close()


class _Engine:
    name = "fake"


class FakeBrowser:
    """A browser that has no process and sends real requests."""

    browser_type = _Engine()

    def __init__(self, proxy: str | None = None) -> None:
        self._direct = httpx.AsyncClient(trust_env=False, timeout=None)  # noqa: S113 - whoever waits has a deadline
        self._proxied = httpx.AsyncClient(trust_env=False, timeout=None, proxy=proxy) if proxy else self._direct  # noqa: S113 - as above
        self._contexts: list[FakeContext] = []
        self._runs = True
        self._on_end = list[Callable[["FakeBrowser"], object]]()

    def on(self, _: str, handler: Callable[["FakeBrowser"], object]) -> None:
        self._on_end.append(handler)

    def is_connected(self) -> bool:
        return self._runs

    def http(self, url: str) -> httpx.AsyncClient:
        """Return the HTTP client for a URL. Like browsers, it uses no proxy for this machine."""
        return self._direct if _is_local(url) else self._proxied

    async def new_context(
        self,
        *,
        storage_state: dict[str, Any] | None = None,  # Any: as Playwright gives it
        **_: object,
    ) -> FakeContext:
        context = FakeContext(self, (storage_state or {}).get("cookies", []))
        self._contexts.append(context)
        return context

    async def close(self) -> None:
        self._runs = False
        for handler in self._on_end:
            handler(self)
        for context in self._contexts:
            await context.close()
        await self._direct.aclose()
        await self._proxied.aclose()


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in {"127.0.0.1", "localhost"} or host.endswith(".localhost")


def _by_address(url: str) -> str:
    """Replace a name below localhost by this machine's address."""
    host = urlsplit(url).hostname or ""
    return url.replace(host, "127.0.0.1", 1) if host.endswith("localhost") else url


def _inline(url: str) -> str:
    """Return the document that a data: URL holds."""
    head, _, data = url.partition(",")
    if not head.startswith("data:"):
        return ""
    return base64.b64decode(data).decode() if head.endswith(";base64") else unquote(data)


def _failure(error: BaseException) -> str:
    return "net::ERR_CONNECTION_REFUSED" if isinstance(error, httpx.ConnectError) else "net::ERR_ABORTED"
