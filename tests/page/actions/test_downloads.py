"""Tests downloads: told by the act that began them, listed, fetched by their owner alone, and never larger than
allowed."""

import mimetypes
import os
import threading
from pathlib import Path

import pytest

from tests.support.files import bytes_of
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

CSV = b"a,b\n1,2\n"
LINKS = """<a href=/report.csv>Report</a> <a href=/report.csv target=_blank>Window</a> <a href=/slow.bin>Slow</a>
<a href=/broken.bin>Broken</a> <a href=/big.bin>Big</a>
<a href="data:text/plain,hello" download="../etc/note.txt">Data</a><button onclick="blob()">Blob</button><script>
function blob() { const a = document.createElement('a');
  a.href = URL.createObjectURL(new Blob(['from the page'])); a.download = 'made.txt'; a.click() }</script>"""


def attached(name: str, data: bytes = CSV, **more: AnyJson) -> Answer:
    """Return an answer that a browser saves. Any: what an Answer takes."""
    headers = {"content-disposition": f"attachment; filename={name}", **more.pop("headers", {})}
    return Answer(data, content_type="application/octet-stream", headers=headers, **more)


@pytest.fixture
def links(site: Site) -> str:
    site.page("/report.csv", attached("report.csv"))
    return site.page("/links", LINKS)


def mode_of(file: dict[str, AnyJson]) -> int:
    """Return who may do what with a file. Any: JSON."""
    return Path(file["path"]).stat().st_mode & 0o777


async def listed(agent: Agent) -> list[dict[str, AnyJson]]:
    return list((await agent.call("list_downloads"))["downloads"])


async def test_a_click_that_downloads_says_so_and_its_bytes_are_the_servers(agent: Agent, links: str) -> None:
    await agent.call("goto", pageId="p", url=links)
    reply = (await agent.reply("click", pageId="p", selector="text=Report")).json()
    (known,) = reply["result"]["downloads"]
    assert reply["result"]["observed"] == f"download 'report.csv' finished (8 bytes): file {known['artifactId']}"
    assert reply["notices"] == []
    assert (known["name"], known["size"], known["state"], known["pageId"]) == ("report.csv", 8, "finished", "p")
    assert await listed(agent) == [known]
    got = await agent.http.get(known["file"])
    assert (got.content, got.headers["content-type"].split(";")[0]) == (CSV, "text/csv")
    assert 'filename="report.csv"' in got.headers["content-disposition"]
    assert (await agent.call("get_current_url", pageId="p"))["url"] == links


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("run.sh", ["Get"]),
        ("run.desktop", ["Open"]),
        ("run.exe", ["Frame"]),
        ("run.html", ["Get", "Open", "Frame"]),  # the one that a browser opens by itself
    ],
)
async def test_no_download_is_run_or_opened(
    agent: Agent, site: Site, tmp_path: Path, name: str, ways: list[str]
) -> None:
    """Each is a program where its kind runs: a script that writes a file, or a page that sends a request."""
    ran = tmp_path / "ran"
    program = f"#!/bin/sh\ntouch {ran}\n"
    entry = f"[Desktop Entry]\nType=Application\nTerminal=false\nName=x\nExec=touch {ran}\n"
    page = f"<svg xmlns='http://www.w3.org/2000/svg'><script>fetch('{site.url('/ran')}')</script></svg>"
    data = entry if name.endswith("desktop") else page if name.endswith(("html", "svg")) else program
    kind = {"html": "text/html", "svg": "image/svg+xml"}.get(name.rpartition(".")[2], "application/x-sh")
    headers = {"content-disposition": f"attachment; filename={name}"}
    site.page(f"/{name}", Answer(data.encode(), content_type=kind, headers=headers))
    url = site.page(
        "/",
        f"<a href=/{name}>Get</a><a href=/{name} target=_blank>Open</a><iframe name=f></iframe>"
        f"<a href=/{name} target=f>Frame</a>",
    )
    await agent.call("goto", pageId="p", url=url)
    kept = [(await agent.call("click", pageId="p", selector=f"text={each}"))["downloads"][0] for each in ways]
    for file in kept:
        assert (mode_of(file), bytes_of(file)) == (0o600, data.encode())
        got = await agent.http.get(file["file"])
        assert "attachment" in got.headers["content-disposition"]
        assert got.headers["x-content-type-options"] == "nosniff"
    pages = (await agent.call("list_pages"))["yours"]
    assert {page["url"] for page in pages} <= {url, "about:blank", ""}
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a look at one folder
    assert "/ran" not in [each.path for each in site.received]


async def test_a_page_made_file_is_a_download_too_and_no_name_is_a_path(
    agent: Agent, links: str, service: RunningService
) -> None:
    output = service.settings.output_dir
    await agent.call("goto", pageId="p", url=links)
    made = (await agent.call("click", selector="text=Blob"))["downloads"][0]
    assert (made["name"], (await agent.http.get(made["file"])).content) == ("made.txt", b"from the page")
    note = (await agent.call("click", selector="text=Data"))["downloads"][0]
    assert "/" not in note["name"]
    assert (await agent.http.get(note["file"])).content == b"hello"
    assert (Path(note["path"]).parent, bytes_of(note)) == (output, b"hello")
    again = (await agent.call("click", selector="text=Blob"))["downloads"][0]
    assert [Path(each["path"]).name for each in (made, again)] == ["made.txt", "made-2.txt"]
    assert [each["name"] for each in await listed(agent)] == ["made.txt", note["name"], "made.txt"]


async def test_a_download_that_opens_its_own_window_is_reported_too(agent: Agent, links: str) -> None:
    await agent.call("goto", pageId="p", url=links)
    result = await agent.call("click", selector="text=Window")
    assert result["downloads"][0]["name"] == "report.csv"
    assert "download 'report.csv' finished (8 bytes)" in result["observed"]


async def test_a_long_download_is_reported_when_it_ends(agent: Agent, links: str, site: Site) -> None:
    release = threading.Event()
    site.page("/slow.bin", attached("slow.bin", CSV * 500, pause=release))
    await agent.call("goto", pageId="p", url=links)
    began = await agent.call("click", selector="text=Slow")
    assert began["observed"] == "download 'slow.bin' began; list_downloads {\"wait\": 30000} tells its end"
    assert (await listed(agent))[0]["state"] == "running"
    release.set()
    reply = (await agent.reply("list_downloads", wait=60_000)).json()
    assert reply["result"]["downloads"][0]["state"] == "finished"
    assert [each["text"].split(":")[1] for each in reply["notices"]] == [" download 'slow.bin' finished (4,000 bytes)"]


async def test_goto_to_a_download_says_where_the_file_is(agent: Agent, links: str, site: Site) -> None:
    await agent.call("goto", pageId="p", url=links)
    error = await agent.error("goto", pageId="p", url=site.url("/report.csv"))
    (known,) = await listed(agent)
    assert error["hint"] == (
        f"The page stays where it was; download 'report.csv' finished (8 bytes): file {known['artifactId']}."
    )
    assert (await agent.http.get(known["file"])).content == CSV
    assert error["details"]["context"]["downloads"] == [known]


async def test_nobody_else_sees_or_gets_a_download(agent: Agent, other: Agent, links: str) -> None:
    await agent.call("goto", pageId="p", url=links)
    known = (await agent.call("click", selector="text=Report"))["downloads"][0]
    assert await listed(other) == []
    assert (await other.http.get(known["file"])).status_code == 404
    await agent.call("share_page", pageId="p", access="act")
    await other.call("click", pageId="p", selector="text=Report")
    assert await listed(other) == []
    assert len(await listed(agent)) == 2


# --- a service with a small limit ------------------------------------------------------------------------------------


async def test_a_link_that_saves_is_waited_for_though_the_page_sends_no_request(
    agent: Agent, site: Site, hold: threading.Event
) -> None:
    site.page("/held.csv", attached("held.csv", hold=hold))
    await agent.call("goto", pageId="p", url=site.page("/links", "<a href=/held.csv download>Save</a>"))
    clicked = await agent.call("click", pageId="p", selector="text=Save")
    assert clicked["observed"] == "its link saves a file, and no download has begun within 1 s"
    hold.set()
    await become(lambda: site.counts["/held.csv"] == 1)
    site.page("/links", "<a href=/held.csv download onclick='event.preventDefault()'>Not</a>")
    await agent.call("reload_page", pageId="p")
    stopped = await agent.call("click", pageId="p", selector="text=Not")
    assert "a script of the page stopped what the link does (preventDefault)" in stopped["observed"]


async def test_a_files_type_is_that_of_its_content(agent: Agent, site: Site) -> None:
    names = "".join(f"<a href=/{name}>{name}</a> " for name in ("report.pdf", "sheet.xlsx", "file"))
    await agent.call("goto", pageId="p", url=site.page("/types", names))
    for name, data, kind, words in (
        ("report.pdf", b"<!DOCTYPE html>Your session has ended", "text/html", " of text/html"),
        ("report.pdf", b"no such report", "text/plain", " of text/plain"),
        ("report.pdf", b"%PDF-1.7\n", "application/pdf", ""),
        ("sheet.xlsx", b"PK\x03\x04rest", None, ""),
        ("file", b"\x89PNG\r\n\x1a\nrest", "image/png", ""),
    ):
        site.page(f"/{name}", attached(name, data))
        result = await agent.call("click", pageId="p", selector=f"a[href='/{name}']")
        assert result["downloads"][0]["mimeType"] == (kind or mimetypes.guess_type(name)[0])
        assert f"finished ({len(data)} bytes{words}): file" in result["observed"]
