"""Brings logins into the shared browser: `login` and `import`."""

from pathlib import Path
from typing import Annotated

import typer

from browser_service.cli import flags, output
from browser_service.cli.actions import perform
from browser_service.cli.options import new_app
from shared.actions.signing_in import ImportLogin, Login
from shared.errors import ValidationFailed
from shared.model import Json
from shared.wire import MAX_MESSAGE_BYTES

AsJson = Annotated[bool, typer.Option("--json", help="Print the whole reply.")]

app = new_app()


@app.command()
def login(
    url: Annotated[str, typer.Argument(metavar="[URL]", help="Where the window opens.", show_default=False)] = "",
    *,
    data_dir: flags.DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Sign in yourself: an ordinary window of the shared browser, which sites do not refuse. Close it when you are in.

    Agents' pages rest meanwhile, and come back with the new login. Ctrl+C closes the window as well.
    """
    body: Json = {"action": Login.name(), "affectOthers": True}
    if url:
        body["url"] = url if "://" in url else f"https://{url}"
    output.say(
        "A browser window opens on this screen. Sign in there, then close it (on a Mac: quit it).", to_stderr=True
    )
    perform(body, data_dir, None, as_json=as_json)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="What to bring.")],
    *,
    site: Annotated[str, typer.Option(help="Only this host and its subdomains, such as example.com.")] = "",
    data_dir: flags.DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Bring logins from another browser: a Playwright storage state (JSON), or a cookies.txt."""
    body: Json = {"action": ImportLogin.name(), "content": _content(file), "affectOthers": True}
    if site:
        body["site"] = site
    perform(body, data_dir, None, as_json=as_json)


def _content(file: Path) -> str:
    if file.stat().st_size > MAX_MESSAGE_BYTES // 2:
        raise ValidationFailed(f"{file} is too large.", hint=f"At most {MAX_MESSAGE_BYTES // 2} bytes can be sent.")
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValidationFailed(f"{file} is no text.", hint="Give a storage state (JSON) or a cookies.txt.") from None
