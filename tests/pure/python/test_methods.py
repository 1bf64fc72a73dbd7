"""Tests that the Python client's methods, results and errors are the catalogue's."""

import asyncio
import contextlib
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browse_together import errors
from browse_together.actions import AsyncBrowserActions, AsyncPageActions, BrowserActions, PageActions
from browse_together.calling import Given, R, arguments_of
from browse_together.contract import toolsets
from browse_together.contract.actions.base import Action, PageAction
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import every_error
from browse_together.contract.next_calls import next_call
from browse_together.contract.schema import full_schema, inherited_names, properties_of, required_of
from browse_together.naming import wire_name
from browse_together.refusals import BrowseError, Busy
from browse_together.results import RESULTS, Answer, Done, Download, File, Table
from browse_together.spelling import in_python, next_calls
from tests.support.each import each

OURS = {name: action for name, action in ACTIONS.items() if toolsets.category(action) not in {"seven", "help"}}
FORMS = {"extract_table": {"rows", "format", "save"}, "extract_data": {"format", "save"}}
ANSWER = Answer({"tables": [{"headers": [], "rows": []}]}, None, [])


class Recording(PageActions, BrowserActions):
    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, object]]] = []

    def _call(self, action: str, kind: type[R], given: Given) -> R:
        self.calls.append((action, arguments_of(given)))
        return kind.of(ANSWER)


class Awaiting(AsyncPageActions, AsyncBrowserActions):
    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, object]]] = []

    async def _call(self, action: str, kind: type[R], given: Given) -> R:
        self.calls.append((action, arguments_of(given)))
        return kind.of(ANSWER)


def parameters(method: Callable[..., Any]) -> dict[str, str]:  # Any: any result
    """Return a value for each parameter of a method."""
    given = inspect.signature(method).parameters.values()
    return {each.name: f"of {each.name}" for each in given if each.kind is not inspect.Parameter.VAR_KEYWORD}


@each(OURS)
def test_a_method_takes_and_sends_every_argument_of_its_action(action: type[Action]) -> None:
    recording, awaiting = Recording(), Awaiting()
    method, its_twin = getattr(recording, action.name()), getattr(awaiting, action.name())
    given = parameters(method)
    method(**given)
    asyncio.run(its_twin(**given))
    assert recording.calls == awaiting.calls == [(action.name(), given)]
    arguments = {*properties_of(full_schema(action))}
    if hasattr(PageActions, action.name()):
        assert issubclass(action, PageAction)
        arguments -= inherited_names(action)
    arguments -= FORMS.get(action.name(), set()) | ({"budget"} if "cursor" not in arguments else set())
    assert {wire_name(name) for name in given} == arguments
    with pytest.raises(TypeError) if required_of(full_schema(action)) else contextlib.nullcontext():
        method()
    assert " ".join((method.__doc__ or "").split()[:3]) == " ".join(action.description().split()[:3])


def test_every_result_is_of_an_action_and_every_error_has_its_class() -> None:
    assert RESULTS.keys() <= OURS.keys()
    codes = {error.code for error in (*BrowseError.__subclasses__(), *Busy.__subclasses__())}
    assert codes == {error.code for error in every_error()}
    assert {getattr(errors, name) for name in errors.__all__} >= {*Busy.__subclasses__()}


def test_calls_in_hints_are_spelt_as_python() -> None:
    wait, goto = next_call("claim_page", page_id="cart", wait_seconds=30), next_call("goto", ..., url="...")
    hint = f"Wait: {wait}. Or {next_call('list_pages')}, or {goto}: {{x}}."
    assert in_python(hint) == (
        'Wait: browser.page("cart").claim_page(wait_seconds=30). '
        'Or browser.list_pages(), or page.goto(url="...", ...): {x}.'
    )
    assert in_python('or with "strict": false for the first') == "or with strict=False for the first"
    assert [call.action for call in next_calls(hint)] == ["claim_page", "list_pages", "goto"]
    assert next_calls('a page says: click {"selector": "#buy"}') == []


def test_a_file_that_did_not_come_says_why() -> None:
    done = Done.of(Answer({"downloads": [{"name": "a.csv", "state": "failed", "reason": "cut off"}]}, None, []))
    with pytest.raises(FileNotFoundError, match=r"a\.csv: the download is failed\. cut off"):
        os.fspath(done.downloads[0])
    with pytest.raises(FileNotFoundError, match="stopped"):
        os.fspath(File.of(Answer({"observed": "stopped"}, None, [])))
    assert Download(name="a.csv", path="/files/a.csv").path == Path("/files/a.csv")


def test_a_table_without_rows_is_empty() -> None:
    assert Table.of(ANSWER) == []


def test_the_commands_do_not_import_the_client() -> None:
    code = "import browse_together, sys; print([*sys.modules.keys() & {'pydantic', 'httpx', 'asyncio'}])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
