"""Calls the service as the command line's client."""

import asyncio
import contextlib
import getpass
import os
import re
import time
from collections.abc import Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar
from uuid import uuid4

import httpx
from httpx_sse import EventSource, aconnect_sse

from browse_together.client import files, instance, unavailable
from browse_together.client.autostart import Autostart, KeptDown
from browse_together.client.credentials import DAY_S, Credentials, mint
from browse_together.client.http import ServiceClient
from browse_together.client.reply import Failure, Reply
from browse_together.contract import wire
from browse_together.contract.errors import ErrorBody, ServiceUnavailable
from browse_together.contract.model import Json
from browse_together.contract.replies import ForTerminal
from browse_together.contract.secret import ensure_secret
from browse_together.contract.written import fingerprint
from browser_service.cli import flags, output

T = TypeVar("T")


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


def token(data_dir: Path, label: str = "", *, lifetime_s: int = DAY_S) -> str:
    """Make a token for the account. Raises ServiceUnavailable if there is no secret, as `_check_secret` does."""
    _check_secret(data_dir)
    return mint(ensure_secret(data_dir), client_id(label), label or "CLI", lifetime_s=lifetime_s)


def _check_secret(data_dir: Path) -> None:
    """Raise ServiceUnavailable if a running service's secret is gone: a new one would be unknown to it."""
    path = data_dir / wire.SECRET_FILE
    if not path.exists() and instance.find(data_dir):
        raise ServiceUnavailable(
            f"The secret file {path} is gone; the service knows only the one that was in it.",
            hint=f"Restart the service, which makes a new one: {flags.restart(data_dir)}.",
        )


def given(data_dir: Path) -> Credentials:
    """Return the credentials given by the environment, in the same way as for a gateway."""
    file = os.environ.get("BROWSE_TOKEN_FILE")
    token = os.environ.get("BROWSE_TOKEN") or None
    return Credentials(client_id(), data_dir, "CLI", token, Path(file) if file else None, "This command")


class Client:
    """A client of a data directory's service: this account's person (`operator`), the token in the environment, or this
    account. Raises ServiceUnavailable if no service runs, or does not answer; Relayed for the service's error.

    With `starts`, it starts the service where a new chat would."""

    def __init__(self, data_dir: Path, *, operator: bool = False, starts: bool = False) -> None:
        running = instance.find(data_dir)
        kept_down = KeptDown.for_client(data_dir, time.time())
        if running is None and starts and kept_down is None:
            from browser_service.cli.starting import start  # noqa: PLC0415 - only a service that does not run needs it

            running, _ = start(data_dir, {})
            output.say("The service was not running, and is now.", to_stderr=True)
        if running is None:
            why = f" {kept_down.words}" if kept_down is not None else ""
            raise ServiceUnavailable(
                f"The service is not running (data directory {data_dir}).{why}",
                hint=f"Start it: {flags.command('up --detach', data_dir)}",
            )
        url = running.url
        person = Credentials(client_id(), data_dir, "CLI", caller="This command", operator=True)
        credentials = person if operator else given(data_dir)
        if not credentials.are_given:
            _check_secret(data_dir)
        # A service is asked for its proof even before a given token is sent: its secret is at hand here.
        self._service = ServiceClient(
            url, credentials, Autostart(url, data_dir, enabled=False), fingerprint(), is_proven=True
        )
        self._service.retry_for_s = 0
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._runner:
            self._run(self._service.close(1))

    def call(self, body: Json, call_id: str = "") -> Json:
        """Make a call, wait for its end, and return its envelope with text for a terminal. Ctrl+C cancels the call."""
        call_id, form = call_id or f"cli-{uuid4().hex}", ForTerminal(action=str(body["action"]))
        told: list[Json] = []  # by replies that the call still runs
        try:
            with output.waiting(f"{body['action']} …"):
                reply = self._run(self._service.call(call_id, body, form))
                while reply.result.get("stillRunning") is True and body["action"] != "get_call":
                    told += reply.notices
                    again: Json = {"action": "get_call", "callId": call_id}
                    reply = self._run(self._service.call(uuid4().hex, again, form))
        except KeyboardInterrupt:
            self.post(f"{wire.CALLS}/{call_id}/cancel", {})
            raise
        whole = reply.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if told:
            whole["notices"] = [*told, *reply.notices]
            around = whole.setdefault("rendered", {}).setdefault("around", [])
            around[:0] = [f"Notice: {' '.join(str(each['text']).split())}" for each in told]
        return whole

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Json:
        return self._result("GET", path, query)

    def delete(self, path: str, query: Mapping[str, str]) -> Json:
        return self._result("DELETE", path, query)

    def post(self, path: str, body: Json) -> Json:
        return self._result("POST", path, body=body)

    def save(self, artifact_id: str, path: Path) -> int:
        """Write a call's file to a path, and return its size. An existing file stays until the new one is complete."""
        with _complete(path) as part:
            return self._run(files.save(self._service, artifact_id, part, lambda size: output.bar(path.name, size)))

    @contextlib.contextmanager
    def events(self, query: Mapping[str, str]) -> Iterator[Iterator[tuple[str, str]]]:
        """Yield the names and data of the service's events until it ends."""
        headers = self._service.credentials.headers()
        stream = aconnect_sse(self._service.http, "GET", wire.EVENTS, params=dict(query), headers=headers)
        source = self._run(stream.__aenter__())
        try:
            if not source.response.is_success:
                self._run(source.response.aread())
                raise files.error_in(self._service, source.response)
            yield self._events(source)
        finally:
            self._run(stream.__aexit__(None, None, None))

    def _events(self, source: EventSource) -> Iterator[tuple[str, str]]:
        events = source.aiter_sse()
        with contextlib.suppress(httpx.RemoteProtocolError, httpx.ReadError, StopAsyncIteration):
            while True:
                event = self._runner.run(anext(events))
                yield event.event, event.data

    def _result(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Json | None = None) -> Json:
        reply: Reply = self._run(self._service.request(method, path, params=query, json=body))
        if reply.error:
            raise reply.error.relayed()
        return reply.result

    def _run(self, work: Coroutine[Any, Any, T]) -> T:  # Any: what nobody sends it
        try:
            return self._runner.run(work)
        except httpx.HTTPError as error:
            raise unavailable.not_running(self._service.url, str(error) or type(error).__name__) from None


@contextlib.contextmanager
def _complete(path: Path) -> Iterator[Path]:
    """Yield where to write a file that replaces the path at the end of the block. A pipe or a device is written
    directly."""
    if path.exists() and not path.is_file():
        yield path
        return
    path = path.resolve()  # write the target of a link, not the link
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def error_of(reply: Json) -> ErrorBody:
    return Failure.model_validate(reply["error"]).relayed(0).body()
