"""Opens the live wall in the person's own browser: `show`."""

from typing import Annotated

import typer

from browse_together.contract import wire
from browse_together.contract.errors import ValidationFailed
from browser_service.cli import flags, output
from browser_service.cli.client import Client, account
from browser_service.cli.options import new_app
from browser_service.opening import has_screen, open_link

app = new_app()


@app.command()
def show(
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="The viewer may look, and do nothing.")] = False,
    page: Annotated[str, typer.Option(metavar="ID", help="Show this page at first.")] = "",
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the link.")] = False,
    data_dir: flags.DataDir = None,
    as_json: flags.AsJson = False,
) -> None:
    """Watch all pages live, see who does what, and take a page in hand: prints a link that works once, for a minute,
    and opens it in your browser."""
    if page and not wire.is_page_id(page):
        raise ValidationFailed(f"--page: {page[:80]!r} is no pageId.", hint="browse-together pages lists them.")
    settings = flags.settings(data_dir)
    with Client(settings.data_dir, operator=True, starts=True) as service:
        link = service.post(wire.WALL_LINK, {"readOnly": read_only, "name": account()})
    shown = f"&page={page}" if page else ""
    url = f"{link['url']}{shown}"
    if as_json:
        output.say_json({"url": url, "worksForS": link["worksForS"], "readOnly": read_only})
    else:
        output.say(url)
        output.say(f"The link works once, within {link['worksForS']:.0f} s.", to_stderr=True)
    if not no_open and has_screen():
        open_link(settings.data_dir, url)
