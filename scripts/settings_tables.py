"""Writes the README's settings tables from the settings classes; `--check` fails where they are stale."""

import re
import sys
from functools import partial
from pathlib import Path

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings

from browser_service.settings import Settings as ServiceSettings
from mcp_gateway.settings import Settings as GatewaySettings

README = Path(__file__).parents[1] / "README.md"
TABLES: dict[str, type[BaseSettings]] = {"browser_service": ServiceSettings, "mcp_gateway": GatewaySettings}


def table(settings: type[BaseSettings]) -> str:
    rows = [
        f"| {_names(name, field)} | {_default(field)} | {field.description} |"
        for name, field in settings.model_fields.items()
    ]
    return "\n".join(["| variable | default | what it does |", "| --- | --- | --- |", *rows])


def filled(readme: str) -> str:
    """Return the README with its tables as they should be."""
    for name, settings in TABLES.items():
        marked = re.compile(rf"(<!-- settings: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        readme = marked.sub(partial(_between, table(settings)), readme)
    return readme


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
    shown = ",".join(sorted(value)) if isinstance(value, frozenset) else str(value).lower()
    return f"`{shown}`"


def main() -> None:
    before = README.read_text(encoding="utf-8")
    after = filled(before)
    if "--check" in sys.argv and before != after:
        sys.exit("README.md: the settings tables are stale; run `make docs`.")
    README.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
