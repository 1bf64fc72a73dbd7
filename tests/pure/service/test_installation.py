"""Tests that the command which adds an optional package fits how this program was installed."""

import json
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from browse_together.contract import installation
from browse_together.contract.installation import install_command
from browse_together.contract.wire import APP_NAME


class Metadata:
    """Stand-in for the metadata of the installed program."""

    def __init__(self, origin: object = None) -> None:
        self.requires = ["mcp<3,>=2.3", 'keyring>=25; extra == "keyring"', 'av<20,>=18; extra == "video"']
        self._origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return json.dumps(self._origin) if self._origin else None


@pytest.fixture
def prefix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    monkeypatch.setattr(installation, "distribution", lambda _: Metadata())
    monkeypatch.setattr(installation, "find_spec", lambda _: object())
    return tmp_path


def test_an_environment_with_pip_uses_it(prefix: Path) -> None:
    assert install_command("video") == f'"{prefix}/bin/python" -m pip install "av<20,>=18"'


def test_an_environment_without_pip_is_one_of_uvs(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "find_spec", lambda _: None)
    assert install_command("video") == f'uv pip install --python "{prefix}/bin/python" "av<20,>=18"'


def test_a_pipx_installation_is_extended(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").touch()
    assert install_command("video") == f'pipx inject {APP_NAME} "av<20,>=18"'


@pytest.mark.parametrize(
    ("origin", "suffix"),
    [
        (None, ""),
        ({"url": "file:///tmp/it.whl", "archive_info": {}}, " @ file:///tmp/it.whl"),
        (
            {"url": "https://example.com/it.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            " @ git+https://example.com/it.git@abc",
        ),
    ],
)
def test_a_uv_installation_is_reinstalled_from_its_source(
    prefix: Path, monkeypatch: pytest.MonkeyPatch, origin: object, suffix: str
) -> None:
    (prefix / "uv-receipt.toml").touch()
    monkeypatch.setattr(installation, "distribution", lambda _: Metadata(origin))
    assert install_command("video") == f'uv tool install --force "{APP_NAME}[video]{suffix}"'


def test_a_tree_that_is_not_installed_names_the_extra(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> Metadata:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installation, "distribution", none)
    assert install_command("video").endswith(f'-m pip install "{APP_NAME}[video]"')
    (prefix / "uv-receipt.toml").touch()
    assert install_command("video").endswith(f'"{APP_NAME}[video]"')
