"""Tests that a page which waits for a passkey is named, and that the wait ends where nobody can give one."""

import re

import pytest

from tests.support.json import AnyJson
from tests.support.site import Site
from tests.support.tab import Tab
from tests.support.waiting import found

pytestmark = [pytest.mark.anyio, pytest.mark.thorough, pytest.mark.one_window]

KEY = "{id: new Uint8Array([1]), type: 'public-key'}"
GET = f"navigator.credentials.get({{publicKey: {{challenge: new Uint8Array(16), allowCredentials: [{KEY}]}}}})"
WITHOUT_KEYS = GET.replace(f"[{KEY}]", "[]")
CREATE = """navigator.credentials.create({publicKey: {challenge: new Uint8Array(16), rp: {name: 'Teas'},
user: {id: new Uint8Array(4), name: 'ann', displayName: 'Ann'}, pubKeyCredParams: [{type: 'public-key', alg: -7}]}})"""
REFUSED = (
    "it asked for a passkey, which only its owner has, and was refused, as nobody is there to give it: "
    'request_human {"kind": "login", "message": "..."}'
)


def asking(call: str, before: str = "") -> str:
    """Return a page with a button that asks for a passkey, and that shows what came of it."""
    return (
        f"<title>Teas</title><button id=b>Sign in</button><p id=o>-</p><script>{before}\nconst ask = () => {call}.then("
        "key => { o.textContent = `got ${key}` }, error => { o.textContent = `${error.name}: ${error.message}` });"
        "\nb.onclick = () => { ask() }</script>"
    )


async def clicked(tab: Tab) -> dict[str, AnyJson]:
    return await tab.call("click", selector="#b")


@pytest.mark.parametrize("call", [GET, WITHOUT_KEYS, CREATE], ids=["get", "get-any", "create"])
async def test_a_passkey_that_nobody_can_give_is_refused_and_the_reply_says_so(tab: Tab, call: str) -> None:
    await tab.show(asking(call), host="localhost")
    for _ in range(2):  # the browser waits no more, so the next is not refused because of the first
        told = await clicked(tab)
        assert REFUSED in told["observed"]
        assert "waits" not in told["observed"]
        shown = await tab.sees("o.textContent")
        assert re.match("NotAllowedError: The operation either|NotSupportedError: Resident", shown), shown
        assert await tab.sees("o.textContent = '-'") == "-"
    assert "passkey" not in str(await tab.call("snapshot"))


async def test_what_the_page_says_to_the_refusal_is_in_the_same_reply(tab: Tab) -> None:
    await tab.show(asking(CREATE), host="localhost")
    assert "NotAllowedError" in (await clicked(tab))["changes"]


async def test_a_page_that_asks_as_it_comes_is_named_in_the_reply_of_the_navigation(tab: Tab) -> None:
    tab.site.page("/asks", asking(CREATE, "setTimeout(() => ask())"))
    told = await tab.call("goto", pageId="tab", url=tab.site.url("/asks", "localhost"))
    assert REFUSED in str(told)


async def test_a_frame_that_asks_is_named_too(tab: Tab) -> None:
    allow = "publickey-credentials-create; publickey-credentials-get"
    with Site() as other:
        inner = other.page("/inner", asking(CREATE)).replace("127.0.0.1", "localhost")
        await tab.show(f"<iframe allow='{allow}' src={inner}></iframe>", host="localhost")
        assert REFUSED in (await tab.call("click", selector="#b", frame="iframe"))["observed"]


async def test_a_key_that_is_offered_in_a_field_is_no_wait(tab: Tab) -> None:
    await tab.show(asking(GET.replace("({", "({mediation: 'conditional', ")), host="localhost")
    assert "passkey" not in str(await clicked(tab))
    assert "passkey" not in str(await tab.call("snapshot"))


async def test_a_page_with_functions_of_its_own_asks_nobody(tab: Tab) -> None:
    own = "navigator.credentials.get = () => new Promise(() => 0);"
    await tab.show(asking(GET, own), host="localhost")
    told = await clicked(tab)
    assert "passkey" not in str(told)


async def test_a_page_that_wraps_the_functions_and_replaces_promises_is_named(tab: Tab) -> None:
    own = """const {prototype} = CredentialsContainer, {create} = prototype, {then} = Promise.prototype;
prototype.create = function (...given) { return create.apply(this, given) };
AbortSignal.any = AbortController.prototype.abort = () => { throw new Error('poisoned') };"""
    await tab.show(asking(CREATE, own), host="localhost")
    assert REFUSED in (await clicked(tab))["observed"]
    assert (await tab.sees("o.textContent")).startswith("NotAllowedError")


async def test_a_page_that_gives_its_wait_up_was_not_refused(tab: Tab) -> None:
    own = "let signal; const at = () => { const c = new AbortController(); c.abort(); return c.signal };"
    await tab.show(asking(CREATE.replace("({", "({signal: at(), "), own), host="localhost")
    assert "passkey" not in str(await clicked(tab))
    assert (await tab.sees("o.textContent")).startswith("AbortError")


@pytest.mark.parametrize("given", ["", "null", "{publicKey: 1}", "{get publicKey() { throw 1 }}"])
async def test_what_the_browser_does_not_take_fails_as_ever(tab: Tab, given: str) -> None:
    await tab.show(asking(f"navigator.credentials.create({given})"), host="localhost")
    assert REFUSED not in str(await clicked(tab))
    assert await tab.sees("o.textContent") != "-"


async def test_nothing_of_ours_is_at_the_window_or_at_the_credentials(tab: Tab) -> None:
    await tab.show(asking(GET), host="localhost")
    assert await tab.sees("Object.getOwnPropertyNames(window).filter(name => /^_[0-9a-f]+$/.test(name))") == []
    assert await tab.sees("[navigator.credentials.get.name, Object.keys(navigator.credentials)]") == ["get", []]


async def test_a_rejection_that_the_page_leaves_is_one_as_ever(tab: Tab) -> None:
    left = "addEventListener('unhandledrejection', event => { o.textContent = `left: ${event.reason.name}` });"
    html = f"<button id=b>Go</button><p id=o>-</p><script>{left} b.onclick = () => {{ {CREATE} }}</script>"
    await tab.show(html, host="localhost")
    assert REFUSED in (await clicked(tab))["observed"]
    assert await tab.sees("o.textContent") == "left: NotAllowedError"


async def test_a_passkey_is_refused_while_a_person_has_the_page_too_whose_mouse_would_not_reach_it(tab: Tab) -> None:
    later = "b.onclick = () => setTimeout(ask, 900)"
    await tab.show(asking(CREATE).replace("b.onclick = () => { ask() }", later), host="localhost")
    await clicked(tab)
    asked = await tab.call("request_human", kind="decision", message="Which tea?", timeout=1)
    await found(lambda: tab.call("snapshot"), lambda seen: "NotAllowedError" in seen["snapshot"])
    await tab.call("request_human", requestId=asked["requestId"], withdraw=True)


@pytest.mark.parametrize("call", [GET, CREATE], ids=["get", "create"])
async def test_a_frame_of_another_site_in_a_process_of_its_own_is_refused_and_named_too(tab: Tab, call: str) -> None:
    inner = tab.site.page("/inner", asking(call)).replace("127.0.0.1", "localhost")
    allow = "publickey-credentials-create; publickey-credentials-get"
    await tab.show(f"<iframe allow='{allow}' src={inner}></iframe>")
    for _ in range(2):
        assert REFUSED in (await tab.call("click", selector="#b", frame="iframe"))["observed"]
    assert "NotAllowedError" in str(await tab.call("content", selector="#o", frame="iframe"))
