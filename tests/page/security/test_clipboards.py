"""Tests that keys paste what the same client copied in the same session, and nothing that others have in the browser's
clipboard."""

import pytest

from tests.support.service import Agent
from tests.support.site import Site

pytestmark = pytest.mark.anyio

SECRET = "the words of a private page"
RICH = """<p id=p>a <b>bold</b> word</p><div id=d contenteditable aria-label=d></div><textarea id=q></textarea>
<input id=own value=x oncopy="event.clipboardData.setData('text/plain', 'made by the page'); event.preventDefault()">
<input id=pw type=password value=hunter2><input id=dots style="-webkit-text-security: disc" value=hunter2>
<input id=code autocomplete=one-time-code value=482913>
<div id=ed contenteditable style="-webkit-text-security: disc">hunter2</div><textarea id=long></textarea>"""


async def value(agent: Agent, page_id: str, selector: str = "#q") -> object:
    script = f"document.querySelector('{selector}').value ?? document.querySelector('{selector}').innerHTML"
    return (await agent.call("evaluate_script", pageId=page_id, expression=script))["value"]


@pytest.fixture
async def copied(agent: Agent, other: Agent, site: Site) -> None:
    """One agent copies what its private page shows, and another opens a page."""
    await agent.call("goto", pageId="p", url=site.page("/private", f"<textarea id=t>{SECRET}</textarea>"))
    await agent.call("share_page", pageId="p", access="private")
    await agent.call("press", pageId="p", selector="#t", key="Control+a")
    await agent.call("press", pageId="p", key="Control+c")
    await other.call("goto", pageId="q", url=site.page("/other", "<textarea id=q></textarea>"))


PASTES = (
    "Control+v",
    "Control+V",
    "Control+KeyV",
    "ControlLeft+v",
    "ControlOrMeta+v",
    "Shift+Insert",
    "ShiftRight+Insert",
)


@pytest.mark.usefixtures("copied")
async def test_no_key_and_no_button_pastes_what_another_copied_or_selected(other: Agent) -> None:
    for key in PASTES:
        error = await other.error("press", pageId="q", selector="#q", key=key)
        assert (error["code"], "paste" in error["hint"]) == ("VALIDATION_ERROR", True), key
    await other.call("click", pageId="q", selector="#q", button="middle")
    assert await value(other, "q") == ""


@pytest.mark.usefixtures("copied")
async def test_a_site_that_may_read_the_clipboard_reads_nothing_that_keys_copied(
    agent: Agent, other: Agent, site: Site
) -> None:
    origin, own = site.url().rstrip("/"), "what its person copied"
    await other.call("goto", pageId="r", url=site.url("/other"))
    granted = {"origin": origin, "affectOthers": True}
    await other.call("grant_permissions", permissions=["clipboard-read", "clipboard-write"], **granted)
    write = f"navigator.clipboard.writeText('{own}').then(() => 1)"
    await other.call("evaluate_script", pageId="r", expression=write)
    for key in ("Control+c", "Control+x"):
        await agent.call("press", pageId="p", selector="#t", key="Control+a")
        assert "copied" in (await agent.call("press", pageId="p", selector="#t", key=key))["observed"]
        read = await other.call("evaluate_script", pageId="r", expression="navigator.clipboard.readText()")
        assert read["value"] == own
    assert await value(agent, "p", "#t") == "", "it was cut"
    await other.call("grant_permissions", permissions=[], **granted)


@pytest.mark.usefixtures("copied")
async def test_a_client_pastes_its_own_copy_whatever_others_copied_since(agent: Agent, other: Agent) -> None:
    await other.call("fill", pageId="q", selector="#q", value="something else")
    await other.call("press", pageId="q", selector="#q", key="Control+a")
    await other.call("press", pageId="q", key="Control+x")
    assert await value(other, "q") == ""
    await agent.call("fill", pageId="p", selector="#t", value="")
    await agent.call("press", pageId="p", selector="#t", key="Control+v")
    assert await value(agent, "p", "#t") == SECRET
    await other.call("press", pageId="q", selector="#q", key="Shift+Insert")
    assert await value(other, "q") == "something else"


async def test_a_copy_is_what_a_browser_would_copy(agent: Agent, site: Site) -> None:
    """What is selected of a text, the same with its form, and what the page gives."""
    for source, target, expected in (
        ("#p", "#q", "a bold word"),
        ("#p", "#d", "a <b>bold</b> word"),
        ("#own", "#q", "made by the page"),
    ):
        await agent.call("goto", pageId="p", url=site.page("/rich", RICH))
        select = f"getSelection().selectAllChildren({source[1:]})" if source == "#p" else f"{source[1:]}.select()"
        await agent.call("evaluate_script", pageId="p", expression=select)
        assert "copied" in (await agent.call("press", pageId="p", key="Control+c"))["observed"]
        await agent.call("press", pageId="p", selector=target, key="Control+v")
        assert await value(agent, "p", target) == expected


async def test_nothing_is_copied_out_of_a_field_for_a_secret_or_of_a_selection_around_one(
    agent: Agent, site: Site
) -> None:
    nothing = "nothing that can be copied was selected"
    await agent.call("goto", pageId="p", url=site.page("/rich", RICH))
    for selector in ("#pw", "#dots", "#code", "#ed"):
        await agent.call("press", pageId="p", selector=selector, key="Control+a")
        done = await agent.call("press", pageId="p", selector=selector, key="Control+c")
        assert done["observed"] == nothing, selector
    await agent.call("evaluate_script", pageId="p", expression="getSelection().selectAllChildren(document.body)")
    assert (await agent.call("press", pageId="p", key="Control+c"))["observed"] == nothing


async def test_a_long_text_is_copied_as_far_as_it_can_be_pasted(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/rich", RICH))
    await agent.call("evaluate_script", pageId="p", expression="long.value = 'x' + '\U0001f600'.repeat(600_000)")
    await agent.call("press", pageId="p", selector="#long", key="Control+a", timeout=20_000)
    await agent.call("press", pageId="p", selector="#long", key="Control+x", timeout=20_000)
    await agent.call("press", pageId="p", selector="#q", key="Control+v", timeout=20_000)
    whole = "q.value.length === 999_999 && q.value.isWellFormed()"
    assert (await agent.call("evaluate_script", pageId="p", expression=whole))["value"] is True


async def test_a_page_that_tampers_with_builtins_gets_nothing_copied(agent: Agent, site: Site) -> None:
    """Too long a text, and half a character."""
    for made in ("'x'.repeat(1_200_000)", "'\\ud800abc'"):
        await agent.call("goto", pageId="p", url=site.page("/rich", RICH))
        tamper = f"for (const name of ['slice', 'substring', 'at']) String.prototype[name] = () => {made}; 1"
        await agent.call("evaluate_script", pageId="p", expression=tamper)
        await agent.call("fill", pageId="p", selector="#long", value="words")
        await agent.call("press", pageId="p", selector="#long", key="Control+a")
        copied = await agent.error("press", pageId="p", selector="#long", key="Control+c")
        assert copied["code"] != "INTERNAL_ERROR"
        pasted = await agent.error("press", pageId="p", selector="#q", key="Control+v")
        assert pasted["code"] == "VALIDATION_ERROR"


WAYS = {
    "a text": "navigator.clipboard.writeText('share/x7')",
    "an item": "navigator.clipboard.write([new ClipboardItem({'text/plain': new Blob(['share/x7'],"
    " {type: 'text/plain'})})])",
    "a field": "f.select(); document.execCommand('copy')",
    "a selection": "getSelection().selectAllChildren(s); document.execCommand('copy')",
    "a listener": "document.addEventListener('copy', e => { e.clipboardData.setData('text/plain', 'share/x7');"
    " e.preventDefault() }, {once: true}); document.execCommand('copy')",
}


async def test_what_a_pages_own_button_copied_can_be_pasted_by_the_agent_that_pressed_it_alone(
    agent: Agent, other: Agent, site: Site
) -> None:
    await other.call("goto", pageId="q", url=site.page("/other", "<textarea id=q></textarea>"))
    for way, script in WAYS.items():
        page = "<p id=s>share/x7</p><textarea id=f>share/x7</textarea><textarea id=t></textarea>"
        button = f'<button onclick="{script}; t.value = 0">Copy</button>'
        await agent.call("goto", pageId="p", url=site.page("/share", page + button))
        done = await agent.call("click", pageId="p", selector="role=button")
        assert "8 characters, which you can paste: press" in done["observed"], (way, done)
        await agent.call("fill", pageId="p", selector="#t", value="")
        await agent.call("press", pageId="p", selector="#t", key="Control+v")
        assert await value(agent, "p", "#t") == "share/x7", way
        assert (await other.error("press", pageId="q", selector="#q", key="Control+v"))["code"] == "VALIDATION_ERROR"


async def test_a_page_that_copies_what_cannot_be_known_leaves_the_last_copy(agent: Agent, site: Site) -> None:
    page = """<input id=pw type=password value=hunter2><textarea id=t></textarea>
<button onclick="pw.select(); document.execCommand('copy')">One</button>
<button onclick="navigator.clipboard.writeText('x'.repeat(200000)).catch(() => 0)">Two</button>
<button onclick="navigator.clipboard.write(7).catch(() => 0)">Three</button>"""
    await agent.call("goto", pageId="p", url=site.page("/unknown", page))
    for name in ("One", "Two", "Three"):
        done = await agent.call("click", pageId="p", selector=f"role=button[name={name}]")
        assert ("it wrote to the clipboard" in done["observed"], "paste" in done["observed"]) == (True, False), done
        error = await agent.error("press", pageId="p", selector="#t", key="Control+v")
        assert error["code"] == "VALIDATION_ERROR"
