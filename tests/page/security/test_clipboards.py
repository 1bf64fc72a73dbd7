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


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize(
    "key",
    ["Control+v", "Control+V", "Control+KeyV", "ControlLeft+v", "ControlOrMeta+v", "Shift+Insert", "ShiftRight+Insert"],
)
async def test_no_key_pastes_what_another_copied(other: Agent, key: str) -> None:
    error = await other.error("press", pageId="q", selector="#q", key=key)
    assert (error["code"], "paste" in error["hint"]) == ("VALIDATION_ERROR", True)
    assert await value(other, "q") == ""


@pytest.mark.usefixtures("copied")
async def test_the_middle_button_does_not_paste_what_another_selected(other: Agent) -> None:
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


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("#p", "#q", "a bold word"),
        ("#p", "#d", "a <b>bold</b> word"),
        ("#own", "#q", "made by the page"),
    ],
    ids=["what is selected of a text", "with its form", "what the page gives"],
)
async def test_a_copy_is_what_a_browser_would_copy(
    agent: Agent, site: Site, source: str, target: str, expected: str
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/rich", RICH))
    select = f"getSelection().selectAllChildren({source[1:]})" if source == "#p" else f"{source[1:]}.select()"
    await agent.call("evaluate_script", pageId="p", expression=select)
    assert "copied" in (await agent.call("press", pageId="p", key="Control+c"))["observed"]
    await agent.call("press", pageId="p", selector=target, key="Control+v")
    assert await value(agent, "p", target) == expected


@pytest.mark.parametrize("selector", ["#pw", "#dots", "#code", "#ed"])
async def test_nothing_is_copied_out_of_a_field_for_a_secret(agent: Agent, site: Site, selector: str) -> None:
    await agent.call("goto", pageId="p", url=site.page("/rich", RICH))
    await agent.call("press", pageId="p", selector=selector, key="Control+a")
    done = await agent.call("press", pageId="p", selector=selector, key="Control+c")
    assert done["observed"] == "nothing that can be copied was selected"


async def test_a_selection_around_a_secret_is_not_copied(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/rich", RICH))
    await agent.call("evaluate_script", pageId="p", expression="getSelection().selectAllChildren(document.body)")
    done = await agent.call("press", pageId="p", key="Control+c")
    assert done["observed"] == "nothing that can be copied was selected"


async def test_a_long_text_is_copied_as_far_as_it_can_be_pasted(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/rich", RICH))
    await agent.call("evaluate_script", pageId="p", expression="long.value = 'x' + '\U0001f600'.repeat(600_000)")
    await agent.call("press", pageId="p", selector="#long", key="Control+a", timeout=20_000)
    await agent.call("press", pageId="p", selector="#long", key="Control+x", timeout=20_000)
    await agent.call("press", pageId="p", selector="#q", key="Control+v", timeout=20_000)
    whole = "q.value.length === 999_999 && q.value.isWellFormed()"
    assert (await agent.call("evaluate_script", pageId="p", expression=whole))["value"] is True


@pytest.mark.parametrize("made", ["'x'.repeat(1_200_000)", "'\\ud800abc'"], ids=["too long", "half a character"])
async def test_a_page_that_tampers_with_builtins_gets_nothing_copied(agent: Agent, site: Site, made: str) -> None:
    await agent.call("goto", pageId="p", url=site.page("/rich", RICH))
    tamper = f"for (const name of ['slice', 'substring', 'at']) String.prototype[name] = () => {made}; 1"
    await agent.call("evaluate_script", pageId="p", expression=tamper)
    await agent.call("fill", pageId="p", selector="#long", value="words")
    await agent.call("press", pageId="p", selector="#long", key="Control+a")
    copied = await agent.error("press", pageId="p", selector="#long", key="Control+c")
    assert copied["code"] != "INTERNAL_ERROR"
    pasted = await agent.error("press", pageId="p", selector="#q", key="Control+v")
    assert pasted["code"] == "VALIDATION_ERROR"
