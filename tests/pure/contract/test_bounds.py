"""Tests the limits of a body before it is parsed: its values, depth, numbers and keys, and every argument."""

import json
from collections.abc import Iterator
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from browse_together.contract.actions.base import Action
from browse_together.contract.catalogue import ACTIONS, parse
from browse_together.contract.errors import BrowseError, ValidationFailed
from browse_together.contract.json_lines import strict
from browse_together.contract.schema import Schema, full_schema, listed_schema
from browser_service.host.network.patterns import UrlPattern
from browser_service.host.reading.articles import markdown
from browser_service.security.globs import matches_glob
from tests.support.each import each

LIMITS = {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}
SIZES = {*LIMITS.values()}
JSON = st.recursive(
    st.none() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def unlimited(node: Schema, path: str) -> Iterator[str]:
    """Yield where a schema has a text, a list or an object of any size."""
    kind = str(node.get("type"))
    if kind in LIMITS and not node.keys() & {LIMITS[kind], "enum", "properties"}:
        yield path
    for key in ("properties", "items", "additionalProperties", "anyOf"):
        inner = node.get(key)
        options = inner if isinstance(inner, list) else [inner]
        named = (
            inner.items() if key == "properties" and isinstance(inner, dict) else [(key, value) for value in options]
        )
        for name, value in named:
            if isinstance(value, dict):
                yield from unlimited(value, f"{path}.{name}")


@each(ACTIONS)
def test_every_text_list_and_object_of_the_catalogue_has_a_limit_that_no_tool_list_spends_tokens_on(
    action: type[Action],
) -> None:
    assert [*unlimited(full_schema(action), action.name())] == []
    assert not any(f'"{size}"' in json.dumps(listed_schema(action)["properties"]) for size in SIZES)


@pytest.mark.parametrize(
    "body",
    [
        {"action": "click", "selector": "x" * 10_001},
        {"action": "click", "selector": "a", "expectUrl": "[" * 2_001},
        {"action": "click", "selector": "a", "modifiers": ["Alt"] * 11},
        {"action": "select_option", "selector": "a", "value": ["a"] * 1_001},
        {"action": "fetch", "url": "/", "headers": {f"x{n}": "y" for n in range(201)}},
        {"action": "extract_data", "schema": {f"x{n}": "y" for n in range(201)}},
        {"action": "click", "selector": "a", **{f"x{n}": 1 for n in range(200)}},
    ],
)
def test_more_than_an_argument_takes_is_refused_by_its_name(body: dict[str, object]) -> None:
    with pytest.raises(ValidationFailed, match=r"at most|allowed"):
        parse(cast("dict[str, None]", body))


def test_json_inside_an_argument_may_have_texts_of_any_length() -> None:
    long = "x" * 500_000
    parsed = parse({"action": "evaluate_script", "expression": "a => a", "arg": {"deep": [long]}})
    assert parsed.wire_body()["arg"] == {"deep": [long]}


@given(JSON)
@settings(max_examples=40)
def test_json_is_parsed_unchanged(value: object) -> None:
    text = json.dumps(value)
    assert json.dumps(strict.loads(text.encode())) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"a": 1, "b": 2, "a": 3}', "the key 'a' twice"),
        (b'[{"deep": {"x": 1, "\\u0078": 2}}]', "the key 'x' twice"),
        (b"[1e999]", "1e999 is too large"),
        (b"[-1e999]", "-1e999 is too large"),
        (b"[" + b"9" * 41 + b"]", "too large"),
        (b"[NaN]", "NaN is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b"[" * 65 + b"]" * 65, "deeper than 64 levels"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "deeper than 64 levels"),
        (b"[" * 5_000_000, "deeper than 64 levels"),
        (b"[" + b"[]," * 100_000 + b"[]]", "more than 20,000 values"),
        (b"[" + b"0," * 5_000_000 + b"0]", "more than 20,000 values"),
        (b"{" + b",".join(b'"%d":0' % n for n in range(400_000)) + b"}", "more than 20,000 values"),
        (b'["' + b'"' * 10_000_000 + b"," * 20_000 + b"]", "more than 20,000 values"),
        (b'["' + b'","' * 3_000_000 + b'"]', "more than 20,000 values"),
        (b'{"\xff": 1}', "invalid start byte"),
    ],
    ids=lambda text: str(text[:12]),
)
def test_a_text_that_would_keep_everybody_waiting_or_means_two_things_is_refused(text: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        strict.loads(text)


def test_signs_within_strings_count_for_nothing() -> None:
    for inside in ("[" * 100_000, "," * 100_000, '\\"' * 100_000, "{[" * 100_000, '\\\\","', "\\"):
        value = {"a": [inside, inside], 'b"': inside}
        assert strict.loads(json.dumps(value).encode()) == value


@settings(max_examples=40)
@given(st.text("a*[]?.x", max_size=30), st.text("a[]?.x", max_size=60))
def test_a_star_is_any_text_and_other_signs_are_themselves(glob: str, text: str) -> None:
    found, places = {0}, len(text)
    for sign in glob:
        found = (
            {*range(min(found), places + 1)} if sign == "*" else {at + 1 for at in found if text[at : at + 1] == sign}
        )
        if not found:
            break
    assert matches_glob(glob, text) is (places in found)


def test_a_pattern_and_an_address_of_any_length_are_compared_in_one_go() -> None:
    """Each of these took from seconds to for ever in an engine that tries again."""
    assert not matches_glob("[" * 30_000, "http://127.0.0.1/")
    assert not matches_glob("*a" * 1_000 + "b", "a" * 100_000)
    assert matches_glob("*" * 100_000 + "/", "http://127.0.0.1/")
    hungry = UrlPattern("/(a+)+$/")
    assert not any(hungry.matches("http://x/" + "a" * 200 + "b") for _ in range(1_000))
    assert hungry.too_slow


def test_patterns_that_are_slow_but_not_too_slow_share_one_allowance() -> None:
    steady = UrlPattern("/(a|aa)+$/")
    for length in range(1, 2_000):
        steady.matches("http://x/" + "a" * (length % 30) + "b")
        if steady.too_slow:
            break
    assert steady.too_slow


@pytest.mark.anyio
async def test_a_document_is_read_in_one_go_however_its_scripts_are_left_open() -> None:
    assert await markdown("<p>a</p><script>1</script ><STYLE>x</style><p>b</p><script>") == "a\n\nb"
    assert await markdown("<script>" * 20_000 + "<p>c</p>") == ""
    with pytest.raises(BrowseError, match="nested too deeply"):
        await markdown("<div>" * 2_000)
    assert "cut: " in await markdown(f"<p>{'x ' * 1_000_100}</p>")
