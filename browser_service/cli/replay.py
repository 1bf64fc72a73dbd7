"""Makes one HTML file of past acts: `replay`."""

from pathlib import Path
from typing import Annotated, Final, cast

import typer

from browse_together.contract import wire
from browse_together.contract.calls import ActivityRecord
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.frames import ActPictures
from browse_together.contract.model import Json
from browser_service.cli import activity, files, flags, output
from browser_service.cli.client import Client, given
from browser_service.cli.options import new_app
from browser_service.observability.replay import Act, Replay

_MB: Final = 1_000_000
_MOST: Final = 10_000

app = new_app()


@app.command()
def replay(
    *,
    data_dir: flags.DataDir = None,
    page: activity.OfPage = None,
    client: activity.OfClient = None,
    session: activity.OfSession = None,
    action: activity.OfAction = None,
    since: activity.Since = None,
    until: activity.Until = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=_MOST, help="How many of the newest.")] = 1_000,
    max_mb: Annotated[int, typer.Option("--max-mb", min=1, max=500, help="Megabytes that the file may have.")] = 50,
    out: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")] = Path(
        "replay.html"
    ),
    as_json: flags.AsJson = False,
) -> None:
    """Make one HTML file of what was done: who, what, how it ended, with pictures where they were recorded. It plays
    in any browser, without the service or a network, and has no more than `activity` shows: with a token that was
    given, what that may see, without pictures."""
    query = activity.query_of(pageId=page, client=client, sessionId=session, action=action, since=since, until=until)
    folder = flags.settings(data_dir).data_dir
    of_owner = not given(folder).are_given
    with Client(folder, operator=of_owner) as service:
        records = activity.newest(service, query, limit + 1)
        if not records:
            output.say("Nothing that matches is recorded.", to_stderr=True)
            raise typer.Exit(1)
        made = Replay(query, max_mb * _MB, more=len(records) > limit, of_owner=of_owner)
        for number in range(0, min(len(records), limit), wire.MOST_PICTURED):
            some = records[number : min(number + wire.MOST_PICTURED, limit)]
            pictures = _pictures(service, some) if of_owner and made.has_room else {}
            made.add([Act(record, pictures.get(str(record.id), ActPictures())) for record in some])
    _write(out, made.html())
    if as_json:
        output.say_json({"file": str(out), "acts": made.acts, "pictures": made.pictures, "leftOut": made.left_out})
        return
    output.say(f"{out}: {made.acts} acts, {made.pictures} pictures, {out.stat().st_size / _MB:.1f} MB.")
    for line in made.left_out:
        output.say(line, to_stderr=True)


def _pictures(service: Client, records: list[ActivityRecord]) -> dict[str, ActPictures]:
    ids = ",".join(str(record.id) for record in records)
    found = cast("Json", service.get(wire.ACTIVITY_PICTURES, {"ids": ids})["pictures"])  # the service's reply
    return {record_id: ActPictures.model_validate(each) for record_id, each in found.items()}


def _write(path: Path, text: str) -> None:
    """Write the file for this account only. An existing file stays until the new one is complete."""
    try:
        files.write(path, text.encode(), 0o600)
    except OSError as error:
        raise ValidationFailed(
            f"{path} cannot be written: {error.strerror}.", hint="Name another file: -o replay.html"
        ) from error
