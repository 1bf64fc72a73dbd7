"""Attaches to the browser in which the account's owner lives, and lets it go: `attach` and `detach`."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from browse_together.contract import wire
from browse_together.contract.attached import BROWSER_NAMES, AttachmentState
from browse_together.contract.errors import Relayed
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call, plain
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
        Path | None, typer.Option("--profile-dir", metavar="DIR", help="Its user data directory, in place of a name.")
    ] = None,
    default: Annotated[bool, typer.Option("--default", help="Let calls that name no session work in it, too.")] = False,
    data_dir: flags.DataDir = None,
    as_json: flags.AsJson = False,
) -> None:
    """Let agents work in your own running browser. It asks you first, and your tabs stay yours until you share one.

    It is the session `chrome`, beside the shared login. After a restart it is attached to when an agent needs it.
    """
    body: Json = {"browser": browser, "default": default}
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
def detach(*, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """Take your browser back from agents. What they opened there is closed; your tabs stay as they are."""
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        state = service.post(wire.DETACH, {})
    if as_json:
        output.say_json(state)
    else:
        output.say("No browser of yours is attached to now. Your tabs are as they were.")


def standing(data_dir: Path) -> dict[str, object]:
    """Return the state of the attachment, unless no browser was ever attached to."""
    with Client(data_dir, operator=True) as service:
        state = service.get(wire.ATTACHMENT)
    words = " ".join(str(state[part]) for part in ("words", "nextStep") if state.get(part))
    return {} if state["state"] == "off" else {"attached": words, "attachment": state["state"]}


def say_unless_attached(data_dir: Path) -> None:
    """Say why the person's own browser is not attached to, if it should be."""
    now = standing(data_dir)
    if now and now["attachment"] != "attached":
        output.say(str(now["attached"]), to_stderr=True)


def _answered(service: Client, state: AttachmentState) -> AttachmentState:
    """Return the attachment's state once the person has answered, or had time to."""
    deadline = time.monotonic() + _WAITS_S
    if state.state == "asking":
        output.say(f"{state.words} {state.next_step}", to_stderr=True)
    while state.state == "asking" and time.monotonic() < deadline:
        time.sleep(_LOOKS_EVERY_S)  # a person takes seconds
        state = AttachmentState.model_validate(service.get(wire.ATTACHMENT))
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
    output.say("To take it back: browse-together detach")


def _open_switch(browser: str, error: Relayed) -> None:
    """Open the page on which its person allows programs to attach, where a program can do that."""
    context = error.details.get("context")
    page = context.get("open") if isinstance(context, dict) else None
    if isinstance(page, str) and sys.platform == "darwin" and browser in _APPS:
        subprocess.run(["/usr/bin/open", "-a", _APPS[browser], page], check=False)
