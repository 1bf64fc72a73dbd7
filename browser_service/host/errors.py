"""Translates Playwright's errors into ours; no other module does.

It is longer than 300 lines because it is one table with the words for each of its rows.
"""

import re
from collections.abc import Sequence
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect, Lane
from browse_together.contract.cuts import cut, last
from browse_together.contract.errors import (
    AmbiguousSelector,
    BrowseError,
    BrowserCrashed,
    ElementNotFound,
    ElementNotInteractable,
    InvalidSelector,
    NavigationFailed,
    ResourceExhausted,
    ScriptExecutionFailed,
    TimedOut,
    UnknownOutcome,
    ValidationFailed,
    field_details,
)
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import address, flat, quoted
from browser_service.host.scripts.results import BadResult

_SEVERAL: Final = re.compile(r"strict mode violation: .* resolved to (\d+) elements")
_NET_ERROR: Final = re.compile(r"net::ERR_\w+|NS_ERROR_\w+")
_MOST_END, _MOST_LINE = 20_000, 2_000
"""Limits on the text of an error: a page can throw texts of any length."""
_INTERRUPTED: Final = "is interrupted by another navigation"
_CLOSED: Final = (
    "Target page, context or browser has been closed",
    "Target closed",
    "Page crashed",
    "Target crashed",
    "Connection closed",
    "Browser closed",
    "Browser has been closed",
)
"""How Playwright's own messages begin. A page's script may fail in the same words."""
TOO_LARGE: Final = "Error: too large for a tree"
TOO_LONG: Final = "Error: search takes too long"
"""The errors of `tree_bounds.js`, which Playwright takes along into its own worlds."""
_DISK_FULL: Final = re.compile(r"[\w.]+: ENOSPC:")
_ENDED: Final = "TargetClosedError"
"""An error class of Playwright's that it does not export, and that no script of a page can choose."""
_CALL: Final = r"^(?:\w+\.\w+: )*"
_REASON_CHARACTERS: Final = 500
_SYNTAX: Final = (
    "is not a valid selector",
    "is not a valid XPath expression",
    "Unexpected token",
    "Unknown engine",
    "Malformed selector",
    "Error while parsing selector",
    "InvalidSelectorError",
    "Unknown attribute",
    "Unknown role",
    "Role must",
    "Selector cannot",
    "Unexpected end of selector",
    "Unsupported token",
)
_A_PERSON_ACCEPTS: Final = (
    "Nothing was loaded. A person may accept it for the shared login: `browse-together login` with this address."
)
_NET_HINTS: Final = {
    "ERR_NAME_NOT_RESOLVED": "No host of that name was found. Check the spelling.",
    "ERR_CONNECTION_REFUSED": "Nothing listens at that address and port.",
    "ERR_BLOCKED_BY_CLIENT": "A redirect or popup led to an address that may not be opened here; your next reply says "
    "which, and by which rule.",
    "ERR_TUNNEL_CONNECTION_FAILED": "A proxy made no connection: it cannot, or the address that the name leads to may "
    "not be reached here (BROWSE_PRIVATE_NETWORK, BROWSE_URL_BLACKLIST, clouds' metadata).",
    "ERR_UNSAFE_PORT": "Browsers refuse this port.",
    "ERR_ABORTED": "The navigation was replaced by another one, or the answer was a download.",
    "ERR_CERT_DATE_INVALID": f"The site's certificate has expired, or holds later. {_A_PERSON_ACCEPTS}",
    "ERR_CERT_COMMON_NAME_INVALID": f"The site's certificate is for another name. {_A_PERSON_ACCEPTS}",
    "ERR_CERT_AUTHORITY_INVALID": "Nobody whom the browser trusts has signed the site's certificate, or it signed it "
    f"itself. {_A_PERSON_ACCEPTS}",
    "ERR_CERT": f"The site's certificate is not valid. {_A_PERSON_ACCEPTS}",
}
_BAD_ARGUMENTS: Final = (
    ("Cannot navigate to invalid URL", "url", "url is not valid", None),
    ("Unknown key", "key", "key is unknown", "Examples: Enter, Tab, Escape, ArrowDown, Control+a."),
    ("Invalid URL", "urls", "a URL in it is none", "Give each in full: https://shop.example/."),
    ("Clipped area", "clip", "clip lies outside of the page", None),
    ("Cannot take screenshot with 0", "clip", "clip is less than a pixel wide or high", None),
    (
        "Permission can't be granted",
        "origin",
        "origin cannot have one of these permissions",
        "Browsers give it to https and to localhost alone.",
    ),
    ("Page range", "pageRanges", "pageRanges names sheets that are not there", None),
    (
        "Invalid cookie fields",
        "cookies",
        "cookies has one that the browser does not take, and none is set",
        "A domain is a host, not a URL; a name that begins with __Host- or __Secure- needs secure.",
    ),
)
"""What the browser says of an argument, the argument, our words, and a hint."""
_BLOCKERS: Final = {
    "intercepts pointer events": (
        "is covered by another element",
        (
            f"Act on what covers it first, or close it, maybe by {next_call('press', key='Escape')}. See it: "
            f"{next_call('snapshot')}."
        ),
    ),
    "element is not enabled": (
        "is disabled",
        f"Something has to enable it first: see what is missing, {next_call('snapshot')}.",
    ),
    "element is not editable": (
        "is read-only",
        f"Click it, in case it opens a picker; else change what the page computes it from: {next_call('snapshot')}.",
    ),
    "element is not visible": (
        "is not visible",
        (
            f"Something may have to be opened first (a menu by hover, a tab by click). {next_call('snapshot')} "
            "has what can be seen."
        ),
    ),
    "element is outside of the viewport": (
        "is outside of the viewport",
        f"It cannot be scrolled to: open what it belongs to first, {next_call('snapshot')}.",
    ),
    "element is not stable": (
        "does not stop moving",
        'Repeat it once it rests, or take it where it is: "force": true.',
    ),
    "element was detached": (
        "is made anew by the page again and again",
        "Repeat it once the page rests: wait_for_selector tells when something is there.",
    ),
    "did not find some options": ("has no such option", f"See what it offers: {next_call('snapshot')}."),
    "option being selected is not enabled": (
        "has that option disabled",
        f"See what it offers: {next_call('snapshot')}.",
    ),
}
"""Words of Playwright's log, with our words and the next call. If several match, the last one logged counts."""
NO_CHOOSER: Final = 'event "filechooser"'
_WAITED: Final = re.compile(r"Timeout (\d{1,9})ms exceeded")
_INPUT: Final = ("- performing ", "- elementHandle.press(", "- elementHandle.type(")
_SET_AS_ASKED: Final = ("to be visible, enabled and editable", "to be visible and enabled")
"""The end of a log after which a field may be filled already: finding it ready and filling it take one turn of the
page."""
FORM_OF_ITS_TYPE: Final = "It takes the form of its type: date 2026-12-24, time 14:05, month 2026-12, color #ff0000."
_HINTS: Final = {
    "Element is not a <select>": (
        f"It only looks like one: click it to open it, then click the option. {next_call('snapshot')}."
    ),
    "Cannot type text into input[type=number]": "This field takes numbers only, such as 12 or 0.5.",
    "Malformed value": FORM_OF_ITS_TYPE,
    **dict.fromkeys(
        ('Input of type "checkbox"', 'Input of type "radio"'),
        f"It takes a click, or true or false: {next_call('fill_form', fields=[{'selector': ..., 'value': True}])}.",
    ),
    'Input of type "file"': f"It takes files: {next_call('upload_file', selector=..., files=[...])}.",
    "Element is not an <input>, <textarea> or [contenteditable]": (
        f"A select takes {next_call('select_option', selector=..., value=...)}; what only looks like one, a click that "
        f"opens it. A table's cell opens a field by {next_call('click', selector=..., clickCount=2)}: fill "
        f"that, then {next_call('press', key='Enter')}. {next_call('snapshot')}."
    ),
}


def is_closed(error: Exception) -> bool:
    """Say if an error may come from a page or a browser that ended, so that its handler lets it through."""
    return has_ended(error) or _reason(_first_line(str(error))).startswith(_CLOSED)


def has_ended(error: Exception) -> bool:
    """Say if a page or a browser was closed, by a sign that no page can forge. A renderer's end is known to its tab."""
    return type(error).__name__ == _ENDED


def not_begun(error: object) -> bool:
    """Say, by Playwright's log in an error, if an act was still waiting for its element."""
    _, logged, log = str(error).partition("Call log:\n")
    return bool(logged) and all(line.strip().startswith("- waiting for") for line in log.splitlines() if line.strip())


def is_ambiguous(error: Exception) -> bool:
    return "strict mode violation" in str(error)


def is_timeout(error: Exception) -> bool:
    return isinstance(error, PlaywrightTimeout)


def began(error: Exception) -> bool:
    """Say if an act's input was under way when its time ended, and was not held back from its element again."""
    log = str(error)
    held_up = log.rfind("- retrying ")
    return max(map(log.rfind, _INPUT)) > held_up or (held_up < 0 and log.rstrip().endswith(_SET_AS_ASKED))


def is_network(error: Exception) -> bool:
    """Say if a network error ended a navigation, with an error page of the browser or without."""
    return _NET_ERROR.search(str(error)) is not None


def is_download(error: Exception) -> bool:
    return "Download is starting" in str(error)


def shows_error_page(error: Exception) -> bool:
    return is_network(error) and "ERR_ABORTED" not in str(error)


def is_ended_by_error_page(error: Exception) -> bool:
    """Say if what ended a navigation is the error page of an earlier one."""
    return f'{_INTERRUPTED} to "chrome-error:' in str(error)


def translate(error: PlaywrightError, action: Action, *, url: str, shown: str | None = None) -> BrowseError:
    """Translate Playwright's error into ours, with details: selector, url, and Playwright's words. `shown` is what
    Playwright would have logged last about the element, if the element is there."""
    if isinstance(error, BadResult):
        return ScriptExecutionFailed(str(error), hint=error.hint, details={"url": url})
    if _DISK_FULL.match(str(error)) and not _runs_script(action):
        return ResourceExhausted(
            f"{action.name()} could not be done: the disk of the browser's machine is full.",
            hint="Repeat it when there is room for temporary files again.",
            details={"url": url},
        )
    return _translate(error, action, url=url, shown=shown)


def _translate(error: PlaywrightError, action: Action, *, url: str, shown: str | None) -> BrowseError:
    message = str(error)
    if len(message) > 2 * _MOST_END:
        message = f"{cut(message, _MOST_END)}…\n{last(message, _MOST_END)}"
    first = cut(_first_line(message), _MOST_LINE) or type(error).__name__
    selector = action.aim.selector
    details: Json = {"url": url, "context": {"lastError": first}}
    if selector:
        details["selector"] = selector
    if has_ended(error):
        details["context"] = {"lastUrl": url, "crashReason": first}
        return BrowserCrashed("Browser instance crashed unexpectedly", details=details)
    if bad := _bad_selector(error, action, first, details):
        return bad
    if action.navigates and (
        is_timeout(error) or is_network(error) or _INTERRUPTED in message or "Download is starting" in message
    ):
        return _navigation(action, details, message)
    if is_timeout(error) and action.effect is Effect.ACTS and began(error):
        allowed = action.allowed_ms()
        return UnknownOutcome(
            f"{action.name()} reached its element, and its end was not seen within {allowed} ms.",
            details={**details, "context": {"timeout": allowed, "lastError": first}},
        )
    if is_timeout(error):
        return _timeout(action, selector, details, message, shown)
    return _other(action, first, message, selector, details)


def _bad_selector(error: PlaywrightError, action: Action, first: str, details: Json) -> InvalidSelector | None:
    """Return the error for a selector that no engine can parse, or that takes too long on this page."""
    selector = action.aim.selector
    if TOO_LONG in first:
        return InvalidSelector(
            f"Looking for {selector or 'an element'} takes more than 1 s on this page, and was ended.",
            hint=f"Name less of the page (an id, a tag, one step), or look for words: {next_call('find', text='...')}.",
            details=details,
        )
    if not _runs_script(action) and not is_timeout(error) and any(text in first for text in _SYNTAX):
        return InvalidSelector(f"Selector {selector!r} has a syntax error: {flat(_reason(first))}", details=details)
    return None


def not_found(
    selector: str, timeout: int, *, url: str, hint: str | None = None, frames: Sequence[Json] = ()
) -> BrowseError:
    """Make the error for an element that one more look did not find either. Playwright does not report how often it
    looked."""
    found: Json = {"frames": [*frames]} if frames else {}
    return ElementNotFound(
        f"Element matching selector '{selector}' not found after {timeout}ms",
        hint=hint,
        details={
            "selector": selector,
            "url": url,
            "context": {"timeout": timeout, "retries": 1, "lastError": f"nothing matches {selector}", **found},
        },
    )


def ambiguous(selector: str, candidates: list[Json], count: int, *, url: str) -> BrowseError:
    named = f": {'; '.join(map(_candidate, candidates))}" if candidates else "."
    return AmbiguousSelector(
        f"Selector '{selector}' matches {count} elements{named}",
        details={"selector": selector, "url": url, "context": {"count": count, "candidates": [*candidates]}},
    )


def _candidate(found: Json) -> str:
    unseen = "" if found["visible"] else ", not visible"
    around = [f"{kind} {quoted(str(found[kind]), 60)}" for kind in ("near", "after") if kind in found]
    where = "".join(f", {each}" for each in (found.get("in"), *around, found.get("at")) if each)
    return f"{found['selector']} ({found['tag']} {quoted(str(found['text']), 40)}{where}{unseen})"


def no_frame(selector: str, *, url: str) -> BrowseError:
    return ValidationFailed(
        f"frame {selector!r} is no iframe.",
        hint="Name an iframe element.",
        details={"url": url, **field_details("frame")},
    )


def _navigation(action: Action, details: Json, message: str) -> BrowseError:
    target = address(str(action.requested_url or details["url"]))
    found = _NET_ERROR.search(message)
    context: Json = {"timeout": action.allowed_ms(), "waitUntil": str(action.own_arguments().get("wait_until", "load"))}
    if found:
        reason = found.group()
        hint = next((text for name, text in _NET_HINTS.items() if name in reason), None)
        context["networkError"] = reason
        return NavigationFailed(
            f"Navigation to {target} failed: {reason}",
            hint=hint,
            details={**details, "url": target, "context": context},
        )
    if "Download is starting" in message:
        return NavigationFailed(
            f"Navigation to {target} failed: the answer is a download, not a page.",
            hint="The page stays where it was. Get its bytes: "
            f"{next_call('fetch', url='...', response_type='binary')}.",
            details={**details, "url": target, "context": context},
        )
    if _INTERRUPTED in message:
        return NavigationFailed(
            f"Navigation to {target} was {message[message.index(_INTERRUPTED) + 3 :].splitlines()[0]}.",
            hint=f"The page went elsewhere by itself: see where it is now, or repeat it. {next_call('snapshot')}.",
            details={**details, "url": target, "context": context},
        )
    return NavigationFailed(
        f"Navigation to {target} timed out",
        hint=f'The page may be usable already: {next_call("snapshot")}. Or repeat with "waitUntil": '
        '"domcontentloaded".',
        details={**details, "url": target, "context": context},
    )


def _waited(message: str) -> int:
    """Return how many milliseconds Playwright says that it waited, because a step may have only a part of a call's
    time."""
    found = _WAITED.search(message)
    return int(found[1]) if found else 0


def _timeout(action: Action, selector: str | None, details: Json, message: str, obstacles: str | None) -> BrowseError:
    allowed = _waited(message) or action.allowed_ms()
    if not any(words in message for words in _BLOCKERS):
        message += f"\n{obstacles or ''}"
    last = max(_BLOCKERS, key=message.rfind)
    if selector and last in message:
        blocker, hint = _BLOCKERS[last]
        covered = re.search(r"(<[^\n]+?) (?:from .*?)?intercepts pointer events", message)
        by = f": {quoted(covered.group(1))}" if covered and "covered" in blocker else ""
        return ElementNotInteractable(
            f"Element matching selector '{selector}' {blocker}{by} (waited {allowed} ms).",
            hint=hint,
            details={**details, "context": {"timeout": allowed, "reason": blocker, "lastError": cut(message, 2_000)}},
        )
    if NO_CHOOSER in message:
        return TimedOut(
            f"Element matching selector '{selector}' is no file input, and a click on it opened no file chooser within "
            f"{allowed} ms.",
            hint=f"See what it is: {next_call('snapshot')}.",
            details={**details, "context": {"timeout": allowed}},
        )
    last_said = message.strip().splitlines()[-1].strip(" -") if selector else ""
    if obstacles is not None and action.effect is Effect.ACTS and last_said.startswith("waiting for locator"):
        return ElementNotInteractable(
            f"Element matching selector '{selector}' was there only when {allowed} ms were over.",
            hint="Repeat it, now that it is there.",
            details={**details, "context": {"timeout": allowed, "lastError": cut(message, 2_000)}},
        )
    if action.lane is Lane.BESIDE and not selector:
        last_said = f"the page is at {details['url']}"
    context: Json = {"timeout": allowed, **({"notBegun": True} if not_begun(message) else {})}
    return TimedOut(
        f"{action.name()} did not end within {allowed} ms{f' ({last_said})' if last_said else ''}.",
        hint="The page stays open. Give it longer with `timeout` (ms), or look what it shows: "
        f"{next_call('snapshot')}.",
        details={**details, "context": context},
    )


def _runs_script(action: Action) -> bool:
    """Return whether the page runs the caller's script or request, whose failures are the caller's own."""
    runs_now = action.runs_script is not None and not action.runs_script.later
    return runs_now or bool(action.request_method)


def _other(action: Action, first: str, message: str, selector: str | None, details: Json) -> BrowseError:
    if _runs_script(action):  # its author can tell by the error whether the script or the page failed
        said = quoted(re.sub(_CALL, "", first).removeprefix("Error: "), _REASON_CHARACTERS)
        return ScriptExecutionFailed(f"The script failed: {said}", details=details)
    said = quoted(_reason(first), _REASON_CHARACTERS)
    for words, field, problem, hint in _BAD_ARGUMENTS:
        if words in message:
            context: Json = {"field": field, "lastError": first}
            return ValidationFailed(f"{problem}: {said}", hint=hint, details={**details, "context": context})
    several = _SEVERAL.search(message)
    if selector and several and not action.aim.onto and not action.aim.frame:
        return ambiguous(selector, [], int(several[1]), url=str(details["url"]))  # its page was too busy to name them
    if TOO_LARGE in message:
        return ScriptExecutionFailed(
            f"{action.name()} did not look up {selector!r}: the names of the page's elements are too long.",
            hint="Name the element by CSS, or by text=: these read no names.",
            details=details,
        )
    if selector:
        return ElementNotInteractable(
            f"{action.name()} cannot be done on the element matching '{selector}': {said}",
            hint=next(
                (hint for words, hint in _HINTS.items() if words in message),
                f"Choose another: {next_call('snapshot')}.",
            ),
            details=details,
        )
    return ScriptExecutionFailed(f"{action.name()} failed in the page: {said}", details=details)


def _first_line(message: str) -> str:
    return next(iter(message.strip().splitlines()), "")


def _reason(first: str) -> str:
    """Return the first line of Playwright's message without the names of its call and of its error, and without the
    selector."""
    first = first.removesuffix(" and does not have a role allowing [aria-readonly]")  # the rest says enough
    return re.sub(rf"{_CALL}(?:\w*Error: )?(?:Error while parsing selector `.*?` - )?", "", first)
