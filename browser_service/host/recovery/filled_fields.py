"""What the service's own acts filled on a page and nothing has sent: remembered while the page lives, offered when it
died. In memory alone, bounded, and never a secret's value."""

from dataclasses import dataclass
from typing import Any, Final

from browser_service.host.elements.locators import scope_of
from shared.model import Json, weight

FIELD: Final = """e => {
  const tag = e.localName, ticks = ['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio'];
  const label = e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.placeholder || e.name || e.id || tag;
  const words = [e.name, e.id, label].join(' ');
  const secret = e.type === 'password' || /password|one-time-code|^cc-|\\bcc-/.test(e.autocomplete || '')
    || !['', 'none', undefined].includes(getComputedStyle(e).webkitTextSecurity)
    || /\\b(otp|pin|tan|cvv|cvc|csc|2fa|mfa|pass(word|code|phrase)?|secret|token)\\b/i
      .test(words.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' '));
  const ticked = ticks.includes(e.getAttribute('role')) || (tag === 'input' && ticks.includes(e.type));
  const kind = tag === 'select' ? 'select' : ticked ? 'tick' : 'text';
  const only = (root, css) => css && root.querySelectorAll(css).length === 1 ? css : null;
  const quoted = text => JSON.stringify(String(text));
  const known = (e, root) => only(root, e.id && '#' + CSS.escape(e.id))
    || only(root, e.getAttribute('name') && `${e.localName}[name=${quoted(e.getAttribute('name'))}]`)
    || only(root, e.getAttribute('name') && `${e.localName}[name=${quoted(e.getAttribute('name'))}]`
      + `[value=${quoted(e.getAttribute('value'))}]`)
    || only(root, e.getAttribute('aria-label') && `${e.localName}[aria-label=${quoted(e.getAttribute('aria-label'))}]`);
  const path = (e, root) => {
    const own = known(e, root), above = e.parentElement;
    if (own || !above) return own || e.localName;
    const alike = [...above.children].filter(other => other.localName === e.localName);
    return `${path(above, root)} > ${e.localName}:nth-of-type(${alike.indexOf(e) + 1})`;
  };
  let frame = null;
  if (window !== top) {
    frame = '';
    try {
      if (parent === top) frame = path(frameElement, frameElement.getRootNode());
    } catch { frame = ''; }
  }
  const checked = e.checked ?? e.getAttribute('aria-checked') === 'true';
  const selected = [...e.selectedOptions || []].map(o => o.value);
  const value = kind === 'tick' ? checked : kind === 'select' ? selected : e.value ?? e.innerText;
  const name = label.trim().replace(/\\s+/g, ' ').slice(0, 60);
  const found = path(e, e.getRootNode());
  return {selector: found, frame, kind, secret, name, checked, selected, value: secret ? null : value};
}"""
"""What a field is and has, and how it is found again: where it was named by a ref, which ends with its document."""
_MOST: Final = 50
_SHOWN: Final = 6
_MOST_WEIGHT: Final = 60_000


@dataclass(frozen=True)
class Field:
    """One that a client filled; without a value it is a secret, or too long to be kept."""

    client_id: str
    selector: str
    frame: str | None
    strict: bool
    kind: str
    name: str
    value: Any  # Any: text, whether it is ticked, or the options chosen
    secret: bool

    @property
    def kept(self) -> bool:
        """Whether it can be filled again by itself."""
        return self.value is not None and self.frame != ""


class Filled:
    """Of one page."""

    def __init__(self) -> None:
        self._now: dict[tuple[str, str | None, str], Field] = {}
        self._offered: dict[tuple[str, str | None, str], Field] = {}
        self._url = ""

    def note(self, client_id: str, selector: str, frame: str | None, strict: bool, seen: Json) -> None:  # noqa: FBT001 - the action's own
        """An act left a field so. One that showed a secret once stays secret: pages can show a password."""
        if scope_of(selector) or (seen["kind"] == "tick" and not strict):
            selector, frame, strict = str(seen["selector"]), _text(seen["frame"]), True
        key = (client_id, frame, selector)
        was = self._now.pop(key, None)
        secret = bool(seen["secret"]) or (was is not None and was.secret)
        value = None if secret or weight(seen["value"]) > _MOST_WEIGHT // 4 else seen["value"]
        self._now[key] = Field(client_id, selector, frame, strict, str(seen["kind"]), str(seen["name"]), value, secret)
        while len(self._now) > _MOST or sum(weight(each.value) for each in self._now.values()) > _MOST_WEIGHT:
            del self._now[next(iter(self._now))]

    @property
    def waits(self) -> bool:
        """Whether something was filled that has gone nowhere yet."""
        return bool(self._now)

    def sent(self) -> None:
        """What is on the page has gone somewhere, or is gone with its document."""
        self._now.clear()

    def moved(self, url: str) -> None:
        """The page is at a URL; a fragment is no other place."""
        url = url.partition("#")[0]
        if url != self._url:
            self._now.clear()
            self._offered.clear()
        self._url = url

    def lost(self) -> None:
        """The page died, or was left: what was on it is offered from now on."""
        self._offered |= self._now
        self._now.clear()

    def offered(self, client_id: str) -> list[Field]:
        """What a client may have filled again: its own."""
        return [field for field in self._offered.values() if field.client_id == client_id]

    def done(self, field: Field) -> None:
        """No longer offered."""
        self._offered = {key: each for key, each in self._offered.items() if each is not field}

    def offer(self, client_id: str, page_id: str) -> str:
        """The call to make, in words; nothing where nothing was lost."""
        fields = self.offered(client_id)
        kept, others = [f for f in fields if f.kept], [f for f in fields if not f.kept]
        told = []
        if kept:
            told.append(f'fill again {_named(kept)}: refill {{"pageId": "{page_id}"}}')
        if others:
            told.append(f"to be given again: {_named(others)}")
        return "; ".join(told)


def unkept(field: Field) -> str:
    """Why a value has to be given again."""
    if field.secret:
        return "a secret, which is not kept"
    return "in a frame that cannot be found again" if field.frame == "" else "too long to be kept"


def _named(fields: list[Field]) -> str:
    shown = ", ".join(field.selector[:80] for field in fields[:_SHOWN])
    return shown + (f" and {len(fields) - _SHOWN} more" if len(fields) > _SHOWN else "")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
