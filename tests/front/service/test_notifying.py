"""Tests how this machine's people hear that an agent asks for one: a webhook, and the desktop."""

import html
import json
import re
import webbrowser
from pathlib import Path

import jwt
import pytest

from browse_together.contract.data_files import LINK_FILES
from browse_together.contract.events import LoginOver
from tests.front.service.test_person import HTML, as_person, opened, pending, resolve
from tests.support.sharing import StartService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


def _but_for_its_end(link: str) -> tuple[str, dict[str, object], str]:
    """Return a link's address, what its token says but for the second at which it ends, and its request."""
    address, token, request = re.split("[#&]", link)
    claims: dict[str, object] = jwt.decode(token, options={"verify_signature": False})
    return address, {name: value for name, value in claims.items() if name != "exp"}, request


async def test_a_webhook_is_told_once_and_follows_no_redirect(start: StartService, site: Site) -> None:
    site.page("/hook", Answer("", 307, headers={"location": "/elsewhere"}))
    service = await start(notify_webhook=site.url("/hook"), public_url="https://browse.example.com")
    async with service.agent("Claude") as agent, service.agent() as cli:
        await agent.call("goto", pageId="cart", url=site.page("/cart", HTML) + "?token=s3cr3t")
        request_id = await pending(agent)
        await become(lambda: site.counts["/hook"] == 1)
        await pending(agent, requestId=request_id)
        (posted,) = [one for one in site.received if one.path == "/hook"]
        body = json.loads(posted.body)
        assert (body["event"], body["request"]["requestId"]) == ("request", request_id)
        assert body["request"]["message"] == "Please sign in."
        link = f"https://browse.example.com/#.+&request={request_id}"
        assert re.fullmatch(link, body["request"]["link"])
        assert b"s3cr3t" not in posted.body
        await resolve(as_person(service, cli), request_id)
        assert (site.counts["/hook"], site.counts["/elsewhere"]) == (1, 0)


async def test_a_login_that_is_over_is_told_once_by_the_webhook(start: StartService, site: Site) -> None:
    site.page("/hook", "taken")
    service = await start(notify_webhook=site.url("/hook"))
    for name in ("shop.example", "shop.example", "bank.example"):
        await service.parts.events.tell([LoginOver(session_id="default", site=name)])
    await become(lambda: site.counts["/hook"] == 2)
    told = [json.loads(one.body) for one in site.received]
    assert sorted(each["login"]["site"] for each in told) == ["bank.example", "shop.example"]
    assert {(each["event"], each["login"]["state"]) for each in told} == {("login", "over")}


async def test_the_desktop_tells_of_a_login_that_is_over_and_how_it_is_renewed(
    start: StartService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, program = tmp_path / "shown", tmp_path / "bin" / "notify-send"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nfor each; do printf "%s\n" "$each"; done > {shown}.draft; mv {shown}.draft {shown}\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    service = await start(notify="desktop")
    await service.parts.events.tell([LoginOver(session_id="default", site="shop.example")])
    await become(shown.exists)
    assert shown.read_text().splitlines()[-3:] == [
        "browse-together: your login at shop.example",
        "It seems to be over: a page led to where one signs in.",
        "Renew it: browse-together login",
    ]


@pytest.mark.parametrize("clicks", [False, True])
async def test_the_desktop_shows_a_request_and_a_click_opens_it_by_a_link_in_no_command_line(
    start: StartService, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, clicks: bool
) -> None:
    """A real program of that name, which writes down what it was given, and says that it was clicked."""
    shown, program, opened_urls = tmp_path / "shown", tmp_path / "bin" / "notify-send", list[str]()
    program.parent.mkdir()
    tells = "--action=" if clicks else "nothing of it"
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = --help ]; then echo "{tells}"; exit; fi\n'
        f'for each; do printf "%s\n" "$each"; done > {shown}.draft\nmv {shown}.draft {shown}\necho default\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setattr(webbrowser, "open", opened_urls.append)
    service = await start(notify="desktop")
    async with service.agent("Claude") as agent:
        await opened(agent, site)
        request_id = await pending(agent, kind="other", message="$(touch /tmp/x) <b>now</b>")
        await become(shown.exists)
        if clicks:
            await become(lambda: opened_urls)
    how = [] if clicks else ["See it: browse-together requests"]
    before = ["--action=default=Open", "--wait"] if clicks else []
    assert shown.read_text().splitlines() == [
        *before,
        "--app-name=browse-together",
        "--",
        "browse-together: Claude asks for you",
        f'other, {site.url("")}, in its own words: "$(touch /tmp/x) &lt;b&gt;now&lt;/b&gt;"',
        *how,
    ]
    if clicks:
        (file,) = service.settings.data_dir.glob(LINK_FILES)
        assert opened_urls == [file.as_uri()]
        (opens,) = re.findall(r'url=(\S+)">', html.unescape(file.read_text()))
        assert _but_for_its_end(opens) == _but_for_its_end(service.link_to(request_id))
        assert file.stat().st_mode & 0o077 == 0
