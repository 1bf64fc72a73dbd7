"""What was observed of an act, as far as it will be the same again: what a step of a flow must cause."""

import calendar
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from pydantic import JsonValue

from browse_together.contract.flows import Expected, Request
from browser_service.flows.done import Done

SECRET: Final = re.compile("«secret:[^»]*»")
"""What stands for a secret in what a page said."""
_VARYING: Final = re.compile(rf"(?<=/)(?:\d+|[0-9a-fA-F-]{{16,}})(?=/|$)|…|{SECRET.pattern}")
_DIGITS: Final = re.compile(rf"{SECRET.pattern}|\d[\d.,:/]*|…")
_TIMES: Final = re.compile(
    rf"\b(?:{'|'.join([*calendar.month_name[1:], *calendar.month_abbr[1:], *calendar.day_name, *calendar.day_abbr])}"
    r"|today|tonight|yesterday|tomorrow|morning|afternoon|evening|[ap]m)\b",
    re.IGNORECASE,
)
"""Words that are others at another time. Words of other languages are not known."""
_COUNTED: Final = re.compile(r"\b(?:1 (\w{3,}?)y?|\d[\d.,]* (\w{3,}?)(?:ies|e?s))\b")
"""A number with what it counts, which ends in other letters with another number."""
_LEAST_WORDS: Final = 3
_MOST_REQUESTS: Final = 5
_CREATED: Final = 201
_FAILED: Final = 400


def expected(call: Done) -> Expected | None:
    """Return what was observed of an act, as far as it will be the same again."""
    record = call.record
    origin = urlsplit(record.url_before or record.url_after or "").netloc
    found = [_request(each) for each in record.requests if urlsplit(str(each["url"])).netloc == origin]
    requests = [each for number, each in enumerate(found) if each is not None and each not in found[:number]]
    shows = [*dict.fromkeys(map(_lasting, record.came or []))]
    url = _pattern(record.url_after) if record.url_after else None
    if url and any(each.status == _CREATED for each in requests):
        url = re.sub(r"[^/]+$", "*", url)  # the name of what was made, such as Untitled1
    found_again = Expected(
        url=url,
        requests=requests[:_MOST_REQUESTS],
        files=[re.sub(r"\d+", "*", name) for name in record.files or []],
        shows=[text for text in shows if max(len(part.strip()) for part in text.split("*")) >= _LEAST_WORDS][:2],
    )
    return found_again if found_again != Expected() else None


def _lasting(words: str) -> str:
    """Return a pattern of what a page said: numbers, dates, counts and what a client gave may be others."""
    counted = _COUNTED.sub(lambda found: f"* {found[1] or found[2]}*", words)
    return _DIGITS.sub("*", _TIMES.sub("*", counted))


def _request(sent: Mapping[str, JsonValue]) -> Request | None:
    status = sent.get("status")
    if not isinstance(status, int) or status >= _FAILED:
        return None
    path = _VARYING.sub("*", urlsplit(str(sent["url"])).path)
    return Request(method=str(sent["method"]), path=path, status=status)


def _pattern(url: str) -> str:
    """Return a pattern of an address: numbers and ids may be others, and so may the query."""
    address, sign, _ = url.partition("?")
    return _VARYING.sub("*", address) + ("*" if sign else "")
