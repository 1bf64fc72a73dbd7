"""Starts, ends and inspects the service's process: `up`, `down` and `status`."""

import os
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from browse_together.client import config_file, instance
from browse_together.client.autostart import KeptDown
from browse_together.contract import variables, wire
from browse_together.contract.errors import Relayed
from browse_together.contract.model import Json
from browser_service.cli import flags, output, times
from browser_service.cli.options import new_app
from browser_service.cli.running import places, restart, rules_of, running_settings
from browser_service.cli.starting import service_of, start
from browser_service.settings import Settings

_LAST_S = 250_000_000_000
"""A Unix time that calendars still show, in the year 9892."""

NOT_RUNNING = 3
"""Exit code of `status` if no service runs, as init scripts expect."""

app = new_app()


@app.command(cls=flags.InParts)
@flags.with_settings
def up(
    *,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Start it in the background, and return.")] = False,
    by_gateway: Annotated[bool, typer.Option(hidden=True, envvar=wire.BY_GATEWAY)] = False,
    **options: Any,  # Any: typer's value of each flag
) -> None:
    """Run the service, in the foreground or detached.

    Each setting may also be given in the environment, as BROWSE_ and its name, such as BROWSE_MAX_PAGES.
    """
    changes = flags.typed_settings(options)
    settings = Settings(**changes)  # type: ignore[arg-type] # pydantic makes each what it should be
    for line in (*variables.misspelt(os.environ), *config_file.removed()):
        output.say(line, to_stderr=True)
    if detach:
        _detached(settings, changes)
    else:
        if not by_gateway:  # a person wants it, so that the browser is ready from the start
            Settings.tuning = replace(Settings.tuning, unvisited_ms=0)
        _in_the_foreground(settings)


@app.command()
def down(
    data_dir: flags.DataDir = None,
    for_: Annotated[
        str,
        typer.Option("--for", metavar="TIME", help="So long not even a new chat starts it: 30m, 1h."),
    ] = "",
) -> None:
    """End the service of this data directory. Pages and logins are kept, and come back with the next start.

    Chats that are open now do not start it again: `up` does, or a new chat.
    """
    directory = flags.settings(data_dir).data_dir
    until = times.end(for_, "--for") if for_ else None
    if until is not None and not time.time() < until < _LAST_S:
        raise typer.BadParameter("give a time to come, such as 30m or 1h", param_hint="--for")
    running = service_of(directory)
    note = KeptDown(time.time(), until)
    stays = note.stays if note.write(directory) else ""  # first, because a chat would start it again at once
    if running is None:
        output.say(f"No service runs (data directory {directory}). {stays}".rstrip())
        return
    if not instance.stop(running):
        output.say(
            f"Process {running.pid} was asked to end, and still runs after {instance.END_WITHIN_S:.0f} s.",
            to_stderr=True,
        )
        raise typer.Exit(1)
    output.say(f"The service has ended (process {running.pid}, {running.url}). {stays}".rstrip())


@app.command()
def status(*, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """Whether the service runs, where, and who is there. The exit code is 0 when it runs, 3 when not."""
    settings = flags.settings(data_dir)
    running = service_of(settings.data_dir)
    difference = ""
    found: dict[str, object] = {"running": running is not None, "dataDir": str(settings.data_dir)}
    if running:
        now = instance.readiness(running.url)
        found |= {"pid": running.pid, "url": running.url, "wall": running.url, "version": running.version}
        found |= {name: now.get(name) for name in ("pages", "parked", "browsers", "memoryMb", "memoryLimitMb")}
        found |= {"hosts": hosts} if (hosts := now.get("hosts")) else {}
        if rules := rules_of(settings, is_running=True):
            found["rules"] = f"{rules.found}. {rules.advice}".removesuffix(". ")
        if account := running_settings(settings):
            found["wall"] = account.changed.get("public_url") or running.url
            found |= {"settings": account.changed, "afterRestart": account.after_restart}
            if engine := account.changed.get("browser_type"):
                found["scripts"] = (
                    f"run among those of the pages, which can mislead them, for want of another in {engine}"
                )
            difference = account.difference
            from browser_service.cli.attach import standing  # noqa: PLC0415 - as in `_detached`

            found |= standing(settings.data_dir) | {"agents": _agents(settings.data_dir)}
    elif note := KeptDown.read(settings.data_dir):
        found["keptDown"] = note.words
    if as_json:
        output.say_json(found)
    else:
        _say_status(found)
        if difference:
            output.say(f"Otherwise in {places()}: {difference}. {restart(settings.data_dir)}", to_stderr=True)
    if running is None:
        raise typer.Exit(NOT_RUNNING)


def _agents(data_dir: Path) -> list[Json]:
    from browser_service.cli.client import Client  # noqa: PLC0415 - only a service that runs has agents

    with suppress(Relayed), Client(data_dir, operator=True) as service:  # an older service has none
        return cast("list[Json]", service.get(wire.AGENTS)["agents"])  # the service's reply
    return []


def _agent(agent: Json) -> str:
    pages = "1 page" if agent["pages"] == 1 else f"{agent['pages']} pages"
    return f"{agent['label']} ({pages}{'' if agent['since'] else ', away'})"


def _in_the_foreground(settings: Settings) -> None:
    from browser_service.process import CannotStart, serve  # noqa: PLC0415 - half a second that `status` saves

    try:
        serve(settings)
    except CannotStart as error:
        output.say(str(error), to_stderr=True)
        raise typer.Exit(1) from None


def _detached(settings: Settings, changes: Json) -> None:
    running, started = start(settings.data_dir, changes)
    verb = "runs now" if started else "runs already"
    output.say(f"The service {verb}: process {running.pid}, {running.url}")
    from browser_service.cli.attach import say_unless_attached  # noqa: PLC0415 - a service in the foreground needs no client

    say_unless_attached(settings.data_dir)
    if not started and changes.keys() - {"data_dir"}:
        output.say("It keeps the settings it has. To change them: browse-together down, then up.", to_stderr=True)


def _say_status(status: dict[str, object]) -> None:
    if not status["running"]:
        output.say("The service is not running", "bold red", f" (data directory {status['dataDir']}).")
        if words := status.get("keptDown"):
            output.say(str(words))
        output.say(f"Start it: {flags.command('up --detach', Path(str(status['dataDir'])))}", "yellow")
        return
    output.say("The service is running.", "green")
    agents, hosts, changed = (cast("Json", status.get(name) or {}) for name in ("agents", "hosts", "settings"))  # ours
    states = ", ".join(f"{count} {state}" for state, count in Counter(hosts.values()).items())
    settings = ", ".join(f"{name} {output.value_text(value)}" for name, value in changed.items())
    lines = {
        "process": status["pid"],
        "URL": status["url"],
        "wall": f"{status['wall']}, where this lets you in: browse-together show",
        "version": status["version"],
        "pages": f"{status['pages']}, {status['parked']} of them parked",
        "browsers": f"{status['browsers']}, with {status['memoryMb']} of {status['memoryLimitMb']} MB",
        "agents": ", ".join(map(_agent, cast("list[Json]", agents))),  # as `_agents` returned it
        "hosts": states and f"{states}; each by name: browse-together hosts",
        "scripts": status.get("scripts"),
        "data": status["dataDir"],
        "rules": status.get("rules"),
        "yours": status.get("attached"),
        "settings": settings and f"{settings}; the others as by default",
    }
    for name, text in lines.items():
        if text:
            output.say(f"  {name:<8} {text}")
