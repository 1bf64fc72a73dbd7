"""Brings logins into the shared browser, lists them, and checks them: `login`, `import`, `logins`, `check-login`."""

from pathlib import Path
from typing import Annotated, Final, cast
from urllib.parse import urlsplit

import typer

from browse_together.contract.actions.signing_in import ImportLogin, ListLogins, Login
from browse_together.contract.errors import HumanInControl, LoginRequired, Relayed, ValidationFailed
from browse_together.contract.model import Json
from browse_together.contract.wire import MAX_MESSAGE_BYTES
from browser_service.cli import flags, output
from browser_service.cli.actions import perform
from browser_service.cli.client import Client, error_of
from browser_service.cli.options import new_app
from browser_service.rules.login_cookies import signs_in

AsJson = Annotated[bool, typer.Option("--json", help="Print the whole reply.")]

_COLUMNS: Final = {
    "site": False,
    "until": False,
    "last used": False,
    "by": False,
    "signed in by": False,
    "only in this browser": False,
}
_SHOWN: Final = ("site", "until", "lastUsed", "lastUsedBy", "signedInBy")
_FIELD: Final = "input[type=password]:visible"
_REFUSED: Final = (401, 403)

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
    perform(body, data_dir, None, as_json=as_json, starts=True)


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


@app.command()
def logins(
    *,
    data_dir: flags.DataDir = None,
    session: Annotated[str, typer.Option(metavar="ID", help="Of this session; by default of the shared login.")] = "",
    as_json: flags.AsJson = False,
) -> None:
    """Where you seem to be signed in, by the cookies: when it was last used, until when, and who signed in.

    What looks like a login is a cookie that scripts cannot read, or that is named like one; no value is shown."""
    body: Json = {"action": ListLogins.name(), **({"sessionId": session} if session else {})}
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        reply = service.call(body)
    if reply["success"] is not True:
        raise Relayed(error_of(reply))
    found = cast("list[Json]", cast("Json", reply["result"])["logins"])  # the service's reply
    if as_json:
        output.say_json(found)
    elif found:
        output.show_rows(_COLUMNS, [[_row(each) for each in found]])
    else:
        output.say("No cookie looks like a login.")


@app.command("check-login")
def check_login(
    sites: Annotated[list[str], typer.Argument(metavar="SITE...", help="Pages that only who is signed in sees.")],
    *,
    ask: Annotated[bool, typer.Option("--ask/--no-ask", help="Ask the person to sign in where that is needed.")] = True,
    data_dir: flags.DataDir = None,
) -> None:
    """Open each page, and tell whether it wants a login. The exit code is 1 if one does, so that a job need not begin.

    The person is notified, and signs in on that very page; the check waits for that for 45 s."""
    wanting = 0
    with Client(flags.settings(data_dir).data_dir) as client:
        for site in sites:
            url = site if "://" in site else f"https://{site}"
            page_id, why = _wants_login(client, url)
            if why and ask and page_id:
                asked = {"action": "request_human", "pageId": page_id, "kind": "login", "message": f"Sign in: {url}"}
                reply = client.call(cast("Json", asked))
                answer = cast("Json", reply.get("result") or {})  # the service's reply
                if answer.get("state") == "done":
                    why = _wants_login(client, url, page_id)[1]
                elif reply["success"] is True:
                    why += f"; request {answer['requestId']} to you is {answer['state']}"
            output.say(f"{site}: {f'needs a login: {why}' if why else 'signed in'}")
            wanting += bool(why)
            if page_id and not why:
                client.call({"action": "close_page", "pageId": page_id})
    if wanting:
        raise typer.Exit(1)


def _row(login: Json) -> tuple[str, ...]:
    return (*(str(login.get(name, "")) for name in _SHOWN), "yes" if login["bound"] else "")


def _wants_login(client: Client, url: str, page_id: str = "") -> tuple[str, str]:
    """Open a page. Return its id, and why it seems to want a login; "" if it does not. Raises Relayed for a page that
    cannot be opened."""
    body: Json = {"action": "goto", "url": url, "reply": "delta"}
    reply = client.call({**body, **({"pageId": page_id} if page_id else {})})
    page = cast("Json", reply.get("page") or {})  # the service's reply
    page_id = str(page.get("pageId", page_id))
    if reply["success"] is not True:
        error = error_of(reply)
        if error.code in {LoginRequired.code, HumanInControl.code}:
            return page_id, error.message
        raise Relayed(error)
    asked, found = urlsplit(url), urlsplit(str(page["url"]))
    status = cast("Json", reply["result"]).get("status")  # as above
    if status in _REFUSED:
        return page_id, f"HTTP {status}"
    if (asked.netloc, asked.path) != (found.netloc, found.path) and signs_in(found.netloc + found.path):
        return page_id, f"it leads to {found.netloc}{found.path}"
    fields = client.call({"action": "find", "selector": _FIELD, "pageId": page_id})
    total = cast("Json", fields["result"])["total"] if fields["success"] is True else 0  # as above
    return page_id, "it shows a field for a password" if total else ""


def _content(file: Path) -> str:
    if file.stat().st_size > MAX_MESSAGE_BYTES // 2:
        raise ValidationFailed(f"{file} is too large.", hint=f"At most {MAX_MESSAGE_BYTES // 2} bytes can be sent.")
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValidationFailed(f"{file} is no text.", hint="Give a storage state (JSON) or a cookies.txt.") from None
