"""Tests where pages may go: decided on what a caller asks for, and again on what a browser makes of it."""

import json
import random

import pytest

from browser_service.security.web_address import web_address
from tests.support.service import Agent, RunningService


@pytest.mark.anyio
async def test_the_services_own_address_is_not_opened_by_any_name(agent: Agent, service: RunningService) -> None:
    port = service.settings.port
    for host in ("127.0.0.1", "localhost", "[::1]", "127.1", "0", "x.localhost"):
        error = await agent.error("goto", pageId="p", url=f"http://{host}:{port}/api/tools")
        assert (error["status"], error["code"]) == (403, "FORBIDDEN"), host
    assert (await agent.call("list_pages"))["yours"] == []


@pytest.mark.anyio
async def test_a_refusal_shows_the_url_as_it_was_given(agent: Agent) -> None:
    error = await agent.error("goto", pageId="p", url="file:///etc/passwd")
    assert error["details"]["url"] == "file:///etc/passwd"
    assert json.dumps(error["details"]["context"]) == '{"field": "url"}'


PIECES = (
    *(
        "http",
        "HTTPS",
        "ws",
        "://",
        ":/",
        ":\\\\",
        "/",
        "//",
        "\\",
        "@",
        ":",
        "?",
        "#",
        ".",
        "..",
        "%2e",
        "%2F",
        "%61",
        "%",
    ),
    *(
        "shop.example",
        "SHOP.example.",
        "a",
        "me:pw@",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0300.0.0.1",
        "[::1]",
        "[::ffff:1.2.3.4]",
    ),
    *(
        "b\u00fccher",
        "fa\u00df.de",
        "\uff11\uff12\uff17",
        "\u3002",
        "\u00ad",
        "\u2460",
        "xn--",
        " ",
        "\t",
        "\n",
        ":80",
        ":443",
        ":8080",
    ),
)
PARSED = """urls => urls.map(url => {
    try {
        const parsed = new URL(url);
        return [parsed.protocol, parsed.hostname, parsed.port, parsed.search, parsed.pathname];
    } catch { return null; }
})"""


def parsed_here(url: str) -> list[str] | None:
    """Return what a rule sees of a URL, in Chromium's form."""
    try:
        address = web_address(url)
    except ValueError:
        return None
    return [address.scheme, address.host, str(address.port), address.query, address.path]


@pytest.mark.anyio
async def test_a_rule_and_the_browser_see_the_same_parts_in_every_spelling_of_a_url(agent: Agent) -> None:
    choose = random.Random(13)  # noqa: S311 - no secret
    starts = ("http://", "https:\\\\", "ws://", "")
    urls = [choose.choice(starts) + "".join(choose.choices(PIECES, k=choose.randint(1, 6))) for _ in range(2_000)]
    await agent.call("goto", pageId="p", url="about:blank")
    theirs = (await agent.call("evaluate_script", pageId="p", expression=PARSED, arg=urls))["value"]
    compared = 0
    for url, parsed in zip(urls, theirs, strict=True):
        ours = parsed_here(url)
        if parsed is None or parsed[0] not in {"http:", "https:", "ws:", "wss:"}:
            assert ours is None or ours[0] not in {"http", "https"}, url
            continue
        if ours is None:  # Chromium takes some hosts that no standard allows, such as one with a space: not so we
            continue
        compared += 1
        scheme, host, port, query, path = parsed
        same = web_address(f"{scheme}//{host}{port and ':'}{port}{path}{query}")
        assert ours == [same.scheme, same.host, str(same.port), same.query, same.path], url
        assert same.host == (host.strip("[]").removesuffix(".") if "ffff" not in host else same.host), url
    assert compared > len(urls) / 4
