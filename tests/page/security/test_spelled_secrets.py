"""Tests that a secret is hidden however browsers and servers spell it, and in each file that we write."""

import gzip
import itertools
import json
import lzma
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest

from browse_together.contract.named_secrets import NamedSecret
from browser_service.security.concealment import Concealment
from tests.pure.security.test_spellings import SPELLINGS
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

ASCII, UMLAUTS = "Winter*2025!~(x)&y/z", "Grün-Käse42x"
REF: AnyJson = {"secret": "pw"}
MARK = "«secret:pw»"
LOGIN = "<form method={}><input id=pw name=password><input type=hidden name=from value=shop><button>Go</button></form>"
SPELL = """<script>
const utf8 = text => unescape(encodeURIComponent(text));
const url = new URL('http://shop.example/'), p = document.createElement('p');
const set = (part, text) => { url[part] = 'x=' + text; return url[part] };
const spell = text => ({
  form: new URLSearchParams({user: 'ana', password: text}).toString(), component: encodeURIComponent(text),
  uri: encodeURI(text), escape: escape(text), query: set('search', text), hash: set('hash', text),
  json: JSON.stringify({body: JSON.stringify([text])}), text: (p.textContent = text, p.innerHTML),
  attribute: (p.textContent = '', p.title = text, p.outerHTML), base64: btoa('ana:' + utf8(text)),
  base64OfForm: btoa(new URLSearchParams({user: 'ana', password: text})),
  link: Object.assign(document.createElement('a'), {href: '/?x=' + text.replaceAll('#', '')}).search,
});
fetch('/texts').then(given => given.json()).then(texts =>
  fetch('/spelled', {method: 'POST', body: JSON.stringify(texts.map(spell))}));
</script>"""


@pytest.fixture
def keep(service: RunningService, site: Site) -> Callable[[str], None]:
    """Keep a secret of the site."""
    secrets, origin = service.parts.secrets, site.url("").rstrip("/")
    return lambda value: secrets.set(NamedSecret(name="pw", value=value, origins=(origin,)))


async def test_no_spelling_of_the_browser_leaves_anything_of_a_secret(agent: Agent, site: Site) -> None:
    with lzma.open(SPELLINGS, "rt", encoding="utf-8") as file:
        texts = [str(json.loads(line)["text"]) for line in file]
    site.page("/texts", Answer(json.dumps(texts), content_type="application/json"))
    site.page("/spelled", "")
    latin = Answer(SPELL, content_type="text/html; charset=iso-8859-1")
    await agent.call("goto", pageId="p", url=site.page("/", latin))
    await become(lambda: site.counts["/spelled"])
    remainders: dict[str, set[str]] = defaultdict(set)
    (spelled,) = (json.loads(each.body) for each in site.received if each.path == "/spelled")
    for text, spellings in zip(texts, spelled, strict=True):
        hides = Concealment([("pw", text)])
        of_link = Concealment([("pw", text.replace("#", ""))])
        for name, spelling in spellings.items():
            remainders[name].add((of_link if name == "link" else hides).text(spelling).replace("\\", ""))
    assert len(remainders) == 12
    for name, shown in remainders.items():
        assert all(MARK in each for each in shown), (name, shown)
        assert len(shown) <= (30 if "base64" in name else 1), (name, shown)


@pytest.mark.parametrize("method", ["post", "get"])
async def test_a_login_shows_the_secret_in_no_log_recording_or_listing(
    agent: Agent, other: Agent, site: Site, keep: Callable[[str], None], method: str
) -> None:
    keep(ASCII)
    await agent.call("goto", pageId="p", url=site.page("/", LOGIN.format(method)))
    await agent.call("fill", pageId="p", selector="#pw", value=REF)
    seen: list[object] = [await agent.call("click", pageId="p", selector="button")]
    seen.append(await agent.call("get_network_log", pageId="p", includeBodies=True, includeSecrets=True))
    har = await agent.call("export_har", pageId="p", content="embed", includeSecrets=True)
    seen += [
        har,
        (await agent.http.get(har["artifact"]["url"])).text,
        (await other.http.get("/api/browser/pages")).text,
    ]
    shown = json.dumps(seen, ensure_ascii=False)
    assert f"password={MARK}&from=shop" in shown
    assert not [part for part in ("Winter", "2025") if part in shown]


async def test_a_form_of_a_page_in_latin_1_shows_no_secret(
    agent: Agent, site: Site, keep: Callable[[str], None]
) -> None:
    keep(UMLAUTS)
    site.page("/", Answer(LOGIN.format("get"), content_type="text/html; charset=iso-8859-1"))
    await agent.call("goto", pageId="p", url=site.url("/"))
    await agent.call("fill", pageId="p", selector="#pw", value=REF)
    shown = (await agent.reply("click", pageId="p", selector="button")).text
    assert "Gr%FCn-K%E4se42x" in str([each.path for each in site.received])
    assert (f"password={MARK}" in shown, "se42x" in shown) == (True, False)


async def test_a_reply_of_a_php_server_shows_no_secret(agent: Agent, site: Site, keep: Callable[[str], None]) -> None:
    keep("ab/cd-Xy77&q")
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    site.page("/key", Answer('{"key":"ab\\/cd-Xy77&q"}', content_type="text/plain"))
    assert (await agent.call("fetch", pageId="p", url="/key"))["body"] == f'{{"key":"{MARK}"}}'


async def test_a_file_of_a_site_is_as_the_site_made_it(agent: Agent, site: Site, keep: Callable[[str], None]) -> None:
    keep("Sommer(24)&x")
    headers = {"content-disposition": "attachment; filename=settings.gz"}
    file = gzip.compress(b"key=Sommer(24)&x")
    site.page("/settings.gz", Answer(file, content_type="application/gzip", headers=headers))
    await agent.call("goto", pageId="p", url=site.page("/", "<a href=/settings.gz>save</a>"))
    (saved,) = (await agent.call("click", pageId="p", selector="a"))["downloads"]
    assert (await agent.http.get(saved["file"])).content == file
    plain = site.page("/plain", Answer(b"key=Sommer(24)&x", content_type="text/plain"))
    fetched = (await agent.call("fetch", pageId="p", url=plain, responseType="binary"))["artifact"]
    assert ("data" in fetched, (await agent.http.get(fetched["url"])).content) == (False, b"key=Sommer(24)&x")


async def test_a_file_that_takes_too_long_to_be_searched_is_not_given_while_there_are_secrets(
    agent: Agent, service: RunningService, site: Site, keep: Callable[[str], None]
) -> None:
    site.page("/big", Answer("x" * 300_000, content_type="text/plain"))
    await agent.call("goto", pageId="p", url=site.page("/", "<script>fetch('/big').then(got => got.text())</script>"))
    await become(lambda: site.counts["/big"])
    with impatient(service, keep):
        error = await agent.error("export_har", pageId="p", content="embed")
        assert (error["code"], "Ask for less" in error["hint"]) == ("RESOURCE_EXHAUSTED", True)
        assert (await agent.call("export_har", pageId="p"))["artifact"]["size"]
        picture = await agent.call("get_screenshot_as_base64", pageId="p")
        assert picture["mimeType"] == "image/png"
    service.parts.secrets.remove("pw")
    assert (await agent.call("export_har", pageId="p", content="embed"))["artifact"]["size"] > 300_000


@contextmanager
def impatient(service: RunningService, keep: Callable[[str], None]) -> Iterator[None]:
    """Let each search find its time over when it first looks."""
    secrets, ticks = service.parts.secrets, itertools.count()
    before, secrets.clock = secrets.clock, lambda: next(ticks)
    keep(ASCII)
    try:
        yield
    finally:
        secrets.clock = before
        secrets.changed()


async def test_nobody_pastes_a_secret_elsewhere(agent: Agent, site: Site, keep: Callable[[str], None]) -> None:
    keep(ASCII)
    shown = f"<div id=c contenteditable>to <b>paste</b>: {quote(ASCII)}</div>"
    await agent.call("goto", pageId="p", url=site.page("/", shown))
    for key in ("Control+a", "Control+c"):
        await agent.call("press", pageId="p", selector="#c", key=key)
    sent = "<textarea id=t oninput='fetch(`/got`, {method: `POST`, body: value})'></textarea>"
    await agent.call("goto", pageId="p", url=site.page("/t", sent).replace("127.0.0.1", "localhost"))
    await agent.call("press", pageId="p", selector="#t", key="Control+v")
    await become(lambda: site.counts["/got"])
    assert site.received[-1].body.decode() == f"to paste: {MARK}"


async def test_no_pdf_has_a_secret(agent: Agent, site: Site, keep: Callable[[str], None]) -> None:
    keep(ASCII)
    await agent.call("goto", pageId="p", url=site.page("/", "<title>x</title><p>It is <b id=b></b>.<a href=/>x</a>"))
    assert (await agent.call("generate_pdf", pageId="p"))["artifact"]["mimeType"] == "application/pdf"
    for script in ("b.textContent = value", "document.title = value", "document.links[0].search = value"):
        await agent.call("goto", pageId="p", url=site.url("/"))
        await agent.call("evaluate_script", pageId="p", expression=f"((value) => {{ {script} }})({json.dumps(ASCII)})")
        error = await agent.error("generate_pdf", pageId="p")
        assert (error["code"], "content" in error["hint"]) == ("FORBIDDEN", True), script
