"""Text that a style sheet draws (content of ::before and ::after), which no selector of Playwright's finds."""

import json
import re
from typing import Any, Final

from playwright.async_api import Locator

from browser_service.browser.elements.locating import unless_gone

_MOST: Final = 5_000
_WITHIN_MS: Final = 50

_DRAWN: Final = """(root, {exact, regex, flags, text, most, ms}) => {
  const norm = said => said.replace(/\\s+/g, ' ').trim(), until = performance.now() + ms;
  const matches = regex === null ? said => exact ? said === text : said.toLowerCase().includes(text.toLowerCase())
    : said => new RegExp(regex, flags).test(said);
  const drawn = (e, pseudo) => {
    const style = getComputedStyle(e, pseudo), {content} = style;
    if (!content || content === 'none' || content === 'normal' || style.display === 'none') return '';
    const strings = content.split(' / ')[0].match(/"(?:[^"\\\\]|\\\\.)*"/g) || [];
    return strings.map(each => each.slice(1, -1).replace(/\\\\(.)/g, '$1')).join('');
  };
  let looked = 0;
  for (const e of root.querySelectorAll('*')) {
    if (++looked > most || looked % 100 === 0 && performance.now() > until) return false;
    const [before, after] = ['::before', '::after'].map(pseudo => drawn(e, pseudo));
    if (!before && !after || !e.checkVisibility({visibilityProperty: true})) continue;
    if ([before, after, before + (e.textContent || '') + after].some(said => said && matches(norm(said)))) return true;
  }
  return false;
}"""


def wanted(selector: str) -> dict[str, Any] | None:  # Any: JSON, for _DRAWN
    """The text that a selector asks for, where it is that and nothing else."""
    found = re.fullmatch(r"text\s*=\s*(.+)|((['\"]).+\3)", selector, re.DOTALL)
    if found is None or ">>" in selector:
        return None
    said = (found.group(1) or found.group(2)).strip()
    regex = re.fullmatch(r"/(.+)/([a-z]*)", said, re.DOTALL)
    exact = len(said) > 1 and said[0] == said[-1] and said[0] in "'\""
    text = _unquoted(said) if exact else said
    return {
        "exact": exact,
        "regex": regex.group(1) if regex else None,
        "flags": regex.group(2) if regex else "",
        "text": " ".join(text.split()),
        "most": _MOST,
        "ms": _WITHIN_MS,
    }


async def is_drawn(root: Locator, text: dict[str, Any]) -> bool:  # Any: as `wanted` gives it
    """Whether it is drawn now somewhere in a document, by its root element; not in one that is just going."""
    return bool(await unless_gone(root.evaluate(_DRAWN, text)))


def _unquoted(said: str) -> str:
    try:
        return str(json.loads(said))
    except ValueError:
        return said[1:-1]
