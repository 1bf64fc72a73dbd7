"""Shows who did what, removes such records, and revokes tokens: `activity`, `forget` and `revoke`."""

import json
import shlex
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Final, cast

import typer

from browse_together.client.credentials import token_id
from browse_together.contract import wire
from browse_together.contract.calls import ActivityRecord
from browse_together.contract.colours import COLOURS
from browse_together.contract.model import Json
from browser_service.cli import flags, output, secrets
from browser_service.cli.client import Client, client_id
from browser_service.cli.options import new_app
from browser_service.observability.search import line

_BATCH: Final = 500

OfPage = Annotated[str | None, typer.Option("--page", metavar="ID", help="Only what was done on this page.")]
OfClient = Annotated[str | None, typer.Option("--client", metavar="LABEL", help="Only this client; `me` is this one.")]
OfSession = Annotated[str | None, typer.Option("--session", metavar="ID", help="Only what was done in this session.")]
OfAction = Annotated[str | None, typer.Option("--action", metavar="NAME", help="Only this action, such as click.")]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before: 10m, 2h, 1d ago, or ISO.")]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Not after: likewise.")]

app = new_app()


@app.command()
def activity(
    *,
    data_dir: flags.DataDir = None,
    page: OfPage = None,
    client: OfClient = None,
    session: OfSession = None,
    action: OfAction = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="How many of the newest.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON; with --follow an object a line.")] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is done from now on.")] = False,
) -> None:
    """Who did what, the newest last. What only read is not recorded; typed text is told by its length alone."""
    query = query_of(pageId=page, client=client, sessionId=session, action=action, since=since, until=until)
    with Client(flags.settings(data_dir).data_dir) as service:
        if not follow:
            past = newest(service, query, limit)
            if as_json:
                output.say_json([record.model_dump(mode="json", exclude_none=True) for record in past])
            else:
                _show(past[::-1], as_json=False)
            if not past:
                output.say("Nothing that matches is recorded.", to_stderr=True)
            return
        with service.events({**query, "activity": "1"}) as events:
            next(events)  # the stream is already open: what happens meanwhile is in both, and shown once
            past = newest(service, query, limit)
            _show(past[::-1], as_json=as_json)
            _follow(events, {record.id for record in past}, as_json=as_json)


@app.command()
def forget(
    *,
    data_dir: flags.DataDir = None,
    client: Annotated[str, typer.Option(metavar="LABEL|ID", help="Whom: an id, or all clients of a label.")],
    as_json: flags.AsJson = False,
) -> None:
    """Remove what is kept of a client: its records, its notices and, if it is gone, its hold on pages."""
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        removed = service.delete(wire.ACTIVITY, {"client": client})
    if as_json:
        output.say_json(removed)
    else:
        counts = ", ".join(f"{count} {kind if count != 1 else kind[:-1]}" for kind, count in removed.items())
        output.say(f"{client}: {counts} removed.")


@app.command()
def revoke(
    *,
    data_dir: flags.DataDir = None,
    client: Annotated[
        str, typer.Option(metavar="LABEL|ID", help="This client, whichever token it has, until it is restored.")
    ] = "",
    token: Annotated[str, typer.Option(metavar="-|ID", help="The one that is read from stdin, or has this id.")] = "",
) -> None:
    """Refuse a token for good, or a client until `token restore`: at once, with its streams and calls ended."""
    token = secrets.read(token) if token == "-" else token  # noqa: S105 - it stands for stdin
    if bool(client) is bool(token) or (token and not token_id(token)):
        raise typer.BadParameter("Say which: --client LABEL|ID, or --token -|ID.")
    body: Json = {"clients": [client, client_id(client)]} if client else {"tokenId": token_id(token)}
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        revoked = service.post(wire.REVOKE, body)
    output.say(f"{client or token_id(token)}: revoked{_whose(revoked) if client else '.'}")
    if client:
        output.say(f"To let it in again: browse-together token restore {shlex.quote(client)}")


def _whose(revoked: Json) -> str:
    if count := revoked["known"]:
        return f", {count} clients." if count != 1 else "."
    return ", though nobody of this name or id has been here: browse-together activity shows who has."


def query_of(**filters: str | None) -> dict[str, str]:
    """Drop filters without a value."""
    return {name: value for name, value in filters.items() if value is not None}


def newest(service: Client, query: dict[str, str], limit: int) -> list[ActivityRecord]:
    """Fetch pages of records until there are `limit` records, or no more."""
    records: list[ActivityRecord] = []
    while len(records) < limit:
        batch = str(min(limit - len(records), _BATCH))
        result = service.get(wire.ACTIVITY, {**query, "limit": batch})
        # the service's reply
        records += [ActivityRecord.model_validate(record) for record in cast("list[Json]", result["records"])]
        if "cursor" not in result:
            break
        query = {"cursor": str(result["cursor"])}
    return records


def _follow(events: Iterator[tuple[str, str]], shown_ids: set[int], *, as_json: bool) -> None:
    for name, data in events:
        if name == "dropped":
            output.say(f"{json.loads(data)['count']} records were too many to follow.", to_stderr=True)
        elif name == "activity" and (record := ActivityRecord.model_validate_json(data)).id not in shown_ids:
            _show([record], as_json=as_json)
    output.say("The service has ended.", to_stderr=True)


def _show(records: list[ActivityRecord], *, as_json: bool) -> None:
    now = datetime.now().astimezone()
    for record in records:
        if as_json:
            output.say(record.model_dump_json(exclude_none=True))
        else:
            shades, text = COLOURS.get(record.colour or ""), line(record, now)
            before, client, rest = text.partition(record.client or text)
            output.say(client, f"#ffffff on {shades.light}" if shades else "", rest, before=before)
