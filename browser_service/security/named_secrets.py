"""The account's named secrets: encrypted in one file, which the command line writes and the service reads."""

import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from browse_together.contract.data_files import KEY_FILE, SECRETS_FILE, SECRETS_LOCK, draft
from browse_together.contract.errors import ServiceUnavailable, ValidationFailed, field_details
from browse_together.contract.named_secrets import MOST_SECRETS, NamedSecret
from browser_service.security.known_secrets import KnownSecrets
from browser_service.security.seal import Seal
from browser_service.security.secret_commands import SecretCommand, SecretCommands

KeptSecret = NamedSecret | SecretCommand
_NONE: Final[Mapping[str, KeptSecret]] = MappingProxyType({})
_KEPT: Final[TypeAdapter[list[KeptSecret]]] = TypeAdapter(list[KeptSecret])


class NamedSecrets(KnownSecrets):
    """The secrets: revealed to calls that name them, hidden in everything else. Of those that are kept elsewhere, what
    this start of the service was given is hidden."""

    def __init__(self, data_dir: Path, seal: Seal) -> None:
        super().__init__()
        self._path = data_dir / SECRETS_FILE
        self._lock = FileLock(data_dir / SECRETS_LOCK, timeout=10)
        self._seal = seal
        self._read_as: tuple[int, int] | None = None
        self._unreadable: ServiceUnavailable | None = None
        self._secrets = _NONE
        self._commands = SecretCommands()

    # --- what calls need ---------------------------------------------------------------------------------------------

    async def reveal(self, names: Collection[str]) -> dict[str, NamedSecret]:
        """Return the secrets with these names, asking where they are kept elsewhere. Raises ValidationFailed for an
        unknown name, VaultLocked, and ServiceUnavailable if the file cannot be read."""
        revealed = {}
        for name, kept in self.named(names).items():
            if isinstance(kept, SecretCommand):
                revealed[name] = await self._commands.answer(kept)
                self.note([revealed[name]])
            else:
                revealed[name] = kept
        return revealed

    def named(self, names: Collection[str]) -> dict[str, KeptSecret]:
        """Return what is kept under these names. Raises as `reveal` does."""
        known = self.all() if names else _NONE
        for name in names:
            if name not in known:
                listed = "; ".join(f"{each.name} for {', '.join(each.origins)}" for each in known.values())
                raise ValidationFailed(
                    f"There is no secret {name!r}.",
                    hint=f"There are: {listed}."
                    if listed
                    else f"The account's owner sets it: browse-together secret set {name} --origin https://...",
                    details=field_details("secret"),
                )
        return {name: known[name] for name in names}

    def known(self) -> Collection[NamedSecret]:
        """Return today's secrets. An unreadable file has none to hide, because none was revealed."""
        with contextlib.suppress(ServiceUnavailable):
            self.all()
        kept = [each for each in self._secrets.values() if isinstance(each, NamedSecret)]
        return [*kept, *(each for each in super().known() if each.name in self._secrets)]

    # --- what the owner does -----------------------------------------------------------------------------------------

    def all(self) -> Mapping[str, KeptSecret]:
        """Return all secrets, rereading a file that changed. Raises ServiceUnavailable if it cannot be read."""
        version = None
        with contextlib.suppress(FileNotFoundError):
            found = self._path.stat()
            version = (found.st_mtime_ns, found.st_size)
        if version != self._read_as:  # every call and event asks: do not reopen a file that is unreadable for each
            self._read_as, self._unreadable = version, None
            self.changed()
            try:
                self._secrets = self._read() if version else _NONE
            except ServiceUnavailable as error:
                self._unreadable = error
        if self._unreadable is not None:
            raise self._unreadable
        return self._secrets

    def set(self, secret: KeptSecret) -> None:
        """Store a secret, replacing one of the same name. Raises ValidationFailed if there are too many."""
        with self._lock:
            secrets = {**self.all(), secret.name: secret}
            if len(secrets) > MOST_SECRETS:
                raise ValidationFailed(f"There can be {MOST_SECRETS} secrets.", hint="Remove one first.")
            self._write(secrets)

    def remove(self, name: str) -> bool:
        """Remove a secret, and return whether it existed."""
        with self._lock:
            secrets = {**self.all()}
            found = secrets.pop(name, None) is not None
            if found:
                self._write(secrets)
        return found

    def _read(self) -> dict[str, KeptSecret]:
        opened = self._seal.open(self._path.read_bytes())
        try:
            secrets = _KEPT.validate_python(opened or [])
        except ValidationError:
            secrets = []
        if not secrets and opened != []:
            raise ServiceUnavailable(
                f"The secrets in {self._path} cannot be read: they were sealed with another key ({KEY_FILE}).",
                hint=f"Bring that key back, or remove {self._path.name} and set the secrets again.",
            )
        return {secret.name: secret for secret in secrets}

    def _write(self, secrets: Mapping[str, KeptSecret]) -> None:
        sealed = self._seal.close([each.model_dump(mode="json") for each in secrets.values()])
        draft(self._path, sealed).replace(self._path)
