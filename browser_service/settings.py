"""Declares every setting of the service: a key of config.toml, a variable of the environment, a flag of `up`.

It is long because all settings stand here, each with what users read of it.
"""

from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

import platformdirs
from pydantic import AliasChoices, Field, ValidationInfo, field_validator, model_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from browser_service.security.hosts import header_host, host_name, public_origin
from browser_service.security.url_rules import MOST_RULES, url_rule
from client.config_file import FileSettings
from shared.data_files import OUTPUT, PROFILE
from shared.loopback import exposure, is_loopback, reachable
from shared.wire import APP_NAME, DEFAULT_PORT

Names = Annotated[tuple[str, ...], NoDecode]


def _bare(name: str) -> AliasChoices:
    """Let a setting work with and without the prefix."""
    return AliasChoices(f"BROWSE_{name}", name)


class Settings(FileSettings):
    """The service's settings; every one is `BROWSE_<NAME>` in the environment, and its name in config.toml."""

    model_config = SettingsConfigDict(
        env_prefix="BROWSE_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(
        default=DEFAULT_PORT, ge=0, le=65535, validation_alias=_bare("PORT"), description="Port; 0 takes a free one."
    )
    allowed_hosts: Names = Field(
        default=(), description="Further values of the Host header to accept (`name:port`), separated by commas."
    )
    public_url: str | None = Field(
        default=None,
        description="Address by which people reach the service, such as https://browse.example.com: the links that "
        "they get have it, and its Host header is accepted. By default the address to listen on.",
    )
    allow_remote: bool = Field(
        default=False, description="Listen beyond loopback, which needs a certificate or behind_proxy."
    )
    tls_cert: Path | None = Field(default=None, description="Certificate chain, PEM: serves https.")
    tls_key: Path | None = Field(default=None, description="Private key of that certificate, PEM.")
    behind_proxy: bool = Field(
        default=False,
        description="Says that something in front encrypts what comes from elsewhere (a proxy that ends TLS), or lets "
        "in this machine alone (a port that Docker publishes on 127.0.0.1).",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", validation_alias=_bare("LOG_LEVEL"), description="Least severity that is logged."
    )
    app_env: Literal["production", "development", "test"] = Field(
        default="production",
        validation_alias=_bare("APP_ENV"),
        description="production logs JSON, the others log for people.",
    )
    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir(APP_NAME, appauthor=False)),
        description="Profile, secret, journal, artifacts and log; by default the platform's user data directory.",
    )
    key_store: Literal["file", "keyring"] = Field(
        default="file",
        description="Where the key of saved logins is: a file in the data directory, or the system's keyring.",
    )
    output_dir: Path = Field(
        default_factory=lambda given: given["data_dir"] / OUTPUT,
        description="Where the files of calls go: pictures, prints, downloads; by default `output` in the data "
        "directory.",
    )
    browser_type: Literal["chromium", "firefox", "webkit"] = Field(
        default="chromium", validation_alias=_bare("BROWSER_TYPE"), description="Engine of the shared browser."
    )
    headless: bool = Field(
        default=True, validation_alias=_bare("HEADLESS"), description="false shows the windows; needs a display."
    )
    executable_path: Path | None = Field(
        default=None, description="Browser to start; else Playwright's own, else an installed one."
    )
    cdp_url: str | None = Field(
        default=None,
        pattern=r"^(https?|wss?)://[^/]+",
        description="Attach to a browser that runs already with --remote-debugging-port, such as "
        "http://127.0.0.1:9222, instead of starting one.",
    )
    login_within_s: int = Field(
        default=900, ge=1, le=86_400, description="How long the window of `browse-together login` may stay open."
    )
    sandbox: Literal["auto", "on", "off"] = Field(
        default="auto", description="Chromium's sandbox; auto is on, except for root, where Chromium refuses it."
    )
    proxy: str | None = Field(
        default=None,
        pattern=r"^((https?|socks[45])://)?[^\s/@]+/?$",
        description="Proxy server of the shared browser, such as http://host:3128.",
    )
    viewport_width: int = Field(default=1280, ge=100, le=10_000, description="Width of a page, px.")
    viewport_height: int = Field(default=720, ge=100, le=10_000, description="Height of a page, px.")
    idle_lease_ms: int = Field(
        default=120_000, ge=0, description="A page whose holder did nothing for this long is taken by acting."
    )
    idle_work_ms: int = Field(
        default_factory=lambda given: given["idle_lease_ms"],
        ge=0,
        description="A piece of work that was claimed and not claimed again for this long is free; by default as long "
        "as a page.",
    )
    session_idle_ms: int = Field(
        default=3_600_000, ge=1_000, description="Milliseconds after which a session that nobody uses is closed."
    )
    save_every_ms: int = Field(
        default=30_000,
        ge=100,
        description="Milliseconds after which logins that pages changed by themselves are saved at the latest.",
    )
    queue_wait_ms: int = Field(default=10_000, ge=100, description="Milliseconds a call waits for its turn at most.")
    presence_grace_ms: int = Field(
        default=5_000, ge=0, description="How long a client may be gone before its calls end and its pages are free."
    )
    dialog_wait_ms: int = Field(
        default=30_000, ge=100, description="A dialog that nobody answers for this long is dismissed."
    )
    max_pages: int = Field(default=150, ge=1, description="Pages at once, of all sessions; parked ones count too.")
    session_pages: int = Field(default=120, ge=0, description="Pages of one session; 0 is no limit.")
    page_popups: int = Field(
        default=10,
        ge=0,
        description="Popups that a page may have open, with those of its popups; more are closed as they come. 0 is no "
        "limit.",
    )
    memory_mb: int | None = Field(
        default=None,
        ge=0,
        description="Megabytes that the browsers may have: above, idle pages are parked, then new ones refused. By "
        "default 60 % of the machine's, or the container's. 0 is no limit.",
    )
    park_after_ms: int = Field(
        default=1_800_000,
        ge=0,
        description="A page that nobody uses for this long is parked: its window is closed, and comes back with the "
        "next call. 0 is never.",
    )
    park_in_need_ms: int = Field(
        default_factory=lambda given: given["idle_lease_ms"],
        ge=0,
        description="Where memory is short, a page that nobody uses for this long is parked; by default as long as a "
        "page is kept for a holder that does nothing.",
    )
    blank_pages_ms: int = Field(
        default=600_000,
        ge=0,
        description="How long an unused page of a client that is gone stays; 0 is for ever.",
    )
    min_instances: int = Field(
        default=1,
        ge=0,
        description="Browsers that stay though idle. 1: the shared one, warm from the start. 0: it comes with a call.",
    )
    max_instances: int = Field(
        default=10, ge=1, description="Browsers at once: the shared one, and those of sessions with one of their own."
    )
    instance_idle_ms: int = Field(
        default=300_000, ge=100, description="A browser above the minimum that nobody uses for this long is closed."
    )
    spare_window_ms: int = Field(
        default=300_000,
        ge=0,
        description="As long as two pages were opened in the shared login within this time, a blank window is ready "
        "for the next one, unless people see the browser. 0 is never.",
    )
    metrics_enabled: bool = Field(
        default=False,
        description="Serve /metrics at a port of its own too, without a token; the service's has it always, with one.",
    )
    metrics_host: str = Field(
        default="127.0.0.1", description="Address of that port. Whoever reaches it reads figures, and no names."
    )
    metrics_port: int = Field(default=9_090, ge=0, le=65535, description="That port; 0 takes a free one.")
    activity_days: int = Field(default=30, ge=1, description="Days for which it is kept who did what.")
    timeline: Literal["thumbnails", "watched", "off"] = Field(
        default="watched",
        description="Small pictures of what acts made of their pages, for replays: of every act, only while somebody "
        "watches the page or it is recorded, or none.",
    )
    artifact_days: int = Field(default=7, ge=1, description="Days for which files that calls made are kept.")
    artifacts_mb: int = Field(
        default=5_000, ge=0, description="Megabytes of such files, of all clients; the oldest go. 0 is no limit."
    )
    client_artifacts_mb: int = Field(
        default=1_000, ge=0, description="Megabytes of such files of one client; the oldest go. 0 is no limit."
    )
    client_pages: int = Field(default=30, ge=0, description="Pages that one client may have open; 0 is no limit.")
    client_calls_in_flight: int = Field(
        default=32, ge=0, description="Calls of one client that may run at once; 0 is no limit."
    )
    client_calls_per_minute: int = Field(default=600, ge=0, description="Calls a minute of one client; 0 is no limit.")
    origin_at_once: int = Field(
        default=8, ge=0, description="Navigations and fetches to one origin at once, of all clients; 0 is no limit."
    )
    origin_per_minute: int = Field(
        default=120, ge=0, description="Navigations and fetches to one origin a minute, of all clients; 0 is no limit."
    )
    origin_local: bool = Field(
        default=False, description="Whether these two limits hold for this machine and private networks too."
    )
    origin_pause_s: int = Field(
        default=900,
        ge=0,
        description="Longest pause that a site's 429 or Retry-After brings for all clients, s; 0 ignores them.",
    )
    cookie_values: bool = Field(
        default=False,
        description="Whether every chat of this account reads the cookie values of the shared login, and may export "
        "it; else only a token that was made with --cookies.",
    )
    notify: Literal["desktop", "off"] = Field(
        default="desktop", description="Whether this machine's desktop shows that an agent asks for a person."
    )
    notify_webhook: str | None = Field(
        default=None,
        pattern=r"^(https://|http://(localhost|127\.0\.0\.1|\[::1\])[:/])\S+$",
        description="Address that is POSTed what a person is asked for, as JSON; https, or http on this machine.",
    )
    allow_hosts: Names = Field(
        default=(), description="If given, the only hosts (with their subdomains) that pages may open."
    )
    deny_hosts: Names = Field(default=(), description="Hosts (with their subdomains) that pages may not open.")
    url_whitelist: Names = Field(
        default=(),
        max_length=MOST_RULES,
        description="If given, the only URLs that pages may open: beginnings (`https://shop.example/cart`), hosts "
        "(`*.example.com`), patterns (`*://*:8080/*`), separated by commas.",
    )
    url_blacklist: Names = Field(
        default=(),
        max_length=MOST_RULES,
        description="URLs that pages may not open, in the same forms; it goes before what is allowed.",
    )
    url_rules_for: Literal["documents", "requests"] = Field(
        default="documents",
        description="Whether these two hold for what pages show, or for every request: pictures, scripts, fetches, "
        "workers, WebSockets.",
    )
    private_network: Literal["allow", "refuse"] = Field(
        default="allow",
        description="Whether pages reach this machine and private networks. refuse looks at the address that a name "
        "leads to when it is connected to; clouds' metadata addresses are refused always.",
    )
    invisible_text: Literal["drop", "mark", "keep"] = Field(
        default="drop",
        description="What replies have of a page's texts that nobody sees, such as white ones on white: nothing, the "
        "text with a mark, or the text like any other. HTML that is asked for is whole.",
    )
    policy_file: Path | None = Field(
        default=None,
        description="Rules for acts: which a person confirms, which are refused; by default `policy.toml` in the data "
        "directory, if it is there.",
    )
    guarded: bool = Field(
        default=False,
        description="The shared login is guarded: what a chat read at one site goes to no other until a person allows "
        "it.",
    )
    download_max_mb: int = Field(
        default=500, ge=0, description="Megabytes that one download may have; a larger one is stopped. 0 is no limit."
    )
    upload_roots: Annotated[tuple[Path, ...], NoDecode] = Field(
        default=(), description="Folders whose files may be uploaded by their names, separated by commas."
    )

    @property
    def rules_file(self) -> Path:
        """Return where the rules for acts are."""
        return self.policy_file or self.data_dir / "policy.toml"

    @field_validator("allowed_hosts", "allow_hosts", "deny_hosts", "url_whitelist", "url_blacklist", mode="before")
    @classmethod
    def _split_at_commas(cls, value: object) -> object:
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("allow_hosts", "deny_hosts")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(host_name, value))

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
        return value and public_origin(value)

    @field_validator("upload_roots", mode="before")
    @classmethod
    def _split_paths(cls, value: object) -> object:
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @field_validator("log_level", mode="before")
    @classmethod
    def _any_case(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @field_validator("data_dir", "output_dir", "executable_path", "tls_cert", "tls_key")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return value and value.expanduser().absolute()

    @model_validator(mode="after")
    def _reach(self) -> Self:
        """Refuse what cannot be kept to: connections of a browser that somebody else started go where they want."""
        strict = self.private_network == "refuse" or (
            self.url_rules_for == "requests" and bool(self.url_whitelist or self.url_blacklist)
        )
        if strict and self.cdp_url:
            raise ValueError(
                "private_network refuse and url_rules_for requests need a browser that is started here, "
                "so that all it sends passes a gate: leave cdp_url out"
            )
        return self

    @model_validator(mode="after")
    def _is_reached_from_where_it_should_be(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("--tls-cert and --tls-key belong together; give both")
        encrypted = self.tls_cert is not None
        if problem := exposure(
            self.host, allowed=self.allow_remote, encrypted=encrypted, behind_proxy=self.behind_proxy
        ):
            raise ValueError(problem)
        address = urlsplit(self.public_url or "https://")
        if not (address.scheme == "https" or self.behind_proxy or is_loopback(address.hostname or "")):
            raise ValueError(
                f"--public-url {self.public_url} is reached from elsewhere, where the wall is shown over TLS alone; "
                "write https://, or give --behind-proxy where something in front encrypts"
            )
        if self.metrics_enabled and not is_loopback(self.metrics_host) and not self.allow_remote:
            raise ValueError(f"--metrics-host {self.metrics_host} is reached from elsewhere; give --allow-remote")
        return self

    def people_url(self, port: int) -> str:
        """Return the address that people's links have; empty where only that for this machine is known."""
        return self.public_url or ("" if is_loopback(reachable(self.host)) else self.local_url(port))

    def local_url(self, port: int) -> str:
        """Return the address by which this machine reaches the service."""
        return f"{self.scheme}://{reachable(self.host)}:{port}"

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
