"""Tests uploads and drops: what the page and its server get, and what may not be sent."""

import base64
import re

import pytest

from tests.support.service import Agent
from tests.support.site import Received
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

BYTES = bytes(range(256)) * 5
FORM = """<form method=post action=/upload enctype=multipart/form-data>
<label>Papers<input type=file id=one name=one></label>
<input type=file id=many name=many multiple hidden><button type=button id=pick onclick="many.click()">Pick</button>
<button type=button id=nothing>Nothing</button><button id=send>Send</button></form><script>
one.onchange = () => window.changed = [...one.files].map(f => [f.name, f.size, f.type])</script>"""
ZONE = """<div id=zone style="width:200px;height:100px">zone</div><div id=wall>wall</div><script>window.seen = [];
for (const kind of ['dragenter', 'dragover', 'drop']) zone.addEventListener(kind, e => {
  e.preventDefault(); seen.push(kind); if (kind !== 'drop') return;
  window.plain = e.dataTransfer.getData('text/plain');
  for (const file of e.dataTransfer.files) fetch('/dropped?' + file.name, {method: 'POST', body: file})
})</script>"""


def file(name: str, data: bytes = BYTES, **more: str) -> dict[str, str]:
    return {"name": name, "data": base64.b64encode(data).decode(), **more}


def _parts(received: Received) -> list[tuple[str, str, bytes]]:
    """Return each file's name, type and bytes from a form that was sent."""
    shape = rb'filename="([^"]*)"\r\nContent-Type: ([^\r]*)\r\n\r\n(.*?)\r\n------'
    return [(n.decode(), t.decode(), data) for n, t, data in re.findall(shape, received.body, re.DOTALL)]


# --- upload_file -----------------------------------------------------------------------------------------------------


async def test_upload_file_gives_the_server_the_very_bytes(tab: Tab) -> None:
    tab.site.page("/upload", "thanks")
    await tab.show(FORM)
    result = await tab.call("upload_file", selector="#one", files=[file("photo.png")])
    assert result["observed"] == "the input holds photo.png (1,280 bytes)"
    assert result["files"] == [{"name": "photo.png", "size": 1_280, "type": "image/png"}]
    assert await tab.sees("window.changed") == [["photo.png", 1_280, "image/png"]]
    await tab.call("upload_file", selector="#many", files=[{"name": "a.txt", "text": "ä"}, file("b", mimeType="x/y")])
    await tab.call("click", selector="#send")
    (form,) = [each for each in tab.site.received if each.path == "/upload"]
    assert _parts(form) == [
        ("photo.png", "image/png", BYTES),
        ("a.txt", "text/plain", "ä".encode()),
        ("b", "x/y", BYTES),
    ]


async def test_a_large_file_reaches_the_server_whole_under_its_name(tab: Tab) -> None:
    tab.site.page("/upload", "thanks")
    await tab.show(FORM)
    large = BYTES * 1_000  # too much for a message to the browser, which would delay everybody
    result = await tab.call("upload_file", selector="#one", files=[file("photo.png", large)])
    assert result["files"] == [{"name": "photo.png", "size": len(large), "type": "image/png"}]
    await tab.call("click", selector="#send")
    (form,) = [each for each in tab.site.received if each.path == "/upload"]
    assert _parts(form)[0] == ("photo.png", "image/png", large)


async def test_upload_file_answers_the_file_chooser_that_a_click_opens(tab: Tab) -> None:
    await tab.show(FORM)
    clicked = (await tab.call("click", selector="#pick"))["observed"]
    assert 'it asks for files, and got none: upload_file {"selector": "#pick", "files": [' in clicked
    result = await tab.call("upload_file", selector="#pick", files=[file("a.pdf"), file("b.pdf")])
    assert result["observed"] == "the input holds a.pdf (1,280 bytes), b.pdf (1,280 bytes)"
    assert await tab.sees("[...many.files].map(f => f.name)") == ["a.pdf", "b.pdf"]
    assert "holds no files" in (await tab.call("upload_file", selector="#many", files=[]))["observed"]
    assert await tab.sees("many.files.length") == 0
    await tab.call("upload_file", selector="text=Papers", files=[file("c.pdf")])
    assert await tab.sees("one.files[0].name") == "c.pdf"


async def test_upload_file_says_what_is_wrong_with_the_element(tab: Tab) -> None:
    await tab.show(FORM)
    error = await tab.error("upload_file", selector="#nothing", files=[file("a")], timeout=300)
    assert error["code"] == "TIMEOUT"
    assert "'#nothing' is no file input, and a click on it opened no file chooser" in error["message"]
    error = await tab.error("upload_file", selector="#one", files=[file("a"), file("b")], timeout=300)
    assert (error["code"], "single file" in error["message"]) == ("ELEMENT_NOT_INTERACTABLE", True)
    error = await tab.error("upload_file", selector="#none", files=[], timeout=300)
    assert error["code"] == "ELEMENT_NOT_FOUND"


async def test_upload_file_says_what_the_page_made_of_the_input(tab: Tab) -> None:
    await tab.show(FORM + "<script>one.onchange = () => one.value = ''</script>")
    result = await tab.call("upload_file", selector="#one", files=[file("a.txt")])
    assert result["files"] == []
    assert result["observed"] == "a.txt (1,280 bytes) was chosen; the input is empty by now, as the page made it"


async def test_upload_file_names_what_is_wrong_with_a_file(tab: Tab) -> None:
    await tab.show(FORM)
    for given, field, said in (
        ({"name": "a.txt"}, "files", "no upload folders (BROWSE_UPLOAD_ROOTS)"),
        ({"name": "a.txt", "text": "a", "data": "YQ=="}, "files.0", "two contents"),
        ({"name": "a.txt", "data": "no!"}, "files.0.data", "is no base64"),
        ({"name": "../a.txt", "text": "a"}, "files.0.name", "is a path"),
        ({"path": "a.txt"}, "files", "no upload folders (BROWSE_UPLOAD_ROOTS)"),
        ({"path": "a.txt", "text": "a"}, "files.0", "two contents"),
        ({"mimeType": "a/b"}, "files.0", "needs 'path', 'artifactId', or 'name'"),
    ):
        error = await tab.error("upload_file", selector="#one", files=[given])
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", field)
        assert said in error["message"]


async def test_an_artifact_is_uploaded_only_by_its_own_client(tab: Tab, other: Agent) -> None:
    tab.site.page("/upload", "thanks")
    await tab.show(FORM)
    artifact = (await tab.call("screenshot"))["artifact"]
    await tab.call("upload_file", selector="#one", files=[{"artifactId": artifact["artifactId"]}])
    await tab.call("click", selector="#send")
    (form,) = [each for each in tab.site.received if each.path == "/upload"]
    picture = _parts(form)[0]
    assert (picture[0][-4:], picture[1], len(picture[2])) == (".png", "image/png", artifact["size"])
    await other.call("goto", pageId="theirs", url=tab.site.page("/form", FORM))
    error = await other.error(
        "upload_file", selector="#one", files=[{"name": "s.png", "artifactId": artifact["artifactId"]}]
    )
    assert (error["status"], "of yours" in error["message"]) == (404, True)


# --- the operator's folders ------------------------------------------------------------------------------------------


# --- drop ------------------------------------------------------------------------------------------------------------


async def test_drop_hands_files_and_data_to_the_pages_own_handler(tab: Tab) -> None:
    tab.site.page("/dropped", "")
    await tab.show(ZONE)
    result = await tab.call("drop", selector="#zone", files=[file("a.bin")], data={"text/plain": "hello"})
    assert result["observed"].startswith("the page took the drop of a.bin (1,280 bytes), text/plain")
    assert "POST /dropped → 200" in result["observed"]
    assert await tab.sees("[seen, plain]") == [["dragenter", "dragover", "drop"], "hello"]
    assert [(each.path, each.body) for each in tab.site.received if each.method == "POST"] == [
        ("/dropped?a.bin", BYTES)
    ]


async def test_drop_on_an_element_that_takes_none_is_an_error(tab: Tab) -> None:
    await tab.show(ZONE)
    error = await tab.error("drop", selector="#wall", files=[file("a.bin")], timeout=500)
    assert error["code"] == "ELEMENT_NOT_INTERACTABLE"
    large = await tab.error("drop", selector="#zone", files=[file("a.bin", BYTES * 2_000)])
    assert (large["code"], "2,000,000 bytes" in large["message"]) == ("VALIDATION_ERROR", True)
    empty = await tab.error("drop", selector="#zone")
    assert (empty["code"], empty["details"]["context"]["field"]) == ("VALIDATION_ERROR", "files")
