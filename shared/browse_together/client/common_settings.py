"""Declares the settings that more than one process has, so that they mean the same everywhere."""

from pathlib import Path
from typing import Annotated, Literal, Self

import platformdirs
from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, model_validator

from browse_together.client import caller
from browse_together.client.config_file import FileSettings
from browse_together.contract.loopback import exposure
from browse_together.contract.wire import APP_NAME

AbsolutePath = Annotated[Path, AfterValidator(caller.absolute)]


class ProcessSettings(FileSettings):
    """The settings of every process of ours."""

    data_dir: AbsolutePath = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir(APP_NAME, appauthor=False)),
        description="Profile, secret, journal, files and log; by default the platform's user data directory.",
    )
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(str.lower)] = Field(
        default="info",
        validation_alias=AliasChoices("BROWSE_LOG_LEVEL", "LOG_LEVEL"),
        description="Least severity to log.",
    )


class ListeningSettings(FileSettings):
    """The settings of servers that other machines may reach."""

    allow_remote: bool = Field(
        default=False,
        description="Listen beyond loopback; needs a certificate or behind_proxy, and for the gateway a key.",
    )
    tls_cert: AbsolutePath | None = Field(default=None, description="Certificate chain, PEM: serves https and wss.")
    tls_key: AbsolutePath | None = Field(default=None, description="Private key of that certificate, PEM.")
    behind_proxy: bool = Field(
        default=False,
        description="A proxy in front encrypts what comes from elsewhere, or only this machine can connect (a port "
        "that Docker publishes on 127.0.0.1).",
    )

    @model_validator(mode="after")
    def _has_key_and_certificate(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("--tls-cert and --tls-key belong together; give both")
        return self

    def check_exposure(self, host: str) -> None:
        """Raise ValueError if something is missing for listening at an address."""
        encrypted = self.tls_cert is not None
        if problem := exposure(host, allowed=self.allow_remote, encrypted=encrypted, behind_proxy=self.behind_proxy):
            raise ValueError(problem)
