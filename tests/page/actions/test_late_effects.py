"""Tests that an act's effects are reported by that act, even if they come later, elsewhere, or without a change of the
document."""

import asyncio
import re
from dataclasses import dataclass, field

import pytest
from websockets.asyncio.server import ServerConnection, serve

from browser_service.host.tabs import late_effects, observation
from browser_service.host.tabs.observation import Observation
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.tab import Tab
from tests.support.waiting import PATIENCE_S, become

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

TOAST = "document.body.insertAdjacentHTML('beforeend', '<div role=status>Saved</div>')"
TALL = "<div style='height: 3000px'>tall</div>"
LOW = "<div style='height: 300px'></div>"
FRAME = "requestAnimationFrame"
MENU = "<ul id=m><li>Profile</ul>"
OUT = "<p id=out>-</p>"


@dataclass(frozen=True)
class Effect:
    """A page, an act on it, and what the reply to that act has to say, or must not."""

    name: str
    html: str
    says: str
    act: str = "click"
    given: dict[str, AnyJson] = field(default_factory=lambda: {"selector": "#b"})
    never: str = "nothing observable|before this act"


def later(script: str, ms: int) -> str:
    return f"setTimeout(() => {{ {script} }}, {ms})"


EFFECTS = [
    Effect("toast", f'<button id=b onclick="{later(TOAST, 150)}">Save</button>', "Saved"),
    Effect(
        "toast-in-steps",
        f'<button id=b onclick="{later(later(TOAST, 120), 120)}">Save</button>',
        "Saved",
    ),
    Effect(
        "toast-of-a-frame",
        f'<button id=b onclick="requestAnimationFrame(() => {FRAME}(() => {{ {TOAST} }}))">Save</button>',
        "Saved",
    ),
    Effect(
        "toast-after-idle",
        f'<button id=b onclick="requestIdleCallback(() => {{ {TOAST} }})">Save</button>',
        "Saved",
    ),
    Effect(
        "toast-by-a-script-that-took-the-timer-early",
        f'<script>const soon = setTimeout</script><button id=b onclick="soon(() => {{ {TOAST} }}, 250)">Save</button>',
        "Saved",
    ),
    Effect(
        "toast-in-a-frame",
        '<iframe name=f srcdoc="<p id=out>-</p><button id=b>Save</button><script>b.onclick = () => '
        "setTimeout(() => { out.textContent = 'Saved' }, 250)</script>\"></iframe>",
        "Saved",
        given={"selector": "#b", "frame": "iframe"},
    ),
    Effect(
        "hover-menu",
        LOW
        + '<button id=b onmouseenter="'
        + later("m.hidden = false", 250)
        + '">Menu</button>'
        + MENU
        + "<script>m.hidden = true</script>",
        "Profile",
        "hover",
    ),
    Effect(
        "css-hover-menu",
        LOW + LOW + "<style>#m {display: none} #b:hover + #m {display: block}</style><button id=b>Menu</button>" + MENU,
        "Profile",
        "hover",
    ),
    Effect(
        "debounced-search",
        OUT
        + '<input id=b oninput="clearTimeout(self.t);'
        + " self.t = setTimeout(() => { out.textContent = '3 hits' }, 400)\">",
        "3 hits",
        "fill",
        {"selector": "#b", "value": "tea"},
    ),
    Effect(
        "debounced-search-by-request",
        OUT + '<input id=b oninput="clearTimeout(self.t); self.t = setTimeout(async () => {'
        " out.textContent = await (await fetch('/hits')).text() }, 300)\">",
        "3 hits",
        "type",
        {"selector": "#b", "text": "tea"},
    ),
    Effect(
        "taken-back-fill",
        '<input id=b oninput="' + later("b.value = ''", 150) + '">',
        "took the value back|is empty|shows ''",
        "fill",
        {"selector": "#b", "value": "tea"},
        never="as given",
    ),
    Effect(
        "taken-back-late",
        '<input id=b onchange="0" oninput="' + later("b.value = 'x'", 250) + '">',
        "'x'",
        "fill",
        {"selector": "#b", "value": "tea"},
        never="as given",
    ),
    Effect(
        "taken-back-choice",
        '<select id=b onchange="' + later("b.value = 'a'", 220) + '"><option>a<option>c</select>',
        "'a'|took",
        "select_option",
        {"selector": "#b", "value": "c"},
        never="^selected",
    ),
    Effect(
        "taken-back-tick",
        '<input type=checkbox id=b onchange="' + later("b.checked = false", 220) + '">',
        "not|took|unchecked",
        "check",
        {"selector": "#b"},
        never="^checked$|as given",
    ),
    Effect(
        "taken-back-form",
        '<input id=a><input id=b oninput="' + later("b.value = ''", 200) + '">',
        "1 of 2 fields as given",
        "fill_form",
        {"fields": [{"selector": "#a", "value": "one"}, {"selector": "#b", "value": "two"}]},
        never="^2 fields as given",
    ),
    Effect(
        "timer-due-later",
        OUT + '<button id=b onclick="' + later("out.textContent = 'panel'", 2500) + '">Tab</button>',
        r"nothing observable within 0\.\d s: .*; a timer of the page is due in 2\.\d s",
        never="before this act",
    ),
    Effect(
        "toggle-that-may-be-taken-back",
        '<button id=b aria-pressed=false onclick="this.ariaPressed = true; '
        + later("this.ariaPressed = false", 1500)
        + '">Mute</button>',
        r"^a timer of the page is due in 1\.\d s(.|\n)*\[pressed\]",
    ),
    Effect(
        "tick-that-may-be-taken-back",
        '<input type=checkbox id=b onchange="' + later("b.checked = false", 1500) + '">',
        r"^it is checked now; a timer of the page is due in 1\.\d s",
        "check",
    ),
    Effect(
        "popover",
        "<button id=b popovertarget=p>Menu</button><div id=p popover>Profile</div>",
        "Profile",
    ),
    Effect(
        "modal-dialog",
        '<button id=b onclick="d.showModal()">Ask</button><dialog id=d>Sure?</dialog>',
        r"\+ dialog.*: Sure\?$",
    ),
    Effect(
        "target",
        "<style>#m {display: none} #m:target {display: block}</style><a id=b href=#m>Menu</a><ul id=m><li>Profile</ul>",
        "Profile",
    ),
    Effect(
        "focus-within",
        "<style>#m {display: none} #f:focus-within #m {display: block}</style>"
        "<div id=f><button id=b>Menu</button><ul id=m><li>Profile</ul></div>",
        "Profile",
    ),
    Effect(
        "back-to-top",
        TALL + '<button id=b onclick="window.scrollTo(0, 0)">Back to top</button><script>scrollTo(0, 2000)</script>',
        "scrolled",
    ),
    Effect(
        "smooth-back-to-top",
        TALL + "<button id=b onclick=\"window.scrollTo({top: 0, behavior: 'smooth'})\">Back to top</button>"
        "<script>scrollTo(0, 2000)</script>",
        "is scrolling( up)?$|scrolled to its top",
    ),
    Effect("end-key", TALL, "scrolled to its end|is scrolling( down)?$", "press", {"key": "End"}),
    Effect(
        "scrolled-box",
        "<div id=box style='height: 500px; overflow: auto'><div style='height: 900px'>long</div></div>"
        '<button id=b onclick="box.scrollTop = 500">More</button>',
        "scrolled",
    ),
    Effect(
        "scrolled-box-at-the-edge",
        "<div id=box style='height: 50px; width: 90px; overflow: auto'><div style='height: 900px'>long</div></div>"
        '<button id=b onclick="box.scrollTop = 500">More</button>',
        "^<div#box> scrolled to 500 px",
    ),
    Effect(
        "copied",
        "<button id=b onclick=\"navigator.clipboard.writeText('link').catch(() => 0)\">Copy</button>",
        "^it wrote to the clipboard, 4 characters, which you can paste: press",
    ),
    Effect(
        "copied-by-command",
        "<input id=i value=link><button id=b onclick=\"i.select(); document.execCommand('copy')\">Copy</button>",
        "it wrote to the clipboard",
    ),
    Effect(
        "stored", "<button id=b onclick=\"localStorage.setItem('a', 1)\">Keep</button>", "wrote to the site's storage"
    ),
    Effect(
        "stored-by-itself",
        "<button id=b>Dead</button><script>setInterval(() => localStorage.setItem('a', 1), 5)</script>",
        "^nothing observable",
        never="storage",
    ),
    Effect("printed", '<button id=b onclick="print()">Print</button>', "^it asked to be printed.*generate_pdf"),
    *(
        Effect(
            f"asks-for-{permission}",
            f'<button id=b onclick="{call}">Ask</button>',
            f"it asked for the permission {permission}, which it has not; if it is needed here: "
            f'grant_permissions.*"{permission}".*127.0.0.1',
        )
        for permission, call in {
            "geolocation": "navigator.geolocation.getCurrentPosition(String, String)",
            "notifications": "Notification.requestPermission()",
            "camera": "navigator.mediaDevices.getUserMedia({video: true}).catch(String)",
            "microphone": "navigator.mediaDevices.getUserMedia({audio: true}).catch(String)",
            "clipboard-read": "navigator.clipboard.readText().catch(String)",
        }.items()
    ),
    *(
        Effect(
            f"link-for-{url.partition(':')[0]}",
            f"<a id=b href='{url}'>Write</a>",
            f"^{re.escape(url)} is for another app, and none opens here; the page stays$",
            never="failed",
        )
        for url in ("mailto:tea@leaf.test", "tel:+34123", "zoommtg://leaf.test/join")
    ),
    Effect(
        "refused-by-csp",
        "<meta http-equiv=Content-Security-Policy content=\"connect-src 'none'\">"
        "<button id=b onclick=\"fetch('/hits').catch(() => 0)\">Load</button>",
        "connect-src",
    ),
    Effect(
        "form-refused-by-csp",
        "<meta http-equiv=Content-Security-Policy content=\"form-action 'none'\">"
        "<form action=/hits><button id=b>Send</button></form>",
        "form-action",
        given={"selector": "#b", "timeout": 20_000},
    ),
    Effect(
        "file-picker",
        '<button id=b onclick="showOpenFilePicker().catch(() => 0)">Open</button>',
        "asks for files by showOpenFilePicker, which nobody can answer here",
    ),
    Effect(
        "inert",
        '<main id=m><a href=/x>Link</a></main><button id=b onclick="m.inert = true">Freeze</button>',
        "done",
    ),
    Effect(
        "sign-in-window",
        OUT + "<script>onmessage = e => { out.textContent = e.data }</script>"
        "<button id=b onclick=\"window.open('/sign-in')\">Sign in</button>",
        r"(popup \S+ opened; popup \S+ closed|popup opened, and closed at once)(.|\n)*Signed in",  # by its speed
    ),
]


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.name)
async def test_an_acts_effects_are_in_its_reply(tab: Tab, effect: Effect) -> None:
    tab.site.page("/hits", "3 hits")
    signs_in = later("opener.postMessage('Signed in', '*'); close()", 100)
    tab.site.page("/sign-in", f"<script>{signs_in}</script>")
    await tab.show(effect.html)
    reply = (await tab.agent.reply(effect.act, **effect.given)).json()
    told = reply.get("result") or reply["error"]
    said = "\n".join(str(told[key]) for key in ("observed", "message", "changes") if told.get(key))
    assert re.search(effect.says, said), said
    assert not re.search(effect.never, said), said


LIST = f'<button id=b onclick="{later("m.hidden = false", 300)}">Menu</button>{MENU}<script>m.hidden = true</script>'
BUSY = "for (const from = performance.now(); performance.now() < from + 150;);"
LATE = '<button id=b onclick="' + later(TOAST, 600) + '">Archive</button><input id=q><button id=c>Other</button>'


@pytest.mark.host_here("it changes a figure in the host's process")
@pytest.mark.parametrize("act", [("click", {"selector": "#c"}), ("fill", {"selector": "#q", "value": "tea"})])
async def test_an_effect_during_the_next_act_is_reported_as_the_earlier_acts(
    tab: Tab, act: tuple[str, dict[str, AnyJson]], monkeypatch: pytest.MonkeyPatch
) -> None:
    await tab.show(LATE)
    monkeypatch.setattr(late_effects, "_TIMERS_WITHIN_S", 0.05)
    told = await tab.call("click", selector="#b")
    assert re.search(r"within 0\.\d s: .*; a timer of the page is due in 0\.\d s$", told["observed"])
    monkeypatch.setattr(late_effects, "_TIMERS_WITHIN_S", 5.0)
    name, given = act
    told = await tab.call(name, **given)
    assert told["changes"].splitlines() == ["from your click on #b:", "+ status: Saved"]


async def test_a_busy_page_hears_late_what_is_asked_and_tells_of_the_act_all_the_same(
    tab: Tab, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tab.show("<input id=q oninput=\"setTimeout(() => this.value = '', 250)\">")
    shown = service.entry("tab").record.tab
    assert shown is not None
    wait = late_effects.LateEffects.wait

    async def wait_while_busy(self: late_effects.LateEffects, act: Observation) -> None:
        await shown.page.evaluate(f"() => {{ setTimeout(() => {{ {BUSY} }}) }}")
        await wait(self, act)

    monkeypatch.setattr(late_effects.LateEffects, "wait", wait_while_busy)
    error = await tab.error("fill", selector="#q", value="tea")
    assert "The page took the value back" in error["message"]


async def test_a_link_for_another_app_leaves_the_page_to_the_mouse(tab: Tab) -> None:
    await tab.show(
        "<button id=b onclick=\"location.href = 'tel:1'\">Call</button>" + OUT + f'<i id=c onclick="{TOAST}">x</i>'
    )
    for _ in range(2):
        assert "another app" in (await tab.call("click", selector="#b"))["observed"]
    assert "Saved" in (await tab.call("click", selector="#c"))["changes"]


async def test_a_permission_that_a_page_has_is_not_asked_for(tab: Tab) -> None:
    url = await tab.show('<button id=b onclick="navigator.geolocation.getCurrentPosition(String, String)">Ask</button>')
    origin = url.rpartition("/")[0]
    await tab.call("grant_permissions", permissions=["geolocation"], origin=origin)
    told = await tab.call("click", selector="#b")
    await tab.call("grant_permissions", permissions=[], origin=origin)
    assert "permission" not in told["observed"]


async def test_a_page_that_refused_a_form_takes_further_acts(tab: Tab) -> None:
    policy = "<meta http-equiv=Content-Security-Policy content=\"form-action 'none'\">"
    await tab.show(f"{policy}<form action=/hits><input id=i><button id=b>Send</button></form>")
    refused = await tab.call("press", selector="#i", key="Enter", timeout=20_000)
    assert "form-action" in refused["observed"]
    assert "navigated" not in refused["observed"]
    assert (await tab.call("fill", selector="#i", value="x"))["observed"] == "as given: 'x'"


async def test_repeated_timers_of_a_page_are_not_waited_for(tab: Tab) -> None:
    await tab.show(
        OUT + "<button id=b>Dead</button><script>let n = 0; const often = () => { n++; setTimeout(often, 5) };"
        " often(); setInterval(() => n++, 10); const draw = () => requestAnimationFrame(draw); draw()</script>"
    )
    await tab.call("click", selector="#b")
    for _ in range(3):
        told = await tab.call("press", selector="#b", key="a")
        assert re.match(r"nothing observable within 0\.\d s: [^;]*$", told["observed"])


async def test_a_second_link_into_a_named_window_reports_its_new_url(tab: Tab) -> None:
    for path in ("/one", "/two"):
        tab.site.page(path, f"<h1>{path}</h1>")
    await tab.show("<a id=b href=/one target=report>One</a><a id=c href=/two target=report>Two</a>")
    assert (await tab.call("click", selector="#b"))["observed"] == "popup tab~1 opened"
    told = await tab.call("click", pageId="tab", selector="#c")
    assert told["observed"] == f"popup tab~1 went to {tab.site.url('/two')}"


async def test_a_refusal_by_websocket_is_reported_by_its_act(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observation, "_SOCKET_S", PATIENCE_S)  # a machine may be busy

    async def refuse(connection: ServerConnection) -> None:
        async for _ in connection:
            await asyncio.sleep(0.3)  # as a server that thinks
            await connection.send("refused")

    async with serve(refuse, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        await tab.show(
            OUT + f"<script>const s = new WebSocket('ws://127.0.0.1:{port}'); s.onopen = () => out.textContent = 'on';"
            " s.onmessage = e => { out.textContent = e.data }</script>"
            "<button id=b onclick=\"s.send('x')\">Send</button>"
        )
        await tab.call("wait_for_selector", selector="#out:text('on')")
        assert "refused" in (await tab.call("click", selector="#b"))["changes"]
        await tab.call("goto", url="about:blank")


async def test_a_change_says_that_a_websocket_has_not_answered_yet(tab: Tab) -> None:
    answer = asyncio.Event()

    async def hold(connection: ServerConnection) -> None:
        async for _ in connection:
            await answer.wait()

    async with serve(hold, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        await tab.show(
            OUT + f"<script>const s = new WebSocket('ws://127.0.0.1:{port}'); s.onopen = () => out.textContent = 'on'"
            "</script><button id=b onclick=\"s.send('x'); out.textContent = 'sent'\">Send</button>"
        )
        await tab.call("wait_for_selector", selector="#out:text('on')")
        told = await tab.call("click", selector="#b")
        assert (told["observed"], "sent" in told["changes"]) == (
            "no answer yet on the websocket that it wrote to",
            True,
        )
        answer.set()
        await tab.call("goto", url="about:blank")


@pytest.mark.parametrize("is_late", [False, True], ids=["", "whose first comes before the act is over"])
async def test_all_of_an_answer_in_several_messages_is_told_by_the_act_that_asked(
    tab: Tab, monkeypatch: pytest.MonkeyPatch, *, is_late: bool
) -> None:
    wait = late_effects.LateEffects.wait

    async def wait_when_heard(self: late_effects.LateEffects, act: Observation) -> None:
        if is_late and act.written:
            await become(lambda: act.heard_at)
        await wait(self, act)

    monkeypatch.setattr(late_effects.LateEffects, "wait", wait_when_heard)
    monkeypatch.setattr(observation, "_SOCKET_S", PATIENCE_S)
    monkeypatch.setattr(observation, "_SOCKET_QUIET_S", 0.6)  # parts come later on a busy machine

    async def answer(connection: ServerConnection) -> None:
        async for _ in connection:
            for number in range(4):
                await asyncio.sleep(0.04)  # as a server that computes
                await connection.send(f"part {number}")

    async with serve(answer, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        await tab.show(
            OUT + f"<script>const s = new WebSocket('ws://127.0.0.1:{port}'); s.onopen = () => out.textContent = 'on';"
            " s.onmessage = e => { out.textContent = e.data }</script>"
            "<button id=b onclick=\"s.send('x')\">Send</button>"
        )
        await tab.call("wait_for_selector", selector="#out:text('on')")
        assert "part 3" in (await tab.call("click", selector="#b"))["changes"]
        await tab.call("goto", url="about:blank")


async def test_a_websocket_that_answers_nothing_is_waited_for_once(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = 0
    wait = Observation.wait_for_sockets

    async def count(self: Observation) -> None:
        nonlocal waits
        waits += 1
        await wait(self)

    monkeypatch.setattr(Observation, "wait_for_sockets", count)
    async with serve(ServerConnection.wait_closed, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        await tab.show(
            f"<input id=b><script>const s = new WebSocket('{url}'); b.oninput = () => s.send(b.value)</script>"
        )
        await tab.sees("new Promise(then => s.readyState === 1 ? then() : s.addEventListener('open', then))")
        for value in ("kettle", "teapot"):
            await tab.call("fill", selector="#b", value=value)
        assert waits == 1
        await tab.call("goto", url="about:blank")


async def test_a_read_in_a_batch_finds_what_the_act_before_it_asked_for(tab: Tab) -> None:
    await tab.show(LIST + "<input id=q>")
    steps = [
        {"action": "click", "selector": "#b"},
        {"action": "find", "text": "Profile"},
        {"action": "press", "selector": "#q", "key": "a"},
    ]
    clicked, found, _ = (await tab.call("batch", steps=steps))["steps"]
    assert clicked["observed"] == "done; the last step tells what came of it"
    assert found["total"] == 1
    await tab.show(LIST)
    clicked, found = (await tab.call("batch", steps=steps[:2]))["steps"]
    assert "Profile" in clicked["changes"]
    assert found["total"] == 1
