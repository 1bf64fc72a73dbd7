"""Shows the tabs of your own browser, and shares them with agents: `tabs`, `share`, `unshare`."""

from typing import Annotated, Final, cast

import typer

from browse_together.contract import wire
from browse_together.contract.attached import AttachmentState, PersonTab
from browse_together.contract.installation import command
from browse_together.contract.model import Json
from browser_service.cli import flags, output
from browser_service.cli.attach import attachments, words_of
from browser_service.cli.client import Client
from browser_service.cli.options import new_app

_COLUMNS: Final = {"tab": False, "shared": False, "title": True, "url": True}
_SHORT: Final = 8
"""This many characters tell the tabs apart."""

app = new_app()

Tab = Annotated[
    str, typer.Argument(metavar="TAB", help="As `tabs` shows it: its id, its page, or a part of its title or URL.")
]
Read = Annotated[bool, typer.Option("--read", help="Agents only read it.")]
Linked = Annotated[bool, typer.Option("--linked", help="Share with it the tabs whose scripts can reach each other.")]


@app.command("tabs")
def show(*, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """The tabs of your own browser. Agents know of a tab that you do not share only that there is one."""
    with Client(flags.settings(data_dir).data_dir, operator=True, starts=True) as service:
        tabs = _tabs(service)
        states = attachments(service)
    if as_json:
        output.say_json([tab.model_dump(mode="json", exclude_none=True) for tab in tabs])
    elif not tabs:
        output.say(_without_tabs(states))
    else:
        columns = {"session": False, **_COLUMNS} if len(states) > 1 else _COLUMNS
        rows = [(tab.session_id, tab.tab_id[:_SHORT], _shared(tab), tab.title, tab.url) for tab in tabs]
        output.show_rows(columns, [[row[-len(columns) :] for row in rows]])


@app.command()
def share(
    tab: Tab,
    *,
    data_dir: flags.DataDir = None,
    client: Annotated[str, typer.Option("--with", metavar="CHAT", help="The one chat that it is for.")] = "",
    read: Read = False,
    linked: Linked = False,
) -> None:
    """Share a tab of your own browser with agents, or with one of them. Take it back with `unshare`."""
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        share_found(service, tab, {"label": client, "access": "read" if read else "act", "linked": linked})


@app.command()
def unshare(tab: Tab, *, data_dir: flags.DataDir = None) -> None:
    """Take a tab back from agents at once. It stays as it is."""
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        found = _find(service, tab)
        service.post(wire.TABS_UNSHARE, {"tabId": found.tab_id})
    output.say(f"{found.title or found.url} is yours alone again.")


def share_found(service: Client, tab: str, how: Json) -> None:
    """Share the tab that a person means, and say as which page."""
    found = _find(service, tab)
    shared = service.post(wire.TABS_SHARE, {"tabId": found.tab_id, **how})
    output.say(f'{found.title or found.url} is shared as "{shared["pageId"]}".')


def _without_tabs(states: list[AttachmentState]) -> str:
    """Say why there are no tabs, and what to do."""
    if not states:
        attaching = command("attach", "chrome")
        off = AttachmentState().words
        return f"{off} {attaching} attaches the one that you use; then this lists its tabs, to share with agents."
    attached = [each for each in states if each.state == "attached"]
    return (
        f"{words_of(attached)} It has no tab of yours now: open one, then share it." if attached else words_of(states)
    )


def _tabs(service: Client) -> list[PersonTab]:
    listed = cast("list[Json]", service.get(wire.TABS)["tabs"])  # the service's reply
    return [PersonTab.model_validate(tab) for tab in listed]


def _find(service: Client, text: str) -> PersonTab:
    """Return the tab that a person means. Raises BadParameter for none, or for several."""
    tabs = _tabs(service)
    found = [tab for tab in tabs if text == tab.page_id or tab.tab_id.startswith(text.upper())]
    found = found or [tab for tab in tabs if text.casefold() in f"{tab.title}\n{tab.url}".casefold()]
    if len(found) != 1:
        problem = f"{len(found)} tabs match" if found else "No tab matches"
        raise typer.BadParameter(f"{problem} {text!r}. See `browse-together tabs`.", param_hint="TAB")
    return found[0]


def _shared(tab: PersonTab) -> str:
    how = (tab.page_id, "to read" if tab.access == "read" else None, tab.with_label and f"with {tab.with_label}")
    return ", ".join(filter(None, how))
