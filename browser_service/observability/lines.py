"""A record of the account as one line, for people and models."""

import json
from datetime import datetime

from shared.calls import ActivityRecord
from shared.model import Json

_PLAIN = ("selector", "url", "key")
"""Arguments that need no name to be understood."""
_SHOWN = 3


def line(record: ActivityRecord, now: datetime) -> str:
    """`14:05:12 Claude: click #logout (shop) → ok, 120 ms; POST http://shop/logout 302; now at http://shop/login`."""
    who = f"{record.client or 'a client'}{' (you)' if record.you else ''}"
    page = f" ({record.page_id})" if record.page_id else ""
    parts = [f"{record.outcome}, {record.duration_ms} ms", *_sent(record.requests)]
    if record.url_after and record.url_after != record.arguments.get("url"):
        parts.append(f"now at {record.url_after}")
    elif record.url_before and not record.url_after:
        parts.append(f"at {record.url_before}")
    did = " ".join([record.action, *_told(record.arguments)])
    return f"{_time(record.time, now)} {who}: {did}{page} → {'; '.join(parts)}"


def _time(text: str, now: datetime) -> str:
    at = datetime.fromisoformat(text).astimezone(now.tzinfo)
    return at.strftime("%H:%M:%S" if at.date() == now.date() else "%Y-%m-%d %H:%M:%S")


def _told(arguments: Json) -> list[str]:
    return [_text(value) if name in _PLAIN else f"{name}={_text(value)}" for name, value in arguments.items()]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _sent(requests: list[Json]) -> list[str]:
    lines = [f"{one['method']} {one['url']} {one['status'] or 'no answer'}" for one in requests[:_SHOWN]]
    return [*lines, f"and {len(requests) - _SHOWN} more requests"] if len(requests) > _SHOWN else lines
