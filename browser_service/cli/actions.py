"""Runs actions: `pages`, `save` and `run`, which has a command for each action of the catalogue."""

import inspect
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final, cast

import httpx
import typer
from typer.core import TyperGroup
from typer.main import get_command as typer_command

from browse_together.contract import catalogue, peer_calls, toolsets, wire
from browse_together.contract.actions.base import Action
from browse_together.contract.errors import BrowseError
from browse_together.contract.model import Json
from browse_together.contract.replies import TerminalReply
from browse_together.contract.schema import kebab
from browser_service.cli import attach, flags, output, secrets
from browser_service.cli.client import Client, error_of, given
from browser_service.cli.options import (
    action_body,
    action_options,
    new_app,
    parameter,
    parameters_of,
    positional_options,
    with_signature,
)
from browser_service.cli.root import Late

_COLUMNS: Final = {"": False, "page": False, "session": False, "title": True, "url": True, "acted": False, "by": False}
_PARTS: Final = {"yours": "yours", "people": "people's", "others": "other agents'"}

app = new_app()


@app.command("pages")
def list_pages(*, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """The open pages in three parts: yours (this account's command line), people's, and other agents'."""
    folder = flags.settings(data_dir).data_dir
    with Client(folder) as client:
        result = client.get(wire.PAGES)
    pages = {part: cast("list[Json]", result[part]) for part in _PARTS}  # the service's reply
    if as_json:
        output.say_json(pages)
        return
    output.show_rows(_COLUMNS, [_rows(title, pages[part]) for part, title in _PARTS.items()])
    if hidden := result.get("private"):
        output.say(f"Private to others: {hidden}. You see them with: browse-together run list_pages --person")
    if not given(folder).are_given:
        attach.say_unless_attached(folder)


@app.command()
def save(
    artifact: Annotated[str, typer.Argument(help="Its artifactId, as a reply or a notice named it.")],
    file: Annotated[Path, typer.Argument(help="Where to.")],
    *,
    data_dir: flags.DataDir = None,
) -> None:
    """Save a file that any call on this account made, an agent's too: a download, a video, a picture."""
    folder = flags.settings(data_dir).data_dir
    with Client(folder, operator=not given(folder).are_given) as client:
        size = client.save(artifact, file)
    output.say(f"{file}: {size} bytes", to_stderr=True)


class Actions(TyperGroup):
    """The actions of the catalogue, under all their names."""

    def list_commands(self, _: Any) -> list[str]:  # Any: typer's own class
        return [*catalogue.ACTIONS]

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 # Any: as above
        """Write the actions by category, with their names in one column."""
        width = max(map(len, catalogue.ACTIONS))
        for category, actions in groupby(catalogue.ACTIONS.items(), lambda each: toolsets.category(each[1])):
            with formatter.section(category.replace("_", " ").capitalize()):
                lines = {name: action.description().partition(". ")[0].removesuffix(".") for name, action in actions}
                formatter.write_dl([(name.ljust(width), f"{line}.") for name, line in lines.items()])

    def get_command(self, ctx: Any, cmd_name: str) -> Late | None:  # Any: as above
        """Return an action's command. Raises NotFound with similar names, except while a shell completes a name."""
        tool = catalogue.NAMES.get(cmd_name.replace("-", "_")) or catalogue.NAMES.get(cmd_name)
        if tool is not None:
            make = partial(command_of, cmd_name, tool.action)
            return Late(cmd_name, tool.action.description(), lambda: typer_command(make()))
        if not ctx.resilient_parsing:
            catalogue.parse({"action": cmd_name})
        return None


run = typer.Typer(
    cls=Actions,
    no_args_is_help=True,
    rich_markup_mode=None,
    subcommand_metavar="ACTION [ARGS]...",
    help="Run one action; `run ACTION --help` has its options.",
)
app.add_typer(run, name="run")


def perform(
    body: Json,
    data_dir: str | None,
    out: Path | None,
    *,
    as_json: bool,
    person: bool = False,
    secret: str = "",
    starts: bool = False,
) -> None:
    """Make one call and print its reply, without the secret that the call typed."""
    body = catalogue.unwrap(body)
    with Client(flags.settings(data_dir).data_dir, operator=person, starts=starts) as client:
        reply = client.call(body)
        _print_reply(secrets.masked(reply, secret) if secret else reply, client, as_json=as_json, out=out)


def command_of(name: str, action: type[Action], run_body: Callable[..., None] = perform) -> typer.Typer:
    """Make the command for an action under one of its names. `run_body` gets the typed body."""
    wire_name = name if name in catalogue.NAMES.keys() - peer_calls.CONVERTED.keys() else action.name()

    def act(
        *,
        data_dir: flags.DataDir = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print the whole reply.")] = False,
        out: Annotated[
            Path | None,
            typer.Option("--out", "--output", metavar="FILE", help="Save the file of the reply, or its text, here."),
        ] = None,
        person: Annotated[
            bool,
            typer.Option(
                "--person", help="Act as the person: on a page that an agent asked you to take, or on a private one."
            ),
        ] = False,
        **options: Any,  # Any: typer's value of each option
    ) -> None:
        secret = secrets.take(action, options)
        body = action_body(wire_name, action, options.pop("positions", None) or [], options)
        run_body(body, data_dir, out, as_json=as_json, person=person, **secret)

    command = new_app()
    options = [parameter(option, _COMPLETED.get(option.name)) for option in action_options(action)]
    options += secrets.parameter(action)
    parameters = [*_by_position(action), *options, *parameters_of(act)]
    command.command(help=action.whole_description())(with_signature(act, parameters))
    return command


def _page_ids(typed: str) -> list[str]:
    """Return the ids of this account's pages that begin as typed; none if no service runs."""
    try:
        with Client(flags.settings().data_dir) as client:
            yours = cast("list[Json]", client.get(wire.PAGES)["yours"])  # the service's reply
    except (BrowseError, OSError, httpx.HTTPError):
        return []
    return [page_id for page in yours if (page_id := str(page["pageId"])).startswith(typed)]


_COMPLETED: Final = {"pageId": _page_ids}


def _by_position(action: type[Action]) -> list[inspect.Parameter]:
    names = [kebab(option.name).upper() for option in positional_options(action)]
    places = typer.Argument(None, metavar=" ".join(names), show_default=False, help="The same by position.")
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter("positions", keyword, default=places, annotation=list[str] | None)] if names else []


def _rows(title: str, pages: list[Json]) -> list[tuple[str, ...]]:
    """Return the rows of one part. The first one has the part's title."""
    if not pages:
        return [(title, "none")]
    return [_row(title if number == 0 else "", page) for number, page in enumerate(pages)]


def _row(title: str, page: Json) -> tuple[str, ...]:
    owner, acted_ms_ago = page.get("owner"), page.get("actedMsAgo")
    label = str(owner["label"]) if isinstance(owner, dict) else _leaver(page)
    acted = f"{acted_ms_ago // 1000} s ago" if isinstance(acted_ms_ago, int) else ""
    return (title, *(str(page[key]) for key in ("pageId", "sessionId", "title", "url")), acted, label)


def _leaver(page: Json) -> str:
    """Say who left a page that nobody holds."""
    return f"left by {page['leftBy']}" if page.get("leftBy") else "left by you" if page.get("fromBefore") else ""


def _print_reply(reply: Json, client: Client, *, as_json: bool, out: Path | None) -> None:
    """Print text or JSON to stdout, and everything else to stderr. Exits with code 1 for an error."""
    succeeded, rendered = reply["success"] is True, TerminalReply.model_validate(reply.pop("rendered", {}))
    if as_json:
        output.say_json(reply)
    elif not succeeded:
        output.print_error(error_of(reply))
    if succeeded and out:
        _save(out, rendered, client)
    elif succeeded and not as_json:
        output.say(rendered.text)
    if not as_json:
        for line in rendered.around:
            output.say(line, to_stderr=True)
    if not succeeded:
        raise typer.Exit(1)


def _save(path: Path, rendered: TerminalReply, client: Client) -> None:
    if rendered.artifact_id is None:
        size = path.write_bytes(rendered.text.encode())
    else:
        size = client.save(rendered.artifact_id, path)
    output.say(f"{path}: {size} bytes", to_stderr=True)
