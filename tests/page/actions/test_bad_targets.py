"""Tests elements and addresses that cannot be had: each error says why and what to do, and the page stays usable.

It is longer than 300 lines because each kind of bad target has a test of its own.
"""

import re
import threading

import anyio
import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Answer
from tests.support.tab import Tab, closed_port
from tests.support.waiting import PATIENCE_S, become

pytestmark = [pytest.mark.anyio, pytest.mark.one_window, pytest.mark.thorough]


Error = dict[str, AnyJson]


async def _refused(tab: Tab, code: str, status: int, action: str, **arguments: AnyJson) -> Error:
    """Return the error of a call, and check that the page still works afterwards."""
    error = await tab.error(action, **arguments)
    assert (error["code"], error["status"]) == (code, status), error
    assert error["hint"]
    assert error["details"]["tool"] == action
    assert await tab.sees("1 + 1") == 2
    return error


def _ref(tree: str, what: str) -> str:
    return next(line for line in tree.splitlines() if what in line).split("[ref=")[1].split("]")[0]


# --- selectors ---------------------------------------------------------------------------------------------------


async def test_an_empty_selector_is_refused(tab: Tab) -> None:
    await tab.show("<p>x")
    for selector in ("", "   "):
        error = await _refused(tab, "VALIDATION_ERROR", 422, "click", selector=selector)
        assert error["message"].startswith("selector of click: ")


BROKEN = ["#", "div[", "//[", "p:nope(", "a >> ", "role=", 'role=button[nmae="x"]', "p::::x", "nope=x", "//*["]


async def test_a_selector_with_a_syntax_error_is_refused_at_once(tab: Tab) -> None:
    await tab.show("<p>x")
    with anyio.fail_after(25):
        for selector in BROKEN:
            for action in ("click", "wait_for_selector", "content"):
                error = await _refused(tab, "INVALID_SELECTOR", 400, action, selector=selector, timeout=30_000)
                assert repr(selector.strip()) in error["message"]
                assert "CSS" in error["hint"]
                assert error["details"]["selector"] == selector.strip()


async def test_a_selector_that_matches_nothing_says_so_after_the_time_given(tab: Tab) -> None:
    url = await tab.show("<p>x")
    needed: dict[str, Error] = {
        "click": {},
        "fill": {"value": "x"},
        "type": {"text": "x", "delay": 100},
        "press": {"key": "a"},
        "hover": {},
        "select_option": {"value": "x"},
        "check": {},
        "content": {"format": "text"},
        "snapshot": {},
        "screenshot": {},
        "evaluate_script": {"expression": "e => 1"},
    }
    for action, more in needed.items():
        error = await _refused(tab, "ELEMENT_NOT_FOUND", 404, action, selector=".login-button", timeout=150, **more)
        assert error["message"] == "Element matching selector '.login-button' not found after 150ms"
        details = error["details"]
        assert (details["selector"], details["url"], details["sessionId"]) == (".login-button", url, "default")
        assert (details["context"]["timeout"], details["context"]["retries"]) == (150, 1)
        assert "snapshot" in error["hint"]


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<button id=e disabled>x</button>", "is disabled"),
        ("<fieldset disabled><button id=e>x</button></fieldset>", "is disabled"),
        ("<button id=e style='visibility: hidden'>x</button>", "is not visible"),
        (
            "<button id=e>x</button><div id=veil style='position: fixed; inset: 0'></div>",
            "is covered by another element",
        ),
    ],
)
async def test_a_click_on_what_cannot_be_clicked_says_why(tab: Tab, html: str, reason: str) -> None:
    await tab.show(html + "<script>e.onclick = () => window.hit = 1</script>")
    error = await _refused(tab, "ELEMENT_NOT_INTERACTABLE", 409, "click", selector="#e", timeout=500)
    assert reason in error["message"]
    assert "500 ms" in error["message"]
    assert ('id="veil"' in error["message"]) is ("veil" in html)
    assert await tab.sees("window.hit") is None


SOUNDS_LIKE_PLAYWRIGHT = [
    "This poll has been closed",
    "Target page, context or browser has been closed",
    "Target closed",
    "Page crashed",
    "Unexpected token",
    "div[ is not a valid selector",
]


async def test_a_pages_words_are_not_mistaken_for_playwrights(tab: Tab) -> None:
    sounding = [*enumerate(SOUNDS_LIKE_PLAYWRIGHT)]
    await tab.show(
        "".join(f"<button id=e{n} disabled onclick='window.hit = 1'>{text}</button>" for n, text in sounding)
    )
    for number, text in sounding:
        for selector in (f"#e{number}", f"text={text}"):
            error = await _refused(tab, "ELEMENT_NOT_INTERACTABLE", 409, "click", selector=selector, timeout=250)
            assert "is disabled" in error["message"]
    assert await tab.sees("window.hit") is None


async def test_a_scripts_error_is_not_mistaken_for_playwrights(tab: Tab) -> None:
    await tab.show("<p>x")
    await tab.sees("window.mark = 'kept'")
    for text in ("ws has been closed", "This poll has been closed", "Unexpected token", "a is not a valid selector"):
        thrown = f"new Error({text!r})"
        for expression in (f"() => {{ throw {thrown} }}", f"Promise.reject({thrown})", f"() => {{ throw {text!r} }}"):
            refused = await _refused(tab, "SCRIPT_EXECUTION_FAILED", 500, "evaluate_script", expression=expression)
            assert text in refused["message"]
    assert await tab.sees("window.mark") == "kept"


async def test_a_script_that_parses_what_is_no_json_failed_as_a_script(tab: Tab) -> None:
    await tab.show("<p>x")
    for more in ({}, {"selector": "p"}):
        error = await _refused(
            tab, "SCRIPT_EXECUTION_FAILED", 500, "evaluate_script", expression="() => JSON.parse('<html>')", **more
        )
        assert "Unexpected token" in error["message"]


async def test_a_selector_that_fits_several_elements_says_what_each_of_them_is(tab: Tab) -> None:
    await tab.show(
        "<button class=c>Save</button><a class=c href=#>Help me</a><input class=c aria-label=Name>"
        "<button class=c style='display: none'>Delete</button>"
    )
    error = await _refused(tab, "AMBIGUOUS_SELECTOR", 409, "click", selector=".c")
    for what in ("button 'Save'", "a 'Help me'", "input 'Name'"):
        assert re.search(rf"\b(f\d+)?e\d+ \({what}\)", error["message"])
    assert ".c >> nth=3 (button 'Delete', not visible)" in error["message"]
    await tab.call("click", selector=error["details"]["context"]["candidates"][0]["selector"])


@pytest.mark.parametrize(
    ("state", "reason"), [("disabled", "disabled"), ("readonly", "read-only"), ("hidden", "not visible")]
)
async def test_text_for_a_field_that_takes_none_is_refused(tab: Tab, state: str, reason: str) -> None:
    await tab.show(f"<input id=e value=old {state}>")
    fill = await _refused(tab, "ELEMENT_NOT_INTERACTABLE", 409, "fill", selector="#e", value="new", timeout=1_000)
    typing = await _refused(tab, "ELEMENT_NOT_INTERACTABLE", 409, "type", selector="#e", text="new")
    assert (reason in fill["message"], reason in typing["message"]) == (True, True)
    assert await tab.sees("e.value") == "old"


async def test_keys_for_an_element_that_takes_none_do_not_land_elsewhere(tab: Tab) -> None:
    await tab.show("<input id=i><p id=p>text</p><button id=b disabled>x</button>")
    await tab.sees("i.focus()")
    await _refused(tab, "ELEMENT_NOT_INTERACTABLE", 409, "type", selector="#p", text="abc")
    await _refused(tab, "ELEMENT_NOT_INTERACTABLE", 409, "press", selector="#b", key="a")
    assert await tab.sees("i.value") == ""


# --- refs --------------------------------------------------------------------------------------------------------


async def test_a_ref_of_an_older_document_is_stale_even_when_the_new_one_has_the_same(tab: Tab) -> None:
    await tab.show("<button>Old</button>")
    ref = _ref((await tab.call("snapshot"))["snapshot"], "button")
    await tab.show("<button onclick='window.hit = 1'>New</button>")
    error = await _refused(tab, "STALE_REVISION", 412, "click", selector=ref)
    assert f'ref {ref} (button "Old")' in error["message"]
    assert "snapshot" in error["hint"]
    await tab.call("reload_page")
    await _refused(tab, "STALE_REVISION", 412, "content", selector=ref)
    assert await tab.sees("window.hit") is None


async def test_a_ref_that_was_never_given_is_stale(tab: Tab, other: Agent) -> None:
    await tab.show("<button>x</button>")
    await _refused(tab, "STALE_REVISION", 412, "click", selector="e1")
    await tab.sees("(document.body.append(document.createElement('button')), 0)")
    theirs = _ref((await other.call("snapshot", pageId="tab"))["snapshot"], "- button [ref")
    await _refused(tab, "STALE_REVISION", 412, "click", selector=theirs)
    await _refused(tab, "STALE_REVISION", 412, "content", selector="p", frame="f9e9")


async def test_a_ref_of_an_element_that_went_names_what_has_its_role_and_name_now(tab: Tab) -> None:
    await tab.show("<main><button>Save</button><button>Other</button></main>")
    ref = _ref((await tab.call("snapshot"))["snapshot"], '"Save"')
    await tab.sees("(document.querySelector('main').innerHTML = '<button onclick=\"window.hit = 1\">Save</button>', 0)")
    error = await _refused(tab, "ELEMENT_GONE", 410, "click", selector=ref, timeout=2_000)
    assert error["message"] == f'ref {ref} (button "Save") is gone from the page.'
    now = error["hint"].split()[0]
    assert error["hint"] == f"{now} has the same role and name now."
    await tab.call("click", selector=now)
    assert await tab.sees("window.hit") == 1


async def test_an_argument_that_only_the_browser_refuses_is_named_too(tab: Tab) -> None:
    await tab.show("<button>b</button>")
    thin = await tab.agent.error("screenshot", pageId="tab", clip={"x": 0, "y": 0, "width": 1, "height": 0.5})
    no_url = await tab.agent.error("get_cookies", urls=["shop"])
    for error, field in ((thin, "clip"), (no_url, "urls")):
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", field)


# --- addresses ---------------------------------------------------------------------------------------------------


async def test_a_url_without_a_scheme_is_refused_with_the_whole_one(tab: Tab) -> None:
    await tab.show("x")
    for url in ("example.com/tea", "www.example.com", "//example.com", "tea"):
        for action in ("goto", "open_page"):
            error = await _refused(tab, "VALIDATION_ERROR", 422, action, pageId="tab", url=url)
            assert (error["message"], error["details"]["context"]["field"]) == (f"url {url!r} has no scheme.", "url")
            assert f'"https://{url.lstrip("/")}"' in error["hint"]


SCHEMES = ["file:///etc/passwd", "javascript:alert(1)", "JavaScript:alert(1)", "chrome://version", " file:///etc/passwd",
           "about:srcdoc", "about:config", "view-source:http://127.0.0.1"]  # fmt: skip
METADATA = ["http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/",
            "http://metadata.google.internal/"]  # fmt: skip


@pytest.mark.parametrize("urls", [SCHEMES, METADATA, ["http://127.0.0.1:8888/api/browser/pages"]])
async def test_an_address_that_may_not_be_opened_is_refused_and_makes_no_page(tab: Tab, urls: list[str]) -> None:
    await tab.show("x")
    for url in urls:
        error = await _refused(tab, "FORBIDDEN", 403, "goto", pageId="new", url=url)
        assert url.strip() in error["message"]
        assert error["details"]["context"]["field"] == "url"
        assert (await tab.error("goto", pageId="tab", url=url))["code"] == "FORBIDDEN"
    assert [page["pageId"] for page in (await tab.call("list_pages"))["yours"]] == ["tab"]
    assert await tab.sees("document.body.textContent") == "x"


async def test_a_url_that_is_none_is_refused(tab: Tab) -> None:
    await tab.show("x")
    for url in ("http://", "http://:80", "https:///x", "http://127.0.0.1:99999", "http://[::1"):
        error = await tab.error("goto", pageId="tab", url=url)
        assert (error["code"], error["status"]) == ("VALIDATION_ERROR", 422)
        assert "url" in error["message"]
    assert await tab.sees("document.body.textContent") == "x"


async def test_another_spelling_of_a_metadata_address_is_the_same_address(tab: Tab) -> None:
    await tab.show("x")
    for url in ("http://2852039166/", "http://0xa9fea9fe/", "http://169.254.43518/"):
        assert (await tab.error("goto", pageId="new", url=url))["code"] == "FORBIDDEN"
        assert (await tab.error("fetch", pageId="tab", url=url, timeout=500))["code"] == "FORBIDDEN"


async def test_a_redirect_to_a_metadata_address_ends_there(tab: Tab) -> None:
    await tab.show("x")
    url = tab.site.page("/hop", Answer(status=302, headers={"location": "http://169.254.169.254/latest/"}))
    error = await tab.error("goto", pageId="tab", url=url, timeout=5_000)
    assert (error["code"], error["status"]) == ("NAVIGATION_FAILED", 502)
    assert error["details"]["context"]["networkError"] == "net::ERR_BLOCKED_BY_CLIENT"
    assert "may not be opened" in error["hint"]
    for _ in range(3):
        assert (await tab.error("goto", pageId="tab", url=url, timeout=5_000))["code"] == "NAVIGATION_FAILED"
        await tab.show("still usable")


@pytest.mark.host_here("the gate of a host elsewhere does not tell the browser why it reaches nothing")
async def test_a_host_that_does_not_answer_is_a_failed_navigation_that_names_the_reason(tab: Tab) -> None:
    await tab.show("x")
    for url, reason in (
        (f"http://127.0.0.1:{closed_port()}/x", "net::ERR_CONNECTION_REFUSED"),
        ("http://no-such-host.invalid/x", "net::ERR_NAME_NOT_RESOLVED"),
    ):
        error = await tab.error("goto", pageId="tab", url=url)
        assert (error["code"], error["status"]) == ("NAVIGATION_FAILED", 502)
        assert error["message"] == f"Navigation to {url} failed: {reason}"
        assert (error["details"]["url"], error["details"]["context"]["networkError"]) == (url, reason)
        assert error["hint"]
    await tab.show("still usable")
    assert await tab.sees("document.body.textContent") == "still usable"


async def test_a_page_that_is_closed_under_way_says_so(tab: Tab) -> None:
    release = threading.Event()
    url = tab.site.page("/never", Answer("late", hold=release))
    await tab.show("x")
    errors: list[Error] = []

    async def go() -> None:
        errors.append(await tab.error("goto", pageId="tab", url=url))

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(go)
            await become(lambda: tab.site.counts["/never"])
            await tab.call("close_page", pageId="tab")
    release.set()
    assert (errors[0]["code"], errors[0]["status"]) == ("PAGE_NOT_FOUND", 404)
    assert errors[0]["message"] == "Page 'tab' was closed while goto ran."
    await tab.show("a page of that name can be opened again")
