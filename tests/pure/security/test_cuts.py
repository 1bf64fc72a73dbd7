"""Tests that no cut leaves a part of a secret."""

import base64
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from browse_together.contract.cuts import BEYOND, cut, hide, last, shortened, shown_of, without_ends
from browse_together.contract.quoting import address, one_line
from browser_service.security.concealment import Concealment

SECRET = "K7Q2-9XVB/44TD"
LONG = "".join(f"{number:05}" for number in range(800))
MARK = "«secret:code»"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode().rstrip("=")


@pytest.fixture(autouse=True)
def hidden() -> Iterator[None]:
    with hide(Concealment([("code", SECRET), ("key", LONG)]).across):
        yield


@given(before=st.integers(0, 80), after=st.integers(0, 40), most=st.integers(1, 120))
def test_a_cut_shows_all_of_a_secret_or_its_mark(before: int, after: int, most: int) -> None:
    text = "x" * before + SECRET + "y" * after
    shown, ends = cut(text, most), last(text, most)
    assert shown.replace(SECRET, "").replace(MARK, "").strip("xy") == ""
    assert ends.replace(SECRET, "").replace(MARK, "").strip("xy") == ""
    if MARK not in shown:
        assert shown == text[:most]
    assert shortened(text, len(text)) == text


@pytest.mark.parametrize("most", [10, 13, 20, 22])
def test_encoded_and_quoted_forms_are_cut_alike(most: int) -> None:
    text = f"code=a {SECRET}".replace("/", "%2F")
    assert cut(text, most) == f"code=a {MARK}"
    assert "K7" not in one_line(f"a \n b {SECRET}", 7)
    assert "K7" not in address(f"https://a.example/?{SECRET}", 25)


@pytest.mark.parametrize(
    "encode", [lambda text: quote(text, safe=""), lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text), _base64]
)
def test_no_cut_within_an_escape_or_an_encoding_leaves_a_part(encode: Callable[[str], str]) -> None:
    spelled = encode(SECRET)
    shown = {cut(f"it is {spelled} now", most) for most in range(7, 6 + len(spelled))}
    assert shown == {f"it is {MARK}"}


def test_a_secret_that_is_longer_than_what_a_script_sends_is_known_by_its_beginning() -> None:
    text = f"it is {LONG}"
    assert cut(text[: 100 + BEYOND], 100) == "it is «secret:key»"
    assert cut(text, 3_000) == "it is «secret:key»"


def test_text_beyond_a_scripts_cut_is_removed() -> None:
    given_by_page: JsonValue = {
        "name": "'x K7Q2\ufdd0-9XVB/44TD and more\ufdd1…'",
        "rest": ["a\ufdd0 b\ufdd1"],
        "count": 2,
    }
    assert without_ends(given_by_page) == {"name": f"'x {MARK}…'", "rest": ["a"], "count": 2}
    many = without_ends(["a\ufdd0b\ufdd1"] * 3_000)
    assert isinstance(many, list)
    assert (len(many), many[0], many[-1]) == (3_000, "a", "")


@pytest.mark.parametrize(("count", "shown"), [(0, 0), (2, 2), (3, 3), (4, 4), (5, 3), (90, 3)])
def test_the_number_of_what_is_left_out_never_stands_where_it_would_fit_itself(count: int, shown: int) -> None:
    assert shown_of(count, 3) == shown
