"""Computes /openapi.json from the catalogue, with every action as one of the bodies."""

from typing import Any, Final

from fastapi import FastAPI

from browse_together.contract import catalogue, wire
from browse_together.contract.model import Json
from browse_together.contract.schema import full_schema

_ERROR: Final[Json] = {
    "type": "object",
    "properties": {
        "success": {"const": False},
        "error": {
            "type": "object",
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}, "details": {"type": "object"}},
            "required": ["code", "message"],
        },
    },
    "required": ["success", "error"],
}
_DONE: Final[Json] = {
    "type": "object",
    "properties": {"success": {"const": True}, "result": {"type": "object"}, "notices": {"type": "array"}},
    "required": ["success", "result", "page", "notices"],
}

_PAGE_ID: Final[Json] = {"name": "page_id", "in": "path", "required": True, "schema": {"type": "string"}}


def describe(app: FastAPI) -> None:
    """Add the actions and the form of replies to /openapi.json. `catalogue.parse` does the validation."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:  # Any: FastAPI's own annotation
        document = plain()
        body = {"required": True, "content": _json(_any_action())}
        done = {"200": {"description": "Done", "content": _json(_DONE)}}
        for path, parameters in ((wire.BROWSER, []), (wire.BROWSER + "/{page_id}", [_PAGE_ID])):
            post = {"summary": "Act", "parameters": parameters, "requestBody": body, "responses": {**done}}
            document["paths"][path] = {"post": post}
        for operation in (each for path in document["paths"].values() for each in path.values()):
            operation["responses"].pop("422", None)  # FastAPI's error form, which our replies never have
            operation["responses"]["default"] = {"description": "An error", "content": _json(_ERROR)}
        document.pop("components", None)
        return document

    app.openapi = openapi  # type: ignore[method-assign] # FastAPI's documented way


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _any_action() -> Json:
    bodies: list[Json] = []
    for name, action in catalogue.ACTIONS.items():
        schema = full_schema(action)
        properties = schema["properties"]
        assert isinstance(properties, dict)  # noqa: S101 - full_schema always makes one
        required = schema.get("required", [])
        assert isinstance(required, list)  # noqa: S101 - likewise
        bodies.append(
            {
                **schema,
                "title": action.title(),
                "description": action.whole_description(),
                "properties": {"action": {"const": name}, **properties},
                "required": ["action", *required],
            }
        )
    return {"oneOf": [*bodies]}
