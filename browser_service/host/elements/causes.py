"""Why an element could not be acted on, as the page itself tells it: what Playwright's own words leave open."""

import json
from typing import Any, Final

from browser_service.host.elements import targets
from shared.errors import ElementNotInteractable

_OPTIONS_SHOWN: Final = 12

STATE: Final = f"""(found, points) => found.slice(0, 1).map(e => {{
  const named = {targets.NAMED}, style = getComputedStyle(e), {{width, height}} = e.getBoundingClientRect();
  let hidden = e;
  const up = n => n.parentElement || n.getRootNode().host;
  while (hidden && getComputedStyle(hidden).display !== 'none') hidden = up(hidden);
  const closed = e.closest('details:not([open])'), box = `${{Math.round(width)}}x${{Math.round(height)}} px`;
  const {{x, y}} = e.getBoundingClientRect(), over = e.getRootNode().elementFromPoint(x + width / 2, y + height / 2);
  const shows = e.checkVisibility({{visibilityProperty: true}}) && width && height;
  const disabled = e.matches(':disabled') || e.closest('[aria-disabled=true]');
  const away = style.pointerEvents === 'none';
  const one = css => css && e.getRootNode().querySelectorAll(css).length === 1;
  const drawn = l => l.checkVisibility({{visibilityProperty: true}}) && l.getBoundingClientRect().width;
  const label = e.matches('[type=checkbox], [type=radio]') && [...e.labels || []].find(drawn);
  const attribute = name => e[name] && `[${{name}}=${{CSS.escape(e[name])}}]`;
  const [id, name] = [attribute('id'), attribute('name')], inside = [id, name, name && name + attribute('value')];
  const labels = label ? [label.htmlFor && `label[for=${{CSS.escape(label.htmlFor)}}]`,
    ...inside.filter(own => own).map(own => `label:has(${{own}})`)] : [];
  const known = labels.find(one) || label && `label >> text="${{label.innerText.trim().replace(/\\s+/g, ' ')}}"`;
  const covered = points && over && (away || !e.contains(over) && !over.contains(e));
  return {{
    words: !shows ? 'element is not visible' : disabled ? 'element is not enabled'
      : covered ? `${{named(over)}} intercepts pointer events` : '',
    untouchable: away, label: known || '',
    unseen: hidden ? `${{hidden === e ? 'it' : named(hidden).split(' ')[0]}} is not displayed`
      : closed && !e.closest('summary') ? 'it is in a <details> that is closed'
      : !width || !height ? `it has no size (${{box}})`
      : style.visibility !== 'visible' ? `its visibility is ${{style.visibility}}` : '',
    disabled: Boolean(disabled),
    options: e.options ? [...e.options].map(o => (o.label || o.value) + (o.disabled ? ' (disabled)' : '')) : [],
  }};
}})"""


def explained(
    error: ElementNotInteractable,
    act: str,
    frame: str | None,
    state: dict[str, Any],  # Any: what STATE tells
) -> ElementNotInteractable:
    """The same error with what the element shows of its cause."""
    was, said, hint = _cause(error.message, state) or ("", "", "")
    message, advice = error.message.replace(was, said, 1), hint or error.advice
    if state["label"] and not state["disabled"]:
        message = f"{message.removesuffix('.')}; its label would take the click."
        where = {"selector": state["label"], **({"frame": frame} if frame else {})}
        advice = f"{act} {json.dumps(where, ensure_ascii=False)}."
    return ElementNotInteractable(message, hint=advice, details=error.details)


def _cause(message: str, state: dict[str, Any]) -> tuple[str, str, str] | None:  # Any: as there
    """Words to replace, what stands there instead, and the next call."""
    if "is covered by another element" in message and state["untouchable"]:
        start = message.index("is covered by")
        return (
            message[start : message.index(" (waited")],
            "takes no pointer events (pointer-events: none)",
            'The page has it switched off for the mouse. Try the keyboard: press {"selector": "...", "key": "Enter"}.',
        )
    if "is not visible" in message and state["unseen"]:
        return "is not visible", f"is not visible: {state['unseen']}", ""
    if state["options"] and "option" in message:
        shown = "; ".join(map(repr, state["options"][:_OPTIONS_SHOWN]))
        more = len(state["options"]) - _OPTIONS_SHOWN
        offers = f"It offers {shown}{f' and {more} more' if more > 0 else ''}."
        return "", "", offers
    return None
