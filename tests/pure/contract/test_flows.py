"""Tests flows as files, and as plain Playwright."""

import asyncio
from pathlib import Path

import pytest

from browser_service.flows.export import as_pytest, as_python
from browser_service.flows.files import FlowFiles
from shared.errors import Forbidden, ValidationFailed
from shared.flows import parse, unquoted
from tests.support.json import AnyJson


def flow_of(**more: AnyJson) -> dict[str, AnyJson]:
    steps = [{"action": "goto", "url": "https://shop.example/{{from_}}"}]
    return {"version": 1, "name": "tea", "parameters": {"from_": {}}, "steps": steps, **more}


def test_names_of_parameters_are_no_code() -> None:
    with pytest.raises(ValidationFailed, match="parameters"):
        parse(flow_of(parameters={"x: str = print(1), y": {}}, steps=[{"action": "go_back"}]), "tea")


@pytest.mark.parametrize("name", ["page", "from", "class", "re"])
def test_an_export_is_python_whatever_its_parameters_are_called(name: str) -> None:
    steps = [{"action": "fill", "selector": ["#a"], "value": f"Dear {{{{ {name} }}}}!"}]
    flow = parse(flow_of(name="2fa", parameters={name: {}}, steps=steps), "2fa")
    for text in (as_python(flow), as_pytest(flow)):
        compile(text, "export", "exec")
        assert f".fill(f'Dear {{flow_{name}}}!')" in text


def test_a_name_in_a_selector_is_read_whatever_its_escapes_are() -> None:
    assert (unquoted(r"it\'s"), unquoted(r"say \"go\"")) == ("it's", 'say "go"')


def test_a_persons_flow_is_not_an_agents_to_change_and_what_is_too_large_is_not_written(tmp_path: Path) -> None:
    files = FlowFiles(tmp_path)
    small = parse(flow_of(), "tea")
    asyncio.run(files.write(small, client_id="cli", operator=True))
    with pytest.raises(Forbidden):
        asyncio.run(files.write(small, client_id="agent", operator=False))
    parameters = {f"p{number}": {"default": "x" * 100_000} for number in range(11)}
    large = parse(flow_of(parameters={"from_": {}, **parameters}), "tea")
    with pytest.raises(ValidationFailed, match="bytes"):
        asyncio.run(files.write(large, client_id="cli", operator=True))
    assert files.load("tea") == small
