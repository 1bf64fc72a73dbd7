"""Manages secrets that agents type without knowing them: `secret set`, `secret list`, `secret remove`."""

from typing import Annotated, Final

import typer
from pydantic import ValidationError

from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import first_fault
from browse_together.contract.named_secrets import NamedSecret
from browser_service.cli import flags, output, secrets
from browser_service.cli.options import new_app
from browser_service.security.named_secrets import NamedSecrets
from browser_service.security.one_time_codes import from_authenticator
from browser_service.security.origins import whole_origin
from browser_service.security.seal import Seal

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
    totp: Annotated[
        bool, typer.Option("--totp", help="It is an authenticator's key, or its otpauth:// link: its codes are typed.")
    ] = False,
    data_dir: flags.DataDir = None,
) -> None:
    """Keep a secret, in place of one of this name. It never stands in a command line, a reply or a log."""
    origins = tuple(dict.fromkeys(_origin(each) for each in origin))
    text = secrets.read(source)
    try:
        kept = from_authenticator(name, text, origins) if totp else NamedSecret(name=name, value=text, origins=origins)
    except ValidationError as error:
        field, why = first_fault(error)
        raise ValidationFailed(f"{field}: {why}.", details=field_details(field)) from None
    _secrets(data_dir).set(kept)
    typed = "its codes are" if totp else "it is"
    output.say(f'{name}: {typed} typed on {", ".join(origins)} alone. Agents give {{"secret": "{name}"}} as the text.')


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
            [[(each.name, "authenticator" if each.codes else "text", ", ".join(each.origins)) for each in found]],
        )


@secret.command()
def remove(name: Name, *, data_dir: flags.DataDir = None) -> None:
    """Forget a secret. What sites have of it stays theirs."""
    if not _secrets(data_dir).remove(name):
        raise ValidationFailed(f"There is no secret {name!r}.", hint="browse-together secret list")
    output.say(f"{name}: removed. From now on its text is not hidden any more, should a page show it.")


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
