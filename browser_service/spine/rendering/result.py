"""Makes the text of a result: the action's text, then its effects, then how to read on."""

import json
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from pydantic import JsonValue

from browse_together.contract.actions.base import Action
from browse_together.contract.catalogue import NAMES
from browse_together.contract.cuts import shown_of
from browse_together.contract.model import Json, list_at
from browse_together.contract.next_calls import Spell, next_call, spelled
from browse_together.contract.quoting import Foreign, address, escaped, flat, quoted
from browse_together.contract.replies import headers_line
from browse_together.contract.wire import CHANGED, does_as_asked

OF_PAGE: Final = {"outline": "in outline", "changes": "changed", "snapshot": "says", "gave": "gave", "outputs": "gave"}
"""The keys of a reply that hold the page's words, with their headings."""
ADVICE: Final = "advice"
"""Key of a line of ours that stands below the page's words."""
_QUOTED: Final = frozenset({"title"})
"""The results that are one line of a page's own."""
_SEVERAL_LINES: Final = frozenset({"text", "help", "activity", "flows"})
"""Keys of our own texts that have several lines."""
_ORIGIN_CHARACTERS: Final = 120
_MOST_LINES: Final = 6


def result_lines(action: type[Action], result: Json, page_url: str, spell: Spell) -> list[str | Foreign]:
    """Return the action's text, or the whole result as JSON if it has none; then how to read on."""
    if result.get("stillRunning"):
        call_id = result.get("callId")
        continuing, stopping = next_call("get_call", call_id=call_id), next_call("cancel_call", call_id=call_id)
        state = str(result.get("paused") or "Still running.")
        return [spelled(f"{state} Read on with {continuing}; {stopping} stops it.", spell)]
    if result.get("suspended"):
        return [f"{result.get('observed')} Its call: {json.dumps({'callId': result.get('callId')})}."]
    value: JsonValue = result.get(action.text_key, without_advice(result))
    if action.part_fields and isinstance(value, list):
        return batch_lines(value, page_url, spell)
    if value == CHANGED and not OF_PAGE.keys().isdisjoint(result):
        value = ""  # the change itself says so
    origin = origin_of(str(result.get("url") or page_url))
    if isinstance(value, str) and not OF_PAGE.keys().isdisjoint(result):
        value = _below(origin, value, str(result.get("navigatedTo", "")))
    beside = lines_beside(action, result, origin) if action.text_key in result else ()
    advice = str(result.get(ADVICE) or "")
    return [*_value_lines(action, value, origin), *beside, advice, spelled(reading_on(action, result), spell)]


def _below(origin: str, said: str, url: str) -> str:
    """Return an act's text without the origin that it navigated to, because the heading of the page's words below it
    has that."""
    path = address(url).removeprefix(origin)
    return said.replace(f"navigated to {address(url)}", f"navigated to {path}", 1) if path.startswith("/") else said


def without_advice(result: Json) -> Json:
    """Return the result without our line below it."""
    return {key: value for key, value in result.items() if key != ADVICE}


def _value_lines(action: type[Action], value: JsonValue, origin: str) -> list[str | Foreign]:
    """Return a value as lines: a page's words in a frame or in quotes, our own without."""
    text = value if isinstance(value, str) else compact(without_bytes(value))
    if action.untrusted and not isinstance(value, bool | int | float | None):
        return [Foreign(f"{origin} says", text)]
    if action.text_key in _QUOTED:
        return [quoted(text)]
    return [line or " " for line in text.split("\n")] if action.text_key in _SEVERAL_LINES else [text]


def batch_lines(steps: list[JsonValue], page_url: str, spell: Spell) -> list[str | Foreign]:
    """Return how many steps are done, and for each step anything unforeseen."""
    news = [each for each in numbered(steps) if not is_foreseen(each[1])]
    return [f"{len(steps)} done", *(line for each in news for line in step_lines(*each, page_url, spell))]


def is_foreseen(step: Json) -> bool:
    """Return whether a step did just what was asked, and its result says nothing else."""
    return does_as_asked(step.get("observed")) and not step.keys() - {"action", "observed", "checked", "pageId"}


def step_lines(number: int, step: Json, page_url: str, spell: Spell) -> list[str | Foreign]:
    """Return the text of one of a batch's steps, with its number and its page."""
    name = str(step["action"])
    fields = {key: value for key, value in step.items() if key not in {"action", "artifact", "pageId"}}
    place = f" ({step['pageId']})" if "pageId" in step else ""
    lines = result_lines(NAMES[name].action, fields, page_url, spell) if fields else ["done"]
    first, *others = [line for line in lines if line] or ["done"]
    begin = f"{number}. {name}{place}: "
    if isinstance(first, Foreign):
        return [Foreign(f"{begin}{first.heading}", first.text), *others]
    return [f"{begin}{first}", *others]


def numbered(steps: list[JsonValue]) -> Iterator[tuple[int, Json]]:
    return ((number, step) for number, step in enumerate(steps, 1) if isinstance(step, dict))


def without_bytes(value: JsonValue) -> JsonValue:
    """Return the value without the base64 of its artifacts, which would otherwise be sent twice."""
    if isinstance(value, list):
        return [without_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    bytes_of = {"data", "preview", "path"} if "artifactId" in value else frozenset()
    return {key: without_bytes(item) for key, item in value.items() if key not in bytes_of}


def reading_on(action: type[Action], result: Json) -> str:
    """Return a line with the call that reads the rest of a cut text, if it was cut."""
    if not (cursor := result.get("cursor")):
        return ""
    total = f"of {result['length']} characters, " if "length" in result else ""
    reader = action.name() if "cursor" in action.model_fields else "content"
    return f"… {total}more: {next_call(reader, cursor=cursor)}"


def lines_beside(action: type[Action], result: Json, origin: str) -> Iterator[str | Foreign]:
    """Yield lines about further facts, the act's effects, and the page's words."""
    facts = {key: result[key] for key in action.extra_keys if key in result}
    if (count := result.get("count")) is not None and not _shows_count(result[action.text_key], count):
        facts["count"] = f"{compact(count)} {'tables' if action.text_key == 'csv' else 'matches'}"
    headers = facts.pop("headers", None)
    if facts:
        yield ", ".join(f"{key}: {value if isinstance(value, str) else compact(value)}" for key, value in facts.items())
    if isinstance(headers, dict):
        yield headers_line(headers)
    if action.text_key != "observed":
        yield from _effects(result, requests=not action.activity_phrase)
    for key, heading in OF_PAGE.items():
        if action.text_key != key and (said := result.get(key)):
            yield Foreign(f"{origin} {heading}", said if isinstance(said, str) else compact(said))


def _shows_count(value: JsonValue, count: JsonValue) -> bool:
    if isinstance(value, str) and str(count) in value.partition("\n")[0].split():
        return True
    return count == (len(value) if isinstance(value, list) else 1) or (isinstance(value, dict) and count == len(value))


def _effects(result: Json, *, requests: bool) -> list[str]:
    """Return lines about the effects of an act: dialogs, downloads, popups, requests, failures."""
    lines = [flat(str(each)) for each in list_at(result, "dialogs")]
    lines += [_download(each) for each in list_at(result, "downloads") if isinstance(each, dict)]
    lines += _first_lines([f"popup {each} opened" for each in list_at(result, "popups")], "popups")
    if requests:
        lines += _first_lines(_requested(result), "requests")
        failed = [f"a script of the page failed: {quoted(str(each))}" for each in list_at(result, "scriptErrors")]
        lines += _first_lines(failed, "failures of scripts")
    return lines


def _download(each: Json) -> str:
    return f"download {quoted(str(each['name']))} {each['state']}" + (
        f": file {each['artifactId']}" if "artifactId" in each else ""
    )


def _requested(result: Json) -> list[str]:
    """Return lines about the requests that an act caused, except its own."""
    sent = [each for each in list_at(result, "requests") if isinstance(each, dict) and each["url"] != result.get("url")]
    return [f"{each['method']} {address(str(each['url']))} → {each['status'] or 'no answer yet'}" for each in sent]


def _first_lines(lines: list[str], noun: str) -> list[str]:
    """Return the first lines, and how many more there are: a page can make any number."""
    shown = shown_of(len(lines), _MOST_LINES)
    return lines[:shown] + ([f"and {len(lines) - shown} more {noun}"] if len(lines) > shown else [])


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return address(f"{parts.scheme}://{parts.netloc}", _ORIGIN_CHARACTERS) if parts.netloc else "The page"


def compact(value: JsonValue) -> str:
    return escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
