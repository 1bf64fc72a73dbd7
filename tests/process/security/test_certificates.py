"""Tests that no agent accepts a site's wrong certificate for all that share the login, and that a person does."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser_service.host.sessions.profile import Profile
from tests.support.named_site import NamedSite, named_site
from tests.support.service import Agent, running_service, settings_for

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]


@pytest.fixture
def untrusted(tmp_path: Path) -> Iterator[NamedSite]:
    """Serve a site over TLS with an unsigned certificate for another name."""
    with named_site("shop.example", tmp_path) as site:
        site.page("/", "<title>whoever it is</title>")
        yield site


async def pass_by_clicks(agent: Agent) -> None:
    await agent.call("click", pageId="p", selector="#details-button")
    await agent.error("click", pageId="p", selector="#proceed-link", timeout=500)


async def pass_by_keys(agent: Agent) -> None:
    await agent.reply("type", pageId="p", selector="body", text="thisisunsafe")


async def pass_by_script(agent: Agent) -> None:
    await agent.reply("evaluate_script", pageId="p", expression="certificateErrorPageController.proceed()")


async def test_an_agent_does_not_pass_the_browsers_warning_of_a_wrong_certificate(
    tmp_path: Path, untrusted: NamedSite
) -> None:
    address = untrusted.url("/", f"127.0.0.1:{untrusted.port}")
    async with running_service(settings_for(tmp_path)) as service, service.agent() as agent:
        refused = await agent.error("goto", pageId="p", url=address)  # for which Chromium takes three seconds each time
        for passes in (pass_by_script, pass_by_keys, pass_by_clicks):
            await passes(agent)
        again = await agent.error("goto", pageId="q", url=address)
        assert refused["code"] == again["code"] == "NAVIGATION_FAILED"
        assert "ERR_CERT" in refused["message"]
        assert "browse-together login" in refused["hint"]
        assert untrusted.received == []


async def test_a_person_accepts_a_certificate_only_in_the_login_window(tmp_path: Path) -> None:
    profile = Profile(tmp_path / "profile", lambda _: "")
    preferences = profile.directory / "Default" / "Preferences"
    await profile.prepare("chromium")
    allowed = [json.loads(preferences.read_text())["ssl"]]
    profile.lend()
    allowed.append(json.loads(preferences.read_text())["ssl"])
    await profile.prepare("chromium")
    allowed.append(json.loads(preferences.read_text())["ssl"])
    assert [each["error_override_allowed"] for each in allowed] == [False, True, False]
