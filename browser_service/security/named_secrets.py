"""The account's named secrets: encrypted in one file, which the command line writes and the service reads."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar, cast

from filelock import FileLock
from pydantic import BaseModel, JsonValue, ValidationError

from browser_service.pdf_text import pdf_text
from browser_service.security.concealed_files import FileSearch
from browser_service.security.concealment import Concealment
from browser_service.security.one_time_codes import appearances
from browser_service.security.seal import Seal
from shared.cuts import Place
from shared.data_files import KEY_FILE, SECRETS_FILE, SECRETS_LOCK, draft_of
from shared.errors import Forbidden, ResourceExhausted, ServiceUnavailable, ValidationFailed, field_details
from shared.named_secrets import MOST_CHARACTERS, MOST_SECRETS, NamedSecret
from shared.next_calls import next_call

UNSHOWN: Final = frozenset({"undo", "state"})
"""Fields of the host's messages in which secrets stay: they are never shown and must be put back unchanged (what undoes
an act, and saved logins)."""
_PDF: Final = b"%PDF"
_MOST_SEARCHED: Final = 50_000_000
_PIECE: Final = 8_000_000
_MOST_BYTES: Final = 4
"""How many bytes of UTF-8 one character has at most."""
_NONE: Final[Mapping[str, NamedSecret]] = MappingProxyType({})
_CODES_S: Final = 10
"""One-time codes change, so the forms to hide are recomputed after this many seconds."""

M = TypeVar("M", bound=BaseModel)


class NamedSecrets:
    """The secrets: revealed to calls that name them, hidden in everything else."""

    def __init__(self, data_dir: Path, seal: Seal) -> None:
        self._path = data_dir / SECRETS_FILE
        self._lock = FileLock(data_dir / SECRETS_LOCK, timeout=10)
        self._seal = seal
        self._read_as: tuple[int, int] | None = None
        self._unreadable: ServiceUnavailable | None = None
        self._secrets = _NONE
        self._concealment = Concealment()
        self._made_at = 0.0

    # --- what calls need ---------------------------------------------------------------------------------------------

    def reveal(self, names: Collection[str]) -> dict[str, NamedSecret]:
        """Return the secrets with these names. Raises ValidationFailed for an unknown name, ServiceUnavailable if the
        file cannot be read."""
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

    @property
    def concealment(self) -> Concealment:
        """Return what hides today's secrets. An unreadable file has none to hide, because none was revealed."""
        with contextlib.suppress(ServiceUnavailable):
            self.all()
        now = time.time()
        if now - self._made_at > _CODES_S and any(secret.codes for secret in self._secrets.values()):
            self._conceal(now)
        return self._concealment

    def hider(self) -> Callable[[str], str]:
        """Return the function that hides today's secrets in a text."""
        concealment = self.concealment
        return concealment.text if self._secrets else str

    def across(self, text: str, at: int) -> Place | None:
        return self.concealment.across(text, at)

    async def conceal_text(self, text: str) -> str:
        """Return a text without secrets. It may be long, so a thread searches it."""
        concealment = self.concealment
        return await asyncio.to_thread(concealment.text, text) if self._secrets else text

    async def conceal_file(self, data: bytes, mime_type: str) -> bytes:
        """Return a file's bytes without secrets, searched in a thread. Raises Forbidden for a PDF with one, in which
        nothing can be replaced, and ResourceExhausted for too large an archive."""
        concealment = self.concealment
        if not self._secrets:
            return data
        if data.startswith(_PDF):
            await _check_pdf(data, concealment)
            return data
        return await asyncio.to_thread(FileSearch(concealment).without_secrets, data, mime_type)

    async def conceal_in(self, path: Path, mime_type: str) -> None:
        """Remove secrets from a file, as `conceal_file` does. Raises ResourceExhausted for one that has any and is too
        large to be changed; there the search is for the plain text alone."""
        concealment = self.concealment
        if not self._secrets:
            return
        if (await asyncio.to_thread(path.stat)).st_size > _MOST_SEARCHED:
            await asyncio.to_thread(_check_large, path, concealment)
            return
        data = await asyncio.to_thread(path.read_bytes)
        clean = await self.conceal_file(data, mime_type)
        if clean is not data:
            await asyncio.to_thread(path.write_bytes, clean)

    def concealed(self, message: M) -> M:
        """Return a message without secrets; its fields `UNSHOWN` stay unchanged."""
        concealment = self.concealment
        return _without_secrets(message, concealment) if self._secrets else message

    async def concealed_reply(self, message: M) -> M:
        """Return a message as `concealed` does. It may be large, so a thread searches it."""
        concealment = self.concealment
        return await asyncio.to_thread(_without_secrets, message, concealment) if self._secrets else message

    # --- what the owner does -----------------------------------------------------------------------------------------

    def all(self) -> Mapping[str, NamedSecret]:
        """Return all secrets, rereading a file that changed. Raises ServiceUnavailable if it cannot be read."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._unreadable = None
            self._note(None, _NONE)
            return _NONE
        version = (found.st_mtime_ns, found.st_size)
        if version != self._read_as:
            self._unreadable = None
            try:
                self._note(version, self._read())
            except ServiceUnavailable as error:  # every call and event asks: do not reopen the file for each
                self._note(version, self._secrets)
                self._unreadable = error
        if self._unreadable is not None:
            raise self._unreadable
        return self._secrets

    def set(self, secret: NamedSecret) -> None:
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

    def _read(self) -> dict[str, NamedSecret]:
        opened = self._seal.open(self._path.read_bytes())
        try:
            # model_validate refuses everything else
            secrets = [NamedSecret.model_validate(each) for each in cast("list[JsonValue]", opened or [])]
        except ValidationError:
            secrets = []
        if not secrets and opened != []:
            raise ServiceUnavailable(
                f"The secrets in {self._path} cannot be read: they were sealed with another key ({KEY_FILE}).",
                hint=f"Bring that key back, or remove {self._path.name} and set the secrets again.",
            )
        return {secret.name: secret for secret in secrets}

    def _write(self, secrets: Mapping[str, NamedSecret]) -> None:
        draft = draft_of(self._path, os.getpid())
        draft.touch(mode=0o600)
        with draft.open("wb") as file:
            file.write(self._seal.close([each.model_dump(mode="json") for each in secrets.values()]))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)

    def _note(self, version: tuple[int, int] | None, secrets: Mapping[str, NamedSecret]) -> None:
        if version != self._read_as:
            self._read_as, self._secrets = version, secrets
            self._conceal(time.time())

    def _conceal(self, now: float) -> None:
        self._made_at = now
        secrets = self._secrets.values()
        self._concealment = Concealment((each.name, text) for each in secrets for text in appearances(each, now))


def _without_secrets(message: M, concealment: Concealment) -> M:
    said = message.model_dump(mode="json", exclude={*UNSHOWN})
    if not concealment.finds(said):
        return message
    kept = {name: getattr(message, name) for name in UNSHOWN if name in type(message).model_fields}
    return type(message).model_validate(concealment.value(said)).model_copy(update=kept)


async def _check_pdf(data: bytes, concealment: Concealment) -> None:
    try:
        text = await pdf_text(data, all_of_it=True)
    except ValidationFailed:
        return  # encrypted or broken, and so unreadable for an agent too
    if await asyncio.to_thread(concealment.finds, [text, "".join(text.split())]):
        raise Forbidden(
            "The text of this PDF has a named secret in it, so that it was not kept.",
            hint=f"Read the page, where the name stands instead: {next_call('content')}.",
        )


def _check_large(path: Path, concealment: Concealment) -> None:
    with path.open("rb") as file:
        end = ""
        while piece := file.read(_PIECE):
            text = end + piece.decode("latin-1")
            if concealment.stands_in(text):
                raise ResourceExhausted(
                    f"The file has a named secret in it, and over {_MOST_SEARCHED:,} bytes, too many to remove it.",
                    hint="Download a part of it, or ask a person for it.",
                )
            end = text[-MOST_CHARACTERS * _MOST_BYTES :]
