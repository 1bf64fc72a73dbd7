"""Tests the edits of configuration texts: whatever else is in them stays, character for character."""

import json
import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from browser_service.cli.install.documents import Malformed, servers, with_entry, without_entry
from browser_service.cli.install.json_text import JsonText
from browser_service.cli.install.toml_text import TomlText

ENTRY: dict[str, JsonValue] = {"command": "/bin/x", "args": ["a b", '"']}
KINDS = JsonText(comments=True)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
groups = st.dictionaries(st.text(max_size=6).filter(lambda name: name != "own"), values, max_size=3)
documents = st.fixed_dictionaries({}, optional={"servers": groups, "a": values, "z": values})


@given(document=documents, indent=st.sampled_from([None, 1, 4, "\t"]), newline=st.sampled_from(["\n", "\r\n"]))
def test_an_entry_of_json_comes_and_goes_alone(
    document: dict[str, object], indent: int | str | None, newline: str
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False).replace("\n", newline)
    added = with_entry(JsonText(), text, "servers", "own", ENTRY)
    others = document.get("servers", {})
    assert isinstance(others, dict)
    assert json.loads(added) == {**document, "servers": {**others, "own": ENTRY}}
    assert added.count("\r\n") == (added.count("\n") if "\r\n" in text else 0)
    removed = without_entry(JsonText(), added, "servers", "own")
    assert removed == text or not others


@pytest.mark.parametrize(
    "text",
    [
        '{"servers": {"a": 1, "b": "//no comment"}}',
        '{ // first\n "servers": {\n  // above\n  "a": 1 // beside\n  /* below */\n }\n}',
        '{"servers": {"a": "}{\\"",},}',
        '\ufeff{\n  "servers": {\n    "a": 1\n  }\n}',
        '{\r\n\t"servers": {\r\n\t\t"a": 1\r\n\t}\r\n}\r\n',
        '{"servers": {"a": 1}, "servers": {"b": 2}}',
    ],
)
def test_what_is_written_by_hand_stays(text: str) -> None:
    added = with_entry(KINDS, text, "servers", "own", ENTRY)
    assert servers(KINDS, added, "servers") == {**servers(KINDS, text, "servers"), "own": ENTRY}
    assert without_entry(KINDS, added, "servers", "own") == text


def test_an_entry_is_taken_from_the_first_the_middle_and_the_only_place() -> None:
    lines = ['  "a": 1', '  "own": {"x": [1]}', '  "b": 2']
    for order in ([1, 0, 2], [0, 1, 2]):
        text = "{\n" + '"servers": {\n' + ",\n".join(lines[place] for place in order) + "\n}}"
        rest = "{\n" + '"servers": {\n' + ",\n".join([lines[0], lines[2]]) + "\n}}"
        assert without_entry(KINDS, text, "servers", "own") == rest
    assert without_entry(KINDS, '{"servers": {"own": 1}}', "servers", "own") == '{"servers": {}}'
    assert without_entry(KINDS, '{"servers": {"own": 1, "a": 2}}', "servers", "own") == '{"servers": {"a": 2}}'


def test_a_name_given_twice_cannot_be_removed_alone() -> None:
    with pytest.raises(Malformed, match="cannot be changed alone"):
        without_entry(KINDS, '{"servers": {"own": 1, "own": 2}}', "servers", "own")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1",
        "# only a comment\n",
        "[servers]\n[servers.a]\nx = 1 # one\n\n[other]\ny = [\n  1, # two\n]\n",
        "servers = { a = { x = 1 } } # inline\n",
        "[servers.a]\nx = 1\n[other]\n[servers.b]\ny = 2\n",
        "servers.a.x = 1\n",
        "[servers.a]\n[servers]\n# out of order\n",
        "[servers]\r\n[servers.a]\r\nx = 1\r\n\r\n# of the other\r\n[other]\r\n",
    ],
)
def test_an_entry_of_toml_comes_and_goes_with_all_comments_kept(text: str) -> None:
    added = with_entry(TomlText(), text, "servers", "own", ENTRY)
    before = tomllib.loads(text)
    assert tomllib.loads(added) == {**before, "servers": {**before.get("servers", {}), "own": ENTRY}}
    removed = without_entry(TomlText(), added, "servers", "own")
    assert removed == text or "{" in text or not text.endswith("\n")
    for each in (added, removed):
        assert [line for line in text.splitlines() if "#" in line and line.partition("#")[2] not in each] == []
    assert {**before, "servers": {}} | tomllib.loads(removed) == {"servers": {}} | before


def test_of_an_entry_of_toml_only_what_differs_is_written_anew() -> None:
    text = "[servers.own]\ncommand='/old' # mine\nargs = ['a b', '\"']\n\n[servers.own.env]\nK = 'v'\n"
    changed = with_entry(TomlText(), text, "servers", "own", {**ENTRY, "env": {"K": "v"}})
    assert changed == text.replace("'/old'", '"/bin/x"')


@given(value=st.dictionaries(st.text("abc", min_size=1), st.integers() | st.text(max_size=5), max_size=3))
def test_what_a_toml_entry_says_beside_the_command_stays(value: dict[str, object]) -> None:
    text = tomlkit.dumps({"servers": {"own": value}})
    changed = with_entry(TomlText(), text, "servers", "own", {**value, **ENTRY})  # type: ignore[dict-item] # JSON
    assert tomllib.loads(changed)["servers"]["own"] == {**value, **ENTRY}


def test_tables_of_an_entry_are_taken_out_from_between_others() -> None:
    before, own, after = (
        "[servers.a]\nx = 1\n\n",
        "[servers.own] # mine\nx = [\n  1,\n]\n\n",
        "# the other\n[other]\ny = 1\n",
    )
    env = "[servers.own.env]\nK = 'v'\n"
    assert without_entry(TomlText(), before + own + env + after, "servers", "own") == before + after
    assert without_entry(TomlText(), own + after + env, "servers", "own") == after
