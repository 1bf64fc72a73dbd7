"""Tests the wheel: what is in it, and that it and a project with modules of common names do not notice each other."""

import subprocess
import sys
import sysconfig
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
ITS_MODULES = ("shared", "client", "tests", "skills")
JOB = """import sys
import client
from browse_together import Browser
import shared
with Browser() as browser:
    page = browser.page()
    page.goto(sys.argv[1])
    import tests
    print(page.extract_text("h1"), shared.name, client.name, tests.name, sep=", ")
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel.build(tmp_path_factory.mktemp("dist"))


def test_everything_but_this_trees_own_tools_is_installed() -> None:
    tops = {path.parent.name for path in wheel.ROOT.glob("*/__init__.py")}
    assert tops - {"tests", "examples", "benchmarks", "scripts", "conformance"} | {"browse_together"} == {
        *wheel.packages()
    }


def test_the_wheel_has_every_file_of_the_packages_and_says_what_it_is(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        about = message_from_bytes(archive.read(f"browse_together-{VERSION}.dist-info/METADATA"))
        licence = archive.read(f"browse_together-{VERSION}.dist-info/licenses/LICENSE").decode()
    assert inside == {
        (Path(name) / path.relative_to(wheel.ROOT / folder)).as_posix()
        for name, folder in wheel.packages().items()
        for path in [*(wheel.ROOT / folder).rglob("*"), *(wheel.ROOT / folder / "skills").rglob("*")]  # it is a link
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {f"{name}/py.typed" for name in wheel.packages()} <= inside
    assert (about["Name"], about["Version"], about["License-Expression"]) == (APP_NAME, VERSION, "MIT")
    assert licence.startswith("MIT License")
    assert "The browse-together authors" in licence
    assert {"video", "keyring", "otel"} <= set(about.get_all("Provides-Extra", []))
    assert not [text for text in about.get_all("Requires-Dist", []) if text.startswith("av") and "extra" not in text]


def test_the_source_archive_makes_the_same_wheel(built: Path, tmp_path: Path) -> None:
    made = wheel.build(tmp_path, wheel.build_source(tmp_path))
    with zipfile.ZipFile(built) as one, zipfile.ZipFile(made) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())


def test_nothing_is_installed_under_a_name_that_projects_have(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" not in name}
    assert tops == {"browse_together", "browser_service", "mcp_gateway", "mcp_home_simulator"}


class Tool:
    """An environment for the wheel, without this source tree, and a project that is on its path."""

    def __init__(self, built: Path, folder: Path) -> None:
        self.data_dir, self.home, self.project = folder / "data", folder / "tool", folder / "project"
        self.port = str(closed_port())
        venv.create(self.home)
        places = sysconfig.get_paths(vars={"base": str(self.home), "platbase": str(self.home)})
        self.bin, site = Path(places["scripts"]), Path(places["purelib"])
        python = self.bin / Path(sys.executable).name
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--no-deps", "--no-index", str(built)], check=True, stdin=subprocess.DEVNULL)
        # The libraries are this environment's, without its .pth files, by which it finds the source tree
        (site / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
        for name in ITS_MODULES:
            (self.project / name).mkdir(parents=True)
            (self.project / name / "__init__.py").write_text(f"name = 'its {name}'\n", encoding="utf-8")
        (self.project / "job.py").write_text(JOB, encoding="utf-8")

    def environment(self, **changes: str) -> dict[str, str]:
        return environment(self.data_dir, PORT=self.port, PYTHONPATH=str(self.project), **changes)

    def run(self, command: str, *arguments: str, **changes: str) -> str:
        """Run a command in the project, and return its stdout."""
        done = subprocess.run(
            [self.bin / command, *arguments],
            cwd=self.project,
            env=self.environment(**changes),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
        assert done.returncode == 0, done
        return done.stdout


async def test_the_commands_and_a_project_with_modules_of_common_names_both_work(
    built: Path, tmp_path: Path, site: Site
) -> None:
    tool = Tool(built, tmp_path)
    alone = {"BROWSE_AUTOSTART": "false"}
    assert tool.run("browse-together", "--version", **alone).strip() == VERSION
    assert tool.run("python", "-m", "browser_service", "mcp", "--version", **alone).strip() == f"{APP_NAME} {VERSION}"
    site.page("/shop", "<title>Shop</title><h1>Kettles and teapots</h1>")
    gateway = StdioServerParameters(command=str(tool.bin / "mcp-gateway"), env=tool.environment(), cwd=tool.project)
    try:
        info = Implementation(name="test", version="1")
        async with Client(gateway, client_info=info, mode="legacy", read_timeout_seconds=WITHIN_S) as chat:
            opened = await chat.call_tool("goto", {"url": site.url("/shop")})
        assert "Kettles and teapots" in text_of(opened)
        said = tool.run("python", "job.py", site.url("/shop"))
        assert said == "Kettles and teapots, its shared, its client, its tests\n"
        service = instance.find(tool.data_dir)
        assert service is not None
        assert psutil.Process(service.pid).cmdline()[0].startswith(str(tool.home))
        async with httpx.AsyncClient(base_url=service.url, trust_env=False) as http:
            assert (await http.get(f"{WALL_FILES}/main.js")).status_code == 200
    finally:
        if running := instance.find(tool.data_dir):
            instance.stop(running)
