"""Asks a person's vault for a secret, by the command that they gave for it."""

import asyncio
import os
import shlex
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError, field_validator

from browse_together.contract.errors import ValidationFailed, VaultLocked, field_details
from browse_together.contract.model import Model, first_fault
from browse_together.contract.named_secrets import MOST_CHARACTERS, NamedSecret, Origins, SecretName
from browser_service.programs import printed_by
from browser_service.security.one_time_codes import secret_of

ANSWERS_WITHIN_S: Final = 30


class SecretCommand(Model):
    """A secret that is kept elsewhere: the command that prints it, and the only origins that get it."""

    name: SecretName
    command: str = Field(min_length=1, max_length=2_000)
    origins: Origins
    totp: bool = Field(default=False, description="It prints the key of an authenticator's codes.")

    @field_validator("command")
    @classmethod
    def _has_words(cls, command: str) -> str:
        if not _words(command):
            raise ValueError("a command names a program")
        return command

    @property
    def program(self) -> str:
        """Return the program's name, which is all that agents are told of the command."""
        return Path(_words(self.command)[0]).name


class SecretCommands:
    """The commands that run: one for each secret, for all who ask for it meanwhile."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[NamedSecret]] = {}

    async def answer(self, asked: SecretCommand) -> NamedSecret:
        """Return the secret that the command prints. Raises VaultLocked, or ValidationFailed if it prints no secret."""
        if (running := self._running.get(asked.name)) is None:
            running = self._running[asked.name] = asyncio.create_task(ask(asked), name=asked.name)
            running.add_done_callback(self._ended)
        return await asyncio.shield(running)

    def _ended(self, running: asyncio.Task[NamedSecret]) -> None:
        self._running.pop(running.get_name())
        _ = running.cancelled() or running.exception()  # else asyncio tells of it, if whoever asked has left


async def ask(asked: SecretCommand) -> NamedSecret:
    """Run the command for a secret. What it says of its errors goes nowhere, as it may name what it was asked for."""
    try:
        said, code = await printed_by(_words(asked.command), ANSWERS_WITHIN_S, 4 * MOST_CHARACTERS)
        failed = f"failed with exit code {code}" if code else ""
    except TimeoutError:
        failed = f"gave no answer within {ANSWERS_WITHIN_S} s"
    except OSError as error:
        failed = f"does not start ({error.strerror})"
    if failed:
        raise VaultLocked(
            f"The secret {asked.name!r} comes from a command, and {asked.program} {failed}: its vault may be locked.",
            hint=f"Its owner unlocks it, and tries it: browse-together secret check {asked.name}.",
            details=field_details("secret"),
        )
    text = said.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
    try:
        return secret_of(asked.name, text, asked.origins, totp=asked.totp)
    except ValidationError as error:
        raise ValidationFailed(
            f"What {asked.program} prints for the secret {asked.name!r} is none: {first_fault(error)[1]}.",
            hint=f"Its owner looks at it: browse-together secret check {asked.name}.",
            details=field_details("secret"),
        ) from None


def _words(command: str) -> list[str]:
    """Split a command into words, as a shell does. Raises ValueError for a quotation mark without another."""
    return shlex.split(command, posix=os.name == "posix")
