"""The gateway's settings: flags, environment variables, and keys of config.toml."""

from functools import partial
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from client.common_settings import AbsolutePath, ProcessSettings
from client.instance import Autostart, is_local
from shared.loopback import is_loopback
from shared.resources import Kind
from shared.wire import CLIENT_ID_PATTERN, DEFAULT_PORT, ID_PATTERN


def _names(value: object, *, none: str = "") -> object:
    """Split a text at commas into names. `none` is the word for an empty list."""
    return frozenset(value.replace(",", " ").split()) - {none} if isinstance(value, str) else value


class Settings(ProcessSettings):
    """The gateway's settings: `BROWSE_<NAME>` in the environment, and the name itself in config.toml."""

    port: int = Field(
        default=DEFAULT_PORT,
        ge=1,
        le=65535,
        validation_alias=AliasChoices("BROWSE_PORT", "PORT"),
        description="Port of the browser service on this machine, if no URL is given.",
    )
    url: Annotated[str, AfterValidator(lambda url: url.rstrip("/"))] = Field(
        default_factory=lambda fields: f"http://127.0.0.1:{fields['port']}",
        pattern=r"^https?://[^/?#]+(/[^?#]*)?$",
        description="Address of the browser service; http://127.0.0.1:$PORT by default.",
    )
    plain_http: bool = Field(
        default=False,
        description="Send the token to another machine by http://, where everybody in between can read it.",
    )
    shared: bool = Field(
        default=True,
        description="Serve all chats of this account in one process; false: one process for each.",
    )
    shared_idle_s: float = Field(
        default=30, ge=0, le=86_400, description="How long that process stays after the last chat, in seconds."
    )
    autostart: bool = Field(default=True, description="Start the service where none runs at that address (loopback).")
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
    session: str | None = Field(
        default=None,
        pattern=ID_PATTERN,
        description="Session for calls that name neither page nor session. `new`: each chat gets one of its own with "
        "its first page, and a copy of the shared login's cookies; sites that rotate tokens may sign the others out.",
    )
    client_id: str | None = Field(
        default=None,
        pattern=CLIENT_ID_PATTERN,
        description="Id of this client at the service; by default the chat's id if the host tells it, else random.",
    )
    token: SecretStr | None = Field(
        default=None, description="Token to send instead of one made from the account's secret."
    )
    token_file: AbsolutePath | None = Field(default=None, description="File that holds that token.")

    @model_validator(mode="after")
    def _keeps_the_token_to_itself(self) -> Self:
        address = urlsplit(self.url)
        if address.scheme == "http" and not is_loopback(address.hostname or "") and not self.plain_http:
            raise ValueError(
                f"--url {self.url} would send the token unencrypted to another machine; write https://, or give "
                "--plain-http where nobody can read what passes"
            )
        return self


def begin_service(settings: Settings) -> Autostart:
    """Return the autostart of these settings' service. If the settings want it, the start begins now."""
    autostart = Autostart(settings.url, settings.data_dir, enabled=settings.autostart and is_local(settings.url))
    if autostart.enabled:
        autostart.begin()
    return autostart
