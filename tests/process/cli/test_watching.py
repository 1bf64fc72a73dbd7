"""Tests `show`, a link to the live wall, which lets one person in, and `extension`, which pairs a browser."""

import json
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from browse_together.contract.wire import EXTENSION_ORIGIN, WALL, WALL_ENTER
from tests.support.terminal import Terminal


def test_a_link_is_printed_that_works_once(running: Terminal) -> None:
    shown = running.succeed("show", "--no-open", "--page", "shop")
    address = urlsplit(shown.out.strip())
    code, _, rest = address.fragment.partition("&")
    assert (f"{address.scheme}://{address.netloc}", address.path, rest) == (running.url, WALL, "page=shop")
    assert "once, within 60 s" in shown.err
    with httpx.Client(base_url=running.url, trust_env=False) as browser:
        assert browser.get(WALL).status_code == 200
        assert [browser.post(WALL_ENTER, json={"code": code}).status_code for _ in range(2)] == [200, 401]
    assert "no pageId" in running.run("show", "--page", "a b").err


def test_the_extension_is_unpacked_and_packed_and_its_link_names_the_service(running: Terminal) -> None:
    shown = json.loads(running.succeed("extension", "--json").out)
    folder, files = Path(shown["folder"]), zipfile.ZipFile(shown["zip"]).namelist()
    assert json.loads((folder / "manifest.json").read_text("utf-8"))["manifest_version"] == 3
    assert {path.name for path in folder.iterdir()} == {*files} >= {"background.js", "popup.html", "pair.html"}
    assert shown["link"].startswith(f"{EXTENSION_ORIGIN}/pair.html#ws://127.0.0.1:")
    assert "chrome://extensions" in running.succeed("extension").out
