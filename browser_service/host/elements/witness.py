"""Whether a click reached its element: seen by listeners in the page, from just before the mouse goes down."""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable
from typing import Any, Final, Self

from playwright.async_api import ElementHandle, Frame, Locator
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel

from browser_service.host.elements import targets
from browser_service.host.elements.locators import in_page
from shared.errors import WithoutEffect

_SAID_WITHIN_S: Final = 0.05
_ASKED_WITHIN_S: Final = 1.0

_WATCH: Final = f"""(found, {{kind, force, first, name}}) => {{
  const named = {targets.NAMED}, around = 'button, [role=button], a, [role=link]';
  const itself = e => e?.matches('input, textarea, select') || e?.isContentEditable;
  const target = e => itself(e) ? e : e?.closest(around) || e;
  const off = new AbortController(), invalid = [];
  let down, up, click, submit, pressed, html, enabled, asks = false, equals = [];
  const note = e => {{
    pressed = target(e);
    enabled = !pressed.matches(':disabled');
    html = pressed.outerHTML;
    equals = [...pressed.getRootNode().querySelectorAll(pressed.localName)];
  }};
  const anew = () => [...document.querySelectorAll(pressed.localName)].some(
    e => e.outerHTML === html && !equals.includes(e));
  const reached = e => click?.path.some(n => n === e || n.localName === 'label' && n.control === e);
  const missed = meant => {{
    const e = meant && (force || down?.path.includes(meant)) ? meant : pressed;
    if (!e || reached(e) || !force && !down) return {{}};
    const landed = !force && down.path.includes(e) && enabled;
    if (e.matches(':disabled')) return landed ? {{then: 'disabled'}} : {{missed: 'disabled'}};
    if (down && !down.path[0].isConnected) return e.isConnected || anew() ? {{missed: 'replaced'}} : {{left: true}};
    const over = landed && up && !up.path.includes(e) && up;
    const got = over || click || !down?.path.includes(e) && (up || down);
    if (!got) return {{missed: 'stopped'}};
    const box = e.getBoundingClientRect(), {{x, y}} = down || got;
    const moved = down?.path.includes(e) && (x < box.left || x > box.right || y < box.top || y > box.bottom);
    const by = named(got.path[0]);
    return landed && !moved ? {{then: 'covered', by}} : {{missed: moved ? 'moved' : 'taken', by}};
  }};
  const files = n => n?.localName === 'input' && n.type === 'file';
  const sends = n => n.form && /submit|image/.test(n.type);
  const stopped = () => {{
    if (submit) return submit.defaultPrevented ? 'form' : '';
    const by = click?.event.defaultPrevented ? click.path : [];
    return by.some(sends) ? 'form' : by.some(n => n.href) ? 'link' : '';
  }};
  const clear = () => !down || click && click.path[0] === down.path[0];
  const verdict = of => {{ off.abort(); return {{...missed(target(of[0])), stopped: stopped(), invalid, asks}}; }};
  const on = (type, act) => addEventListener(type, act, {{capture: true, passive: true, signal: off.signal}});
  const seen = event => ({{event, path: event.composedPath(), x: event.clientX, y: event.clientY}});
  const later = act => {{
    const {{port1, port2}} = new MessageChannel();
    port1.onmessage = act;
    port2.postMessage(0);
  }};
  if (force && found[0]) note(found[0]);
  const watching = new Promise(tell => {{
    const end = () => {{ if (!first) tell(clear() ? verdict([]) : null); }};
    const last = () => later(() => later(end));
    on('pointerdown', e => {{ if (e.isTrusted && !down) {{ down = seen(e); if (!force) note(down.path[0]); }} }});
    on('pointerup', e => {{ if (e.isTrusted && !up) {{ up = seen(e); last(); }} }});
    on(kind, e => {{ if (e.isTrusted && !click) {{ click = seen(e); clear() ? last() : end(); }} }});
    on('click', e => {{ asks ||= e.composedPath().some(n => files(n) || files(n.control)); }});
    addEventListener(kind, e => {{
      if (click?.event === e && clear() && !click.path.some(sends)) end();  // nothing more can come of it
    }}, {{passive: true, signal: off.signal}});
    on('invalid', e => invalid.push([(e.target.labels?.[0]?.innerText || e.target.ariaLabel || e.target.placeholder
      || e.target.name || e.target.localName).trim(), e.target.validationMessage]));
    on('submit', e => {{ submit = e; }});
    on(name, e => {{ e.detail.verdict = verdict(e.detail.found); tell(e.detail.verdict); }});
  }});
  return first ? null : watching;
}}"""
"""`kind` is the event that the mouse button ends with. Without `force` no element need be looked up before: Playwright
makes sure that the mouse goes down on the one that is meant, and a click on the same is beyond doubt. Where there is
doubt, null: then it is asked what the element is. `first`: this only begins to watch, and what it saw is asked for
afterwards."""

_ASK: Final = """(found, name) => {
  const asked = new CustomEvent(name, {detail: {found}});
  dispatchEvent(asked);
  return asked.detail.verdict ?? {};
}"""

_MISSED: Final = {
    "disabled": "it is disabled, and takes no clicks",
    "replaced": "the page replaced it while the mouse was down",
    "stopped": "a script of the page stopped it on its way",
    "moved": "it moved away while the mouse was down, and {by} received it",
    "taken": "{by} received it",
}
_THEN: Final = {
    "disabled": "the page disabled it at the mouse down, and no click followed",
    "covered": "the page put {by} over it at the mouse down, which received the rest of the click",
}
_NEXT: Final = {
    "disabled": "Something has to enable it first: snapshot {}.",
    "replaced": "Repeat it with a selector, or with a ref of a new snapshot {}: the new one may take the click.",
    "stopped": 'Try the keyboard: press {"selector": "...", "key": "Enter"}.',
}
_IN_THE_WAY: Final = (
    'Act on what is in the way first, or close it, maybe by press {"key": "Escape"}. See it: snapshot {}.'
)


class Verdict(BaseModel):
    """What the page saw of a click. Empty where it could not see: the document went, or a frame took the click."""

    missed: str = ""
    then: str = ""
    """What the page made of it at the mouse down, so that no click could follow."""
    by: str = ""
    left: bool = False
    stopped: str = ""
    invalid: list[tuple[str, str]] = []
    asks: bool = False
    """For files: the browser tells of its chooser somewhat later."""

    def check(self, selector: str, *, acted: bool) -> None:
        """Raise WithoutEffect where the click did not reach its element; `acted`: the mouse down did something."""
        if self.missed and not (self.missed == "replaced" and acted):
            why = _MISSED[self.missed].format(by=self.by)
            raise WithoutEffect(
                f"The click did not reach the element matching '{selector}': {why}.",
                hint=_NEXT.get(self.missed, _IN_THE_WAY),
                details={"selector": selector, "context": {"reason": self.missed, "receivedBy": self.by or None}},
            )

    def lines(self) -> list[str]:
        """What else came of it."""
        left = ["it went away at the mouse down, before the click"] if self.left or self.missed else []
        then = [_THEN[self.then].format(by=self.by)] if self.then else []
        invalid = [f"{name!r}: {said}" for name, said in self.invalid[:3]]
        return [*left, *then, *([f"the form was not sent: {'; '.join(invalid)}"] if invalid else [])]

    @property
    def silence(self) -> str:
        """Why nothing may have come of it."""
        return f"a script of the page stopped what the {self.stopped} does (preventDefault)" if self.stopped else ""


class Witness:
    """Watches one act on an element."""

    def __init__(
        self, element: Locator | ElementHandle, frame: Frame | None, *, kind: str = "click", force: bool = False
    ) -> None:
        """`frame` is the element's, where it is known."""
        self._element = element
        self._frame = None if force else frame
        self._asked = {"kind": kind, "force": force, "first": self._frame is None, "name": secrets.token_hex(8)}

    async def __aenter__(self) -> Self:
        """Before the act. In a frame that is known this need only be sent first, for Playwright looks at the element
        some animation frames long; else this waits until it is watched."""
        self._watching = asyncio.ensure_future(self._watch())
        if self._frame is None:
            await asyncio.wait({self._watching}, timeout=_ASKED_WITHIN_S)
        else:
            await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()
        if self._watching.done() and not self._watching.cancelled():
            self._watching.exception()

    def _watch(self) -> Awaitable[Any]:  # Any: JSON that the page tells
        if self._frame is not None:
            return self._frame.evaluate(f"asked => ({_WATCH})([], asked)", self._asked)
        return self._in_page(_WATCH, self._asked)

    def _in_page(self, script: str, asked: object) -> Awaitable[Any]:  # Any: JSON that the page tells
        if isinstance(self._element, Locator):
            return in_page(self._element, script, asked)
        return self._element.evaluate(f"(e, asked) => ({script})([e], asked)", asked)

    async def verdict(self) -> Verdict:
        """After the act."""
        await asyncio.wait({self._watching}, timeout=_SAID_WITHIN_S)
        said: Any = None  # Any: JSON that the page tells
        with contextlib.suppress(PlaywrightError, TimeoutError):
            if self._watching.done():
                said = self._watching.result()
            if said is None:
                async with asyncio.timeout(_ASKED_WITHIN_S):
                    said = await self._in_page(_ASK, self._asked["name"])
        return Verdict.model_validate(said or {})
