"""Manages secrets that agents type without knowing them: `secret set`, `secret list`, `secret remove`."""

import asyncio
from typing import Annotated, Final

import typer
from pydantic import ValidationError

from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import first_fault
from browser_service.cli import flags, output, secrets
from browser_service.cli.options import new_app
from browser_service.security.named_secrets import KeptSecret, NamedSecrets
from browser_service.security.one_time_codes import secret_of
from browser_service.security.origins import whole_origin
from browser_service.security.seal import Seal
from browser_service.security.secret_commands import SecretCommand, ask

_COLUMNS: Final = {"name": False, "kind": False, "origins": True}

app = new_app()
secret = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Secrets that agents type by name, without knowing them."
)
app.add_typer(secret, name="secret")

Name = Annotated[str, typer.Argument(metavar="NAME", help="What agents call it, such as shop-password.")]


@secret.command("set")
def set_(
    name: Name,
    *,
    origin: Annotated[
        list[str],
        typer.Option(metavar="ORIGIN", help="Where alone it is typed, such as https://shop.example; repeatable."),
    ],
    source: Annotated[
        str,
        typer.Option("--from", metavar="FILE|-", help="Read it from here; -: asked for, or read from stdin."),
    ] = "-",
    command: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="Ask this at each use, and keep nothing: 'op read op://team/shop/password'."),
    ] = None,
    totp: Annotated[
        bool, typer.Option("--totp", help="It is an authenticator's key, or its otpauth:// link: its codes are typed.")
    ] = False,
    data_dir: flags.DataDir = None,
) -> None:
    """Keep a secret, in place of one of this name. It never stands in a command line, a reply or a log."""
    origins = tuple(dict.fromkeys(_origin(each) for each in origin))
    if command is not None and source != "-":
        raise typer.BadParameter("Give --command or --from, not both.", param_hint="--command")
    try:
        if command is not None:
            kept: KeptSecret = SecretCommand(name=name, command=command, origins=origins, totp=totp)
        else:
            kept = secret_of(name, secrets.read(source), origins, totp=totp)
    except ValidationError as error:
        field, why = first_fault(error)
        raise ValidationFailed(f"{field}: {why}.", details=field_details(field)) from None
    _secrets(data_dir).set(kept)
    typed = "its codes are" if totp else "it is"
    output.say(f'{name}: {typed} typed on {", ".join(origins)} alone. Agents give {{"secret": "{name}"}} as the text.')
    if command is not None:
        output.say(f"{command} runs at each use; what it prints is kept nowhere. Try it: secret check {name}")


@secret.command()
def check(name: Name, *, data_dir: flags.DataDir = None) -> None:
    """Look whether a secret can be typed now, which asks its vault; its value is not shown."""
    kept = _secrets(data_dir).named([name])[name]
    found = asyncio.run(ask(kept)) if isinstance(kept, SecretCommand) else kept
    output.say(f"{name}: there, {len(found.value)} characters.")


@secret.command("list")
def list_(*, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """List the secrets: names, kinds and origins, never values."""
    found = _secrets(data_dir).all().values()
    if as_json:
        output.say_json([each.model_dump(mode="json", exclude={"value"}) for each in found])
    elif not found:
        output.say("There are no secrets: browse-together secret set NAME --origin https://...")
    else:
        output.show_rows(
            _COLUMNS,
            [[(each.name, _kind(each), ", ".join(each.origins)) for each in found]],
        )


@secret.command()
def remove(name: Name, *, data_dir: flags.DataDir = None) -> None:
    """Forget a secret. What sites have of it stays theirs."""
    if not _secrets(data_dir).remove(name):
        raise ValidationFailed(f"There is no secret {name!r}.", hint="browse-together secret list")
    output.say(f"{name}: removed. From now on its text is not hidden any more, should a page show it.")


def _kind(kept: KeptSecret) -> str:
    if isinstance(kept, SecretCommand):
        return f"by {kept.program}"
    return "authenticator" if kept.codes else "text"


def _secrets(data_dir: str | None) -> NamedSecrets:
    settings = flags.settings(data_dir)
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return NamedSecrets(settings.data_dir, Seal(settings.data_dir, settings.key_store))


def _origin(text: str) -> str:
    """Return an origin in canonical form. Raises ValidationFailed if the text is not exactly an origin."""
    if not (origin := whole_origin(text)):
        raise ValidationFailed(
            f"{text!r} is no origin.",
            hint="Give scheme and host, and the port where it is not the usual one: https://shop.example.",
            details=field_details("origin"),
        )
    return origin
