"""Redacts a call for the record: where and how it acted stays; no text that was typed, sent or run does.

A secret in a text looks like any other word, and the next action may have a field that nobody thought of. So the code
lists what it keeps, not what it hides: elements, addresses, reasons, choices, numbers and flags. Of every other text it
keeps only the length, and of a URL's query only the names, because a form may put typed text there."""

import re
from typing import Final, cast

from pydantic import JsonValue

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.interaction import commands
from browse_together.contract.cuts import cut
from browse_together.contract.model import Json
from browse_together.contract.schema import Schema, full_schema, properties_of

TEXTS: Final = frozenset({"selector", "frame", "reason", "as", "secret"})
_ADDRESSES: Final = frozenset({"url", "referer", "referrer", "origin"})
_RECORDED_APART: Final = frozenset({"action", "pageId", "sessionId"})
_MOST_TEXT: Final = 200
_MOST_URL: Final = 500
_MOST_SELECTOR: Final = 600
_MOST_ITEMS: Final = 50
_MOST_PARAMETERS: Final = 10
_HIDDEN: Final = "…"

_ABSOLUTE: Final = re.compile(r"(https?|wss?):[/\\]*([^/\\?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.IGNORECASE | re.DOTALL)
_RELATIVE: Final = re.compile(r"()()([^?#:@]*)(\?[^#]*)?(#.*)?", re.DOTALL)
_ROUTE: Final = re.compile(r"#[!/\w.-]*")
_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_MIXED: Final = re.compile(r"(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])")
_RANDOM_FROM, _MIXED_FROM = 20, 6
_IN_TEXT: Final = (
    (re.compile(r"(\[\s*value\s*[~|^$*]?=\s*).*?(?=\]|$)", re.IGNORECASE | re.DOTALL), rf"\1{_HIDDEN}"),
    (re.compile(r"\b(Bearer|Basic)\s+\S+", re.IGNORECASE), rf"\1 {_HIDDEN}"),
    (
        re.compile(
            r"((?:pass(?:word|wd|code)?|pwd|pin|otp|secret|token|api.?key|auth\w*|session\w*|signature|code)\s*[=:]\s*)\S+",
            re.IGNORECASE,
        ),
        rf"\1{_HIDDEN}",
    ),
    (re.compile(r"https?:[^\s\"'\]]+", re.IGNORECASE), lambda match: safe_url(match[0])),
    (re.compile(r"[\w.~+/=-]{20,}"), lambda match: _word(match[0])),
)


def arguments(action: Action) -> Json:
    """Return the redacted arguments of a call, without page and session, which the record has elsewhere."""
    schemas, texts = properties_of(full_schema(type(action))), TEXTS | action.loggable_arguments
    redacted = {
        name: redact(name, value, schemas.get(name, {}), texts)
        for name, value in own_arguments(action).items()
        if name not in action.part_fields
    }
    parts: list[JsonValue] = [{"action": part.name(), **arguments(part)} for part in action.parts()]
    return redacted | ({action.part_fields[0]: parts} if parts else {})


def own_arguments(action: Action) -> Json:
    """Return the arguments of a call as they are, without page and session."""
    return {name: value for name, value in action.wire_body().items() if name not in _RECORDED_APART}


def requests(records: list[Json], limit: int) -> list[Json]:
    """Reduce the first `limit` requests to method, redacted URL and status."""
    return [
        {"method": record.get("method"), "url": safe_url(str(record.get("url", ""))), "status": record.get("status")}
        for record in records[:limit]
    ]


def lasting(again: Json) -> Json:
    """Redact how a call is done again. A selector with something that looks like a secret is left out."""
    named = cast("dict[str, list[str]]", again.get("targets", {}))  # as the outcome has it
    came = cast("list[str]", again.get("came", []))
    kept = {_without_secrets(given): [*filter(None, map(_kept, found))] for given, found in named.items()}
    targets = {given: found for given, found in kept.items() if found}
    fields = map(_without_secrets, cast("list[str]", again.get("secretFields", [])))
    return {
        **again,
        "targets": cast("Json", targets),
        "secretFields": [*fields],
        "came": [*map(_without_secrets, came)],
    }


def _kept(selector: str) -> str:
    redacted = _without_secrets(selector, _MOST_SELECTOR)
    return redacted if redacted == " ".join(selector.split()) else ""


def safe_url(url: str) -> str:
    """Return a URL without userinfo, query values, or random-looking parts of its path."""
    url = url.strip().replace("\t", "").replace("\n", "").replace("\r", "")
    match = _ABSOLUTE.fullmatch(url) or _RELATIVE.fullmatch(url)
    if match is None:
        return url if url == "about:blank" else _size(url)
    scheme, authority, path, query, fragment = match.groups(default="")
    host = f"{scheme}://{authority.rpartition('@')[2]}" if scheme else ""
    redacted = f"{host}{_path(cut(path, _MOST_URL))}{_names(query)}{_fragment(fragment)}"
    return one_line(redacted, _MOST_URL)


def one_line(text: str, limit: int = _MOST_TEXT) -> str:
    """Put a text on one line of at most `limit` characters, and replace what UTF-8 cannot encode."""
    line = " ".join(cut(text, limit * 2).split()).encode("utf-8", "replace").decode()
    return line if len(line) <= limit else cut(line, limit) + _HIDDEN


def redact(name: str, value: JsonValue, schema: Schema, texts: frozenset[str]) -> JsonValue:
    schema = _branch(schema, value)
    if isinstance(value, str):
        return _text(name, value, schema, texts)
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        more = [f"and {len(value) - _MOST_ITEMS} more"] if len(value) > _MOST_ITEMS else []
        return [*(redact(name, item, items, texts) for item in value[:_MOST_ITEMS]), *more]
    if isinstance(value, dict) and isinstance(parts := schema.get("properties"), dict):
        return {
            key: redact(key, part, cast("Schema", parts[key]), texts) for key, part in value.items() if key in parts
        }
    if isinstance(value, list | dict):
        return f"({len(value)} {'entry' if len(value) == 1 else 'entries'})"
    measured = value is None or schema.get("type") in {"integer", "number", "boolean"}
    return value if measured else "(a value)"


def _branch(schema: Schema, value: JsonValue) -> Schema:
    """Return the branch of a union to which the value belongs."""
    options = schema.get("anyOf")
    if not isinstance(options, list):
        return schema
    kinds = {bool: {"boolean"}, int: {"integer", "number"}, float: {"number"}, str: {"string"}, list: {"array"}}
    fits = kinds.get(type(value), {"object"})
    return next((option for option in options if isinstance(option, dict) and option.get("type") in fits), {})


def _text(name: str, text: str, schema: Schema, texts: frozenset[str]) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list) and text in choices:
        return text
    if name in _ADDRESSES or name.endswith(("Url", "Urls", "urls")):
        return safe_url(text)
    if name in texts or name.endswith(("Selector", "Id", "Ids")):
        return _without_secrets(text)
    return text if name == "key" and commands(text) else _size(text)


def _without_secrets(text: str, most: int = _MOST_TEXT) -> str:
    """Return a text that was written to be read, without obvious secrets."""
    text = cut(text, most * 5)
    for pattern, instead in _IN_TEXT:
        text = pattern.sub(instead, text)
    return one_line(text, most)


def _size(text: str) -> str:
    return f"({len(text)} character{'' if len(text) == 1 else 's'})"


def _path(path: str) -> str:
    """Redact the segments of a path, including the value in `;jsessionid=...`."""
    segments = (segment.partition("=") for segment in path.replace("\\", "/").split("/"))
    return "/".join(f"{_word(name)}={_HIDDEN}" if sign else _word(name) for name, sign, _ in segments)


def _word(text: str) -> str:
    """Hide a long mix of letters and digits, which is more likely a key than a name."""
    random = len(text) >= _RANDOM_FROM and any(
        len(word) >= _MIXED_FROM and _MIXED.match(word) for word in _WORD.findall(text)
    )
    return _HIDDEN if random else text


def _names(query: str) -> str:
    pairs = [pair.partition("=") for pair in query[1:].split("&", _MOST_PARAMETERS)[:_MOST_PARAMETERS] if pair]
    return "?" + "&".join(f"{_word(name)}={_HIDDEN}" if sign else _HIDDEN for name, sign, _ in pairs) if pairs else ""


def _fragment(fragment: str) -> str:
    """Keep a fragment that looks like a place in a document or app; hide any other, which may carry a server's
    secret."""
    if len(fragment) <= 1:
        return ""
    return _path(fragment) if len(fragment) <= _MOST_TEXT and _ROUTE.fullmatch(fragment) else f"#{_HIDDEN}"
