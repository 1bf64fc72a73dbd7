"""The gateway's settings: flags, environment variables, and keys of config.toml."""

from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from browse_together.client.connecting import ConnectingSettings
from browse_together.client.credentials import LABEL_CHARACTERS
from browse_together.contract.resources import Kind
from mcp_gateway.toolset_names import words


def _names(value: object, *, none: str = "") -> object:
    """Split a text at commas into names. `none` is the word for an empty list."""
    return words(value) - {none} if isinstance(value, str) else value


class Settings(ConnectingSettings):
    """The gateway's settings: `BROWSE_<NAME>` in the environment, and the name itself in config.toml."""

    shared: bool = Field(
        default=True,
        description="Serve all chats of this account in one process; false: one process for each.",
    )
    shared_idle_s: float = Field(
        default=30, ge=0, le=86_400, description="How long that process stays after the last chat, in seconds."
    )
    name: str | None = Field(
        default=None,
        max_length=LABEL_CHARACTERS,
        description="What people and other agents read as this chat's name; by default its program and folder.",
    )
    toolsets: Annotated[frozenset[str], NoDecode, BeforeValidator(_names)] = Field(
        default=frozenset({"core"}),
        description="Toolsets to list, separated by commas: `core`, any category, `all`. `call_tool` runs any.",
    )
    resources: Annotated[frozenset[Kind], NoDecode, BeforeValidator(partial(_names, none="none"))] = Field(
        default=frozenset({"pages", "elements", "screenshots", "sessions"}),
        description="Kinds of resources to offer, separated by commas; `none` for none.",
    )
    structured: bool = Field(
        default=False,
        description="Also send replies as `structuredContent`, for scripts. Several hosts then show a model nothing "
        "else.",
    )
    pages_ttl_ms: int = Field(
        default=60_000,
        ge=0,
        le=3_600_000,
        description="How long a page:// stays cached while the page is unchanged, ms.",
    )
    elements_ttl_ms: int = Field(
        default=30_000,
        ge=0,
        le=3_600_000,
        description="How long an element:// stays cached while the page is unchanged, ms.",
    )
    screenshots_ttl_ms: int = Field(
        default=300_000, ge=0, le=3_600_000, description="How long the current screenshot:// stays cached likewise, ms."
    )
