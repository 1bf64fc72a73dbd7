"""Where pages may go: decided on what a caller asks for, and again on what a browser makes of it."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from browser_service.http.edge import loopback_hosts
from browser_service.security.urls import UrlPolicy
from browser_service.settings import Settings
from shared.errors import BrowseError, Forbidden, ValidationFailed
from tests.support.listening import become
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Answer, Site

OWN_PORT = 8888
POLICY = UrlPolicy(own_hosts=lambda: frozenset(loopback_hosts(OWN_PORT)))

METADATA = [
    "http://169.254.169.254/latest/meta-data/",
    "https://169.254.169.254",
    "http://169.254.169.254.",
    "http://169.254.169.254:80/",
    "http://user:secret@169.254.169.254/",
    "http://2852039166/",
    "http://0xA9FEA9FE/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://169.16689662/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://%31%36%39.254.169.254/",
    "http://１６９.２５４.１６９.２５４/",  # noqa: RUF001 - browsers read these digits
    "http://169。254。169。254/",
    "http://①⑥⑨.254.169.254/",
    "http://169.254.169.2\u00ad54/",
    "http://169.254.169.254\\@good.example/",
    "http:\\\\169.254.169.254/",
    "ht\ntp://169.254.\t169.254/",
    " http://169.254.169.254 ",
    "http://METADATA.google.internal/computeMetadata/v1/",
    "http://metadata.google.internal./",
    "http://169.254.170.2/v2/credentials",
]
OWN = [
    f"http://127.0.0.1:{OWN_PORT}/",
    f"http://localhost:{OWN_PORT}/api/browser",
    f"http://LOCALHOST.:{OWN_PORT}/",
    f"http://[::1]:{OWN_PORT}/",
    f"http://[0:0:0:0:0:0:0:1]:{OWN_PORT}/",
    f"http://[::ffff:127.0.0.1]:{OWN_PORT}/",
    f"http://127.1:{OWN_PORT}/",
    f"http://2130706433:{OWN_PORT}/",
    f"http://0x7f000001:{OWN_PORT}/",
    f"http://127.0.0.2:{OWN_PORT}/",
    f"http://0.0.0.0:{OWN_PORT}/",
    f"http://0:{OWN_PORT}/",
    f"http://[::]:{OWN_PORT}/",
    f"http://evil.localhost:{OWN_PORT}/",
    f"https://127.0.0.1:{OWN_PORT}/",
]
SCHEMES = [
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,<h1>x",
    "chrome://version",
    "view-source:http://127.0.0.1/",
    "ftp://127.0.0.1/",
    "about:srcdoc",
    "about:version",
    "ws://127.0.0.1/",
    "chrome-extension://abc/page.html",
    "filesystem:http://127.0.0.1/temporary/x",
]


@pytest.mark.parametrize("url", METADATA)
def test_a_metadata_address_is_refused_however_it_is_spelled(url: str) -> None:
    with pytest.raises(Forbidden, match="metadata"):
        POLICY.check(url)


@pytest.mark.parametrize("url", OWN)
def test_the_services_own_port_is_refused_however_this_machine_is_spelled(url: str) -> None:
    with pytest.raises(Forbidden, match="own address"):
        POLICY.check(url)


@pytest.mark.parametrize("url", SCHEMES)
def test_other_schemes_are_refused(url: str) -> None:
    with pytest.raises(Forbidden, match="may not be opened"):
        POLICY.check(url)


def test_only_what_a_caller_goes_to_by_itself_may_be_a_page_that_it_wrote() -> None:
    for url in ("data:text/html,<h1>x", " DATA:,x", "about:blank", "https://example.com/"):
        assert POLICY.check_own(url) == url.strip()
    for url in ("about:srcdoc", "about:version", "file:///etc/passwd", "javascript:alert(1)", "chrome://version"):
        with pytest.raises(Forbidden, match="may not be opened"):
            POLICY.check_own(url)
    with pytest.raises(Forbidden, match="may not be opened"):
        POLICY.check("data:,x")
    with pytest.raises(ValidationFailed, match="65,536"):
        POLICY.check_own("data:," + "ä" * 40_000)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "http://127.0.0.1:8900/",
        "http://localhost:80/",
        "http://[::1]:8900/x",
        f"http://example.com:{OWN_PORT}/",
        f"http://mylocalhost:{OWN_PORT}/",
        "http://10.0.0.1/",
        "http://1.169.254.169/",
        "http://169.253.169.254/",
        "https://bücher.example/ä?ö=ü#ß",
        "http://metadata.example/",
        "about:blank",
        "about:blank#x",
        "blob:https://example.com/0f3a",
        " https://example.com/ ",
        "https://example.com/a\\b?c=\\d",
        "http://good.example\\@169.254.169.254/",
    ],
)
def test_the_rest_of_the_web_is_allowed(url: str) -> None:
    assert POLICY.check(url) == url.strip()


@pytest.mark.parametrize(
    ("url", "guess"),
    [
        ("example.com", "https://example.com"),
        ("example.com:8080/x", "https://example.com:8080/x"),
        ("localhost:3000", "http://localhost:3000"),
        ("//example.com/x", "https://example.com/x"),
        ("   ", "https://example.com/"),
        ("/cart", "https://example.com/"),
        ("", "https://example.com/"),
    ],
)
def test_a_url_without_a_scheme_is_explained(url: str, guess: str) -> None:
    with pytest.raises(ValidationFailed) as raised:
        POLICY.check(url)
    assert raised.value.advice is not None
    assert f'{{"url": "{guess}"}}' in raised.value.advice
    assert raised.value.details["context"] == {"field": "url"}


@pytest.mark.parametrize(
    "url", ["http://", "http:///path", "https://:80/", "http://a:port/", "http://a:99999/", "http://[x"]
)
def test_a_url_without_a_usable_host_is_explained(url: str) -> None:
    with pytest.raises(ValidationFailed):
        POLICY.check(url)


def test_a_relative_url_is_judged_from_where_the_page_is() -> None:
    base = "https://example.com/shop/"
    assert POLICY.check_from(base, "/cart") == "https://example.com/cart"
    for url in ("//169.254.169.254/x", "\\\\169.254.169.254\\x", "\t//169.254.169.254", "/\\169.254.169.254/x"):
        with pytest.raises(Forbidden):
            POLICY.check_from(base, url)


def test_only_allowed_hosts_are_opened_where_some_are_named() -> None:
    policy = UrlPolicy(allow_hosts=frozenset({"example.com", "bücher.example", "10.0.0.5"}))
    for url in (
        "https://example.com/",
        "https://a.b.example.com./",
        "https://xn--bcher-kva.example/",
        "http://167772165/",
    ):
        assert policy.permits(url)
    for url in ("https://example.org/", "https://notexample.com/", "https://example.com.evil.org/", "http://10.0.0.6/"):
        assert not policy.permits(url)


def test_denied_hosts_are_not_opened_though_they_are_spelled_otherwise() -> None:
    policy = UrlPolicy(deny_hosts=frozenset({"Bank.example", "bücher.example", "10.0.0.5"}))
    for url in ("https://bank.example/", "https://my.BANK.example/", "https://bücher.example/", "http://0xA000005/"):
        assert not policy.permits(url)
    assert policy.permits("https://example.com/")


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("http://bank.example:80/path", "bank.example"),
        ("good.example, *.bank.example", "bank.example"),
        ("bank.example:8080", "bank.example"),
        ("//bank.example", "bank.example"),
        ("[::1]:80", "::1"),
        ("bank.example/login", "bank.example"),
        ("*", "example.com"),
    ],
)
def test_a_list_of_hosts_that_would_match_nothing_is_refused_with_what_was_meant(value: str, meant: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Settings(deny_hosts=value)
    assert f"such as {meant!r}" in str(raised.value)
    with pytest.raises(ValidationError):
        Settings(allow_hosts=value)


def test_a_list_of_hosts_may_have_every_name_that_matches_something() -> None:
    hosts = ("bank.example.", "bücher.example", "a_b.example", "localhost", "10.0.0.5", "0xA000005", "::1")
    settings = Settings(deny_hosts=", ".join(hosts))
    assert settings.deny_hosts == hosts
    policy = UrlPolicy(deny_hosts=frozenset(hosts))
    for url in ("http://bank.example/", "http://a.bücher.example/", "http://a_b.example/", "http://[::1]/"):
        assert not policy.permits(url)


def test_a_host_header_that_no_client_sends_is_refused() -> None:
    for value in ("https://browse.example/", "browse.example:port", "browse.example/x"):
        with pytest.raises(ValidationError, match=r"such as 'browse\.example:\d+'"):
            Settings(allowed_hosts=value)
    assert Settings(allowed_hosts="browse.example:80,[::1]:8888,me").allowed_hosts == (
        "browse.example:80",
        "[::1]:8888",
        "me",
    )


@given(st.text())
@example("http://[::1%25eth0]/")
@example("http://\x00/")
@example("http://a\ud800b/")
@example("http://[::ffff:1.2.3.4%1]/")
@example("http://" + "a" * 70 + ".example/")
@example("http://xn--/")
@example("//[")
@example("http://%00/")
def test_nothing_but_our_own_errors_is_ever_raised_for_a_text(url: str) -> None:
    _judge(url)


_HOSTS = st.text(alphabet=st.sampled_from("0123456789abcdefx.:%[]@\\/-_~。１①\u00ad\u200b \t\ufeff"), max_size=40)


@given(st.sampled_from(["http", "https", "HTTP", "blob:http"]), _HOSTS, st.text(max_size=5))
def test_nothing_but_our_own_errors_is_ever_raised_for_a_host(scheme: str, host: str, rest: str) -> None:
    _judge(f"{scheme}://{host}{rest}")


@given(st.integers(min_value=0xA9FE0000, max_value=0xA9FEFFFF), st.sampled_from([str, hex, lambda n: f"0{n:o}"]))
def test_every_link_local_address_is_refused_as_a_number(number: int, spelled: "type[str]") -> None:
    assert not POLICY.permits(f"http://{spelled(number)}/")


def _judge(url: str) -> None:
    try:
        POLICY.check(url)
        POLICY.check_from("https://example.com/", url)
    except BrowseError as error:
        if not isinstance(error, Forbidden | ValidationFailed) or not error.message:
            raise


# --- in a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
async def proxied(tmp_path_factory: pytest.TempPathFactory, shared_site: Site) -> AsyncIterator[RunningService]:
    """A service whose browser sends every request, to whatever address, to the site: it sees what is asked for."""
    settings = settings_for(
        tmp_path_factory.mktemp("proxied"), proxy=shared_site.url().rstrip("/"), deny_hosts=["denied.example"]
    )
    async with running_service(settings) as service:
        yield service


@pytest.fixture
async def visitor(proxied: RunningService) -> AsyncIterator[Agent]:
    """An agent whose pages are closed when it leaves."""
    async with proxied.agent() as agent:
        yield agent
        for page in (await agent.call("list_pages"))["yours"]:
            await agent.reply("close_page", pageId=page["pageId"])


async def arrive(visitor: Agent) -> None:
    """Chromium's own page about a blocked navigation may come late, and then interrupts the next one."""
    async with asyncio.timeout(10):
        while (await visitor.reply("goto", pageId="p", url=SHOP)).status_code != 200:
            pass


def asked_for(site: Site, *hosts: str) -> list[str]:
    return [received.path for received in site.received if any(host in received.path for host in hosts)]


@pytest.mark.anyio
async def test_no_spelling_of_a_metadata_address_is_ever_requested(visitor: Agent, site: Site) -> None:
    site.page("/", "<title>reached</title>")
    await visitor.call("goto", pageId="p", url="http://shop.example/")
    assert asked_for(site, "shop.example") != []
    for url in METADATA:
        error = await visitor.error("goto", pageId="p", url=url)
        assert error["code"] == "FORBIDDEN", url
        error = await visitor.error("fetch", pageId="p", url=url)
        assert error["code"] == "FORBIDDEN", url
    assert asked_for(site, "169.254", "metadata", "fe80", "ec2", "a9fe") == []


@pytest.mark.anyio
@pytest.mark.parametrize("spelled", ["169.254.169.254", "2852039166", "0xA9FEA9FE", "[::ffff:a9fe:a9fe]"])
async def test_a_redirect_to_a_metadata_address_is_not_followed(visitor: Agent, site: Site, spelled: str) -> None:
    site.page("/away", Answer("", 302, headers={"Location": f"http://{spelled}/latest"}))
    site.page("/on", Answer("", 302, headers={"Location": "http://other.example/latest"}))
    site.page("/latest", "<title>reached</title>")
    site.page("/", "<h1>shop</h1>")
    await visitor.call("goto", pageId="p", url="http://shop.example/on")
    assert asked_for(site, "/latest") == ["http://other.example/latest"]
    error = await visitor.error("goto", pageId="p", url="http://shop.example/away")
    assert error["code"] == "NAVIGATION_FAILED"
    assert "ERR_BLOCKED_BY_CLIENT" in error["message"]
    assert "may not be opened" in error["hint"]
    await visitor.call("goto", pageId="p", url="http://shop.example/")
    assert asked_for(site, "/latest") == ["http://other.example/latest"]


SHOP = "http://shop.example/"
NEW_FRAME = "document.body.append(Object.assign(document.createElement('iframe'), {{src: '{url}'}}))"
DOORS = {
    "a link": "<a id=go href='{url}'>go</a>",
    "a script": "<button id=go onclick=\"location = '{url}'\">go</button>",
    "a form": "<form action='{url}' method=post><button id=go>go</button></form>",
    "a refresh": "<a id=go href='/refresh'>go</a>",
    "a redirect": "<a id=go href='/redirect'>go</a>",
    "a frame": f'<button id=go onclick="{NEW_FRAME}">go</button>',
    "a frame of another site": (
        "<a id=go target=frame href='http://elsewhere.example/onward'>go</a><iframe name=frame></iframe>"
    ),
    "a popup": "<button id=go onclick=\"window.open('{url}')\">go</button>",
    "a popup that does not know its opener": "<a id=go target=_blank rel=noopener href='{url}'>go</a>",
    "a popup that is redirected": "<a id=go target=_blank href='/redirect'>go</a>",
    "a picture": "<button id=go onclick=\"new Image().src = '{url}'\">go</button>",
    "a request": "<button id=go onclick=\"fetch('{url}', {{mode: 'no-cors'}})\">go</button>",
}


@pytest.mark.anyio
@pytest.mark.parametrize("door", DOORS)
async def test_a_page_does_not_get_to_a_metadata_address_through(visitor: Agent, site: Site, door: str) -> None:
    """Each door is shown to lead to another host, and what comes after the refusal to have come after it."""
    for host in ("open.example", "2852039166", "open.example"):
        url = f"http://{host}/latest"
        site.page("/latest", "<title>reached</title>")
        site.page("/refresh", f"<meta http-equiv=refresh content='0;url={url}'>")
        site.page("/redirect", Answer("", 302, headers={"Location": url}))
        site.page("/onward", f"<script>setTimeout(() => {{ location = '{url}' }}, 50)</script>")
        site.page("/", DOORS[door].format(url=url))
        before = len(asked_for(site, "/latest"))
        await arrive(visitor)
        await visitor.reply("click", pageId="p", selector="#go")
        if host == "open.example":
            await become(lambda before=before: len(asked_for(site, "/latest")) > before)  # type: ignore[misc] # of this round
    assert "169.254" not in (await visitor.reply("list_pages", all=True)).text
    assert set(asked_for(site, "/latest")) == {"http://open.example/latest"}


@pytest.mark.anyio
async def test_a_blocked_navigation_is_told_to_whose_page_it_is(visitor: Agent, site: Site) -> None:
    site.page("/", "<a href='http://2852039166/latest'>go</a>")
    await visitor.call("goto", pageId="p", url=SHOP)
    told = (await visitor.reply("click", pageId="p", selector="a")).text
    async with asyncio.timeout(10):
        while "was blocked" not in told:
            told = (await visitor.reply("get_current_url", pageId="p")).text
    assert "http://169.254.169.254/latest may not be opened" in told


@pytest.mark.anyio
async def test_a_denied_host_is_not_opened_in_a_popup_either(visitor: Agent, site: Site) -> None:
    site.page("/latest", "<title>reached</title>")
    for host in ("open.example", "sub.denied.example", "open.example"):
        site.page("/", DOORS["a popup"].format(url=f"http://{host}/latest"))
        before = len(asked_for(site, "/latest"))
        await arrive(visitor)
        await visitor.call("click", pageId="p", selector="#go")
        if host == "open.example":
            await become(lambda before=before: len(asked_for(site, "/latest")) > before)  # type: ignore[misc] # of this round
    assert set(asked_for(site, "/latest")) == {"http://open.example/latest"}


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
