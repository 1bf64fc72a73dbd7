"""Shows agents' requests to people, and answers them: `requests`."""

from textwrap import wrap
from typing import Annotated, Final, cast
from urllib.parse import quote

import typer

from browse_together.contract import wire
from browse_together.contract.model import Json
from browse_together.contract.pages import HumanRequestState
from browse_together.contract.quoting import legible
from browser_service.cli import flags, output
from browser_service.cli.client import Client, account
from browser_service.cli.options import new_app
from browser_service.cli.tabs import Linked, Read, Tab, share_found

_WIDTH: Final = 100
_INDENT: Final = "    "

app = new_app()
requests = typer.Typer(no_args_is_help=False, rich_markup_mode=None, help="What agents ask people for.")
app.add_typer(requests, name="requests", invoke_without_command=True)

Id = Annotated[str, typer.Argument(metavar="ID", help="As the list shows it.")]


@requests.callback()
def show(context: typer.Context, *, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """What agents ask people for. Their pages are yours to work in meanwhile; say when it is done, or refuse."""
    if context.invoked_subcommand:
        return
    with Client(flags.settings(data_dir).data_dir, operator=True, starts=True) as service:
        waiting = cast("list[Json]", service.get(wire.REQUESTS)["requests"])  # the service's reply
    if as_json:
        output.say_json(waiting)
    elif not waiting:
        output.say("Nobody asks for anything.")
    else:
        for request in waiting:
            _say(request)
        output.say("Answer with `requests done`, `refuse` or `tab` and its ID, or behind its link.")
        output.say("A decision or a code: `requests done ID --answer TEXT`.")


@requests.command()
def done(
    request_id: Id,
    *,
    data_dir: flags.DataDir = None,
    answer: Annotated[str, typer.Option(metavar="TEXT", help="What to tell the agent that asked, and no other.")] = "",
) -> None:
    """Say that it is done: the agents that wait go on."""
    _resolve(data_dir, request_id, {"state": "done", "answer": answer})


@requests.command()
def refuse(
    request_id: Id,
    *,
    data_dir: flags.DataDir = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the agent that asked.")] = "",
) -> None:
    """Say that it will not be done."""
    _resolve(data_dir, request_id, {"state": "refused", "reason": reason})


@requests.command()
def tab(
    request_id: Id, chosen: Tab, *, data_dir: flags.DataDir = None, read: Read = False, linked: Linked = False
) -> None:
    """Share the tab of your own browser that an agent asks for, with that agent alone."""
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        how: Json = {"requestId": request_id, "access": "read" if read else "act", "linked": linked}
        share_found(service, chosen, how)


def _resolve(data_dir: str | None, request_id: str, resolution: Json) -> None:
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        path = f"{wire.REQUESTS}/{quote(request_id, safe='')}/resolve"
        result = service.post(path, {**resolution, "by": account()})
    output.say(f"{request_id}: {result['state']}.")


def _say(request: Json) -> None:
    """Print a request: its ID, who asks for what, in which words and where, and its link. Only the link may be longer
    than 100 characters."""
    state = HumanRequestState.model_validate(
        {key: request[key] for key in request.keys() - {"url", "title", "link", "trouble"}}
    )
    who = "A call that waits" if state.of_rule else ", ".join([state.asked_by, *state.joined_by])
    choices = f" ({' / '.join(state.choices)})" if state.choices else ""
    head = f"{state.request_id}  {who} asks for {state.what}, {state.asked_ago_ms // 1000} s ago"
    place = f"{state.page_id}, {request['url']}"
    for text in filter(None, (head, state.message + choices, place, str(request.get("trouble", "")))):
        is_head = text is head
        for line in wrap(legible(text), _WIDTH, initial_indent="" if is_head else _INDENT, subsequent_indent=_INDENT):
            output.say(line, "bold" if is_head else "")
    output.say(f"{_INDENT}{request['link']}")
