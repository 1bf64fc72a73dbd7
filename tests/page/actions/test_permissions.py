"""Tests permissions: granted on request to one origin, without effect elsewhere."""

import pytest

from tests.support.service import Agent
from tests.support.site import Site
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

STATE = "navigator.permissions.query({{name: '{}'}}).then(found => found.state)"
COPIED = """async () => {
    await navigator.clipboard.writeText('copied');
    return navigator.clipboard.readText();
}"""


async def test_a_site_reads_the_clipboard_once_it_was_granted_and_no_other_site_does(
    other: Agent, tab: Tab, site: Site
) -> None:
    await tab.show("<h1>x</h1>")
    read, near = STATE.format("clipboard-read"), STATE.format("geolocation")
    before = [await tab.sees(read), await tab.sees(near)]
    origin = site.url().rstrip("/")
    names = ["clipboard-read", "clipboard-write"]
    done = await tab.call("grant_permissions", permissions=names, origin=origin)
    assert done["observed"] == f"{origin} is granted clipboard-read, clipboard-write in session default"
    assert await tab.sees(COPIED) == "copied"
    assert [await tab.sees(read), await tab.sees(near)] == ["granted", before[1]], "nothing else is denied by it"
    await tab.call("goto", pageId="else", url=site.page("/else", "x").replace("127.0.0.1", "localhost"))
    seen = await tab.call("evaluate_script", pageId="else", expression=read)
    assert seen["value"] == before[0]
    session = (await tab.call("create_session"))["sessionId"]
    await tab.call("goto", pageId="own", sessionId=session, url=site.url("/else"))
    assert (await tab.call("evaluate_script", pageId="own", expression=read))["value"] == before[0]
    await tab.call("grant_permissions", sessionId=session, permissions=["geolocation"], origin=f"{origin}/")
    assert (await tab.call("evaluate_script", pageId="own", expression=near))["value"] == "granted"
    assert (await tab.call("evaluate_script", pageId="tab", expression=near))["value"] == before[1]
    error = await other.error("grant_permissions", permissions=["camera"], origin=origin)
    assert error["code"] == "AFFECTS_OTHERS"
    await other.call("grant_permissions", permissions=["camera"], origin="https://elsewhere.example")
    ended = await tab.call("grant_permissions", permissions=[], origin=origin)
    assert ended["observed"].endswith("granted nothing in session default; taken back: clipboard-read, clipboard-write")
    assert (await tab.call("evaluate_script", pageId="tab", expression=read))["value"] == before[0]
    await tab.call("close_session", sessionId=session)


async def test_a_refusal_does_not_reveal_a_private_pages_url(other: Agent, tab: Tab, site: Site) -> None:
    await tab.show("<h1>x</h1>")
    await tab.call("share_page", access="private")
    there, elsewhere = site.url().rstrip("/"), "https://elsewhere.example"
    cookies = [[{"name": "a", "value": "b", "url": url}] for url in (there, elsewhere)]
    refused = [
        *[await other.error("grant_permissions", permissions=[], origin=url) for url in (there, elsewhere)],
        *[await other.error("set_cookies", cookies=each) for each in cookies],
    ]
    told = {(each["code"], each["message"].partition(" ")[2]) for each in refused}
    assert told == {("AFFECTS_OTHERS", "would affect a page that is private to another client. Nothing was done.")}
    done = await other.call("grant_permissions", permissions=[], origin=elsewhere, affectOthers=True)
    assert "nothing" in done["observed"]


async def test_an_unknown_permission_is_refused_by_field(tab: Tab) -> None:
    for arguments, field in (
        ({"permissions": ["all"], "origin": "https://example.com"}, "permissions.0"),
        ({"permissions": ["camera"], "origin": "https://example.com/path"}, "origin"),
        ({"permissions": ["camera"], "origin": "file:///"}, "origin"),
        ({"permissions": ["camera"], "origin": "http://*"}, "origin"),
        ({"permissions": ["camera"], "origin": "https://*.example.com"}, "origin"),
        ({"permissions": ["camera"], "origin": "http://[::1"}, "origin"),
        ({"permissions": ["camera"], "origin": f"http://{'x' * 1_000}"}, "origin"),
    ):
        error = await tab.error("grant_permissions", **arguments)
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", field)
    for nowhere in ("http://169.254.169.254", "http://[:::1]", "http://example.com:99999"):
        error = await tab.error("grant_permissions", permissions=["camera"], origin=nowhere)
        assert error["code"] == "FORBIDDEN"
