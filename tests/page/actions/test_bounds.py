"""Tests pages and scripts whose results are without bounds, or that replace what results are made with: what comes is
bounded, and the reply says what is missing, or how to ask for less."""

import json

import pytest

from tests.support.site import Answer
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window, pytest.mark.thorough]

DOUBLED = "(() => { let a = [1]; for (let n = 0; n < %d; n++) a = [a, a]; return a })()"
TOO_LARGE = {
    DOUBLED % 24: "more than 1,000,000 values",
    "(() => { let a = []; for (let n = 0; n < 200; n++) a = [a]; return a })()": "more than 64 levels",
    "(() => { const deep = {toJSON: () => ({...deep})}; Object.defineProperty(deep, 'toJSON', {enumerable: false}); "
    "const make = () => Object.defineProperty({}, 'toJSON', {value: () => [make()]}); return make() })()": "levels",
    "({large: 'x'.repeat(50_000_000)})": "more than 4,000,000 characters",
    "({['x'.repeat(5_000_000)]: 1})": "more than 4,000,000 characters",
    "Array(2_000_000).fill(0)": "more than 1,000,000 values",
    "new Proxy([], {get: (_, key) => key === 'length' ? Infinity : 0})": "more than 1,000,000 values",
    "Promise.resolve(new Uint8Array(3_000_000))": "more than 1,000,000 values",
}
HOSTILE = """<script>
  const large = 'x'.repeat(9_000_000), many = () => Array(2_000_000).fill('x');
  JSON.stringify = () => large;
  Object.keys = Object.entries = many;
  Array.isArray = () => true;
  Promise.prototype.then = function (done) { done(large) };
  Promise.prototype.constructor = function () {};
  Storage.prototype.getItem = () => large;
  Array.prototype[Symbol.iterator] = function* () { yield large };
  String.prototype.toJSON = () => large;
  String.prototype.slice = () => large;
  Object.defineProperty(Element.prototype, 'outerHTML', {get: () => large});
  Object.defineProperty(HTMLElement.prototype, 'innerText', {get: () => large});
</script><p id=p>x</p>"""


async def test_a_result_that_is_too_large_is_an_error_that_says_why_and_how_to_ask_for_less(tab: Tab) -> None:
    await tab.show("<p>x")
    for number, (script, why) in enumerate(TOO_LARGE.items()):
        of_element = {"selector": "p"} if number % 2 else {}  # each limit is among those of the page and of an element
        error = await tab.error("evaluate_script", expression=script, **of_element)
        assert (error["code"], why in error["message"]) == ("SCRIPT_EXECUTION_FAILED", True), error
        assert "slice" in error["hint"]


async def test_a_result_of_very_many_values_is_given_as_text_that_says_so(tab: Tab) -> None:
    await tab.show("x")
    for script, values in ((DOUBLED % 17, 2**18 + 2**17), ("Array.from({length: 200_000}, (_, n) => ({n}))", 600_001)):
        got = await tab.call("evaluate_script", expression=script)
        assert got["asText"].startswith("JSON text, because of its ")
        assert len(json.loads(got["value"])) in {2, values // 3}


async def test_a_long_text_is_cut_to_its_beginning_and_length(tab: Tab) -> None:
    await tab.show("x")
    got = await tab.call("evaluate_script", expression="'ab'.repeat(25_000_000)")
    assert (len(got["value"]), got["cut"]) == (3_000_000, "the beginning of 50,000,000 characters")


async def test_a_long_exception_is_cut_to_its_beginning(tab: Tab) -> None:
    await tab.show("x")
    for script in ("() => { throw 'x'.repeat(20_000_000) }", "Promise.reject(new Error('x'.repeat(20_000_000)))"):
        error = await tab.error("evaluate_script", expression=script)
        assert (error["code"], len(json.dumps(error)) < 10_000) == ("SCRIPT_EXECUTION_FAILED", True)


async def test_results_are_right_even_if_old_libraries_changed_json(tab: Tab) -> None:
    await tab.show("<script>String.prototype.toJSON = Array.prototype.toJSON = function () { return '!' }</script>")
    assert await tab.sees("['a\\n\"\\\\\\u0001é🫖', {b: [1]}]") == ['a\n"\\\x01é🫖', {"b": [1]}]


async def test_a_page_that_replaces_builtins_cannot_send_larger_results(tab: Tab) -> None:
    """Each call ends with a reply of a bounded size, whatever that says."""
    await tab.show(HOSTILE)
    for action, arguments in (
        ("evaluate_script", {"expression": "[1, {a: 2}]"}),
        ("evaluate_script", {"expression": "Promise.resolve(['x'])"}),
        ("evaluate_script", {"expression": "e => e.outerHTML", "selector": "p"}),
        ("get_storage", {}),
        ("set_storage", {"items": {"a": "b"}}),
        ("extract_text", {"selector": "p"}),
        ("extract_html", {"selector": "p"}),
        ("extract_links", {}),
        ("extract_metadata", {}),
        ("extract_data", {"schema": {"a": "p"}}),
        ("get_element", {"selector": "p"}),
        ("find_elements", {"selector": "p"}),
        ("content", {"format": "text"}),
        ("content", {"selector": "p"}),
        ("fetch", {"url": "/"}),
    ):
        reply = await tab.agent.reply(action, pageId="tab", timeout=3_000, **arguments)
        body = reply.json()
        assert len(reply.content) < 5_000_000, (action, reply.text[:300])
        assert body["success"] or body["error"]["code"] != "INTERNAL_ERROR", (action, body["error"])
    assert (await tab.call("get_current_url"))["url"]


async def test_a_large_file_comes_whole_though_in_pieces(tab: Tab) -> None:
    data = bytes(range(256)) * 20_000
    tab.site.page("/large", Answer(data, content_type="application/octet-stream"))
    await tab.show("x")
    got = await tab.call("fetch", url="/large", responseType="binary")
    assert got["artifact"]["size"] == len(data)
    tab.site.page("/long", Answer("é🫖" * 1_000_001))
    assert (await tab.call("fetch", url="/long"))["body"] == "é🫖" * 1_000_001


async def test_a_long_title_is_cut_to_its_beginning(tab: Tab) -> None:
    await tab.show("<button onclick='document.title = `x`.repeat(5_000_000)'>b</button>", "/short")
    assert (await tab.call("get_page_title"))["title"] == "/short"
    reply = await tab.agent.reply("click", selector="button")
    assert len(reply.content) < 10_000
    assert (await tab.call("get_page_title"))["title"] == "x" * 2_000


MANY = (
    "(change => { for (let n = 0; n < 1_000; n++) {"
    " const e = document.createElement('i'); e.role = 'button'; change(e); document.body.append(e) } })"
)
SOME = MANY.replace("1_000", "100")
FIELDS = MANY.replace("('i'); e.role = 'button'", "('input'); e.ariaLabel = 'n'")
HUGE = {
    "document.body.insertAdjacentHTML('beforeend', '<i></i>'.repeat(60_000))": "60,0",
    "document.body.append('x'.repeat(1_600_000))": "a tree of 1,600,",
    "document.body.append('x'.repeat(4_600_000))": "more in its names, texts, values",
    f"{MANY} (e => e.ariaLabel = 'x'.repeat(5_000))": "more in its names, texts, values",
    f"document.body.id = 'b'; {SOME} (e => e.append('x'.repeat(500)) || e.setAttribute('aria-labelledby', 'b'))": (
        "more in its names, texts, values"
    ),
    "document.head.append(Object.assign(document.createElement('style'), {textContent: "
    f"`i::before {{content: '${{'x'.repeat(5_000)}}'}}`}})); {MANY} (e => e.ariaLabel = '')": (
        "more in its names, texts, values"
    ),
    f"{MANY} (e => {{ e.role = 'link'; e.setAttribute('href', '/' + 'x'.repeat(5_000)) }})": (
        "more in its names, texts, values"
    ),
    f"{FIELDS} (e => e.value = 'x'.repeat(5_000))": "more in its names, texts, values",
    f"{FIELDS} (e => e.placeholder = 'x'.repeat(5_000))": "more in its names, texts, values",
    "document.body.insertAdjacentHTML('beforeend', '<input type=password aria-label=Password>'.repeat(4_000)); "
    "document.querySelectorAll('input').forEach((e, n) => e.value = `secret ${n}`)": "4,000 texts in fields for",
}

ONE_OF_EACH = list({why.strip("0123456789,"): grows for grows, why in HUGE.items()}.values())
"""A page for each bound: of its elements, its texts, its names, and its fields. The others take as long."""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_frame_with_too_large_a_tree_is_left_out_and_the_reply_says_how_to_read_it(tab: Tab, host: str) -> None:
    large = f"<button>in</button><p>words<script>{MANY} (e => e.ariaLabel = 'x'.repeat(800))</script>"
    tab.site.page("/inner", large)
    tab.site.page("/empty", "")
    frames = "".join(f"<iframe src='{tab.site.url(path, host)}'></iframe>" for path in ("/inner", "/empty"))
    await tab.show(f"<button>b</button>{frames}")
    shown = (await tab.call("snapshot"))["snapshot"]
    button, frame, empty = shown.splitlines()
    assert button.startswith('- button "b"')
    ref = frame.removeprefix("- iframe [").split("ref=")[-1].removesuffix("]")
    call = f'content {{"frame": "{ref}", "format": "text"}}'
    assert frame == f"- iframe [not shown, its tree is too large: {call}] [ref={ref}]"
    assert "not shown" not in empty
    assert "words" in (await tab.call("content", frame=ref, format="text"))["content"]
    assert (await tab.call("find", text="words"))["found"].splitlines()[1:] == [frame]
    assert "not shown" not in (await tab.call("find", text="b", role="button"))["found"]
    await tab.call("evaluate_script", expression="document.body.replaceChildren()", frame=ref)
    assert "not shown" not in (await tab.call("snapshot"))["snapshot"]
    kept = await tab.call("evaluate_script", expression="`${Map.prototype.set} ${Set.prototype.add}`")
    assert kept["value"].count("[native code]") == 2


@pytest.mark.parametrize(
    "grows",
    [*ONE_OF_EACH, *(pytest.param(grows, marks=pytest.mark.long) for grows in HUGE if grows not in ONE_OF_EACH)],
)
async def test_a_huge_page_has_no_snapshot_but_acts_on_it_work(tab: Tab, grows: str) -> None:
    await tab.show(f"<button onclick='document.title = `clicked`'>b</button><script>{grows}</script>")
    error = await tab.error("snapshot", timeout=30_000)  # so much time as a slow machine needs to get to the bound
    assert f"too large for a snapshot: it has {HUGE[grows]}" in error["message"]
    assert "extract_text {" in error["hint"]
    await tab.call("click", selector="button")
    assert (await tab.call("get_page_title"))["title"] == "clicked"


async def test_a_long_invisible_value_makes_no_page_too_large(tab: Tab) -> None:
    await tab.show("<p>words<input type=hidden id=h><script>h.value = 'x'.repeat(6_000_000)</script>")
    assert "words" in (await tab.call("snapshot"))["snapshot"]


async def test_a_selector_by_names_that_are_too_long_says_so_and_which_selectors_read_none(tab: Tab) -> None:
    await tab.show(f"<button id=b>b</button><script>{MANY} (e => e.ariaLabel = 'x'.repeat(5_000))</script>")
    error = await tab.error("click", selector='role=button[name="b"]', timeout=2_000)
    assert (error["code"], "names of the page's elements are too long" in error["message"]) == (
        "SCRIPT_EXECUTION_FAILED",
        True,
    ), error
    assert "CSS" in error["hint"]


async def test_the_trees_of_many_frames_are_bounded_together(tab: Tab) -> None:
    tab.site.page("/half", f"<p style='white-space: pre'>{'word ' * 52_000}")
    tab.site.page("/small", "<p>of a small one")
    urls = [tab.site.url("/half", host) for host in ["127.0.0.1", "localhost"] * 12]
    frames = "".join(f"<iframe src='{url}'></iframe>" for url in (*urls, tab.site.url("/small")))
    await tab.show(f"<button>b</button>{frames}")
    shown = (await tab.call("snapshot"))["snapshot"]
    assert shown.count("not shown, its tree is too large") == 24
    assert "of a small one" in shown
