"""Shows what agents ask people for, and answers it: `requests`."""

from typing import Annotated, Final, cast

import typer

from browser_service.cli import flags, output
from browser_service.cli.client import Client, account, result_of
from browser_service.cli.parameters import new_app
from shared.model import Json
from shared.pages import HumanRequestState

_COLUMNS: Final = {
    "id": False,
    "kind": False,
    "site": False,
    "page": False,
    "message": True,
    "asked by": False,
    "": False,
}

app = new_app()
requests = typer.Typer(no_args_is_help=False, rich_markup_mode=None, help="What agents ask people for.")
app.add_typer(requests, name="requests", invoke_without_command=True)

Id = Annotated[str, typer.Argument(metavar="ID", help="As the list shows it.")]


@requests.callback()
def listed(context: typer.Context, *, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """What agents ask people for. Their pages are yours to work in meanwhile; say when it is done, or refuse."""
    if context.invoked_subcommand:
        return
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        found = cast("list[Json]", result_of(service.requests())["requests"])
    if as_json:
        output.say_json(found)
    elif not found:
        output.say("Nobody asks for anything.")
    else:
        output.show_rows(_COLUMNS, [[_row(one) for one in found]])
        output.say("Answer with `requests done ID` or `requests refuse ID`, or in your own browser:")
        for one in found:
            output.say(f"{service.url}{one['link']}")


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


def _resolve(data_dir: str | None, request_id: str, resolution: Json) -> None:
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        result = result_of(service.resolve(request_id, {**resolution, "by": account()}))
    output.say(f"{request_id}: {result['state']}.")


def _row(found: Json) -> tuple[str, ...]:
    about = {name: value for name, value in found.items() if name not in {"url", "title", "link"}}
    one = HumanRequestState.model_validate(about)
    who = ", ".join([one.asked_by, *one.joined_by])
    choices = f" ({' / '.join(one.choices)})" if one.choices else ""
    page = f"{one.page_id}, {found['url']}"
    ago = f"{one.asked_ago_ms // 1000} s ago"
    return one.request_id, one.kind, one.origin, page, one.message + choices, who, ago
