"""Tests `show`: a link to the live wall, which lets one person in."""

from urllib.parse import urlsplit

import httpx

from shared.wire import WALL, WALL_ENTER
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
