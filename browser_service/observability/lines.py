"""Words a record of activity as one line, for people and models."""

import json
from datetime import datetime

from shared.calls import ActivityRecord
from shared.model import Json
from shared.words import own_words

_UNNAMED = ("selector", "url", "key")
"""Arguments that readers understand without their names."""
_WORDS = "reason"
_MOST_REQUESTS = 3


def line(record: ActivityRecord, now: datetime) -> str:
    """Word a record as `14:05:12 Claude: click #logout (shop) → ok, 120 ms; POST http://shop/logout 302; now at
    http://shop/login`."""
    client = f"{record.client or 'a client'}{' (you)' if record.you else ''}"
    page = f" ({record.page_id})" if record.page_id else ""
    parts = [f"{record.outcome}, {record.duration_ms} ms", *_request_texts(record.requests)]
    if record.url_after and record.url_after != record.arguments.get("url"):
        parts.append(f"now at {record.url_after}")
    elif record.url_before and not record.url_after:
        parts.append(f"at {record.url_before}")
    act = " ".join([record.action, *argument_texts(record.arguments)])
    return " ".join(f"{_time(record.time, now)} {client}: {act}{page} → {'; '.join(parts)}".split())


def _time(text: str, now: datetime) -> str:
    at = datetime.fromisoformat(text).astimezone(now.tzinfo)
    return at.strftime("%H:%M:%S" if at.date() == now.date() else "%Y-%m-%d %H:%M:%S")


def argument_texts(arguments: Json) -> list[str]:
    """Word arguments as `#logout button=right`, one text each."""
    return [_argument_text(name, value) for name, value in arguments.items()]


def _argument_text(name: str, value: object) -> str:
    if name == _WORDS:
        return f"{name}, {own_words(str(value))}"
    return _text(value) if name in _UNNAMED else f"{name}={_text(value)}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _request_texts(requests: list[Json]) -> list[str]:
    lines = [
        f"{request['method']} {request['url']} {request['status'] or 'no answer'}"
        for request in requests[:_MOST_REQUESTS]
    ]
    return [*lines, f"and {len(requests) - _MOST_REQUESTS} more requests"] if len(requests) > _MOST_REQUESTS else lines
