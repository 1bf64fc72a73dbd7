"""Prints the service's replies: the text that the service makes of one, its file, or its error."""

from pathlib import Path
from urllib.parse import quote

import typer

from browser_service.cli import output
from browser_service.cli.client import Client, error_of
from shared import wire
from shared.model import Json
from shared.replies import TerminalReply


def deliver(reply: Json, client: Client, *, as_json: bool, out: Path | None) -> None:
    """Print text or JSON to stdout, all else to stderr. Ends with exit code 1 for an error."""
    succeeded, shown = reply["success"] is True, _pop_rendered(reply)
    if as_json:
        output.say_json(reply)
    elif not succeeded:
        output.print_error(error_of(reply))
    if succeeded and out:
        _save(out, shown, client)
    elif succeeded and not as_json:
        output.say(shown.text)
    if not as_json:
        for line in shown.around:
            output.say(line, to_stderr=True)
    if not succeeded:
        raise typer.Exit(1)


def _pop_rendered(reply: Json) -> TerminalReply:
    """Remove the service's terminal text from the reply, and return it. An older service makes none; then the result is
    the text."""
    made = reply.pop("rendered", None)
    if made is None:
        return TerminalReply(text=output.as_json(reply.get("result")))
    return TerminalReply.model_validate(made)


def _save(path: Path, shown: TerminalReply, client: Client) -> None:
    data = shown.text.encode()
    if shown.artifact_id is not None:
        data = client.file(f"{wire.FILES}/{quote(shown.artifact_id, safe='')}")
    path.write_bytes(data)
    output.say(f"{path}: {len(data)} bytes", to_stderr=True)
