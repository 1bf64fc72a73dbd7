"""The service's replies on the command line: the text that an action is about, its file, its error."""

from pathlib import Path
from typing import cast

import typer

from browser_service.cli import output
from browser_service.cli.client import Client, error_of
from shared.actions.base import Action
from shared.calls import Artifact
from shared.model import Json
from shared.wire import DEFAULT_SESSION


def deliver(reply: Json, action: type[Action], client: Client, *, as_json: bool, out: Path | None) -> None:
    """Text or JSON to stdout, all else to stderr; exit code 1 for an error."""
    succeeded = reply["success"] is True
    if as_json:
        output.say_json(reply)
    elif not succeeded:
        output.tell(error_of(reply))
    if succeeded and out:
        _save(out, reply, action, client)
    elif succeeded and not as_json:
        output.say(text_of(reply, action))
    if not as_json:
        _say_around(reply)
    if not succeeded:
        raise typer.Exit(1)


def text_of(reply: Json, action: type[Action]) -> str:
    """What the action is about as text, else all of the result as JSON; a file by its name and size."""
    result = dict(cast("Json", reply["result"]))
    artifact = _artifact(result)
    result.pop("artifact", None)
    value = result.get(action.shown, result)
    lines = [value if isinstance(value, str) else output.as_json(value)] if result else []
    if action.shown and (way_back := result.get("undo")):
        lines.append(str(way_back))
    if artifact:
        place = artifact.path or "--out FILE saves it"
        lines.append(f"{artifact.artifact_id}: {artifact.mime_type}, {artifact.size} bytes; {place}")
    return "\n".join(lines)


def _artifact(result: Json) -> Artifact | None:
    found = result.get("artifact")
    return Artifact.model_validate(found) if isinstance(found, dict) else None


def _save(path: Path, reply: Json, action: type[Action], client: Client) -> None:
    artifact = _artifact(cast("Json", reply["result"]))
    data = client.file(artifact.url) if artifact else text_of(reply, action).encode()
    path.write_bytes(data)
    output.say(f"{path}: {len(data)} bytes", to_stderr=True)


def _say_around(reply: Json) -> None:
    """The page as it is now, and what happened to others meanwhile."""
    if isinstance(page := reply.get("page"), dict):
        session = f"session {page['sessionId']}" if page["sessionId"] != DEFAULT_SESSION else ""
        parts = (f"page {page['pageId']}", session, page["title"], page["url"], f"revision {page['revision']}")
        output.say(f"[{' · '.join(str(part) for part in parts if part)}]", to_stderr=True)
    for notice in cast("list[Json]", reply.get("notices") or []):
        output.say(f"Notice: {notice['text']}", to_stderr=True)
