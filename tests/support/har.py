"""Declares HTTP Archive 1.2 as a JSON Schema, after the specification at
http://www.softwareishard.com/blog/har-12-spec/."""

from typing import Any, Final

_TIME: Final = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"}
_SIZE: Final = {"type": "integer", "minimum": -1}
_TEXT: Final = {"type": "string"}
_SPENT: Final = {"type": "number", "minimum": -1}
_NEEDED: Final = {"type": "number", "minimum": 0}


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:  # Any: a schema
    """Return the schema of an object that allows no unknown member, except for names with an underscore in front, which
    the specification leaves to applications."""
    return {
        "type": "object",
        "required": [*required],
        "properties": {**required, **optional, "comment": _TEXT},
        "patternProperties": {"^_": {}},
        "additionalProperties": False,
    }


def _list(of: dict[str, Any]) -> dict[str, Any]:  # Any: a schema
    return {"type": "array", "items": of}


_PAIRS: Final = _list(_object({"name": _TEXT, "value": _TEXT}))
_COOKIES: Final = _list(
    _object(
        {"name": _TEXT, "value": _TEXT},
        path=_TEXT, domain=_TEXT, expires=_TIME, httpOnly={"type": "boolean"}, secure={"type": "boolean"},
    )
)  # fmt: skip
_MESSAGE: Final = {
    "httpVersion": _TEXT, "cookies": _COOKIES, "headers": _PAIRS, "headersSize": _SIZE, "bodySize": _SIZE,
}  # fmt: skip
_REQUEST: Final = _object(
    {"method": _TEXT, "url": {"type": "string", "format": "uri"}, "queryString": _PAIRS, **_MESSAGE},
    postData=_object({"mimeType": _TEXT}, text=_TEXT, params=_PAIRS),
)
_CONTENT: Final = _object({"size": _SIZE, "mimeType": _TEXT}, compression=_SIZE, text=_TEXT, encoding=_TEXT)
_RESPONSE: Final = _object(
    {"status": {"type": "integer"}, "statusText": _TEXT, "content": _CONTENT, "redirectURL": _TEXT, **_MESSAGE}
)
_TIMINGS: Final = _object(
    {"send": _NEEDED, "wait": _NEEDED, "receive": _NEEDED}, blocked=_SPENT, dns=_SPENT, connect=_SPENT, ssl=_SPENT
)
_ENTRY: Final = _object(
    {
        "startedDateTime": _TIME, "time": _NEEDED, "request": _REQUEST, "response": _RESPONSE,
        "cache": {"type": "object"}, "timings": _TIMINGS,
    },
    pageref=_TEXT, serverIPAddress={"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}, connection=_TEXT,
)  # fmt: skip
_PAGE: Final = _object(
    {
        "startedDateTime": _TIME, "id": _TEXT, "title": _TEXT,
        "pageTimings": _object({}, onContentLoad=_SPENT, onLoad=_SPENT),
    }
)  # fmt: skip
HAR: Final = _object(
    {
        "log": _object(
            {
                "version": {"const": "1.2"},
                "creator": _object({"name": _TEXT, "version": _TEXT}),
                "entries": _list(_ENTRY),
            },
            browser=_object({"name": _TEXT, "version": _TEXT}),
            pages=_list(_PAGE),
        )
    }
)
