"""Pages that mislead, as data: what is done on each, what is true afterwards, and what the reply must say.

It is longer than 300 lines because it is one table of pages.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from tests.support.json import AnyJson

HITS: Final = "<script>window.hits = []; const hit = e => hits.push(e.currentTarget.id)</script>"
BUTTON: Final = "<button id=b onclick=hit(event)>Buy</button>"
NOT_HIT: Final[dict[str, AnyJson]] = {"hits": []}
HIT: Final[dict[str, AnyJson]] = {"hits": ["b"]}
CANNOT: Final = "ELEMENT_NOT_INTERACTABLE"


@dataclass(frozen=True)
class Liar:
    """`selector="@button "Buy""` is the ref that a snapshot gave, taken before `then` ran in the page."""

    name: str
    html: str
    act: str
    selector: str = "#b"
    given: dict[str, Any] = field(default_factory=dict)  # Any: arguments as JSON
    then: str = ""
    truth: dict[str, Any] = field(default_factory=dict)  # Any: what each expression is in the page afterwards
    server: dict[str, int] = field(default_factory=dict)
    """Number of requests per path."""
    error: str = ""
    """The error's code; None for a success."""
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


def late(script: str, ms: int = 150) -> str:
    return f"<script>setTimeout(() => {{ {script} }}, {ms})</script>"


def post(path: str) -> str:
    return f"fetch('{path}', {{method: 'POST'}})"


VEIL: Final = (
    "<div id=veil onclick=hit(event) style='position: fixed; inset: 0; background: #0003'>We value your privacy</div>"
)
MENU: Final = "<style>#m {display: none} #nav:hover #m {display: block}</style><div id=nav style='margin-left: 900px'>"
ROWS: Final = """<table>
<tr><td>Kettle<td class=n>1<td><button id=kettle onclick=hit(event)>Delete</button>
<tr><td>Teapot<td class=n>1<td><button id=teapot onclick=hit(event)>Delete</button></table>"""

IN_THE_WAY: Final = [
    Liar("an overlay that stays", BUTTON + VEIL, "click", truth=NOT_HIT, error=CANNOT,
         says=("covered", 'id="veil"')),
    Liar("an overlay that goes", BUTTON + VEIL + late("veil.remove()"), "click", given={"timeout": 2000}, truth=HIT),
    Liar("an overlay under force", BUTTON + VEIL, "click", given={"force": True}, truth={"hits": ["veil"]},
         error=CANNOT, says=("received", "<div#veil> 'We value")),
    Liar("a modal dialog above", BUTTON + "<dialog id=d>Log in first</dialog><script>d.showModal()</script>", "click",
         truth=NOT_HIT, error=CANNOT, says=("covered", "dialog")),
    Liar("an overlay above a frame", "<iframe srcdoc='<button id=b onclick=parent.hits.push(1)>x</button>'></iframe>"
         + VEIL, "click", given={"frame": "iframe", "timeout": 1500}, truth=NOT_HIT, error=CANNOT,
         says=("covered", 'id="veil"')),
    Liar("an overlay that comes with the mouse down", BUTTON
         + "<script>b.onmousedown = () => document.body.insertAdjacentHTML('beforeend', "
         "'<div id=veil style=\"position: fixed; inset: 0\">Wait</div>')</script>", "click", truth=NOT_HIT,
         says=("the page put <div#veil> 'Wait' over it at the mouse down",), never=("nothing observable",)),
    Liar("a field that opens a login dialog over itself", "<input id=b onfocus='d.showModal(); hit(event)'><dialog "
         "id=d style='margin: 0; inset: 0; width: 90%; height: 90%'>Log in first</dialog>", "click", truth=HIT,
         says=("the page put <dialog#d> 'Log in first' over it",)),
    Liar("a menu that opens at the mouse down", "<button id=b onpointerdown='hit(event); m.hidden = false; "
         "document.body.style.pointerEvents = \"none\"'>Menu</button><div id=m role=menu hidden>Item</div>"
         "<style>body {height: 300px}</style>", "click", truth=HIT, says=("over it at the mouse down",)),
    Liar("a button that disables itself at the mouse down", "<button id=b onpointerdown='hit(event); "
         "this.disabled = true'>Buy</button>", "click", truth=HIT, says=("the page disabled it at the mouse down",)),
    Liar("a button that is disabled by its own click", "<button id=b onclick='hit(event); this.disabled = true'>Buy"
         "</button>", "click", truth=HIT),
    Liar("a cover that goes before a handler that does not end", BUTTON.replace("hit(event)", "'hit(event); "
         + post("/sent").replace("'", '"') + "; for (const t = Date.now(); Date.now() - t < 1700;);'") + VEIL
         + late("veil.remove()"), "click", given={"timeout": 1500}, truth=HIT, server={"/sent": 1},
         error="UNKNOWN_OUTCOME", says=("reached its element",), never=("covered",)),
    Liar("it takes no pointer events", "<style>#b {pointer-events: none}</style>" + BUTTON, "click", truth=NOT_HIT,
         error=CANNOT, says=("pointer-events: none",)),
    Liar("a part that takes no pointer events", "<button id=b onclick=hit(event)><i style='pointer-events: none'>Buy"
         "</i></button>", "click", "text=Buy", truth=HIT),
]  # fmt: skip

NOT_THERE: Final = [
    Liar("always moving", BUTTON + "<script>let x = 0; const move = () => requestAnimationFrame(move, "
         "b.style.marginLeft = `${x = (x + 7) % 300}px`); move()</script>",  # in each frame, however late that is
         "click", truth=NOT_HIT, error=CANNOT, says=("moving",)),
    Liar("moving until it rests", "<style>@keyframes m {from {margin-left: 300px}} #b {animation: m .2s}</style>"
         + BUTTON, "click", given={"timeout": 2000}, truth=HIT),
    Liar("it runs away at the mouse down", BUTTON
         + "<script>b.onmousedown = () => b.style.cssText = 'position: fixed; left: 500px; top: 300px'</script>",
         "click", truth=NOT_HIT, error=CANNOT, says=("did not reach", "moved")),
    Liar("no size", "<style>#b {width: 0; height: 0; padding: 0; border: 0; overflow: hidden}</style>" + BUTTON,
         "click", truth=NOT_HIT, error=CANNOT, says=("no size",)),
    Liar("hidden", "<div hidden>" + BUTTON + "</div>", "click", truth=NOT_HIT, error=CANNOT, says=("not visible",)),
    Liar("in closed details", "<details><summary>More</summary>" + BUTTON + "</details>", "click", truth=NOT_HIT,
         error=CANNOT, says=("not visible",)),
    Liar("a twin that is hidden", "<button class=b hidden>Buy</button>" + BUTTON.replace("id=b", "id=b class=b"),
         "click", ".b", truth=NOT_HIT, error="AMBIGUOUS_SELECTOR", says=("not visible",)),
    Liar("outside of the window", "<style>#b {position: fixed; left: -900px}</style>" + BUTTON, "click", truth=NOT_HIT,
         error=CANNOT, says=("outside of the viewport",)),
    Liar("far below", "<div style='height: 4000px'></div>" + BUTTON, "click", truth=HIT),
    Liar("in a box that scrolls", "<div style='height: 60px; overflow: auto'><p style='height: 900px'></p>" + BUTTON
         + "</div>", "click", truth=HIT),
    Liar("it comes late", "<p>" + late('document.body.insertAdjacentHTML("beforeend", '
         "'<button id=b onclick=hit(event)>Buy</button>')"), "click", given={"timeout": 2000}, truth=HIT),
    Liar("a menu that needs the mouse", MENU + "Menu<div id=m>" + BUTTON + "</div></div>", "click", truth=NOT_HIT,
         error=CANNOT, says=("not visible",)),
    Liar("an element under a menu that opens over it", "<style>#m {display: none; position: absolute; inset: 0} "
         "#b:hover + #m, #m:hover {display: block}</style>" + BUTTON + "<div id=m>Menu</div>", "click", truth=NOT_HIT,
         error=CANNOT, says=("covered", 'id="m"')),
    Liar("disabled for ever", BUTTON.replace("id=b", "id=b disabled"), "click", truth=NOT_HIT, error=CANNOT,
         says=("disabled",)),
    Liar("disabled for now", BUTTON.replace("id=b", "id=b disabled") + late("b.disabled = false"), "click",
         given={"timeout": 2000}, truth=HIT),
    Liar("disabled under force", BUTTON.replace("id=b", "id=b disabled"), "click", given={"force": True}, truth=NOT_HIT,
         error=CANNOT, says=("disabled",)),
    Liar("disabled with its fieldset", f"<fieldset disabled>{BUTTON}</fieldset>", "click", truth=NOT_HIT, error=CANNOT,
         says=("disabled",)),
]  # fmt: skip

REPLACED: Final = [
    Liar("made anew at the mouse down", "<div id=box>" + BUTTON + "</div><script>box.onmousedown = () => "
         "box.innerHTML = box.innerHTML</script>", "click", given={"timeout": 3000}, truth=NOT_HIT, error=CANNOT,
         says=("replaced", "mouse")),
    Liar("made anew at the mouse down, by ref", "<div id=box>" + BUTTON + "</div><script>box.onmousedown = () => "
         "box.innerHTML = box.innerHTML</script>", "click", '@button "Buy"', given={"timeout": 3000}, truth=NOT_HIT,
         error=CANNOT, says=("replaced", "mouse")),
    Liar("chosen and gone at the mouse down", "<ul id=box><li id=b>Tea</li></ul><script>b.onmousedown = () => "
         "{ window.chosen = 'Tea'; box.remove() }</script>", "click", truth={"chosen": "Tea"}, says=("mouse down",),
         never=("nothing observable",)),
    Liar("made anew under the mouse", "<div id=box onmouseover='if (!this.done) { this.done = 1; "
         f"this.innerHTML = this.innerHTML }}'>{BUTTON}</div>", "click", given={"timeout": 2000}, truth=HIT),
    Liar("made anew by a mouse down that sends", "<div id=box>" + BUTTON + "</div><script>box.onmousedown = () => { "
         + post("/sent") + "; box.innerHTML = box.innerHTML }</script>", "click", server={"/sent": 1},
         says=("it went away at the mouse down", "POST /sent → 200")),
    Liar("its icon made anew at the mouse down", "<button id=b onclick=hit(event) onmousedown='this.innerHTML = "
         "\"<b>Buy</b>\"'><i>Buy</i></button>", "click", truth=NOT_HIT, error=CANNOT, says=("replaced",)),
    Liar("gone by its own click", "<button id=b onclick='hit(event); this.remove()'>Buy</button>", "click", truth=HIT),
    Liar("made anew by its own click", "<div id=box><button id=b onclick='hit(event); box.innerHTML = box.innerHTML'>"
         "Buy</button></div>", "click", truth=HIT),
    Liar("a list in another order", "<ol id=l><li><button id=tea onclick=hit(event)>Delete tea</button><li><button "
         "id=kettle onclick=hit(event)>Delete kettle</button></ol>", "click", '@button "Delete kettle"',
         then="l.prepend(l.lastElementChild)", truth={"hits": ["kettle"]}),
    Liar("rows whose content was exchanged", ROWS, "click", '@button "Delete"',
         then="document.querySelectorAll('td:first-child').forEach(e => e.textContent = 'Order 7')", truth=NOT_HIT,
         error="ELEMENT_GONE", says=("in the row of 'Kettle'", "in the row of 'Order 7' now")),
    Liar("a button that means something else now", BUTTON, "click", '@button "Buy"',
         then="b.textContent = 'Delete account'", truth=NOT_HIT, error="ELEMENT_GONE",
         says=('button "Buy"', "<button#b> 'Delete account' now")),
    Liar("a row whose count went up", ROWS, "click", '@button "Delete"',
         then="document.querySelector('.n').textContent = '2'", truth={"hits": ["kettle"]}),
    Liar("a name that the style sheet writes", "<style>#b::before {content: 'Buy'}</style><button id=b "
         "onclick=hit(event)></button>", "click", '@button "Buy"', truth=HIT),
    Liar("a name of several lines", "<button id=b onclick=hit(event)><div>Buy</div><div>now</div><img alt=kettle "
         "width=9 height=9></button>", "click", '@button "Buy now', truth=HIT),
]  # fmt: skip

NOTHING_CAME: Final = [
    Liar("a handler that comes late", "<button id=b>Buy</button>" + late("b.onclick = hit", 3000), "click",
         truth=NOT_HIT, says=("nothing observable",)),
    Liar("a link that its script stops", "<a id=b href=/there onclick='event.preventDefault()'>Buy</a>", "click",
         server={"/there": 0}, says=("nothing observable", "preventDefault")),
    Liar("a form that its script stops", "<form action=/sent method=post onsubmit='return false'><button id=b>Buy"
         "</button></form>", "click", server={"/sent": 0}, says=("nothing observable", "form", "preventDefault")),
    Liar("a form with a field that is not valid", "<form action=/sent method=post><label>E-mail <input id=i name=mail "
         "type=email required></label><button id=b>Buy</button></form>", "click", server={"/sent": 0},
         says=("form was not sent", "E-mail", "fill out")),
    Liar("a script that asks whether a form is valid", "<form><input required></form><button id=b onclick='"
         "document.forms[0].checkValidity(); hit(event)'>Buy</button>", "click", truth=HIT, never=("not sent",)),
    Liar("a script that sends a form that is not valid", "<form><input aria-label=Code required></form><button id=b "
         "onclick='document.forms[0].requestSubmit()'>Buy</button>", "click", says=("form was not sent", "Code")),
    Liar("Enter in a form that is not valid", "<form action=/sent method=post><input id=b aria-label=Code "
         "pattern=[0-9]+ value=x></form>", "press", given={"key": "Enter"}, server={"/sent": 0},
         says=("form was not sent", "Code", "format")),
    Liar("a script that throws", "<button id=b onclick='hit(event); undefined.buy()'>Buy</button>", "click", truth=HIT,
         says=("script of the page failed", "undefined")),
    Liar("a promise that is broken", "<button id=b onclick='Promise.reject(new Error(\"out of stock\"))'>Buy</button>",
         "click", says=("script of the page failed", "out of stock")),
    Liar("a server that fails", f'<button id=b onclick="{post("/fails")}">Buy</button>', "click", server={"/fails": 1},
         says=("POST /fails → 500", "the server failed")),
    Liar("a list that cannot be loaded", '<button id=b onclick="const x = new XMLHttpRequest(); '
         "x.open('GET', '/fails', false); x.send()\">More</button>", "click", server={"/fails": 1},
         says=("GET /fails → 500: the server failed",)),
    Liar("a server that refuses", f'<button id=b onclick="{post("/refuses")}">Buy</button>', "click",
         server={"/refuses": 1}, says=("POST /refuses → 409", "refused")),
    Liar("an address that is not there", f'<button id=b onclick="{post("/nowhere")}">Buy</button>', "click",
         says=("POST /nowhere → 404: not found",)),
    Liar("a form sent twice", f'<button id=b onclick="{post("/sent")}; {post("/sent")}">Buy</button>', "click",
         server={"/sent": 2}, says=("POST /sent → 200 (2 times)",)),
    Liar("a link to nothing", "<a id=b href=/nowhere>Buy</a>", "click", truth={"location.pathname": "/nowhere"},
         says=("navigated to", "404")),
    Liar("a link to a server's fault", "<a id=b href=/fails>Buy</a>", "click", truth={"location.pathname": "/fails"},
         says=("navigated to", "500", "failed")),
    Liar("a link answered with nothing", "<a id=b href=/empty>Buy</a>", "click", truth={"hits": []},
         server={"/empty": 1}, says=("/empty", "204", "stays")),
    Liar("a script that swallows clicks", BUTTON + "<script>addEventListener('click', "
         "e => e.stopImmediatePropagation(), true)</script>", "click", truth=NOT_HIT, error=CANNOT,
         says=("did not reach", "stopped")),
]  # fmt: skip

FIELDS: Final = [
    Liar("a field that formats", "<input id=b oninput=\"this.value = this.value.replace(/(.{4})(?=.)/g, '$1 ')\">",
         "fill", given={"value": "41111111"}, truth={"b.value": "4111 1111"}, says=("writes it as '4111 1111'",)),
    Liar("a field that cuts", "<input id=b oninput='this.value = this.value.slice(0, 3)'>", "fill",
         given={"value": "kettle"}, truth={"b.value": "ket"}, error=CANNOT, says=("shows 'ket'", "instead")),
    Liar("a field that is kept empty", "<input id=b oninput=\"this.value = ''\">", "fill", given={"value": "kettle"},
         truth={"b.value": ""}, error=CANNOT, says=("shows ''", "instead")),
    Liar("a field that is emptied a turn later", "<input id=b oninput=\"setTimeout(() => this.value = '')\">", "fill",
         given={"value": "kettle"}, truth={"b.value": ""}, error=CANNOT, says=("shows ''", "instead")),
    Liar("a field that is emptied after 30 ms", "<input id=b oninput=\"setTimeout(() => this.value = '', 30)\">",
         "fill", given={"value": "kettle"}, truth={"b.value": ""}, error=CANNOT, says=("shows ''", "instead")),
    Liar("a field that is emptied after 30 ms, in which the page is busy", '<input id=b oninput="setTimeout(() => '
         "this.value = '', 30); setTimeout(() => { for (const from = performance.now(); performance.now() < from + 120;"
         ');}, 10)">', "fill", given={"value": "kettle"}, truth={"b.value": ""}, error=CANNOT,
         says=("shows ''", "instead")),
    Liar("a field that is emptied at the next frame", '<input id=b oninput="requestAnimationFrame(() => this.value = '
         "'')\">", "fill", given={"value": "kettle"}, truth={"b.value": ""}, error=CANNOT,
         says=("shows ''", "instead")),
    Liar("a field that is emptied when the page is idle", '<input id=b oninput="requestIdleCallback(() => this.value = '
         "'')\">", "fill", given={"value": "kettle"}, truth={"b.value": ""}, error=CANNOT,
         says=("shows ''", "instead")),
    Liar("a field that is emptied by a message", '<input id=b oninput="const c = new MessageChannel(); '
         "c.port1.onmessage = () => this.value = ''; c.port2.postMessage(0)\">", "fill", given={"value": "kettle"},
         truth={"b.value": ""}, error=CANNOT, says=("shows ''", "instead")),
    Liar("a field whose page numbers its timers itself", "<script>const late = setTimeout; setTimeout = (f, ms) => "
         "late(f, ms) && 1</script><input id=b oninput=\"setTimeout(() => this.value = '', 30)\">", "fill",
         given={"value": "kettle"}, truth={"b.value": ""}, error=CANNOT, says=("shows ''", "instead")),
    Liar("a field that asks for input before it gets any", '<input id=b onfocus="this.dispatchEvent('
         "new Event('input'))\">", "fill", given={"value": "kettle"}, truth={"b.value": "kettle"},
         says=("as given",)),
    Liar("a field that is made anew and empty", '<p id=box><input id=b oninput="setTimeout(() => box.innerHTML = '
         "'<input id=b>', 30)\">", "fill", given={"value": "kettle"}, truth={"b.value": ""}, error=CANNOT,
         says=("shows ''", "instead")),
    Liar("a field that the answer empties", f"<input id=b oninput=\"{post('/refuses')}.then(() => this.value = '')\">",
         "fill", given={"value": "kettle"}, truth={"b.value": ""}, error=CANNOT, says=("shows ''", "instead", "409")),
    Liar("a field that a worker empties", "<input id=b><script>const w = new Worker(URL.createObjectURL(new Blob(["
         "'onmessage = () => setTimeout(() => postMessage(0), 20)']))); w.onmessage = () => b.value = ''; "
         "b.oninput = () => w.postMessage(0)</script>", "fill", given={"value": "kettle"}, truth={"b.value": ""},
         error=CANNOT, says=("shows ''", "instead")),
    Liar("a field in a shadow root that the fortieth message empties", "<p id=h></p><script>let n = 0; const c = new "
         "MessageChannel(), r = h.attachShadow({mode: 'open'}); r.innerHTML = '<input id=b>'; const [i] = r.children; "
         "c.port1.onmessage = () => ++n < 40 ? c.port2.postMessage(0) : i.value = ''; "
         "i.oninput = () => c.port2.postMessage(0)</script>", "fill", given={"value": "kettle"},
         truth={"h.shadowRoot.firstChild.value": ""}, error=CANNOT, says=("shows ''", "instead")),
    Liar("read-only", "<input id=b value=old readonly>", "fill", given={"value": "new"}, truth={"b.value": "old"},
         error=CANNOT, says=("read-only",)),
    Liar("a disabled field", "<input id=b value=old disabled>", "fill", given={"value": "new"},
         truth={"b.value": "old"}, error=CANNOT, says=("disabled",)),
    Liar("a field that takes numbers", "<input id=b type=number value=1>", "fill", given={"value": "two"},
         truth={"b.value": "1"}, error=CANNOT, says=("number",)),
    Liar("a field that takes dates", "<input id=b type=date>", "fill", given={"value": "24/12/2026"},
         truth={"b.value": ""}, error=CANNOT, says=("shows ''", "2026-12-24")),
    Liar("a field that eats keys", "<input id=b onkeydown='event.preventDefault()'>", "type", given={"text": "tea"},
         truth={"b.value": ""}, says=("value is ''", "not what was typed")),
    Liar("a field that takes three", "<input id=b maxlength=3>", "type", given={"text": "kettle"},
         truth={"b.value": "ket"}, says=("value is 'ket'", "not what was typed")),
    Liar("a field that goes with the first key", "<input id=b oninput='this.remove()'>", "type",
         given={"text": "tea"}, truth={"document.querySelector('#b')": None}, says=("no longer there",)),
    Liar("the focus goes on to the next", "<input id=b maxlength=1 oninput='c.focus()'><input id=c aria-label=Next>",
         "type", given={"text": "1234"}, truth={"b.value": "1", "c.value": "234"},
         says=("value is '1'", "not what was typed", "focus", "<input#c>")),
]  # fmt: skip

CHOICES: Final = [
    Liar("a box that is unticked", "<input id=b type=checkbox onchange='this.checked = false'>", "check",
         truth={"b.checked": False}, error=CANNOT, says=("not checked",)),
    Liar("a box that is unticked a turn later", "<input id=b type=checkbox onchange='setTimeout(() => "
         "this.checked = false)'>", "check", truth={"b.checked": False}, error=CANNOT, says=("not checked",)),
    Liar("a box that is unticked after 100 ms", "<input id=b type=checkbox onchange='setTimeout(() => "
         "this.checked = false, 100)'>", "check", truth={"b.checked": False}, error=CANNOT, says=("not checked",)),
    Liar("a box that the answer unticks", f'<input id=b type=checkbox onchange="{post("/refuses")}.then(() => '
         'this.checked = false)">', "check", truth={"b.checked": False}, error=CANNOT,
         says=("not checked", "POST /refuses → 409")),
    Liar("a box that stays ticked", "<input id=b type=checkbox checked onchange='setTimeout(() => this.checked = "
         "true)'>", "uncheck", truth={"b.checked": True}, error=CANNOT, says=("still checked",)),
    Liar("a switch that the answer turns", '<div id=b role=checkbox aria-checked=false tabindex=0 style="width: 20px; '
         f'height: 20px" onclick="{post("/sent")}.then(() => this.ariaChecked = true)">x</div>', "check",
         truth={"b.ariaChecked": "true"}, says=("it is checked", "POST /sent → 200")),
    Liar("a box behind its label", "<style>#b {opacity: 0; position: absolute; pointer-events: none}</style>"
         "<input id=b type=checkbox><label for=b>Agree</label>", "check", "text=Agree", truth={"b.checked": True},
         says=("it is checked",)),
    Liar("a hidden box under its label", "<style>#b {display: none}</style><input id=b type=checkbox><label for=b>Agree"
         "</label>", "check", truth={"b.checked": False}, error=CANNOT,
         says=("not visible", "its label would take the click", 'check {"selector": "label[for=b]"}')),
    Liar("a box that its label lies over", "<label style='position: absolute; inset: 0'>Agree <input id=b "
         "type=checkbox style='opacity: 0'><b style='position: absolute; inset: 0'></b></label>", "check",
         truth={"b.checked": False}, error=CANNOT,
         says=("covered", "its label would take the click", 'check {"selector": "label:has([id=b])"}')),
    Liar("a disabled box", "<input id=b type=checkbox disabled>", "check", truth={"b.checked": False}, error=CANNOT,
         says=("disabled",)),
    Liar("a disabled option", "<select id=b><option>a<option disabled>b</select>", "select_option",
         given={"value": "b"}, truth={"b.value": "a"}, error=CANNOT, says=("option", "disabled")),
    Liar("a choice that is taken back", "<select id=b onchange=\"this.value = 'a'\"><option>a<option>b</select>",
         "select_option", given={"value": "b"}, truth={"b.value": "a"}, error=CANNOT,
         says=("shows 'a'", "instead of 'b'")),
    Liar("a choice that is taken back a turn later", "<select id=b onchange=\"setTimeout(() => this.value = 'a')\">"
         "<option>a<option>b</select>", "select_option", given={"value": "b"}, truth={"b.value": "a"}, error=CANNOT,
         says=("shows 'a'", "instead of 'b'")),
    Liar("an option that is not offered", "<select id=b><option>Green<option>Black</select>", "select_option",
         given={"value": "Oolong"}, truth={"b.value": "Green"}, error=CANNOT,
         says=("no option 'Oolong'", "Green", "Black")),
    Liar("options that come late", "<select id=b><option>a</select>" + late("b.add(new Option('b'))"),
         "select_option", given={"value": "b", "timeout": 2000}, truth={"b.value": "b"}, says=("selected 'b'",)),
    Liar("a select that is none", "<div id=b role=combobox>Choose</div>", "select_option", given={"value": "b"},
         error=CANNOT, says=("<select>", "click")),
]  # fmt: skip

FILE: Final = {"files": [{"name": "tea.txt", "text": "tea"}]}
HANDED: Final = [
    Liar("an upload that is taken out again", "<input id=b type=file onchange='setTimeout(() => this.value = \"\")'>",
         "upload_file", given=FILE, truth={"b.files.length": 0}, says=("the input is empty by now",)),
    Liar("an upload that the server refuses", f'<input id=b type=file onchange="{post("/refuses")}">', "upload_file",
         given=FILE, truth={"b.files.length": 1}, server={"/refuses": 1}, says=("holds tea.txt", "409: refused")),
    Liar("two files for a field that takes one", "<input id=b type=file>", "upload_file",
         given={"files": [*FILE["files"], {"name": "2.txt", "text": "2"}]}, truth={"b.files.length": 0}, error=CANNOT,
         says=("single file",)),
    Liar("a drag that nothing takes", "<div id=b draggable=true>Tea</div><div id=c>Basket</div>", "drag_and_drop",
         given={"target": "#c"}, truth={"c.children.length": 0}, error=CANNOT,
         says=("nothing accepted the drop", "where it was")),
    Liar("a drag by ref that nothing takes", "<div id=b draggable=true role=button>Tea</div><div id=c>x</div>",
         "drag_and_drop", '@button "Tea"', {"target": "#c"}, truth={"c.children.length": 0}, error=CANNOT,
         says=("nothing accepted the drop", "where it was"), never=("no longer there",)),
    Liar("a drag by ref that moves it", "<div id=b draggable=true role=button>Tea</div><div id=c ondrop='c.append(b)' "
         "ondragover='event.preventDefault()'>Basket</div>", "drag_and_drop", '@button "Tea"', {"target": "#c"},
         truth={"c.children.length": 1}, says=('"moved": true', "it moved into <div#c>")),
    Liar("a drag that removes it", "<div id=b draggable=true>Tea</div><div id=c ondrop='b.remove()' "
         "ondragover='event.preventDefault()'>Bin</div>", "drag_and_drop", given={"target": "#c"},
         says=("no longer there",), never=('"moved"',)),
    Liar("a drag that its script stops", "<div id=b draggable=true ondragstart='event.preventDefault()'>Tea</div>"
         "<div id=c ondrop=hit(event) ondragover='event.preventDefault()'>Basket</div>", "drag_and_drop",
         given={"target": "#c"}, truth=NOT_HIT, says=("no HTML drag", "where it was")),
    Liar("a drag onto what is covered", "<div id=b draggable=true>Tea</div><div id=c>Basket</div><div id=veil "
         "style='position: fixed; inset: 20px 0 0 0'>Wait</div>", "drag_and_drop", given={"target": "#c"},
         error=CANNOT, says=("covered", "veil")),
    Liar("a drop that nothing takes", "<div id=b>Basket</div>", "drop", given=FILE, error=CANNOT, says=("drop",)),
]  # fmt: skip

REFS: Final = [
    Liar("a box by ref", "<input id=b type=checkbox>", "check", "@checkbox", truth={"b.checked": True},
         says=("it is checked now",)),
    Liar("a field by ref", "<input id=b>", "type", "@textbox", {"text": "tea"}, truth={"b.value": "tea"},
         says=("the value is 'tea' now",)),
    Liar("a choice by ref", "<select id=b><option>a<option>b</select>", "select_option", "@combobox", {"value": "b"},
         truth={"b.value": "b"}, says=("selected 'b'",), never=("no longer",)),
    Liar("an overlay by ref", BUTTON + VEIL, "click", '@button "Buy"', {"force": True}, truth={"hits": ["veil"]},
         error=CANNOT, says=("received", "<div#veil>")),
]  # fmt: skip

HONEST: Final = [
    Liar("in an open shadow root", "<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = "
         "'<button id=b onclick=hits.push(this.id)><slot>Buy</slot></button>'</script>", "click", truth=HIT),
    Liar("in a closed shadow root", "<div id=host style='width: fit-content'></div><script>"
         "host.attachShadow({mode: 'closed'}).innerHTML = "
         "'<button id=b onclick=hits.push(this.id)>Buy</button>'</script>", "click", "#host", truth=HIT),
    Liar("slotted into a shadow root", "<div id=host>" + BUTTON + "</div><script>host.attachShadow({mode: 'open'})."
         "innerHTML = '<p><slot></slot></p>'</script>", "click", truth=HIT),
    Liar("a frame itself", "<iframe id=b srcdoc='<p>x' onfocus='hit(event)'></iframe>", "click",
         truth={"document.activeElement.id": "b"}),
    Liar("a button in a frame", "<iframe srcdoc='<button id=b onclick=parent.hits.push(this.id)>x</button>'></iframe>",
         "click", given={"frame": "iframe"}, truth=HIT),
    Liar("a label", "<label id=b>Agree <input id=c type=checkbox></label>", "click", truth={"c.checked": True}),
    Liar("a select", "<select id=b onclick=hit(event)><option>a<option>b</select>", "click", truth=HIT),
    Liar("an option of a list", "<select id=s size=3><option>a<option id=b onclick=hit(event)>b</select>", "click",
         truth={"s.value": "b"}),
    Liar("a summary", "<details id=d><summary id=b>More</summary>x</details>", "click", truth={"d.open": True}),
    Liar("a drawing", "<svg width=50 height=50><g id=b onclick=hit(event)><rect width=50 height=50 /></g></svg>",
         "click", truth=HIT),
    Liar("a right click", "<button id=b oncontextmenu='hit(event); return false'>Buy</button>", "click",
         given={"button": "right"}, truth=HIT),
    Liar("a double click on what the first one takes away", "<button id=b onclick='hit(event); this.remove()'>Buy"
         "</button>", "click", given={"clickCount": 2}, truth=HIT),
    Liar("force on what is free", BUTTON, "click", given={"force": True}, truth=HIT),
    Liar("a link that a script follows", "<a id=b href=/there onclick='event.preventDefault(); "
         "history.pushState({}, 0, \"/there\")'>Buy</a>", "click", truth={"location.pathname": "/there"},
         server={"/there": 0}, says=("navigated to",), never=("preventDefault",)),
]  # fmt: skip

LIARS: Final = [*IN_THE_WAY, *NOT_THERE, *REPLACED, *NOTHING_CAME, *FIELDS, *CHOICES, *HANDED, *REFS, *HONEST]
