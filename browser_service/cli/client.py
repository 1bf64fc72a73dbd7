"""Calls the service as the command line's client."""

import asyncio
import contextlib
import getpass
import os
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Final, Self, cast
from urllib.parse import quote
from uuid import uuid4

import httpx
from httpx_sse import EventSource, aconnect_sse
from pydantic import JsonValue

from browser_service.cli import output
from client import instance
from client.credentials import DAY_S, Credentials, mint
from client.proven import ProvenTransport, Prover
from shared import wire
from shared.errors import ErrorBody, Relayed, ServiceUnavailable
from shared.model import Json
from shared.replies import ForTerminal
from shared.secret import ensure_secret

_TIMEOUT_S: Final = 60.0
_LOOK_FIRST: Final = "It may or may not have happened: look first (run snapshot), then decide whether to repeat it."


def account() -> str:
    """Return this account's name in characters that a client id may contain."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", name)


def client_id(label: str = "") -> str:
    """Return the account's client id. It is always the same, so that the account finds its pages again; a label makes
    another client."""
    if label:
        return f"http-{account()}-{wire.nearest_valid_id(label)}"
    return os.environ.get("BROWSE_CLIENT_ID") or f"cli-{account()}"


def token(data_dir: Path, label: str = "", *, operator: bool = False, lifetime_s: int = DAY_S) -> str:
    """Make a token for the account. Raises ServiceUnavailable if there is no secret: a new one would be unknown to the
    running service."""
    path = data_dir / wire.SECRET_FILE
    if not path.exists() and instance.find(data_dir):
        raise ServiceUnavailable(
            f"The secret file {path} is gone; the service knows only the one that was in it.",
            hint="Restart the service, which makes a new one: browse-together down, then browse-together up --detach.",
        )
    secret = ensure_secret(data_dir)
    return mint(secret, client_id(label), label or "CLI", operator=operator, lifetime_s=lifetime_s)


def given(data_dir: Path) -> Credentials:
    """Return the credentials given by the environment, in the same way as for a gateway."""
    file = os.environ.get("BROWSE_TOKEN_FILE")
    token_file = Path(file) if file else None
    return Credentials(client_id(), data_dir, token=os.environ.get("BROWSE_TOKEN") or None, token_file=token_file)


class Client:
    """A client of a data directory's service: this account's person (`operator`), the token in the environment, or this
    account. Raises ServiceUnavailable if no service runs."""

    def __init__(self, data_dir: Path, *, operator: bool = False) -> None:
        self.url = instance.require(data_dir).url
        limited = None if operator else given(data_dir)
        if limited is not None and limited.are_given:
            headers = limited.headers()
        else:
            headers = {"Authorization": f"Bearer {token(data_dir, operator=operator)}"}
        self._runner = asyncio.Runner()
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers=headers,
            transport=ProvenTransport(Prover(self.url, data_dir, given_token=False)),
            timeout=_TIMEOUT_S,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._runner as runner:
            runner.run(self._http.aclose())

    def call(self, body: Json, call_id: str = "") -> Json:
        """Make a call, wait for its end, and return its envelope with text for a terminal. Ctrl+C cancels the call."""
        call_id = call_id or f"cli-{uuid4().hex}"
        form = {wire.REPLY: ForTerminal(action=str(body["action"])).model_dump_json()}
        try:
            with output.waiting(f"{body['action']} …"):
                reply = self._post(wire.call_path(body.get("pageId")), body, {wire.CALL_ID: call_id, **form})
                while _still_runs(reply):
                    reply = self._post(wire.BROWSER, {"action": "get_call", "callId": call_id}, form)
        except KeyboardInterrupt:
            self._post(f"{wire.CALLS}/{call_id}/cancel", {})
            raise
        return reply

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Json:
        """Return the result of a GET. Raises Relayed for the service's error."""
        return _result(_envelope(self._runner.run(self._http.get(path, params=query))))

    def delete(self, path: str, query: Mapping[str, str]) -> Json:
        """Return the result of a DELETE. Raises Relayed for the service's error."""
        return _result(_envelope(self._runner.run(self._http.delete(path, params=query))))

    def post(self, path: str, body: Json) -> Json:
        """Return the result of a POST. Raises Relayed for the service's error."""
        return _result(self._post(path, body))

    def save(self, artifact_id: str, path: Path) -> int:
        """Write a call's file to a path, and return its size. An existing file stays until the new one is complete.
        Raises Relayed for the service's error, ServiceUnavailable."""
        try:
            return self._runner.run(self._save(f"{wire.FILES}/{quote(artifact_id, safe='')}", path))
        except httpx.HTTPError as error:
            raise ServiceUnavailable(
                f"The connection to the service broke: {error}", hint="Nothing was saved. Repeat it."
            ) from None

    async def _save(self, url: str, path: Path) -> int:
        async with self._http.stream("GET", url) as response:
            await _check(response)
            length, size = response.headers.get("content-length", ""), 0
            with _complete(path) as file, output.bar(path.name, int(length) if length.isdigit() else None) as advance:
                async for chunk in response.aiter_bytes():
                    size += file.write(chunk)
                    advance(len(chunk))
        return size

    @contextlib.contextmanager
    def events(self, query: Mapping[str, str]) -> Iterator[Iterator[tuple[str, str]]]:
        """Yield the names and data of the service's events until it ends."""
        stream = aconnect_sse(self._http, "GET", wire.EVENTS, params=dict(query))
        source = self._runner.run(stream.__aenter__())
        try:
            self._runner.run(_check(source.response))
            yield self._events(source)
        finally:
            self._runner.run(stream.__aexit__(None, None, None))

    def _events(self, source: EventSource) -> Iterator[tuple[str, str]]:
        events = source.aiter_sse()
        with contextlib.suppress(httpx.RemoteProtocolError, httpx.ReadError, StopAsyncIteration):
            while True:
                event = self._runner.run(anext(events))
                yield event.event, event.data

    def _post(self, path: str, body: Json, headers: Mapping[str, str] | None = None) -> Json:
        try:
            return _envelope(self._runner.run(self._http.post(path, json=body, headers=headers)))
        except httpx.TimeoutException:
            raise ServiceUnavailable(
                f"The service has not answered for {_TIMEOUT_S:.0f} s.", hint=_LOOK_FIRST
            ) from None
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"The connection to the service broke: {error}", hint=_LOOK_FIRST) from None


async def _check(response: httpx.Response) -> None:
    """Raise Relayed for the service's error."""
    if response.status_code != HTTPStatus.OK:
        await response.aread()
        raise Relayed(error_of(_envelope(response)))


@contextlib.contextmanager
def _complete(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces the path at the end of the block. A pipe or a device is written directly."""
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    path = path.resolve()  # write the target of a link, not the link
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def error_of(reply: Json) -> ErrorBody:
    return ErrorBody.model_validate({"status": 0, **cast("Json", reply["error"])})  # the service's reply


def _result(reply: Json) -> Json:
    if not reply["success"]:
        raise Relayed(error_of(reply))
    return cast("Json", reply["result"])  # the service's reply


def _envelope(response: httpx.Response) -> Json:
    try:
        envelope: JsonValue = response.json()
    except ValueError:
        envelope = None
    if not isinstance(envelope, dict) or "success" not in envelope:
        raise ServiceUnavailable(f"{response.url} answered {response.status_code}, with no reply of the service.")
    return envelope


def _still_runs(reply: Json) -> bool:
    result = reply.get("result")
    return isinstance(result, dict) and result.get("stillRunning") is True
