"""Tests that a secret, once its site got it, is guarded in whatever field holds it, whole or cut."""

import json
from typing import Final

import pytest

from browse_together.contract.named_secrets import NamedSecret
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

VALUE: Final = "Kx7qP2mWz9Lt"
REF: Final[AnyJson] = {"secret": "pw"}
LOGIN: Final = """<form action=/in><input id=pw name=pw type=password><button type=button id=eye
onclick='pw.type = pw.type === "text" ? "password" : "text"'>Show</button><input id=zip name=zip maxlength=5>
<button id=go>Go</button></form><input id=plain><input id=mirror><textarea id=half></textarea><input id=other>
<script>plain.oninput = () => { mirror.value = plain.value; half.value = plain.value.slice(0, 6) }</script>"""
SETTINGS: Final = f"""<input id=a value={VALUE}><textarea id=b>{VALUE}</textarea><div id=c contenteditable>{VALUE}</div>
<p id=host></p><iframe id=f srcdoc="<input id=e value={VALUE}>"></iframe>
<textarea id=g>id=7&#10;key={VALUE}&#10;</textarea><p id=note contenteditable><b>Your key</b> <i>{VALUE}</i></p>
<input id=other><script>host.attachShadow({{mode: 'open'}}).innerHTML = '<input id=d value={VALUE}>';
fields = () => [a, b, c, host.shadowRoot.querySelector('input'), f.contentDocument.body.firstChild, g, note.lastChild];
</script>"""
PURE: Final = ("#a", "#b", "#c", "#d")
READ: Final = "[...fields(), note, other].map(e => e.value ?? e.textContent)"
DOTS: Final = "[...fields(), note].map(e => getComputedStyle(e).webkitTextSecurity)"


@pytest.fixture
async def shop(agent: Agent, service: RunningService, site: Site) -> Site:
    """The site, with its sign-in open as page `p`."""
    site.page("/login", LOGIN)
    site.page("/in", "<p>Wrong password")
    site.page("/settings", SETTINGS)
    origin = site.url("").rstrip("/")
    service.parts.secrets.set(NamedSecret(name="pw", value=VALUE, origins=(origin,)))
    await agent.call("goto", pageId="p", url=site.url("/login"))
    return site


async def evaluated(agent: Agent, expression: str) -> AnyJson:
    return (await agent.call("evaluate_script", pageId="p", expression=expression))["value"]


async def edited(agent: Agent, selector: str, **where: AnyJson) -> list[str]:
    """Edit, select, copy and paste as much of a field as its keys allow; return all replies."""
    ways = [["End", "Backspace"], ["Home", *["Shift+ArrowRight"] * 8, "Control+c"], ["Home", "Delete"]]
    replies = []
    for keys in ways:
        replies += [(await agent.reply("press", pageId="p", selector=selector, key=key, **where)).text for key in keys]
        replies.append((await agent.reply("snapshot", pageId="p")).text)
    await agent.reply("press", pageId="p", selector="#other", key="Control+v")
    return [*replies, (await agent.reply("snapshot", pageId="p")).text]


def parts_of(value: str, texts: object) -> set[str]:
    """Return the parts of a secret that stand in texts."""
    seen = json.dumps(texts)
    return {part for at in range(len(value) - 4) if (part := value[at : at + 5]) in seen}


async def test_a_field_that_the_browser_filled_again_is_emptied(agent: Agent, shop: Site) -> None:
    """Chromium remembers no password fields, but those that an eye made text fields, and all others."""
    for act in ("go_back", "reload_page"):
        await agent.call("goto", pageId="p", url=shop.url("/login"))
        await agent.call("fill", pageId="p", selector="#plain", value=REF)
        await agent.call("fill", pageId="p", selector="#other", value="kept")
        if act == "go_back":
            await agent.call("goto", pageId="p", url=shop.url("/in"))
        reply = await agent.reply(act, pageId="p")
        values = await evaluated(agent, "[other, plain, mirror, half].map(e => e.value)")
        assert values == ["kept" if act == "go_back" else "", "", "", ""], act
        assert not parts_of(VALUE, reply.text)


@pytest.mark.parametrize("selector", [PURE[0], *(pytest.param(each, marks=pytest.mark.long) for each in PURE[1:])])
async def test_no_edit_or_copy_gives_a_part_of_a_secret_that_the_page_shows(
    agent: Agent, shop: Site, selector: str
) -> None:
    await agent.call("fill", pageId="p", selector="#pw", value=REF)
    await agent.call("goto", pageId="p", url=shop.url("/settings"))
    seen = await edited(agent, selector)
    assert not parts_of(VALUE, [*seen, await evaluated(agent, READ)])


async def test_no_edit_or_copy_gives_a_part_of_a_secret_in_a_frame_of_the_same_origin(agent: Agent, shop: Site) -> None:
    await agent.call("fill", pageId="p", selector="#pw", value=REF)
    await agent.call("goto", pageId="p", url=shop.url("/settings"))
    assert not parts_of(VALUE, await edited(agent, "#e", frame="#f")), "a frame of the same origin is guarded too"
    assert (await evaluated(agent, "f.contentDocument.body.firstChild.value")) == ""


async def test_text_around_a_secret_can_be_edited_and_the_secret_cannot(agent: Agent, shop: Site) -> None:
    await agent.call("fill", pageId="p", selector="#pw", value=REF)
    await agent.call("goto", pageId="p", url=shop.url("/settings"))
    await agent.call("type", pageId="p", selector="#g", text="more=1")
    assert await evaluated(agent, "g.value") == "id=7\nkey=«secret:pw»\nmore=1"
    for keys in (
        ["Control+Home", "Delete"],
        ["ArrowDown", "End", "Backspace"],
        ["ArrowLeft", "x"],
        ["ArrowUp", "Shift+End", "x"],
    ):
        for key in keys:
            await agent.reply("press", pageId="p", selector="#g", key=key)
    assert "=«secret:pw»\nmore=1" in str(await evaluated(agent, "g.value"))
    assert "d=7x key=«secret:pw» more=1" in (await agent.call("snapshot", pageId="p"))["snapshot"]
    await agent.call("fill", pageId="p", selector="#g", value="all new")
    assert await evaluated(agent, "g.value") == "all new"
    for key in ("End", "Backspace", "Home", "x"):
        await agent.reply("press", pageId="p", selector="#note", key=key)
    assert "«secret:pw»" in str(await evaluated(agent, "note.textContent"))


async def test_whatever_field_holds_a_secret_draws_dots(agent: Agent, shop: Site) -> None:
    await agent.call("fill", pageId="p", selector="#pw", value=REF)
    await agent.call("click", pageId="p", selector="#eye")
    await agent.call("fill", pageId="p", selector="#plain", value=REF)
    style = "[pw, plain, mirror, half, zip].map(e => getComputedStyle(e).webkitTextSecurity)"
    assert await evaluated(agent, style) == ["disc", "disc", "disc", "disc", "none"]
    await agent.call("fill", pageId="p", selector="#plain", value="ordinary")
    assert await evaluated(agent, style) == ["disc", "none", "none", "none", "none"]
    await agent.call("goto", pageId="p", url=shop.url("/settings"))
    await agent.call("screenshot", pageId="p")
    assert await evaluated(agent, DOTS) == [*["disc"] * 7, "none"]


async def test_a_field_that_keeps_less_than_the_secret_is_emptied_and_the_fill_refused(
    agent: Agent, shop: Site
) -> None:
    given: dict[str, AnyJson] = {
        "fill": {"selector": "#zip", "value": REF},
        "type": {"selector": "#zip", "text": REF},
        "fill_form": {"fields": [{"selector": "#zip", "value": REF}]},
    }
    for act, arguments in given.items():
        await agent.call("goto", pageId="p", url=shop.url("/login"))
        error = await agent.error(act, pageId="p", **arguments)
        assert "kept 5 of the 12 characters of the secret 'pw', so it was emptied" in error["message"], act
        await agent.call("click", pageId="p", selector="#go")
        assert not parts_of(VALUE, [each.path for each in shop.received])
        assert "zip=" in str(await evaluated(agent, "location.href"))


async def test_nothing_stays_half_typed(agent: Agent, shop: Site) -> None:
    page = "<input id=a onkeyup='if (value.length === 4) this.remove()'><script>kept = a</script>"
    await agent.call("goto", pageId="p", url=shop.page("/stops", page))
    await agent.error("type", pageId="p", selector="#a", text=REF, timeout=500)
    await evaluated(agent, "document.body.append(kept)")
    assert await evaluated(agent, "a.value") == ""


async def test_a_number_is_no_step_away_from_the_secret(agent: Agent, service: RunningService, shop: Site) -> None:
    pin = NamedSecret(name="pin", value="4829", origins=(shop.url("").rstrip("/"),))
    service.parts.secrets.set(pin)
    await agent.call("goto", pageId="p", url=shop.page("/pin", "<input id=a type=number>"))
    await agent.call("fill", pageId="p", selector="#a", value={"secret": "pin"})
    await agent.call("press", pageId="p", selector="#a", key="ArrowUp")
    assert await evaluated(agent, "a.value") == ""


async def test_no_part_of_a_secret_that_stands_in_the_pages_text_is_copied(agent: Agent, shop: Site) -> None:
    await agent.call("fill", pageId="p", selector="#pw", value=REF)
    page = f"<p id=t style='font: 20px monospace'>Your key {VALUE} is new</p><input id=other>"
    await agent.call("goto", pageId="p", url=shop.page("/text", page))
    await evaluated(agent, "getSelection().setBaseAndExtent(t.firstChild, 9, t.firstChild, 14)")
    assert await evaluated(agent, "String(getSelection())") == VALUE[:5]
    copied = await agent.call("press", pageId="p", key="Control+c")
    assert copied["observed"] == "nothing that can be copied was selected"
    await evaluated(agent, "getSelection().setBaseAndExtent(t.firstChild, 0, t.firstChild, 8)")
    await agent.call("press", pageId="p", key="Control+c")
    await agent.call("press", pageId="p", selector="#other", key="Control+v")
    assert await evaluated(agent, "other.value") == "Your key"


async def test_a_secret_that_the_page_writes_in_its_own_form_is_whole(agent: Agent, shop: Site) -> None:
    grouped = "this.value = this.value.replace(/\\W/g, '').match(/.{1,4}/g)?.join(' ') ?? ''"
    await agent.call("goto", pageId="p", url=shop.page("/grouped", f'<input id=a oninput="{grouped}">'))
    await agent.reply("fill", pageId="p", selector="#a", value=REF)
    assert await evaluated(agent, "a.value.length") == 14
    for key in ("End", "Backspace"):
        await agent.reply("press", pageId="p", selector="#a", key=key)
    assert await evaluated(agent, "a.value") == ""


async def test_a_page_without_its_secret_is_not_guarded_and_learns_nothing(agent: Agent, shop: Site) -> None:
    await agent.call("fill", pageId="p", selector="#pw", value=REF)
    await agent.call("goto", pageId="p", url=shop.url("/settings", host="localhost"))
    assert await evaluated(agent, "getComputedStyle(a).webkitTextSecurity") == "none"


async def test_an_agents_own_proxy_gets_no_secret_that_goes_unencrypted(agent: Agent, shop: Site) -> None:
    session_id = (await agent.call("create_session", proxy={"server": shop.url("")}))["sessionId"]
    await agent.reply("goto", pageId="mine", sessionId=session_id, url=shop.url("/login"))
    for name, argument in (("fill", {"value": REF}), ("type", {"text": REF})):
        error = await agent.error(name, pageId="mine", selector="#pw", **argument)
        assert (error["code"], "proxy" in error["message"]) == ("FORBIDDEN", True)
    auth: AnyJson = {"username": "ana", "password": REF}
    assert (await agent.error("goto", pageId="mine", url=shop.url("/login"), auth=auth))["code"] == "FORBIDDEN"
