"""The settings of the transports: flags, or the same names in the environment."""

from typing import Annotated, Final, Literal, Self

from pydantic import AliasChoices, BeforeValidator, Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from browse_together.client.common_settings import AbsolutePath, ListeningSettings
from browse_together.contract.loopback import is_loopback
from browse_together.contract.wire import MAX_MESSAGE_BYTES

Kind = Literal["stdio", "http", "sse", "websocket", "jsonl"]
Auth = Literal["bearer", "api-key", "session", "none"]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
SSE_PATH: Final = "/sse"
MESSAGES_PATH: Final = "/messages/"
_PATH: Final = r"^/[A-Za-z0-9._~/-]*$"
_ALSO = {"ws": "websocket", "streamable-http": "http", "json-lines": "jsonl"}


def _words(value: object) -> object:
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


def _kinds(value: object) -> object:
    """Split the names of transports, and accept their aliases."""
    words = _words(value)
    if words == ():
        raise ValueError("name one of stdio, http, sse, websocket, jsonl")
    return (
        tuple(_ALSO.get(str(word).lower(), str(word).lower()) for word in words) if isinstance(words, tuple) else words
    )


def _auth(value: object) -> object:
    """Accept `token` as an alias of a bearer key."""
    return {"token": "bearer"}.get(value.lower(), value.lower()) if isinstance(value, str) else value


def _host(value: object) -> object:
    """Strip a URL's brackets from an address."""
    return value.removeprefix("[").removesuffix("]") if isinstance(value, str) else value


class NotUsable(Exception):
    """The settings cannot be used here, such as a missing key or a taken address. The text says what to do."""


class TransportSettings(ListeningSettings):
    """How clients reach a gateway, and who may use it."""

    transport: Annotated[tuple[Kind, ...], NoDecode, BeforeValidator(_kinds)] = Field(
        default=("stdio",),
        description="stdio, http, sse, websocket (or ws), jsonl; several with commas, if at most one uses stdin.",
    )
    mcp_host: Annotated[str, BeforeValidator(_host)] = Field(
        default="127.0.0.1", min_length=1, description="Address to listen on."
    )
    mcp_port: int = Field(default=3000, ge=0, le=65535, description="Port for http and sse; 0 takes a free one.")
    mcp_path: str = Field(default="/mcp", pattern=_PATH, max_length=200, description="Path of http, such as /mcp.")
    ws_port: int = Field(default=3001, ge=0, le=65535, description="Port for websocket; 0 takes a free one.")
    ws_path: str = Field(default="/ws", pattern=_PATH, max_length=200, description="Path of websocket, such as /ws.")
    auth: Annotated[Auth, BeforeValidator(_auth)] = Field(
        default="bearer",
        description="How a client proves itself: bearer (or token: Authorization), api-key (X-API-Key), session (like "
        "bearer; a websocket may also use a short-lived session, which a POST with the key to its path returns), or "
        "none (loopback only).",
    )
    auth_secret: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("BROWSE_AUTH_SECRET", "AUTH_SECRET"),
        description="The key that clients send.",
    )
    auth_file: AbsolutePath | None = Field(
        default=None,
        description="File of keys, one on a line, each a client of its own; by default `mcp-keys` in the data "
        "directory, made with one key where there is none.",
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)] = Field(
        default=(), description="Web pages that may call, as origins separated by commas: https://app.example.com."
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)] = Field(
        default=(), description="Names under which clients reach this host, beside its address: mcp.example.com."
    )
    rate_limit_window_ms: int = Field(default=60_000, ge=1_000, le=3_600_000, description="Window of the limit, ms.")
    rate_limit_max: int = Field(
        default=100, ge=0, le=1_000_000, description="Requests of one client in a window; 0 for no limit."
    )
    max_message_bytes: int = Field(
        default=MAX_MESSAGE_BYTES, ge=1_024, le=MAX_MESSAGE_BYTES, description="Bytes of one message at most."
    )
    heartbeat_interval_ms: int = Field(
        default=30_000,
        ge=0,
        le=3_600_000,
        description="How often to ping a websocket's client, ms; 0 for never.",
    )
    heartbeat_timeout_ms: int = Field(
        default=5_000, ge=100, le=600_000, description="How long to wait for the answer, ms."
    )

    @field_validator("cors_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            scheme, separator, rest = origin.partition("://")
            if scheme not in {"http", "https"} or not separator or not rest or "/" in rest:
                raise ValueError(f"{origin!r} is no origin; write https://app.example.com, without a path")
        return origins

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        if len({"stdio", "jsonl"} & {*self.transport}) > 1:
            raise ValueError("stdio and jsonl both speak on stdin; name one of them")
        if self.mcp_port == self.ws_port != 0 and "websocket" in self.networks and len(self.networks) > 1:
            raise ValueError(f"--port and --ws-port are both {self.ws_port}; each transport has a port of its own")
        if {"http", "sse"} <= self.networks and f"{self.mcp_path}/".startswith((f"{SSE_PATH}/", MESSAGES_PATH)):
            raise ValueError(f"--path {self.mcp_path} is taken by the transport sse; choose another")
        if self.auth == "none" and self.networks and (flag := self._reached_from_elsewhere):
            raise ValueError(f"{flag} is reached from elsewhere; --auth none is for loopback only")
        if not self.is_loopback and self.networks:
            self.check_exposure(self.mcp_host)
        return self

    @property
    def _reached_from_elsewhere(self) -> str:
        """Return the flag that lets other machines in, even if only by a name that a proxy passes on; empty if there is
        none."""
        if not self.is_loopback:
            return f"--host {self.mcp_host}"
        return next((f"--allowed-hosts {name}" for name in self.allowed_hosts if not is_loopback(name)), "")

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.mcp_host)

    @property
    def is_everywhere(self) -> bool:
        """Return whether the gateway listens on all addresses of this machine."""
        return self.mcp_host in {"0.0.0.0", "::"}  # noqa: S104 - compared, not bound

    @property
    def websocket_flag(self) -> str:
        """Return the flag for the websocket port: `--port` if nothing else listens."""
        return "--port" if self.networks == {"websocket"} else "--ws-port"

    @property
    def networks(self) -> frozenset[str]:
        """Return the transports that listen."""
        return frozenset({"http", "sse", "websocket"} & {*self.transport})
