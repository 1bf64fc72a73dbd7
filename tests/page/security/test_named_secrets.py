"""Tests that a named secret reaches the field that it is for, and nothing else: no reply, file or other origin."""

import asyncio
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from browse_together.contract import wire
from browse_together.contract.named_secrets import NamedSecret
from browser_service.security.one_time_codes import from_authenticator
from browser_service.security.secret_commands import SecretCommand
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Received, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

VALUE = "S3cr3t & <Pässword> of the shop"
REF: AnyJson = {"secret": "shop-password"}
TELLTALE = """<title>Sign in</title>
<form action=/in method=post><input name=user><input name=pw type=password><input name=plain><button>Go</button></form>
<p id=echo></p><script>
const pw = document.querySelector('[name=plain]');
pw.addEventListener('input', () => {
  const bytes = unescape(encodeURIComponent(pw.value));
  echo.textContent = `You typed ${pw.value}, ${encodeURIComponent(pw.value)}, ${btoa(bytes)}`;
  document.title = pw.value;
  console.log('typed', pw.value);
  history.replaceState(null, '', '#' + encodeURIComponent(pw.value));
  localStorage.setItem('typed', pw.value);
});
</script>"""


@dataclass
class Shop:
    site: Site

    @property
    def posted(self) -> dict[str, list[str]]:
        return parse_qs(next(each for each in self.site.received if each.method == "POST").body.decode())


def _echo(received: Received) -> Answer:
    return Answer(f"<p>{received.body.decode()}</p><p>{received.headers.get('authorization')}</p>")


@pytest.fixture
def shop(service: RunningService, site: Site) -> Shop:
    site.page("/", TELLTALE)
    site.page("/in", _echo)
    origin = site.url("").rstrip("/")
    secrets = service.parts.secrets
    secrets.set(NamedSecret(name="shop-password", value=VALUE, origins=(origin,)))
    secrets.set(from_authenticator("shop-codes", "JBSWY3DPEHPK3PXP", (origin,)))
    return Shop(site)


def _clean(*replies: object) -> None:
    for reply in replies:
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        for part in (VALUE, VALUE[:8], "S3cr3t", "P%C3%A4ssword"):
            assert part not in text


async def test_the_site_gets_the_secret_and_no_reply_has_it(agent: Agent, shop: Shop) -> None:
    await agent.call("goto", pageId="p", url=shop.site.url("/"))
    typed = await agent.call("type", pageId="p", selector="[name=user]", text=REF)
    assert typed["observed"].startswith(f"it has {len(VALUE)} characters now")
    await agent.call("fill", pageId="p", selector="[name=plain]", value=REF)
    seen: list[object] = [
        await agent.call(name, pageId="p") for name in ("snapshot", "content", "get_console_messages", "get_page_title")
    ]
    seen.append(await agent.call("get_current_url", pageId="p"))
    seen.append(await agent.call("find", pageId="p", text="You typed"))
    seen.append(await agent.call("evaluate_script", pageId="p", expression="[echo.textContent, {...localStorage}]"))
    seen.append((await agent.reply("evaluate_script", pageId="p", expression="throw new Error(document.title)")).text)
    seen.append((await agent.http.get("/api/browser/pages")).text)
    fields = [{"selector": "[name=pw]", "value": REF}, {"selector": "[name=plain]", "value": {"secret": "shop-codes"}}]
    form = await agent.call("fill_form", pageId="p", fields=fields, submit="button")
    assert form["fields"] == [
        {"selector": "[name=pw]", "characters": len(VALUE)},
        {"selector": "[name=plain]", "characters": 6},
    ]
    assert (shop.posted["pw"], shop.posted["plain"][0].isdecimal()) == ([VALUE], True)
    har = await agent.call("export_har", pageId="p", content="embed", includeSecrets=True)
    log = await agent.call("get_network_log", pageId="p", includeBodies=True, includeHeaders=True, includeSecrets=True)
    assert "pw=«secret:shop-password»&plain=«secret:shop-codes»" in log["log"]
    file = (await agent.http.get(har["artifact"]["url"])).text
    activity = await agent.call("get_activity", pageId="p")
    assert "«secret:shop-password»" in file
    _clean(typed, *seen, form, log, file, activity)
    assert "«secret:shop-password»" in json.dumps(seen, ensure_ascii=False)


async def test_a_secret_is_only_for_its_origin_also_in_frames(agent: Agent, shop: Shop) -> None:
    frame = shop.site.page("/frame", "<input id=stolen>")
    foreign = frame.replace("127.0.0.1", "localhost")
    shop.site.page("/mixed", f"<input id=own><iframe src={foreign}></iframe><iframe id=doc srcdoc='<input id=inner>'>")
    await agent.call("goto", pageId="p", url=shop.site.url("/mixed"))
    await agent.call("wait_for_selector", pageId="p", selector="#stolen", frame="iframe >> nth=0")
    for selector, where in (("#stolen", "iframe >> nth=0"), ("#inner", "#doc")):
        error = await agent.error("fill", pageId="p", selector=selector, frame=where, value=REF)
        assert (error["code"], "shop-password" in error["message"]) == ("FORBIDDEN", True)
        fields = [{"selector": selector, "value": REF}]
        assert (await agent.error("fill_form", pageId="p", frame=where, fields=fields))["code"] == "FORBIDDEN"
        assert (await agent.error("type", pageId="p", selector=selector, frame=where, text=REF))["code"] == "FORBIDDEN"
    script = "[...document.querySelectorAll('iframe')].map(f => f.contentDocument?.querySelector('input').value)"
    assert (await agent.call("evaluate_script", pageId="p", expression=script))["value"] == [None, ""]
    assert (await agent.call("fill", pageId="p", selector="#own", value=REF))[
        "observed"
    ] == f"as given: {len(VALUE)} characters"


async def test_a_sandboxed_document_is_of_no_origin_whatever_its_address(agent: Agent, shop: Shop) -> None:
    """A site serves so what strangers have uploaded."""
    hostile = "<script>Object.defineProperty(window, 'origin', {value: location.origin})</script><input id=stolen>"
    shop.site.page("/upload", Answer(hostile, headers={"Content-Security-Policy": "sandbox allow-scripts"}))
    shop.site.page("/framed", f"<iframe sandbox='allow-scripts' src={shop.site.url('/letter')}></iframe>")
    shop.site.page("/letter", hostile)
    for path, where in (("/upload", {}), ("/framed", {"frame": "iframe"})):
        await agent.call("goto", pageId="p", url=shop.site.url(path))
        for action, text in (("fill", "value"), ("type", "text")):
            error = await agent.error(action, pageId="p", selector="#stolen", **where, **{text: REF})
            assert (error["code"], "shop-password" in error["message"]) == ("FORBIDDEN", True), path
    await agent.call("goto", pageId="p", url=shop.site.url("/upload"))
    assert (await agent.error("fetch", pageId="p", url="/in", headers={"X-Key": REF}))["code"] == "FORBIDDEN"


async def test_a_page_that_moves_the_focus_elsewhere_gets_no_more_than_its_own_field(agent: Agent, shop: Shop) -> None:
    shop.site.page(
        "/thief",
        "<input id=own onkeydown='if (value.length > 2) other.focus()' oninput='most = Math.max(window.most ?? 0, "
        "value.length)'><textarea id=other></textarea>",
    )
    await agent.call("goto", pageId="p", url=shop.site.url("/thief"))
    await agent.reply("type", pageId="p", selector="#own", text=REF)
    lengths = await agent.call("evaluate_script", pageId="p", expression="[most, other.value.length]")
    own, other = lengths["value"]
    assert own > 2
    assert other <= len(VALUE) - own


async def test_no_edit_of_the_field_leaves_a_part_of_the_secret(agent: Agent, shop: Shop) -> None:
    shop.site.page("/edit", "<input id=a><textarea id=b></textarea><input id=other>")
    await agent.call("goto", pageId="p", url=shop.site.url("/edit"))
    await agent.call("fill", pageId="p", selector="#other", value="copied before")
    for key in ("Control+a", "Control+c"):
        await agent.call("press", pageId="p", selector="#other", key=key)
    seen: list[object] = []
    keys = [["Backspace"], ["Home", "Delete"], ["ArrowLeft", "x"], ["Shift+ArrowLeft", "Control+x"]]
    for fill, selector in (("fill", "#a"), ("type", "#b")):
        for pressed in keys:
            await agent.call(fill, pageId="p", selector=selector, text=REF)
            seen += [(await agent.reply("press", pageId="p", selector=selector, key=key)).text for key in pressed]
            seen.append(await agent.call("snapshot", pageId="p"))
    await agent.call("fill", pageId="p", selector="#other", value="")
    await agent.call("press", pageId="p", selector="#other", key="Control+v")
    await agent.call("fill", pageId="p", selector="#b", value="x" * 195)
    typed = await agent.call("type", pageId="p", selector="#b", text=REF)
    assert typed["observed"].startswith(f"it has {len(VALUE)} characters now")
    await agent.call("type", pageId="p", selector="#b", text="more")
    values = await agent.call("evaluate_script", pageId="p", expression="[b.value, other.value]")
    assert values["value"] == ["more", "copied before"]
    _clean(*seen)
    assert not [text for text in map(str, seen) if VALUE[1:9] in text or VALUE[4:-4] in text]


SEND = "fetch(`/in`, {method: `POST`, body: new URLSearchParams({pw: pw.value})})"
WAYS = (
    ("press", "", ""),
    ("press", f"onkeyup='if (event.key === `Enter`) {SEND}'", "type=button"),
    ("click", "", ""),
    ("click", "", "onclick='event.preventDefault(); this.form.submit()'"),
    ("click", "", "type=button onclick='this.form.requestSubmit()'"),
    ("click", "", f"type=button onclick='{SEND}'"),
    ("", f"oninput='if (value.length === {len(VALUE)}) form.requestSubmit()'", ""),
)


async def test_however_a_form_is_sent_the_secret_in_it_is_sent(agent: Agent, shop: Shop) -> None:
    for act, field, button in WAYS:
        form = f"<form action=/in method=post><input id=pw name=pw {field}><button {button}>Go</button></form>"
        shop.site.page("/form", form)
        shop.site.received.clear()
        await agent.call("goto", pageId="p", url=shop.site.url("/form"))
        await agent.call("fill", pageId="p", selector="#pw", value=REF)
        if act == "press":
            await agent.call("press", pageId="p", key="Enter")
        elif act == "click":
            await agent.call("click", pageId="p", selector="button")
        await become(lambda: any(each.method == "POST" for each in shop.site.received))
        assert shop.posted["pw"] == [VALUE], (act, field, button)


async def test_a_secret_in_a_textarea_outlasts_a_line_break_at_its_end(agent: Agent, shop: Shop) -> None:
    field = "<textarea id=pw name=pw></textarea>"
    shop.site.page("/form", f"<form action=/in method=post>{field}<button>Go</button></form>")
    await agent.call("goto", pageId="p", url=shop.site.url("/form"))
    await agent.call("fill", pageId="p", selector="#pw", value=REF)
    await agent.call("press", pageId="p", selector="#pw", key="Enter")
    await agent.call("click", pageId="p", selector="button")
    await become(lambda: any(each.method == "POST" for each in shop.site.received))
    assert shop.posted["pw"] == [f"{VALUE}\r\n"]
    await agent.call("goto", pageId="p", url=shop.site.url("/form"))
    await agent.call("fill", pageId="p", selector="#pw", value=REF)
    await agent.call("press", pageId="p", selector="#pw", key="Home")
    await agent.call("press", pageId="p", selector="#pw", key="Enter")
    length = await agent.call("evaluate_script", pageId="p", expression="pw.value.length")
    assert length["value"] < 2, "an edit within it begins with an empty field"


async def test_a_header_goes_to_the_origin_of_the_secret_from_its_own_pages_and_follows_no_redirect(
    agent: Agent, shop: Shop
) -> None:
    elsewhere = shop.site.page("/elsewhere", Answer("x", headers={"access-control-allow-origin": "*"}))
    elsewhere = elsewhere.replace("127.0.0.1", "localhost")
    shop.site.page("/away", Answer("", 302, headers={"location": elsewhere}))
    code = {"X-Key": {"secret": "shop-codes", "prefix": "Key "}}
    await agent.call("goto", pageId="p", url=shop.site.url("/"))
    await agent.call("fetch", pageId="p", url="/in", method="POST", headers=code)
    assert shop.site.received[-1].headers["X-Key"].startswith("Key ")
    assert (await agent.error("fetch", pageId="p", url=elsewhere, headers=code))["code"] == "FORBIDDEN"
    assert (await agent.error("fetch", pageId="p", url="/away", headers=code))["code"] == "NETWORK_ERROR"
    error = await agent.error("fetch", pageId="p", url="/in", headers=code, params={"redirect": "follow"})
    assert error["code"] == "VALIDATION_ERROR"
    assert "/elsewhere" not in shop.site.counts
    unfit = await agent.error("fetch", pageId="p", url="/in", headers={"X-Key": REF})
    assert "no header can carry" in unfit["message"]
    await agent.call("goto", pageId="p", url=shop.site.url("/", host="localhost"))
    assert (await agent.error("fetch", pageId="p", url=shop.site.url("/in"), headers=code))["code"] == "FORBIDDEN"


async def test_a_trace_has_no_secret_in_any_of_its_files(agent: Agent, shop: Shop) -> None:
    session_id = (await agent.call("create_session"))["sessionId"]
    await agent.call("goto", pageId="mine", sessionId=session_id, url=shop.site.url("/"))
    await agent.call("start_tracing", sessionId=session_id)
    await agent.call("fill", pageId="mine", selector="[name=plain]", value=REF)
    await agent.call("click", pageId="mine", selector="button")
    artifact = (await agent.call("stop_tracing", sessionId=session_id))["artifact"]
    data = (await agent.http.get(artifact["url"])).content
    with zipfile.ZipFile(io.BytesIO(data)) as trace:
        texts = [trace.read(name) for name in trace.namelist() if not name.endswith(".jpeg")]
    assert any("«secret:shop-password»".encode() in text for text in texts)
    assert not [text for text in texts if b"S3cr3t" in text]


async def test_an_unknown_name_is_refused_at_once_with_the_names_that_exist(agent: Agent, shop: Shop) -> None:
    await agent.call("goto", pageId="p", url=shop.site.url("/"))
    error = await agent.error("fill", pageId="p", selector="[name=pw]", value={"secret": "other"})
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "secret")
    assert "shop-password for http://127.0.0.1" in error["hint"]


CUT = """<title>{title}</title><body><p id=p>{place}</p><button id=covered>{name}</button><i></i>
<div id=over style='position:fixed;inset:0' title=x>{name}</div><input id=plain value='{place}'>
<div class=many>{place}</div><div class=many>{place}</div><h1>{heading}</h1>
<script>console.log({title!r}); setTimeout(() => {{ throw new Error({error!r}) }});
if (location.hash) alert({place!r})</script>"""


async def test_no_cut_leaves_a_part_of_a_secret_that_the_page_shows(
    agent: Agent, shop: Shop, service: RunningService
) -> None:
    shown = "W3R8-5HPM-62KL"  # no other test's, because a host elsewhere hides it until it ends
    secrets = NamedSecret(name="cut", value=shown, origins=("https://elsewhere.example",))
    service.parts.secrets.set(secrets)
    at = {"title": 1_993, "place": 193, "name": 33, "heading": 73, "error": 486}
    texts = {name: "x" * (count - 1) + " " + shown + " and more" * 9 for name, count in at.items()}
    shop.site.page("/cut", CUT.format(**texts))
    url = shop.site.url("/cut")
    await agent.call("goto", pageId="p", url=shop.site.url("/"))
    named = await agent.error("fill", pageId="p", selector="[name=plain]", value={"secret": "cut"})
    assert named["code"] == "FORBIDDEN"  # but a host elsewhere, which knows no other secrets, knows it from now on
    seen = [
        (await agent.reply(name, pageId="p", **args)).text
        for name, args in (
            ("goto", {"url": url}),
            ("get_console_messages", {}),
            ("find", {"selector": ".many"}),
            ("find_elements", {"selector": "p", "attributes": True}),
            ("click", {"selector": ".many"}),
            ("click", {"selector": "#covered", "timeout": 300}),
            ("mouse", {"do": "click", "x": 5, "y": 5}),
            ("fill", {"selector": "#plain", "value": texts["place"]}),
            ("press", {"selector": "#plain", "key": "End"}),
            ("goto", {"url": f"{url}?new#alert", "timeout": 1_000}),
            ("handle_dialog", {"accept": True}),
        )
    ]
    for text in seen:
        assert "W3R" not in text
    assert sum("«secret:cut»" in text for text in seen) >= 7


async def test_no_file_of_ours_is_named_by_a_secret(agent: Agent, shop: Shop, service: RunningService) -> None:
    save = "<a id=a download=x href='data:text/plain,x'>save</a><input oninput='a.download = `${this.value}.txt`'>"
    await agent.call("goto", pageId="p", url=shop.site.page("/save", save))
    await agent.call("fill", pageId="p", selector="input", value=REF)
    await agent.call("click", pageId="p", selector="a")
    (saved,) = (await agent.call("list_downloads"))["downloads"]
    assert "shop-password" in saved["name"]
    names = [file.name for file in service.settings.data_dir.rglob("*") if "secretshop-password" in file.name]
    assert (len(names), [name for name in names if "S3cr3t" in name]) == (1, [])
    assert not any("S3cr3t" in file.name for file in (service.settings.data_dir / "output").iterdir())


async def test_a_secret_that_a_vault_keeps_is_typed_once_a_person_has_unlocked_it(
    agent: Agent, shop: Shop, service: RunningService, tmp_path: Path
) -> None:
    value, vault = "V4ulted & <Pässword>", tmp_path / "vault"
    vault.write_text(f"#!/bin/sh\n[ -e {tmp_path}/open ] && echo '{value}'\n", encoding="utf-8")
    vault.chmod(0o700)
    origin = shop.site.url("").rstrip("/")
    service.parts.secrets.set(SecretCommand(name="shop-vault", command=f"{vault} read it", origins=(origin,)))
    await agent.call("goto", pageId="p", url=shop.site.url("/"))
    fill: AnyJson = {"pageId": "p", "selector": "[name=plain]", "value": {"secret": "shop-vault"}}
    async with service.agent(operator=True) as person:
        for answer, is_open in (("Refuse", False), ("It is unlocked", False), ("It is unlocked", True)):
            call = asyncio.create_task(agent.reply("fill", **fill))
            await become(lambda: (page := service.known_page("p")) is not None and page.person is not None)
            [request] = (await person.http.get(wire.REQUESTS)).json()["result"]["requests"]
            assert "vault failed with exit code 1: its vault may be locked" in request["message"]
            if is_open:
                (tmp_path / "open").touch()
            said = {"by": "Ana", "state": "done", "answer": answer}
            resolved = await person.http.post(f"{wire.REQUESTS}/{request['requestId']}/resolve", json=said)
            assert resolved.status_code == 200
            reply = (await call).json()
            told = (reply.get("error", {}).get("code"), "secret check shop-vault" in str(reply))
            assert told == ((None, False) if is_open else ("SERVICE_UNAVAILABLE", True))
    assert reply["result"]["observed"].startswith(f"as given: {len(value)} characters")
    seen = [(await agent.reply(name, pageId="p")).text for name in ("content", "snapshot", "get_console_messages")]
    assert "V4ulted" not in f"{reply}{seen}"
    assert "«secret:shop-vault»" in str(seen)
