"""Tests the key of saved logins: in a file, or in the system's keyring."""

import stat
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backend
import keyring.errors
import pytest
from pydantic import JsonValue

from browse_together.contract.data_files import KEY_FILE
from browser_service.quarantine import files_set_aside
from browser_service.security.seal import NoKeyring, Seal

SECRET: JsonValue = {"cookies": [{"name": "token", "value": "a token that is long enough"}]}


class Ring(keyring.backend.KeyringBackend):
    """A keyring for this test, which may be locked."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # keyring's
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]

    def _check(self) -> None:
        if self.locked:
            raise keyring.errors.KeyringLocked("it is locked")


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    ring = Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def test_the_key_is_in_a_file_that_only_this_account_can_read(tmp_path: Path) -> None:
    sealed = Seal(tmp_path).close(SECRET)
    assert b"long enough" not in sealed
    assert Seal(tmp_path).open(sealed) == SECRET
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


@pytest.mark.usefixtures("ring")
def test_a_key_in_a_file_moves_to_the_keyring_and_opens_what_it_sealed(tmp_path: Path) -> None:
    sealed = Seal(tmp_path).close(SECRET)
    said: list[str] = []
    assert Seal(tmp_path, "keyring", said.append).open(sealed) == SECRET
    assert not (tmp_path / KEY_FILE).exists()
    assert len(said) == 1
    assert Seal(tmp_path, "keyring", said.append).open(sealed) == SECRET
    assert len(said) == 1
    (tmp_path / "other").mkdir()
    assert Seal(tmp_path / "other", "keyring").open(sealed) is None  # each data directory has its own
    assert list((tmp_path / "other").iterdir()) == []


def test_a_keyring_that_cannot_be_used_is_an_error_with_the_way_out(tmp_path: Path, ring: Ring) -> None:
    ring.locked = True
    with pytest.raises(NoKeyring, match=r"it is locked.*BROWSE_KEY_STORE=file"):
        Seal(tmp_path, "keyring")
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_is_none_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text("no key", encoding="ascii")
    said: list[str] = []
    sealed = Seal(tmp_path, report=said.append).close(SECRET)
    (aside,) = files_set_aside(tmp_path)
    assert (aside.read_text(encoding="ascii"), aside.name in said[0]) == ("no key", True)
    assert Seal(tmp_path).open(sealed) == SECRET


def test_changed_or_foreign_seals_are_not_opened(tmp_path: Path) -> None:
    seal = Seal(tmp_path)
    sealed = seal.close(SECRET)
    for changed in (sealed[:-1], sealed[:40] + b"x" + sealed[41:], b"", b"\xff" * 80):
        assert seal.open(changed) is None
