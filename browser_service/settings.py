"""Declares every setting of the service: a key of config.toml, a variable of the environment, a flag of `up`.

It is long because all settings stand here, each with what users read of it.
"""

import re
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic_settings import NoDecode

from browse_together.client import caller
from browse_together.client.common_settings import AbsolutePath, ListeningSettings, ProcessSettings
from browse_together.contract.attached import AttachTarget
from browse_together.contract.data_files import FLOWS, OUTPUT, PROFILE
from browse_together.contract.loopback import is_loopback, reachable
from browse_together.contract.variables import unprotected
from browse_together.contract.wire import DEFAULT_PORT
from browser_service.security.origins import whole_origin
from browser_service.security.url_rules import MOST_RULES, url_rule
from browser_service.security.web_address import header_host
from browser_service.tuning import Tuning

Names = Annotated[tuple[str, ...], NoDecode]
MOST_PORTS: Final = 65_535
NEEDS_OWN_BROWSER: Final = (
    "private_network refuse and url_rules_for requests need a browser that is started here, so that all it sends "
    "passes a gate"
)


def _bare(name: str) -> AliasChoices:
    """Let a setting work with and without the prefix."""
    return AliasChoices(f"BROWSE_{name}", name)


class Settings(ListeningSettings, ProcessSettings):
    """The service's settings; every one is `BROWSE_<NAME>` in the environment, and its name in config.toml."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(
        default=DEFAULT_PORT, ge=0, le=65535, validation_alias=_bare("PORT"), description="Port; 0 takes a free one."
    )
    allowed_hosts: Names = Field(
        default=(), description="Other values of the Host header to accept (`name:port`), separated by commas."
    )
    public_url: str | None = Field(
        default=None,
        description="Address by which people reach the service, such as https://browse.example.com. Their links use "
        "it, and its Host header is accepted. By default the address to listen on.",
    )
    hosts: bool = Field(
        default=False,
        description="Take in hosts: processes on other machines that run browsers for this service. They dial in with "
        "a token of `browse-together token host`.",
    )
    host_lease_ms: int = Field(
        default=10_000,
        ge=1_000,
        description="How long a host may act without word from this service, in milliseconds. Then it ends its "
        "browsers, and its sessions go on elsewhere.",
    )
    app_env: Literal["production", "development", "test"] = Field(
        default="production",
        validation_alias=_bare("APP_ENV"),
        description="production logs JSON; the others log lines for people.",
    )
    key_store: Literal["file", "keyring"] = Field(
        default="file",
        description="Where the key of saved logins is kept: in a file in the data directory, or in the system's "
        "keyring.",
    )
    output_dir: AbsolutePath = Field(
        default_factory=lambda given: given["data_dir"] / OUTPUT,
        description="Where calls put their files: pictures, prints, downloads. By default `output` in the data "
        "directory.",
    )
    flows_dir: AbsolutePath = Field(
        default_factory=lambda given: given["data_dir"] / FLOWS,
        description="Where flows are kept, a file each; it may be under version control. By default `flows` in the "
        "data directory.",
    )
    browser_type: Literal["chromium", "firefox", "webkit"] = Field(
        default="chromium", validation_alias=_bare("BROWSER_TYPE"), description="Engine of the shared browser."
    )
    headless: bool = Field(
        default=True, validation_alias=_bare("HEADLESS"), description="false shows the windows; needs a display."
    )
    executable_path: AbsolutePath | None = Field(
        default=None, description="Browser to start; by default Playwright's own, else an installed one."
    )
    cdp_url: str | None = Field(
        default=None,
        pattern=r"^(https?|wss?)://[^/]+",
        description="Attach to a running browser with --remote-debugging-port, such as http://127.0.0.1:9222, instead "
        "of starting one.",
    )
    cdp_headers: SecretStr | None = Field(
        default=None,
        description="Headers for attaching at BROWSE_CDP_URL, as remote engines want them: `Authorization: Bearer x`, "
        "each on a line of its own.",
    )
    attach: str | None = Field(
        default=None,
        description="Attach to the browser in which you live, beside the service's own, once it is needed: chrome, "
        "chrome-beta, msedge, brave, chromium, or its user data directory. It is the session chrome; with ` default` "
        "after the name, calls that name no session work there. As `browse-together attach` does.",
    )
    attached_tabs: Literal["private", "shared"] = Field(
        default="private",
        description="What agents see of the tabs of a browser that is attached to: those that its person shares, or "
        "all.",
    )
    sandbox: Literal["auto", "on", "off"] = Field(
        default="auto", description="Chromium's sandbox; auto is on, except for root, where Chromium refuses it."
    )
    proxy: str | None = Field(
        default=None,
        pattern=r"^((https?|socks[45])://)?[^\s/@]+/?$",
        description="Proxy server of the shared browser, such as http://host:3128.",
    )
    viewport: str = Field(
        default="1280x720",
        pattern=r"^[1-9][0-9]{2,3}x[1-9][0-9]{2,3}$",
        description="Width and height of a page in the shared login, in px, such as 1280x720.",
    )
    session_idle_ms: int = Field(
        default=3_600_000, ge=1_000, description="A session that nobody uses for this long is closed, in milliseconds."
    )
    max_pages: int = Field(default=150, ge=1, description="Pages open at once, in all sessions, parked ones included.")
    memory_mb: int | None = Field(
        default=None,
        ge=0,
        description="Megabytes for the browsers. Above this, idle pages are parked, then new ones are refused. By "
        "default 60 % of the machine's or the container's memory; 0 means no limit.",
    )
    min_instances: int = Field(
        default=1,
        ge=0,
        description="Browsers that stay open when idle. 1: the shared one, ready from the start; if a gateway started "
        "the service and nobody is there, it ends after two minutes without a page, until the next call. 0: it starts "
        "with the first call.",
    )
    max_instances: int = Field(
        default=10, ge=1, description="Browsers open at once: the shared one, and those of sessions with their own."
    )
    instance_idle_ms: int = Field(
        default=300_000,
        ge=100,
        description="A browser above the minimum is closed after this long without use, in milliseconds.",
    )
    metrics_port: str | None = Field(
        default=None,
        pattern=r"^(([^\s:/]+|\[[^\s\]]+\]):)?[0-9]+$",
        description="Also serve /metrics without a token: at this port of this machine (9090; 0 takes a free one), or "
        "at an address (0.0.0.0:9090). Whoever reaches it reads figures, and no names but those of hosts. The "
        "service's port always serves it, with a token.",
    )
    timeline: Literal["thumbnails", "watched", "off"] = Field(
        default="watched",
        description="Small pictures of acts for the wall and replays: of acts while somebody watches or records the "
        "page (watched), of every act (thumbnails; many agents together get a quarter less done), or none (off). The "
        "newest 13,000 are kept: 200 MB at most.",
    )
    client_calls_per_minute: int = Field(
        default=600, ge=0, description="Calls a minute of one client; 0 means no limit."
    )
    cookie_values: bool = Field(
        default=False,
        description="Let every chat of this account read cookie values of the shared login, and export it. Without it, "
        "only tokens made with --cookies may.",
    )
    notify: Literal["desktop", "off"] = Field(
        default="desktop",
        description="Show on this machine's desktop that an agent asks for a person, or that a login ends.",
    )
    notify_webhook: str | None = Field(
        default=None,
        pattern=r"^(https://|http://(localhost|127\.0\.0\.1|\[::1\])[:/])\S+$",
        description="Address that gets a POST with what an agent asks a person for, as JSON; https, or http on this "
        "machine.",
    )
    url_whitelist: Names = Field(
        default=(),
        max_length=MOST_RULES,
        description="The only URLs that pages may open: beginnings (`https://shop.example/cart`), hosts "
        "(`*.example.com`) or patterns (`*://*:8080/*`), separated by commas. Empty allows all.",
    )
    url_blacklist: Names = Field(
        default=(),
        max_length=MOST_RULES,
        description="URLs that pages may not open, in the same forms, even if they are allowed.",
    )
    url_rules_for: Literal["documents", "requests"] = Field(
        default="documents",
        description="Whether these two cover only documents, or every request: pictures, scripts, fetches, workers, "
        "WebSockets.",
    )
    private_network: Literal["allow", "refuse"] = Field(
        default="allow",
        description="Whether pages may reach this machine and private networks. refuse checks the address that a name "
        "resolves to. Clouds' metadata addresses are always refused.",
    )
    guarded: bool = Field(
        default=False,
        description="Guard the shared login: what a chat read at one site goes to no other until a person allows it.",
    )
    upload_roots: Annotated[tuple[AbsolutePath, ...], NoDecode] = Field(
        default=(), description="Folders from which files may be uploaded by path, separated by commas."
    )

    tuning: ClassVar[Tuning] = Tuning()

    @property
    def viewport_size(self) -> tuple[int, int]:
        width, _, height = self.viewport.partition("x")
        return int(width), int(height)

    @property
    def metrics_address(self) -> tuple[str, int] | None:
        """Return where /metrics is served without a token."""
        host, _, port = (self.metrics_port or "").rpartition(":")
        return (host.strip("[]") or "127.0.0.1", int(port)) if port else None

    @property
    def rules_file(self) -> Path:
        """Return where the rules for acts are."""
        return self.data_dir / "policy.toml"

    @field_validator("allowed_hosts", "url_whitelist", "url_blacklist", mode="before")
    @classmethod
    def _split_at_commas(cls, value: object) -> object:
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("url_whitelist", "url_blacklist")
    @classmethod
    def _url_rules(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for text in value:
            url_rule(text, allows=info.field_name == "url_whitelist")
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def _values_of_the_host_header(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(header_host, value))

    @field_validator("public_url")
    @classmethod
    def _origin(cls, value: str | None) -> str | None:
        if not value:
            return value
        if not (origin := whole_origin(value)):
            raise ValueError(
                f"{value!r} is no address of a service. Write scheme, host and, if it is not the usual one, the port, "
                "such as 'https://browse.example.com'; no path can be part of it."
            )
        return origin

    @field_validator("attach")
    @classmethod
    def _names_a_browser(cls, value: str | None) -> str | None:
        if value:
            AttachTarget.parse(value)
        return value

    @field_validator("cdp_url")
    @classmethod
    def _is_encrypted(cls, value: str | None) -> str | None:
        parts = urlsplit(value or "")
        if parts.scheme in {"http", "ws"} and not is_loopback(parts.hostname or ""):
            raise ValueError(
                f"{parts.scheme}://{parts.hostname} would drive a browser over a network that others may read; write "
                "https:// or wss://, or bring it to this machine (ssh -L 9222:127.0.0.1:9222 HOST)"
            )
        return value

    @field_validator("cdp_headers")
    @classmethod
    def _are_headers(cls, value: SecretStr | None) -> SecretStr | None:
        for line in value.get_secret_value().splitlines() if value else ():
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:\s*\S.*", line):
                raise ValueError("write each header as Name: value, on a line of its own")
        return value

    @field_validator("metrics_port")
    @classmethod
    def _is_port(cls, value: str | None) -> str | None:
        if value and int(value.rpartition(":")[2]) > MOST_PORTS:
            raise ValueError(f"{value} is no port; the highest is {MOST_PORTS}")
        return value

    @field_validator("upload_roots", mode="before")
    @classmethod
    def _split_paths(cls, value: object) -> object:
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _protects_as_before(cls, values: object) -> object:
        if line := unprotected(caller.environ()):
            raise ValueError(line)
        return values

    @model_validator(mode="after")
    def _reach(self) -> Self:
        """Refuse what cannot be kept to: connections of a browser that somebody else started go where they want."""
        if self.needs_gate and (self.cdp_url or self.attach):
            raise ValueError(f"{NEEDS_OWN_BROWSER}: leave {'cdp_url' if self.cdp_url else 'attach'} out")
        if self.attach and self.cdp_url:
            raise ValueError("a service attaches to one browser: give attach or cdp_url, not both")
        return self

    @model_validator(mode="after")
    def _is_reached_from_where_it_should_be(self) -> Self:
        self.check_exposure(self.host)
        address = urlsplit(self.public_url or "https://")
        if not (address.scheme == "https" or self.behind_proxy or is_loopback(address.hostname or "")):
            raise ValueError(
                f"--public-url {self.public_url} is reached from elsewhere, where the wall is shown over TLS alone; "
                "write https://, or give --behind-proxy where something in front encrypts"
            )
        if self.metrics_address and not is_loopback(self.metrics_address[0]) and not self.allow_remote:
            raise ValueError(f"--metrics-port {self.metrics_port} is reached from elsewhere; give --allow-remote")
        return self

    def people_url(self, port: int) -> str:
        """Return the address that people's links have; empty where only that for this machine is known."""
        return self.public_url or ("" if is_loopback(reachable(self.host)) else self.local_url(port))

    def local_url(self, port: int) -> str:
        """Return the address by which this machine reaches the service."""
        return f"{self.scheme}://{reachable(self.host)}:{port}"

    @property
    def needs_gate(self) -> bool:
        """Return whether all that browsers send has to pass a gate of ours."""
        by_request = self.url_rules_for == "requests" and bool(self.url_whitelist or self.url_blacklist)
        return self.private_network == "refuse" or by_request

    @property
    def header_values(self) -> dict[str, str]:
        """Return the headers for attaching, by name."""
        lines = self.cdp_headers.get_secret_value().splitlines() if self.cdp_headers else []
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def attach_target(self) -> AttachTarget | None:
        return AttachTarget.parse(self.attach) if self.attach else None

    @property
    def debugging_hosts(self) -> frozenset[str]:
        """Return where the browser listens that the service attaches to: who asks there drives it."""
        return frozenset([urlsplit(self.cdp_url).netloc.rpartition("@")[2]] if self.cdp_url else ())

    @property
    def scheme(self) -> str:
        return "https" if self.tls_cert else "http"

    @property
    def profile_dir(self) -> Path:
        return self.data_dir / PROFILE
