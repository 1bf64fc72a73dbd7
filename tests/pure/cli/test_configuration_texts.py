"""Tests the edits of configuration texts: whatever else is in them stays, or a person makes the change."""

import json
import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from browser_service.cli.install.texts import JsonText, Malformed, NotEditable, TomlText

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
    added = JsonText().edited(text, "servers", "own", ENTRY)
    others = document.get("servers", {})
    assert isinstance(others, dict)
    assert json.loads(added) == {**document, "servers": {**others, "own": ENTRY}}
    assert added.count("\r\n") == (added.count("\n") if "\r\n" in text else 0)
    assert JsonText().says_same(JsonText().edited(added, "servers", "own", None), text)


def test_comments_are_read_and_not_lost() -> None:
    text = '{ // first\n "servers": {\n  "a": 1 // beside\n  /* below */,\n }\n}'
    assert KINDS.servers(text, "servers") == {"a": 1}
    for entry in (ENTRY, None):
        with pytest.raises(NotEditable):
            KINDS.edited(text, "servers", "own", entry)


def test_a_text_whose_readers_may_not_agree_is_not_edited() -> None:
    with pytest.raises(Malformed, match="has the key 'own' twice"):
        KINDS.edited('{"servers": {"own": 1, "own": 2}}', "servers", "own", None)


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
    added = TomlText().edited(text, "servers", "own", ENTRY)
    before = tomllib.loads(text)
    assert tomllib.loads(added) == {**before, "servers": {**before.get("servers", {}), "own": ENTRY}}
    removed = TomlText().edited(added, "servers", "own", None)
    assert removed == text or "{" in text or not text.endswith("\n")
    for each in (added, removed):
        assert [line for line in text.splitlines() if "#" in line and line.partition("#")[2] not in each] == []
    assert {**before, "servers": {}} | tomllib.loads(removed) == {"servers": {}} | before


def test_of_an_entry_of_toml_only_what_differs_is_written_anew() -> None:
    text = "[servers.own]\ncommand='/old' # mine\nargs = ['a b', '\"']\n\n[servers.own.env]\nK = 'v'\n"
    changed = TomlText().edited(text, "servers", "own", {**ENTRY, "env": {"K": "v"}})
    assert changed == text.replace("'/old'", '"/bin/x"')


@given(value=st.dictionaries(st.text("abc", min_size=1), st.integers() | st.text(max_size=5), max_size=3))
def test_what_a_toml_entry_says_beside_the_command_stays(value: dict[str, object]) -> None:
    text = tomlkit.dumps({"servers": {"own": value}})
    changed = TomlText().edited(text, "servers", "own", {**value, **ENTRY})  # type: ignore[dict-item] # JSON
    assert tomllib.loads(changed)["servers"]["own"] == {**value, **ENTRY}


def test_tables_of_an_entry_are_taken_out_where_no_comment_of_others_is_lost() -> None:
    before, own, env = "[servers.a]\nx = 1\n\n", "[servers.own]\nx = 1\n", "[servers.own.env]\nK = 'v'\n\n"
    assert TomlText().edited(f"{before}{own}{env}[other]\ny = 1\n", "servers", "own", None) == (
        f"{before}[other]\ny = 1\n"
    )
    with pytest.raises(NotEditable):
        TomlText().edited(f"{before}{own}{env}# the other\n[other]\ny = 1\n", "servers", "own", None)
