"""Attaches to the browser in which the account's owner lives, and lets it go: `attach` and `detach`."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Final, cast

import typer

from browse_together.contract import wire
from browse_together.contract.attached import BROWSER_NAMES, AttachmentState
from browse_together.contract.errors import Relayed
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call, plain
from browse_together.contract.wire import ATTACHED_SESSION
from browser_service.cli import flags, output
from browser_service.cli.client import Client
from browser_service.cli.options import new_app

_WAITS_S: Final = 60.0
_LOOKS_EVERY_S: Final = 0.5
_APPS: Final = {
    "chrome": "Google Chrome",
    "chrome-beta": "Google Chrome Beta",
    "msedge": "Microsoft Edge",
    "brave": "Brave Browser",
    "chromium": "Chromium",
}
"""The browsers as macOS calls them. Only there another program can open the page with the switch."""

app = new_app()


@app.command()
def attach(
    browser: Annotated[
        str,
        typer.Argument(
            metavar="[BROWSER]", help=f"{', '.join(BROWSER_NAMES)}; the one from before without.", show_default=False
        ),
    ] = "",
    *,
    profile_dir: Annotated[
        Path | None, typer.Option("--profile-dir", metavar="DIR", help="Its user data directory, if not the usual one.")
    ] = None,
    called: Annotated[
        str, typer.Option("--as", metavar="NAME", help="What its session is called, so that several are attached to.")
    ] = ATTACHED_SESSION,
    default: Annotated[bool, typer.Option("--default", help="Let calls that name no session work in it, too.")] = False,
    data_dir: flags.DataDir = None,
    as_json: flags.AsJson = False,
) -> None:
    """Let agents work in your own running browser. It asks you first, and your tabs stay yours until you share one.

    It is the session `chrome`, or NAME, beside the shared login. After a restart it is attached to when an agent needs
    it.
    """
    body: Json = {"browser": browser, "default": default, "sessionId": called}
    if profile_dir is not None:
        body["profileDir"] = str(profile_dir.expanduser().absolute())
    with Client(flags.settings(data_dir).data_dir, operator=True, starts=True) as service:
        try:
            state = AttachmentState.model_validate(service.post(wire.ATTACH, body))
        except Relayed as error:
            _open_switch(browser, error)
            raise
        state = _answered(service, state)
    if as_json:
        output.say_json(state.model_dump(mode="json", exclude_none=True))
    elif state.state == "attached":
        _explain(state, default=default)
    else:
        output.say(" ".join(filter(None, (state.words, state.next_step))), to_stderr=True)
    raise typer.Exit(0 if state.state == "attached" else 1)


@app.command()
def detach(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Its session, if several are attached to.", show_default=False)
    ] = "",
    *,
    data_dir: flags.DataDir = None,
    as_json: flags.AsJson = False,
) -> None:
    """Take your browser back from agents. What they opened there is closed; your tabs stay as they are."""
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        state = service.post(wire.DETACH, {"sessionId": name})
        left = [each.session_id for each in attachments(service)]
    if as_json:
        output.say_json(state)
    else:
        now = f"Attached to are still: {', '.join(left)}" if left else "No browser of yours is attached to now"
        output.say(f"{now}. Your tabs are as they were.")


def attachments(service: Client) -> list[AttachmentState]:
    """Return how it stands with each of the person's own browsers."""
    listed = cast("list[Json]", service.get(wire.ATTACHMENT)["attachments"])  # the service's reply
    return [AttachmentState.model_validate(each) for each in listed]


def words_of(states: list[AttachmentState]) -> str:
    """Say how it stands with browsers; of several, by their sessions."""
    said = {each.session_id: f"{each.words} {each.next_step}".strip() for each in states}
    return " ".join(f"{name}: {words}" if len(said) > 1 else words for name, words in said.items())


def standing(data_dir: Path) -> dict[str, object]:
    """Return how it stands with the person's own browsers, if any has a session."""
    with Client(data_dir, operator=True) as service:
        states = attachments(service)
    return (
        {"attached": words_of(states), "attachments": {each.session_id: each.state for each in states}}
        if states
        else {}
    )


def say_unless_attached(data_dir: Path) -> None:
    """Say which of the person's own browsers are not attached to, though they should be, and why."""
    with Client(data_dir, operator=True) as service:
        states = [each for each in attachments(service) if each.state != "attached"]
    if states:
        output.say(words_of(states), to_stderr=True)


def _answered(service: Client, state: AttachmentState) -> AttachmentState:
    """Return the attachment's state once the person has answered, or had time to."""
    deadline = time.monotonic() + _WAITS_S
    if state.state == "asking":
        output.say(f"{state.words} {state.next_step}", to_stderr=True)
    while state.state == "asking" and time.monotonic() < deadline:
        time.sleep(_LOOKS_EVERY_S)  # a person takes seconds
        state = next((each for each in attachments(service) if each.session_id == state.session_id), AttachmentState())
    return state


def _explain(state: AttachmentState, *, default: bool) -> None:
    """Say once, plainly, what agents can do in the person's browser now."""
    number = state.unshared
    tabs = f"Your {number} tabs there are" if number != 1 else "Your tab there is"
    use = plain(next_call("goto", session_id=state.session_id, url="..."))
    usual = "Calls that name no session work there, too. " if default else ""
    output.say(f"{state.words} It is the session {state.session_id}: {use}. {usual}".rstrip())
    output.say(f"{tabs} yours: no agent sees one until you share it (browse-together tabs).")
    output.say(
        "But agents open tabs of their own in it, with your logins: what you can do at a site, they can do there.",
        "yellow",
    )
    name = () if state.session_id == ATTACHED_SESSION else (state.session_id,)
    output.say(f"To take it back: {' '.join(('browse-together detach', *name))}")


def _open_switch(browser: str, error: Relayed) -> None:
    """Open the page on which its person allows programs to attach, where a program can do that."""
    context = error.details.get("context")
    page = context.get("open") if isinstance(context, dict) else None
    if isinstance(page, str) and sys.platform == "darwin" and browser in _APPS:
        subprocess.run(["/usr/bin/open", "-a", _APPS[browser], page], check=False)
