"""Runs a small real web server for tests: pages are set inline, requests are counted, answers are scripted."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

_HELD_S: Final = 60


@dataclass
class Answer:
    body: str | bytes = ""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None
    """The answer waits for this event, for a minute at most."""
    pause: threading.Event | None = None
    """The last byte of the answer waits for this event, for a minute at most."""


@dataclass
class Received:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


Route = str | Answer | Callable[[Received], Answer]


class Site:
    """`site.page("/form", "<button>Go</button>")`, then `site.url("/form")`; `site.counts` tells the visits."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.routes: dict[str, Route] = {}
        self.counts: Counter[str] = Counter()
        self.received: list[Received] = []
        self._server = ThreadingHTTPServer((host, 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """Return the URL of a path. Under the host `localhost` the same site is another origin."""
        return f"http://{host}:{self.port}{path}"

    def page(self, path: str, route: Route) -> str:
        self.routes[path] = route
        return self.url(path)

    def reset(self) -> None:
        self.routes.clear()
        self.counts.clear()
        self.received.clear()

    def _answer(self, received: Received) -> Answer:
        path = urlsplit(received.path).path
        self.counts[path] += 1
        self.received.append(received)
        route = self.routes.get(path, Answer("not here", 404))
        if isinstance(route, str):
            return Answer(f"<!doctype html><meta charset=utf-8><title>{path}</title>{route}")
        return route(received) if callable(route) else route

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                return

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                answer = site._answer(Received(self.command, self.path, dict(self.headers), body))
                if answer.hold is not None:
                    answer.hold.wait(_HELD_S)
                data = answer.body.encode() if isinstance(answer.body, str) else answer.body
                try:
                    self.send_response(answer.status)
                    length = {"content-length": str(len(data))}
                    headers = {"content-type": answer.content_type, **length, **answer.headers}
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(data[:-1])
                        if answer.pause is not None:
                            answer.pause.wait(_HELD_S)
                        self.wfile.write(data[-1:])
                    self.close_connection = self.close_connection or headers["content-length"] != str(len(data))
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = do_PATCH = _serve

        return Handler
