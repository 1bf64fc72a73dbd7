"""Tests that what the OpenAPI document says of requests and replies holds, with a page that exists: schemathesis makes
the requests, a few of each kind and the same in each run, and judges the replies."""

import copy
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case, openapi
from schemathesis.checks import not_a_server_error
from schemathesis.core import NotSet
from schemathesis.core.result import Ok
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from browse_together.contract import wire
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window, pytest.mark.long]

PAGE: Final = "<h1 id=p>x</h1><input id=i><button>b</button><a href=#x>l</a>"
EXAMPLES: Final = 6
STREAMS: Final = wire.EVENTS
"""A stream that ends only with its client."""
CALLED: Final = {"find", "get_element", "scroll", "fill", "extract_text", "list_pages", "get_page_state"}
"""Stand for all: a strategy of the whole union takes ten seconds to make, and odd calls have a test of their own."""
CHECKS: Final = [*(not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)]


def described(service: RunningService) -> dict[str, AnyJson]:
    """Return the document, in which a body is one of fewer actions. Any: JSON."""
    document: dict[str, AnyJson] = copy.deepcopy(service.app.openapi())
    for path in (wire.BROWSER, f"{wire.BROWSER}/{{page_id}}"):
        schema = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        schema["oneOf"] = [each for each in schema["oneOf"] if each["properties"]["action"]["const"] in CALLED]
    return document


def cases(document: dict[str, AnyJson]) -> list[Case[AnyJson]]:
    """Return the requests, and the same in each run. Any: JSON."""
    made: list[Case[AnyJson]] = []

    def note(case: Case[AnyJson]) -> None:
        made.append(case)

    few = settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    for found in openapi.from_dict(document).get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if operation.path != STREAMS:
            seed(1)(few(given(operation.as_strategy())(note)))()
    return made


async def test_requests_of_the_document_have_replies_of_the_document(tab: Tab, service: RunningService) -> None:
    await tab.show(PAGE)
    done = set()
    for case in cases(described(service)):
        if "page_id" in case.path_parameters:
            case.path_parameters["page_id"] = "tab"
        if isinstance(case.body, dict):
            case.body |= {"timeout": 500, "selector": "#i"} if "selector" in case.body else {}
            for name in ("pageId", "sessionId", "ifRevision", "expectUrl"):
                case.body.pop(name, None)
        body = None if isinstance(case.body, NotSet) else case.body
        reply = await tab.agent.http.request(case.method, case.formatted_path, params=case.query, json=body)
        case.validate_response(Response.from_httpx(reply, verify=False), checks=CHECKS)
        done |= {(case.method, case.path)} if reply.is_success else set()
    assert ("GET", wire.PAGES) in done
    assert [path for method, path in done if method == "POST" and path.startswith(wire.BROWSER)]
