"""The resources that a chat's host can read besides the tools. One action answers each."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote

from pydantic import JsonValue

Kind = Literal["pages", "elements", "screenshots", "sessions"]

JSON: Final = "application/json"
_VARIABLE: Final = re.compile(r"\{(\w+)\}")


class Resource(NamedTuple):
    """One resource, or a template with variables in its URI."""

    uri: str
    name: str
    title: str
    description: str
    action: str
    arguments: Mapping[str, JsonValue] = MappingProxyType({})
    mime_type: str = "text/plain"
    kind: Kind | None = None
    """The kind by which the resource can be switched off and its answers cached. Without a kind it is always offered,
    and read anew."""

    def variables(self, uri: str) -> dict[str, str] | None:
        """Return the values of the variables in a URI; None if the URI is not this resource's."""
        *inner, last = _VARIABLE.split(self.uri)[::2]
        names = _VARIABLE.findall(self.uri)
        if not names:
            return {} if uri == self.uri else None
        places = [f"{re.escape(text)}([^/]+)" for text in inner[:-1]]
        places.append(f"{re.escape(inner[-1])}({'.+' if len(names) > 1 else '[^/]+'})")  # the last may contain slashes
        found = re.fullmatch("".join(places) + re.escape(last), uri, re.DOTALL)
        return dict(zip(names, map(unquote, found.groups()), strict=True)) if found else None


class Request(NamedTuple):
    """The call that reads a URI."""

    resource: Resource
    arguments: dict[str, JsonValue]


_PAGES: Final = Resource(
    "pages://",
    "open-pages",
    "Open pages",
    "The open pages in three parts: yours, people's, and other agents'.",
    "list_pages",
    MappingProxyType({"all": True}),
    mime_type=JSON,
)

RESOURCES: Final = (
    Resource(
        "browse://activity",
        "activity",
        "Activity",
        "Who did what in the shared browser, newest first.",
        "get_activity",
        MappingProxyType({"limit": 100}),
    ),
    _PAGES._replace(uri="browse://pages", name="pages", title="Pages"),
    _PAGES,
)

TEMPLATES: Final = (
    Resource(
        "page://{sessionId}",
        "Current page state",
        "Current page state",
        "Real-time page information including URL, title, and load state",
        "get_page_state",
        mime_type=JSON,
        kind="pages",
    ),
    Resource(
        "element://{sessionId}/{selector}",
        "Element information",
        "Element information",
        "Detailed information about a specific element; the selector percent-encoded",
        "get_element",
        mime_type=JSON,
        kind="elements",
    ),
    Resource(
        "screenshot://{sessionId}/{screenshotId}",
        "Page screenshot",
        "Page screenshot",
        "Screenshot image data: by the artifactId of one that you took, or `current`",
        "get_screenshot",
        mime_type="image/png",
        kind="screenshots",
    ),
    Resource(
        "session://{sessionId}",
        "Session information",
        "Session information",
        "Current session state and metadata",
        "get_session",
        mime_type=JSON,
        kind="sessions",
    ),
)
"""The templates. Their `{sessionId}` is the id of a page or of a session."""


def request(uri: str, *, ages: Mapping[str, int]) -> Request | None:
    """Return the call for a URI, or None. `ages` maps the enabled kinds to the greatest age of an answer, in ms."""
    for resource in (*RESOURCES, *TEMPLATES):
        found = resource.variables(uri)
        if found is not None and resource.kind in {None, *ages}:
            return Request(resource, {**resource.arguments, **_arguments(resource, found, ages)})
    return None


def _arguments(resource: Resource, found: dict[str, str], ages: Mapping[str, int]) -> dict[str, JsonValue]:
    arguments: dict[str, JsonValue] = {**found}
    if "~" in found.get("sessionId", "") and resource.kind != "sessions":  # only pages have it in their ids
        arguments["pageId"] = arguments.pop("sessionId")
    if resource.kind and resource.kind != "sessions" and ages[resource.kind]:
        arguments["maxAge"] = ages[resource.kind]
    return arguments
