"""Tests files of this machine, uploaded from the roots that a chat's client names. Real service, real gateways."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.types import ListRootsResult, Root

from examples.processes import ServiceProcess
from tests.support.gateways import chat, service_process, text_of
from tests.support.json import AnyJson
from tests.support.site import Site

pytestmark = pytest.mark.anyio

FORM = "<form><input type=file id=one><input type=file id=many multiple></form>"


class Roots:
    """The folders of a client, which may change."""

    def __init__(self, *paths: Path) -> None:
        self.paths = [*paths]
        self.asked = 0

    async def __call__(self, context: ClientRequestContext) -> ListRootsResult:  # noqa: ARG002 - the SDK gives it
        self.asked += 1
        return ListRootsResult(roots=[Root(uri=path.as_uri()) for path in self.paths])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a root with a space in its name, and a secret file beside it."""
    root = tmp_path / "my work"
    (root / "deep").mkdir(parents=True)
    (root / "deep" / "report.csv").write_bytes(b"a,b\n1,2\n")
    (root / "big.bin").write_bytes(b"x" * 1_500_000)
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "inner.csv").symlink_to(root / "deep" / "report.csv")
    with (root / "huge.bin").open("wb") as huge:
        huge.truncate(50_000_001)
    return root


def chatting(service: ServiceProcess, roots: Roots | None, mode: str = "legacy") -> AbstractAsyncContextManager[Client]:
    return chat(service, "Claude", mode, does={"list_roots_callback": roots})


async def upload(client: Client, *files: dict[str, AnyJson], selector: str = "#many") -> str:
    return text_of(await client.call_tool("upload_file", {"selector": selector, "files": [*files]})).split("\n[")[0]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_file_in_the_clients_roots_is_uploaded_by_its_path(
    service: ServiceProcess, site: Site, folder: Path, mode: str
) -> None:
    roots = Roots(folder)
    async with chatting(service, roots, mode) as client:
        await client.call_tool("goto", {"url": site.page("/form", FORM)})
        path = str(folder / "deep" / "report.csv")
        for named in ({"path": path}, {"path": "deep/report.csv"}, {"name": "deep/report.csv"}):
            assert await upload(client, named) == "the input holds report.csv (8 bytes)"
        several = ({"path": path, "name": "r.txt"}, {"path": str(folder / "big.bin")}, {"name": "t", "text": "typed"})
        held = "the input holds r.txt (8 bytes), big.bin (1,500,000 bytes), t (5 bytes)"
        assert await upload(client, *several) == held
        inner = str(folder / "inner.csv")
        for part in (
            {"action": "upload_file", "selector": "#one", "params": {"files": [{"path": inner}]}},
            {"action": "browser_file_upload", "ref": "#one", "paths": [inner]},
            {"action": "call_tool", "name": "upload_file", "arguments": {"uid": "#one", "filePath": inner}},
        ):
            assert "report.csv (8 bytes)" in text_of(await client.call_tool("batch", {"steps": [part]}))
        assert roots.asked == 7
        roots.paths = [folder / "deep"]
        assert "report.csv (8 bytes)" in await upload(client, {"path": path})
        refused = await upload(client, {"path": str(folder / "big.bin")})
        assert refused.startswith("FORBIDDEN")
        assert "no upload folder of the service (BROWSE_UPLOAD_ROOTS), and in no root" in refused
        assert roots.asked == 9
        await client.call_tool("close_page", {})


async def test_nothing_leads_out_of_the_roots(service: ServiceProcess, site: Site, folder: Path) -> None:
    async with chatting(service, Roots(folder, service.data_dir)) as client:
        await client.call_tool("goto", {"url": site.page("/form", FORM)})
        for path, said in (
            (folder / "link.txt", "is a link, or behind one, that leads out of"),
            (folder.parent / "secret.txt", "in no upload folder of the service"),
            (f"{folder}/../secret.txt", "in no upload folder of the service"),
            ("../secret.txt", "in no upload folder of the service"),
            (service.data_dir / "secret", "is the browser service's own"),
            (folder / "deep", "cannot be read: Is a directory"),
            (folder / "huge.bin", "has more bytes than the 50,000,000 that one call may upload"),
            (folder / "none.txt", "(BROWSE_UPLOAD_ROOTS)"),
            (folder / ("x" * 3_000), "in no upload folder of the service"),
        ):
            refused = await upload(client, {"path": str(path)})
            assert said in refused, refused
        held = await client.call_tool("evaluate_script", {"expression": "many.files.length + one.files.length"})
        assert text_of(held).split("\n")[0] == "0"
        mine = {"expression": "a => a.files[0].path", "arg": {"files": [{"path": str(folder / "deep" / "report.csv")}]}}
        assert str(folder) in text_of(await client.call_tool("evaluate_script", mine))
        await client.call_tool("close_page", {})


async def test_a_client_without_roots_is_not_asked_and_told_of_both_ways(
    service: ServiceProcess, site: Site, folder: Path
) -> None:
    async with chatting(service, None) as client:
        await client.call_tool("goto", {"url": site.page("/form", FORM)})
        refused = await upload(client, {"path": str(folder / "deep" / "report.csv")})
        assert "no upload folder of the service (BROWSE_UPLOAD_ROOTS), and in no root" in refused
        assert "Send its content" in refused
        await client.call_tool("close_page", {})


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_services_upload_folders_go_before_the_clients_roots(
    tmp_path: Path, site: Site, folder: Path, mode: str
) -> None:
    opened, roots = tmp_path / "opened", Roots(folder)
    (opened / "deep").mkdir(parents=True)
    (opened / "deep" / "report.csv").write_bytes(b"a,b\n")
    (opened / "big.bin").symlink_to(folder / "big.bin")
    async with (
        service_process(tmp_path / "data", BROWSE_UPLOAD_ROOTS=str(opened)) as service,
        chatting(service, roots, mode) as client,
    ):
        await client.call_tool("goto", {"url": site.page("/form", FORM)})
        for named in ({"path": str(opened / "deep" / "report.csv")}, {"path": "deep/report.csv"}):
            assert await upload(client, named) == "the input holds report.csv (4 bytes)"
        assert roots.asked == 0
        both = ({"name": "deep/report.csv"}, {"path": "big.bin"})
        assert await upload(client, *both) == "the input holds report.csv (4 bytes), big.bin (1,500,000 bytes)"
        assert roots.asked == 1
        in_root = {"path": str(folder / "deep" / "report.csv")}
        assert await upload(client, in_root) == "the input holds report.csv (8 bytes)"
