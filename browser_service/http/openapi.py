"""Computes /openapi.json from the catalogue, with every action as one of the bodies."""

from typing import Any

from fastapi import FastAPI

from shared import catalogue, wire
from shared.model import Json
from shared.schema import full_schema


def describe(app: FastAPI) -> None:
    """Add the actions to /openapi.json. Validation itself is `catalogue.parse`."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:  # Any: FastAPI's own annotation
        document = plain()
        body = {"required": True, "content": {"application/json": {"schema": _any_action()}}}
        for path in (wire.BROWSER, wire.BROWSER + "/{page_id}"):
            document["paths"][path]["post"]["requestBody"] = body
        return document

    app.openapi = openapi  # type: ignore[method-assign] # FastAPI's documented way


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
