"""Calls the service as the command line's client."""

import contextlib
import getpass
import os
import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Final, Self, cast
from urllib.parse import quote
from uuid import uuid4

import httpx
from httpx_sse import EventSource, connect_sse
from pydantic import JsonValue

from client import instance
from client.credentials import DAY_S, mint
from shared import wire
from shared.errors import ErrorBody, Relayed, ServiceUnavailable
from shared.model import Json
from shared.replies import ForTerminal
from shared.secret import ensure_secret

_PATIENCE_S: Final = 60.0
_LOOK_FIRST: Final = "It may or may not have happened: look first (run snapshot), then decide whether to repeat it."


def account() -> str:
    """Return this account's name, spelled so that a client id may contain it."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", name)


def client_id(label: str = "") -> str:
    """Return the account's client id, the same at each call, so that it finds its pages again. A label makes another
    client."""
    if label:
        return f"http-{account()}-{wire.nearest_valid_id(label)}"
    return os.environ.get("BROWSE_CLIENT_ID") or f"cli-{account()}"


def token(data_dir: Path, label: str = "", *, operator: bool = False, lifetime_s: int = DAY_S) -> str:
    """Make a token for the account. Raises ServiceUnavailable if the service would not know its secret."""
    return mint(secret_of(data_dir), client_id(label), label or "CLI", operator=operator, lifetime_s=lifetime_s)


def secret_of(data_dir: Path) -> str:
    """Return the account's secret. Raises ServiceUnavailable rather than making one that the running service does not
    know."""
    path = data_dir / wire.SECRET_FILE
    if not path.exists() and instance.find(data_dir):
        raise ServiceUnavailable(
            f"The secret file {path} is gone; the service knows only the one that was in it.",
            hint="Restart the service, which makes a new one: browse-together down, then browse-together up --detach.",
        )
    return ensure_secret(data_dir)


class Client:
    """Calls the service of a data directory as this account. Raises ServiceUnavailable if none runs."""

    def __init__(self, data_dir: Path, *, operator: bool = False) -> None:
        running = instance.require(data_dir)
        self.url = running.url
        self._http = _http(running.url)
        self._http.headers["Authorization"] = f"Bearer {token(data_dir, operator=operator)}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def call(self, body: Json) -> Json:
        """Make a call, wait for it while it runs, and return its envelope with text for a terminal. Ctrl+C cancels the
        call."""
        call_id = f"cli-{uuid4().hex}"
        form = {wire.REPLY: ForTerminal(action=str(body["action"])).model_dump_json()}
        try:
            reply = self._post(wire.call_path(body.get("pageId")), body, {wire.CALL_ID: call_id, **form})
            while _still_runs(reply):
                reply = self._post(wire.BROWSER, {"action": "get_call", "callId": call_id}, form)
        except KeyboardInterrupt:
            self._post(f"{wire.CALLS}/{call_id}/cancel", {})
            raise
        return reply

    def pages(self) -> Json:
        return _envelope(self._http.get(wire.PAGES))

    def activity(self, filters: dict[str, str]) -> Json:
        return _envelope(self._http.get(wire.ACTIVITY, params=filters))

    def forget(self, client: str) -> Json:
        return _envelope(self._http.delete(wire.ACTIVITY, params={"client": client}))

    def revoke(self, body: Json) -> Json:
        return self._post(wire.REVOKE, body)

    def requests(self) -> Json:
        return _envelope(self._http.get(wire.REQUESTS))

    def resolve(self, request_id: str, resolution: Json) -> Json:
        return self._post(f"{wire.REQUESTS}/{quote(request_id, safe='')}/resolve", resolution)

    @contextlib.contextmanager
    def events(self, query: dict[str, str]) -> Iterator[Iterator[tuple[str, str]]]:
        """Yield the names and data of the service's events until it ends."""
        with connect_sse(self._http, "GET", wire.EVENTS, params=query) as source:
            if source.response.status_code != HTTPStatus.OK:
                source.response.read()
                raise Relayed(error_of(_envelope(source.response)))
            yield _events(source)

    def file(self, url: str) -> bytes:
        reply = self._http.get(url)
        if reply.status_code != HTTPStatus.OK:
            raise Relayed(error_of(_envelope(reply)))
        return reply.content

    def _post(self, path: str, body: Json, headers: dict[str, str] | None = None) -> Json:
        try:
            return _envelope(self._http.post(path, json=body, headers=headers))
        except httpx.TimeoutException:
            raise ServiceUnavailable(
                f"The service has not answered for {_PATIENCE_S:.0f} s.", hint=_LOOK_FIRST
            ) from None
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"The connection to the service broke: {error}", hint=_LOOK_FIRST) from None


def _http(url: str) -> httpx.Client:
    """Make an HTTP client for a service on this machine: without proxies of the environment, and with TLS, which is
    slow to set up, only for https."""
    transport = httpx.HTTPTransport(verify=url.startswith("https:"), trust_env=False)
    return httpx.Client(base_url=url, transport=transport, timeout=_PATIENCE_S, trust_env=False)


def _events(source: EventSource) -> Iterator[tuple[str, str]]:
    with contextlib.suppress(httpx.RemoteProtocolError, httpx.ReadError):
        for event in source.iter_sse():
            yield event.event, event.data


def error_of(reply: Json) -> ErrorBody:
    return ErrorBody.model_validate({"status": 0, **cast("Json", reply["error"])})


def result_of(reply: Json) -> Json:
    """Return a reply's result. Raises the error that it carries."""
    if not reply["success"]:
        raise Relayed(error_of(reply))
    return cast("Json", reply["result"])


def _envelope(reply: httpx.Response) -> Json:
    try:
        envelope: JsonValue = reply.json()
    except ValueError:
        envelope = None
    if not isinstance(envelope, dict) or "success" not in envelope:
        raise ServiceUnavailable(f"{reply.url} answered {reply.status_code}, with no reply of the service.")
    return envelope


def _still_runs(reply: Json) -> bool:
    result = reply.get("result")
    return isinstance(result, dict) and result.get("stillRunning") is True
