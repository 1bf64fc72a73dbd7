"""Calls the service as the command line's client."""

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
from httpx_sse import EventSource, connect_sse
from pydantic import JsonValue

from browser_service.cli import progress
from client import instance
from client.credentials import DAY_S, Credentials, mint
from client.proven import ProvenSyncTransport, Prover
from shared import wire
from shared.errors import ErrorBody, Relayed, ServiceUnavailable
from shared.model import Json
from shared.replies import ForTerminal
from shared.secret import ensure_secret

_TIMEOUT_S: Final = 60.0
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
    """Make a token for the account. Raises ServiceUnavailable rather than making a secret that the running service
    does not know."""
    path = data_dir / wire.SECRET_FILE
    if not path.exists() and instance.find(data_dir):
        raise ServiceUnavailable(
            f"The secret file {path} is gone; the service knows only the one that was in it.",
            hint="Restart the service, which makes a new one: browse-together down, then browse-together up --detach.",
        )
    secret = ensure_secret(data_dir)
    return mint(secret, client_id(label), label or "CLI", operator=operator, lifetime_s=lifetime_s)


def given(data_dir: Path) -> Credentials:
    """Return what a token proves that the environment gives, as it does to a gateway."""
    file = os.environ.get("BROWSE_TOKEN_FILE")
    token_file = Path(file) if file else None
    return Credentials(client_id(), data_dir, token=os.environ.get("BROWSE_TOKEN") or None, token_file=token_file)


class Client:
    """Calls the service of a data directory as this account, or with the token that was given, if it is not for the
    account's person. Raises ServiceUnavailable if none runs."""

    def __init__(self, data_dir: Path, *, operator: bool = False) -> None:
        self.url = instance.require(data_dir).url
        transport = ProvenSyncTransport(Prover(self.url, data_dir, given_token=False))
        limited = None if operator else given(data_dir)
        if limited is not None and limited.are_given:
            headers = limited.headers()
        else:
            headers = {"Authorization": f"Bearer {token(data_dir, operator=operator)}"}
        self._http = httpx.Client(
            base_url=self.url, headers=headers, transport=transport, timeout=_TIMEOUT_S, trust_env=False
        )

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
            with progress.waiting(f"{body['action']} …"):
                reply = self._post(wire.call_path(body.get("pageId")), body, {wire.CALL_ID: call_id, **form})
                while _still_runs(reply):
                    reply = self._post(wire.BROWSER, {"action": "get_call", "callId": call_id}, form)
        except KeyboardInterrupt:
            self._post(f"{wire.CALLS}/{call_id}/cancel", {})
            raise
        return reply

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Json:
        """Return the result of a GET. Raises Relayed for the service's error."""
        return _result(_envelope(self._http.get(path, params=query)))

    def delete(self, path: str, query: Mapping[str, str]) -> Json:
        """Return the result of a DELETE. Raises Relayed for the service's error."""
        return _result(_envelope(self._http.delete(path, params=query)))

    def post(self, path: str, body: Json) -> Json:
        """Return the result of a POST. Raises Relayed for the service's error."""
        return _result(self._post(path, body))

    def save(self, artifact_id: str, path: Path) -> int:
        """Write a file that a call made to a path, and return its size. A file that is there stays until the new one is
        complete. Raises Relayed for the service's error, ServiceUnavailable."""
        try:
            with (
                self._http.stream("GET", f"{wire.FILES}/{quote(artifact_id, safe='')}") as response,
                _complete(path, response) as file,
            ):
                return _copy(response, file, path.name)
        except httpx.HTTPError as error:
            raise ServiceUnavailable(
                f"The connection to the service broke: {error}", hint="Nothing was saved. Repeat it."
            ) from None

    @contextlib.contextmanager
    def events(self, query: Mapping[str, str]) -> Iterator[Iterator[tuple[str, str]]]:
        """Yield the names and data of the service's events until it ends."""
        with connect_sse(self._http, "GET", wire.EVENTS, params=dict(query)) as source:
            if source.response.status_code != HTTPStatus.OK:
                source.response.read()
                raise Relayed(error_of(_envelope(source.response)))
            yield _events(source)

    def _post(self, path: str, body: Json, headers: Mapping[str, str] | None = None) -> Json:
        try:
            return _envelope(self._http.post(path, json=body, headers=headers))
        except httpx.TimeoutException:
            raise ServiceUnavailable(
                f"The service has not answered for {_TIMEOUT_S:.0f} s.", hint=_LOOK_FIRST
            ) from None
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"The connection to the service broke: {error}", hint=_LOOK_FIRST) from None


@contextlib.contextmanager
def _complete(path: Path, response: httpx.Response) -> Iterator[BinaryIO]:
    """Open what is to be the file when the block is done. A pipe or a device is written as it comes."""
    if response.status_code != HTTPStatus.OK:
        response.read()
        raise Relayed(error_of(_envelope(response)))
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    path = path.resolve()  # what a link leads to, and not the link, is written
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _copy(response: httpx.Response, file: BinaryIO, name: str) -> int:
    """Copy a response's bytes, and return how many there are."""
    length, size = response.headers.get("content-length", ""), 0
    with progress.bar(name, int(length) if length.isdigit() else None) as advance:
        for chunk in response.iter_bytes():
            size += file.write(chunk)
            advance(len(chunk))
    return size


def _events(source: EventSource) -> Iterator[tuple[str, str]]:
    with contextlib.suppress(httpx.RemoteProtocolError, httpx.ReadError):
        for event in source.iter_sse():
            yield event.event, event.data


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
