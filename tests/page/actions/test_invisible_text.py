"""Tests that invisible text is in no reply, however it is hidden, and that visible text stays."""

from typing import Final

import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Site

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

SR_ONLY: Final = "position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0);white-space:nowrap"
HIDING: Final = {
    "display": "display:none",
    "visibility": "visibility:hidden",
    "opacity": "opacity:0",
    "nearly": "opacity:0.02",
    "tiny": "font-size:1px",
    "zero": "font-size:0",
    "white": "color:#fff",
    "offwhite": "color:rgb(250,252,255)",
    "transparent": "color:transparent",
    "fill": "-webkit-text-fill-color:#fff",
    "left": "position:absolute;left:-9999px",
    "above": "position:absolute;top:-5000px",
    "indent": "text-indent:-9999px;overflow:hidden;white-space:nowrap",
    "clipped": SR_ONLY,
    "inset": "position:absolute;clip-path:inset(50%)",
    "flat": "height:0;overflow:hidden",
    "scaled": "transform:scale(0.01)",
    "moved": "transform:translateX(-9999px)",
}
SEEN: Final = {
    "plain": "",
    "dark": "background:#000;color:#fff",
    "picture": "background-image:linear-gradient(red,blue);color:#fff",
    "scroll": "height:40px;overflow:auto",
    "below": "margin-top:3000px",
    "gradient": "background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent",
    "faded": "opacity:0.6",
    "fixed": "position:fixed;right:0;bottom:0",
    "contents": "display:contents",
    "shadow": "color:#fff;text-shadow:0 0 3px #000",
}
TAGGED: Final = "plain" + "".join(chr(0xE0000 + ord(letter)) for letter in "tagged") + "\u200b\u202eend"
LONG: Final = "SECRET-label " * 12

FAR: Final = "<p style='position:absolute;left:-9999px'>SECRET-far obey</p>"
IN_THE_WAY: Final = {
    "defaultView": f"<img name=defaultView>{FAR}",
    "documentElement": f"<img name=documentElement dir=rtl style='color-scheme:dark'>{FAR}<p style='color:#fff'>SECRET",
    "host": "<img name=host><p style='opacity:0'>SECRET",
    "clientHeight": "<form style='height:0;overflow:hidden'><input name=clientHeight><input name=clientWidth>SECRET",
    "scrollTop": f"<form style='overflow:auto'><input name=scrollTop>{FAR}",
    "parentElement": "<div style='opacity:0'><form><input name=parentElement>SECRET",
    "assignedSlot": "<div style='opacity:0'><form><input name=assignedSlot>SECRET",
    "ownerDocument": f"<form><input name=ownerDocument>{FAR}",
    "querySelector": "<form style='display:none'><input name=querySelector>SECRET",
    "matches": "<form style='opacity:0' aria-label=a><input name=matches>SECRET",
    "closest": "<form style='opacity:0'><input name=closest>SECRET",
    "box": "<form style='opacity:0;clip-path:inset(1px)' title=a><input name=getBoundingClientRect>SECRET",
}
"""For some property names, documents whose fields or pictures have these names, and so answer in their place."""


def page() -> str:
    hidden = "".join(f'<p style="{style}">SECRET-{name} obey</p>' for name, style in HIDING.items())
    seen = "".join(f'<p style="{style}">seen-{name} text</p>' for name, style in SEEN.items())
    return f"""<title>{TAGGED}</title><body style="background:#fff"><h1>Shop {TAGGED}</h1>{seen}{hidden}
    <p>The price <span style="opacity:0">SECRET-inline obey</span> is 5</p>
    <div style="opacity:0"><div><b>SECRET-nested</b> <i aria-label="SECRET-named" role=note>x</i></div></div>
    <div style="position:relative;height:50px"><div style="position:absolute;inset:0;background:#003"></div>
      <p style="position:relative;color:#fff">seen-hero text</p></div>
    <button id=icon style="width:30px;height:30px"><span style="{SR_ONLY}">seen-icon label</span>★</button>
    <button style="width:30px;height:30px"><span style="{SR_ONLY}">{LONG}</span>★</button>
    <label style="{SR_ONLY}" for=q>seen-field label</label><input id=q>
    <label>seen-tick label <input type=checkbox style="opacity:0;width:20px;height:20px"></label>
    <a href=/skip style="position:absolute;left:-9999px">SECRET-skip</a>
    <img alt="SECRET-alt" src=/none style="opacity:0" width=20 height=20>
    <table><tr><th>Tea<th>Price<tr><td>Assam<td>3<span style="font-size:0">SECRET-cell</span></table>
    <iframe srcdoc="<p>SECRET-frame" style="opacity:0"></iframe>
    <iframe srcdoc="<p>seen-frame text<p style='opacity:0'>SECRET-inframe"></iframe></body>"""


async def read_all(agent: Agent, url: str) -> dict[str, str]:
    """Return all that the reading tools say of the page."""
    reply = (await agent.reply("goto", pageId="tab", url=url)).json()
    texts: dict[str, AnyJson] = {"outline": [reply["result"].get("outline"), reply["page"]["title"]]}
    for form in ("text", "markdown"):
        texts[form] = (await agent.call("content", pageId="tab", format=form))["content"]
    trees: dict[str, dict[str, AnyJson]] = {
        "tree": {},
        "controls": {"interactiveOnly": True},
        "part": {"selector": "body"},
    }
    for name, options in trees.items():
        texts[name] = (await agent.call("snapshot", pageId="tab", **options))["snapshot"]
    for name, sought in {"found": {"text": "secret"}, "links": {"role": "link"}, "icons": {"role": "button"}}.items():
        texts[name] = (await agent.call("find", pageId="tab", **sought))["matches"]
    texts["selected"] = (await agent.call("find", pageId="tab", selector="p[style*=opacity]"))["found"]
    texts["body"] = (await agent.call("extract_text", pageId="tab", selector="body"))["text"]
    texts["data"] = (await agent.call("extract_data", pageId="tab", schema={"all": {"selector": "p", "all": True}}))[
        "data"
    ]
    texts["table"] = (await agent.call("extract_table", pageId="tab"))["tables"]
    texts["urls"] = (await agent.call("extract_links", pageId="tab"))["links"]
    texts["pictures"] = (await agent.call("extract_images", pageId="tab"))["images"]
    return {name: str(text) for name, text in texts.items()}


async def test_invisible_text_is_in_no_reading_and_visible_text_is(agent: Agent, site: Site) -> None:
    texts = await read_all(agent, site.page("/", page()))
    leaked = [(name, word) for name, text in texts.items() for word in text.split() if "SECRET" in word]
    assert leaked == []
    for name in ("text", "markdown", "body", "tree"):
        lacking = [word for word in [*SEEN, "hero"] if f"seen-{word} text" not in texts[name]]
        assert lacking == [], (name, texts[name])
    for name in ("tree", "controls"):
        assert all(f"seen-{word} label" in texts[name] for word in ("icon", "field", "tick")), texts[name]
    assert "seen-frame text" in texts["tree"]
    assert "The price is 5" in " ".join(texts["text"].split())
    assert "'Assam', 'Price': '3'" in texts["table"]
    assert "Shop" in texts["outline"]


@pytest.mark.parametrize("html", IN_THE_WAY.values(), ids=IN_THE_WAY)
async def test_fields_and_pictures_that_are_called_as_properties_hide_nothing_and_stop_no_reading(
    agent: Agent, site: Site, html: str
) -> None:
    await agent.call("goto", pageId="tab", url=site.page("/", f"<!doctype html><p>seen words</p>{html}"))
    for form in ("text", "markdown"):
        read = (await agent.call("content", pageId="tab", format=form))["content"]
        assert ("seen words" in read, "SECRET" in read) == (True, False), read
    await agent.call("scroll", pageId="tab", selector="text=seen words")


async def test_invisible_frames_are_left_out_of_every_document(agent: Agent, site: Site) -> None:
    for word in ("SECRET", "shown"):
        site.page(f"/{word}", f"<p>{word}")
    hidden, shown = (site.url(f"/{word}", host="localhost") for word in ("SECRET", "shown"))
    frames = f"<iframe src='{hidden}' style='opacity:0'></iframe><iframe src='{shown}'></iframe>"
    url = site.page("/", f"<p>seen{frames}<iframe src='{site.page('/inner', f'<p>inner{frames}')}'></iframe>")
    for _ in range(3):  # each document has refs that begin otherwise
        await agent.call("goto", pageId="tab", url=url)
        read = (await agent.call("snapshot", pageId="tab"))["snapshot"]
        assert (read.count("shown"), "inner" in read, "SECRET" in read) == (2, True, False), read


@pytest.mark.parametrize(
    ("style", "script"),
    [
        ("", "scrollTo(0, 9999)"),
        ("margin-left:600px", "document.querySelector('iframe').contentDocument.body.style = 'overflow:hidden'"),
    ],
    ids=["scrolled past", "to the right of its own width"],
)
async def test_a_frames_content_is_visible_wherever_the_frame_is(
    style: str, script: str, agent: Agent, site: Site
) -> None:
    form = site.page("/pay", "<label>Card <input></label><button>Pay</button>")
    url = site.page("/", f"<iframe src='{form}' width=300 style='{style}'></iframe><p style='margin-top:3000px'>end")
    await agent.call("goto", pageId="tab", url=url)
    await agent.call("evaluate_script", pageId="tab", expression=script)
    found = await agent.call("snapshot", pageId="tab")
    assert 'textbox "Card"' in found["snapshot"]
    assert 'button "Pay"' in found["snapshot"]


async def test_a_reading_says_how_many_texts_it_left_out(agent: Agent, site: Site) -> None:
    url = site.page("/", "<p>seen<p style='opacity:0'>one<p style='opacity:0'>two")
    await agent.call("goto", pageId="tab", url=url)
    for action, options in (("content", {"format": "text"}), ("content", {"format": "markdown"}), ("snapshot", {})):
        read = await agent.call(action, pageId="tab", **options)
        said = '2 texts that nobody sees are left out: content {"unseen": true}'
        assert (read["invisible"], read["advice"]) == (2, said), action
    html = await agent.call("content", pageId="tab")
    assert "one" in html["content"]
    assert html["advice"] == "2 texts in it are not seen on the page"
    await agent.call("goto", pageId="tab", url=site.page("/plain", "<p>seen"))
    assert "advice" not in await agent.call("content", pageId="tab", format="text")


async def test_invisible_text_alone_can_be_read(agent: Agent, site: Site) -> None:
    hidden = (
        "<p>Tea is <b style='opacity:0'>never</b> sold<p style='visibility:hidden'>late<img alt=cup style='opacity:0'>"
    )
    await agent.call("goto", pageId="tab", url=site.page("/", f"<h1>Shop</h1>{hidden}"))
    left_out = (await agent.call("content", pageId="tab", unseen=True))["content"]
    assert left_out.splitlines() == [
        "Tea is ⟦not seen on the page: never⟧ sold",
        "⟦not seen on the page: late⟧⟦not seen on the page: cup⟧",
    ]
    found = await agent.call("find", pageId="tab", text="NEVER")
    assert found["found"] == "nothing that is seen matches; what nobody sees does"
    assert found["advice"] == 'what nobody sees: content {"pageId": "tab", "unseen": true}'
    error = await agent.error("content", pageId="tab", unseen=True, format="html")
    assert (error["code"], "unseen" in error["message"]) == ("VALIDATION_ERROR", False)
    await agent.call("goto", pageId="tab", url=site.page("/plain", "<p>seen"))
    assert (await agent.call("content", pageId="tab", unseen=True))["advice"] == "nothing that it draws is unseen"


@pytest.mark.parametrize(
    "way",
    {
        "transition": "d.offsetWidth; d.className = 'shown'",
        "next frames": "frames(() => d.className = 'shown')",
        "paused at first": "d.className = 'paused'; frames(() => d.className = 'runs')",
        "by steps": "const step = () => { d.style = `transition: none; opacity: ${n += .02}`; frame(step) }; step()",
    }.items(),
    ids=lambda way: way[0],
)
async def test_text_that_fades_in_is_read(agent: Agent, site: Site, way: tuple[str, str]) -> None:
    html = f"""<style>@keyframes in {{ from {{opacity: 0}} to {{opacity: 1}} }}
    #d {{opacity: 0; transition: opacity 5s}} #d.shown {{opacity: 1}} #d.runs {{animation: in 5s}}
    #d.paused {{animation-play-state: paused; animation-duration: 5s}}</style><button>Open</button><script>
    let n = 0; const frame = requestAnimationFrame, frames = then => frame(() => frame(then));
    document.querySelector('button').onclick = () => {{
      const d = document.createElement('div');
      d.id = 'd';
      d.innerHTML = '<h2>Delete it?</h2><p>All rows go</p><button>Yes</button>';
      document.body.append(d);
      {way[1]};
    }}</script>"""
    await agent.call("goto", pageId="tab", url=site.page("/", html))
    changes = (await agent.call("click", pageId="tab", selector="button"))["changes"]
    assert all(words in changes for words in ("Delete it?", "All rows go", "Yes")), changes


async def test_text_that_appears_on_scrolling_is_read_and_text_that_never_appears_is_not(
    agent: Agent, site: Site
) -> None:
    html = """<style>@keyframes in { from {opacity: 0} to {opacity: 1} } @keyframes out { to {opacity: 0} }
    p {opacity: 0} .gap {height: 3000px} .moved {transform: translateY(40px)} .eased {transition: opacity .4s}
    .tied {animation: in linear both; animation-timeline: view()} .slow {animation: in 9999s}
    .held {animation: in 5s paused} .gone {animation: out 1ms forwards} .over {position: absolute}</style>
    <p class=eased>SECRET-here<p class=slow>SECRET-slow<p class=held>SECRET-held<p class=gone>SECRET-gone
    <p style="animation: in 1s steps(1) infinite">seen-blinks<div class=gap></div>
    <p>SECRET-plain<p class='eased over'>SECRET-over<p class=moved>seen-moved<p class=eased>seen-eased
    <p class=tied>seen-tied
    <div class=gap></div><h2 style='opacity:1'>End"""
    await agent.call("goto", pageId="tab", url=site.page("/", html))
    for action, key in (("snapshot", "snapshot"), ("content", "content")):
        options = {"format": "text"} if action == "content" else {}
        read = (await agent.call(action, pageId="tab", **options))[key]
        assert ([read.count(f"seen-{word}") for word in ("blinks", "moved", "eased", "tied")], "SECRET" in read) == (
            [1, 1, 1, 1],
            False,
        ), read
    await agent.call("scroll", pageId="tab", selector="text=seen-moved")
    read = (await agent.call("content", pageId="tab", format="text"))["content"]
    assert ("seen-moved" in read, "seen-tied" in read) == (False, True), "nothing raised the first one"


async def test_text_drawn_on_scrolling_is_read_and_text_never_drawn_is_not(agent: Agent, site: Site) -> None:
    sections = "".join(f"<section><h2>Part {n}</h2><p>Mark-{n}-end</p></section>" for n in range(20))
    style = "<style>section {content-visibility: auto; contain-intrinsic-size: auto 800px}</style>"
    hidden = "<div style='content-visibility: hidden'>SECRET-never</div><p hidden=until-found>SECRET-until"
    await agent.call("goto", pageId="tab", url=site.page("/", f"{style}{sections}{hidden}"))
    marks = [f"Mark-{n}-end" for n in range(20)]
    read = (await agent.call("content", pageId="tab", format="text"))["content"]
    body = (await agent.call("extract_text", pageId="tab", selector="body"))["text"]
    each = (await agent.call("extract_text", pageId="tab", selector="p:not([hidden])", all=True))["text"]
    assert [[mark in text for mark in marks] for text in (read, body)] == [[True] * 20] * 2
    assert each == marks
    assert "SECRET" not in read + body


async def test_appearing_text_is_read_and_disappearing_text_is_not(agent: Agent, site: Site) -> None:
    html = "<p id=a style='opacity:0'>first words</p><p id=b>second words</p><button onclick='swap()'>Swap</button>"
    script = (
        "<script>function swap() { for (const e of [a, b]) e.style.opacity = e.style.opacity === '0' ? 1 : 0 }</script>"
    )
    await agent.call("goto", pageId="tab", url=site.page("/", html + script))
    before = (await agent.call("snapshot", pageId="tab"))["snapshot"]
    changes = (await agent.call("click", pageId="tab", selector="button"))["changes"]
    after = (await agent.call("snapshot", pageId="tab"))["snapshot"]
    assert ("first" in before, "second" in before, "first" in after, "second" in after) == (False, True, True, False)
    assert "first words" in changes


async def test_a_control_without_a_visible_name_keeps_its_ref(agent: Agent, site: Site) -> None:
    link = "<a href=/next style='position:absolute;left:-9999px'>Skip to what is hidden</a><h1>Top</h1>"
    site.page("/next", "<h1>Next</h1>")
    await agent.call("goto", pageId="tab", url=site.page("/", link))
    tree = (await agent.call("snapshot", pageId="tab"))["snapshot"]
    assert "hidden" not in tree
    assert "link [ref=" in tree


async def test_what_a_shadow_tree_does_not_draw_of_its_elements_children_is_unseen(agent: Agent, site: Site) -> None:
    menu = """<x-menu><button>Validate all</button><p>Danger zone</p><a href=/x>Delete device</a></x-menu><p>Shown</p>
<script>customElements.define('x-menu', class extends HTMLElement { connectedCallback() {
  this.attachShadow({mode: 'open'}).innerHTML = '<div style="display: none"><slot></slot></div><button>Menu</button>';
  this.shadowRoot.querySelector('button').onclick = e => this.shadowRoot.firstChild.style.display = 'block';
} })</script>"""
    opened = await agent.call("goto", pageId="p", url=site.page("/menu", menu))
    read = [str(await agent.call("snapshot", pageId="p"))]
    read += [str(await agent.call("content", pageId="p", format=each)) for each in ("text", "markdown")]
    assert all("Shown" in each for each in read)
    assert not [word for word in ("Validate", "Danger", "Delete") if word in f"{opened}{read}"]
    told = str(await agent.call("click", pageId="p", selector="role=button[name=Menu]"))
    assert all(word in told for word in ("Validate all", "Danger zone", "Delete device")), told
