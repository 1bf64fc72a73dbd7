"""The settings by which a client finds the service, and proves who it is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, Field, SecretStr, model_validator

from browse_together.client.autostart import Autostart
from browse_together.client.common_settings import AbsolutePath, ProcessSettings
from browse_together.client.config_file import FileSettings
from browse_together.client.instance import answers, is_local, noted_url
from browse_together.contract.loopback import is_loopback
from browse_together.contract.wire import CLIENT_ID_PATTERN, DEFAULT_PORT, ID_PATTERN


class _ServiceSettings(FileSettings):
    """What a service that is started from here would be given, of that which its address depends on."""

    tls_cert: str | None = None


def _url_here(fields: Mapping[str, object]) -> str:
    """Return the address of this machine's service: with https if it serves that, or would if it were started by us."""
    plain, encrypted = (f"{scheme}://127.0.0.1:{fields['port']}" for scheme in ("http", "https"))
    noted = noted_url(Path(str(fields["data_dir"])))
    is_here = noted.startswith("https:") and urlsplit(noted).port == fields["port"]
    if is_here and (answers(noted) or not fields["autostart"]):  # else it was killed, and comes back as we start it
        return noted
    is_encrypted = fields["autostart"] and _ServiceSettings().tls_cert and not answers(plain)
    return encrypted if is_encrypted else plain


class ConnectingSettings(ProcessSettings):
    """The settings of every client that runs in a process of its own: a gateway, a Python program."""

    port: int = Field(
        default=DEFAULT_PORT,
        ge=1,
        le=65535,
        validation_alias=AliasChoices("BROWSE_PORT", "PORT"),
        description="Port of the browser service on this machine, if no URL is given.",
    )
    autostart: bool = Field(default=True, description="Start the service where none runs at that address (loopback).")
    url: Annotated[str, AfterValidator(lambda url: url.rstrip("/"))] = Field(
        default_factory=_url_here,
        pattern=r"^https?://[^/?#]+(/[^?#]*)?$",
        description="Address of the browser service; by default 127.0.0.1:$PORT, with https if it has a certificate.",
    )
    plain_http: bool = Field(
        default=False,
        description="Send the token to another machine by http://, where everybody in between can read it.",
    )
    session: str | None = Field(
        default=None,
        pattern=ID_PATTERN,
        description="Session for calls that name no other, nor a page that is there. `new`: each chat gets one of its "
        "own with its first page, and a copy of the shared login's cookies; sites that rotate tokens may sign the "
        "others out.",
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


def begin_service(settings: ConnectingSettings) -> Autostart:
    """Return the autostart of these settings' service. If the settings want it, the start begins now,
    unless the service was ended on purpose."""
    autostart = Autostart(settings.url, settings.data_dir, enabled=settings.autostart and is_local(settings.url))
    if autostart.enabled and not autostart.kept_down:
        autostart.begin()
    return autostart
