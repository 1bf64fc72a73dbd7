"""Tests the wheel: what is in it, and that its commands run beside other packages of the names that ours have."""

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import httpx
import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import Implementation

from browse_together.client import instance
from browse_together.contract.wire import APP_NAME, VERSION, WALL_FILES
from scripts import wheel
from tests.support.gateways import environment, text_of
from tests.support.site import Site
from tests.support.tab import closed_port

pytestmark = [pytest.mark.anyio, pytest.mark.long]

WITHIN_S = 60


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel.build(tmp_path_factory.mktemp("dist"))


def test_everything_but_this_trees_own_tools_is_installed() -> None:
    tops = {path.parent.name for path in wheel.ROOT.glob("*/__init__.py")}
    assert tops - {"tests", "examples", "benchmarks", "scripts", "conformance"} == set(wheel.packages()) - {"skills"}


def test_the_wheel_has_every_file_of_the_packages_and_says_what_it_is(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        about = message_from_bytes(archive.read(f"browse_together-{VERSION}.dist-info/METADATA"))
        licence = archive.read(f"browse_together-{VERSION}.dist-info/licenses/LICENSE").decode()
    sources = [path for name in wheel.packages() for path in (wheel.ROOT / name).rglob("*")]
    ours = [path for path in sources if path.is_file() and "__pycache__" not in path.parts]
    assert inside == {path.relative_to(wheel.ROOT).as_posix() for path in ours}
    assert {f"{name}/py.typed" for name in wheel.packages() if name != "skills"} <= inside
    assert (about["Name"], about["Version"], about["License-Expression"]) == (APP_NAME, VERSION, "MIT")
    assert licence.startswith("MIT License")
    assert "The browse-together authors" in licence
    assert {"video", "keyring", "otel"} <= set(about.get_all("Provides-Extra", []))
    assert not [text for text in about.get_all("Requires-Dist", []) if text.startswith("av") and "extra" not in text]


def test_the_source_archive_has_every_file_of_the_wheel(built: Path, tmp_path: Path) -> None:
    with tarfile.open(wheel.build_source(tmp_path)) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(built) as whole:
        assert {name for name in whole.namelist() if ".dist-info/" not in name} <= inside
    assert {"pyproject.toml", "README.md", "LICENSE"} <= inside


class Tool:
    """An environment for the wheel, without this source tree, and with obstacles on its path."""

    def __init__(self, built: Path, folder: Path) -> None:
        self.data_dir, self.home, self.strangers = folder / "data", folder / "tool", folder / "strangers"
        venv.create(self.home)
        places = sysconfig.get_paths(vars={"base": str(self.home), "platbase": str(self.home)})
        self.bin, site = Path(places["scripts"]), Path(places["purelib"])
        python = self.bin / Path(sys.executable).name
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--no-deps", "--no-index", str(built)], check=True, stdin=subprocess.DEVNULL)
        # The libraries are this environment's, without its .pth files, by which it finds the source tree
        (site / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
        for name in wheel.packages():
            (self.strangers / name).mkdir(parents=True)
        for name in ("shared", "client"):
            stranger = self.strangers / name / "__init__.py"
            stranger.write_text("raise ImportError(f'{__name__} is a stranger')\n", encoding="utf-8")

    def environment(self, **changes: str) -> dict[str, str]:
        return environment(self.data_dir, PYTHONPATH=str(self.strangers), **changes)

    def run(self, command: str, *arguments: str) -> str:
        """Run a command where the strangers are, and return its stdout."""
        return subprocess.run(
            [self.bin / command, *arguments],
            cwd=self.strangers,
            env=self.environment(BROWSE_AUTOSTART="false"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=True,
        ).stdout


async def test_the_wheels_commands_run_despite_other_packages_of_the_same_names(
    built: Path, tmp_path: Path, site: Site
) -> None:
    tool = Tool(built, tmp_path)
    assert tool.run("browse-together", "--version").strip() == VERSION
    assert tool.run("python", "-m", "browser_service", "mcp", "--version").strip() == f"{APP_NAME} {VERSION}"
    site.page("/shop", "<title>Shop</title><h1>Kettles and teapots</h1>")
    env = tool.environment(PORT=str(closed_port()))
    gateway = StdioServerParameters(command=str(tool.bin / "mcp-gateway"), env=env, cwd=tool.strangers)
    try:
        info = Implementation(name="test", version="1")
        async with Client(gateway, client_info=info, mode="legacy", read_timeout_seconds=WITHIN_S) as chat:
            opened = await chat.call_tool("goto", {"url": site.url("/shop")})
        assert "Kettles and teapots" in text_of(opened)
        service = instance.find(tool.data_dir)
        assert service is not None
        assert psutil.Process(service.pid).cmdline()[0].startswith(str(tool.home))
        async with httpx.AsyncClient(base_url=service.url, trust_env=False) as http:
            assert (await http.get(f"{WALL_FILES}/main.js")).status_code == 200
    finally:
        if running := instance.find(tool.data_dir):
            instance.stop(running)
