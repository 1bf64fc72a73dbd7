"""Writes the tables of docs/settings.md and docs/coming-from.md, and the list of names that both processes share.

`--check` fails if one is stale."""

import re
import sys
from functools import partial
from textwrap import fill

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings

from browse_together.contract import peer_calls, peers
from browser_service.settings import Settings as ServiceSettings
from mcp_gateway.settings import Settings as GatewaySettings
from mcp_gateway.transports.settings import TransportSettings
from scripts.lint.sources import CONTRACT, ROOT

PAGE = ROOT / "docs" / "settings.md"
COMING_FROM = ROOT / "docs" / "coming-from.md"
NAMES = ROOT / CONTRACT / "setting_names.py"
PROCESSES: dict[str, tuple[type[BaseSettings], ...]] = {
    "SERVICE": (ServiceSettings,),
    "GATEWAY": (GatewaySettings, TransportSettings),
}
TABLES: dict[str, type[BaseSettings]] = {
    "browser_service": ServiceSettings,
    "mcp_gateway": GatewaySettings,
    "transports": TransportSettings,
}


def table(settings: type[BaseSettings]) -> str:
    rows = [
        f"| {_names(name, field)} | {_default(field)} | {field.description} |"
        for name, field in settings.model_fields.items()
    ]
    return "\n".join(["| variable | default | what it does |", "| --- | --- | --- |", *rows])


def filled(text: str) -> str:
    """Return the page with up-to-date tables."""
    for name, settings in TABLES.items():
        marked = re.compile(rf"(<!-- settings: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = marked.sub(partial(_between, table(settings)), text)
    return text


def named(module: str) -> str:
    """Return the module of names, up to date."""
    head = module.partition("\n\nSERVICE: ")[0]
    fields = {process: _fields(*classes) for process, classes in PROCESSES.items()}
    fields["BARE"] = [
        name
        for name, field in ServiceSettings.model_fields.items()
        if isinstance(field.validation_alias, AliasChoices) and name.upper() in field.validation_alias.choices
    ]
    fields["SWITCHES"] = [
        name
        for settings in PROCESSES["GATEWAY"]
        for name, field in settings.model_fields.items()
        if field.annotation is bool
    ]
    end = '    """.split()  # noqa: SIM905 - as a list it would be a page long\n)'
    lists = [f'{what}: Final = tuple(\n    """\n{_wrapped(names)}\n{end}' for what, names in fields.items()]
    return "\n".join([head, "", *lists, ""])


def _wrapped(names: list[str]) -> str:
    return fill(" ".join(names), 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _fields(*classes: type[BaseSettings]) -> list[str]:
    return [name for settings in classes for name in settings.model_fields]


def _between(rows: str, found: re.Match[str]) -> str:
    return f"{found[1]}{rows}\n{found[2]}"


def _names(name: str, field: FieldInfo) -> str:
    alias = field.validation_alias
    names = alias.choices if isinstance(alias, AliasChoices) else [f"BROWSE_{name.upper()}"]
    return " or ".join(f"`{choice}`" for choice in reversed(names))


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is PydanticUndefined or value is None or value == ():
        return ""
    shown = ",".join(sorted(value)) if isinstance(value, frozenset | tuple) else str(value).lower()
    return f"`{shown}`"


def of_peers(text: str) -> str:
    """Return the page for those who come from elsewhere, with the names that are understood."""
    rows = [
        f"| `{alias.name}` | `{action}` | {', '.join(f'`{old}` is `{new}`' for old, new in alias.renames.items())} |"
        for action, aliases in peers.TOOLS.items()
        for alias in aliases
    ]
    rows += [
        f"| `{name}` | {', '.join(f'`{each}`' for each in tool.here.split(', '))} | {tool.told} |"
        for name, tool in peer_calls.CONVERTED.items()
    ]
    table_of = "\n".join(["| there | here | arguments |", "| --- | --- | --- |", *rows])
    return re.sub(r"(<!-- peers -->\n).*?(<!-- end -->)", partial(_between, table_of), text, flags=re.DOTALL)


def main() -> None:
    for file, write in ((PAGE, filled), (NAMES, named), (COMING_FROM, of_peers)):
        before = file.read_text(encoding="utf-8")
        after = write(before)
        if "--check" in sys.argv and before != after:
            sys.exit(f"{file.name}: its tables are stale; run `make docs`.")
        file.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
