"""Tests files of logins that are odd: each is refused in words, or its parts are, and none is a defect."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from browse_together.contract.errors import ValidationFailed
from browser_service.host.sessions import login_file
from tests.support.odd import OTHERS, TEXTS

ODD = st.sampled_from([*OTHERS, *TEXTS])
COOKIE = st.fixed_dictionaries(
    {"name": st.just("a") | ODD, "value": st.just("b") | ODD, "domain": st.just("x.test") | ODD},
    optional={"path": ODD, "expires": ODD, "secure": ODD, "sameSite": ODD, "partitionKey": ODD},
)
ORIGIN = st.fixed_dictionaries(
    {"origin": st.just("http://x.test") | ODD},
    optional={"localStorage": ODD | st.lists(st.fixed_dictionaries({"name": ODD, "value": ODD})), "indexedDB": ODD},
)


@settings(max_examples=60)
@given(
    cookies=ODD | st.lists(COOKIE, max_size=3),
    origins=ODD | st.lists(ORIGIN, max_size=3),
    site=st.none() | st.sampled_from(TEXTS),
)
def test_a_file_of_any_content_is_read_or_refused_in_words(cookies: object, origins: object, site: str | None) -> None:
    try:
        found = login_file.read(json.dumps({"cookies": cookies, "origins": origins}), site)
    except ValidationFailed:
        return
    json.dumps(found.cookies, allow_nan=False)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{" * 100_000, "deeper than 64"),
        ('{"cookies":' + "[" * 100_000, "deeper than 64"),
        ('{"cookies": [], "cookies": [1]}', "twice"),
        ('{"cookies": [{"expires": NaN}]}', "NaN is not JSON"),
        ('{"cookies": [{"name": "\\ud800", "value": "b", "domain": "x.test"}]}', "half of a character"),
        ('{"cookies": [' + "{}," * 200_000 + "{}]}", "more than 200,000 values"),
        ("no cookies at all", "no line of it is a cookie"),
    ],
    ids=lambda text: text[:20],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(content: str, said: str) -> None:
    with pytest.raises(ValidationFailed, match=said):
        login_file.read(content, None)


def test_a_cookie_with_an_invalid_date_is_refused_and_the_others_are_kept() -> None:
    dates = {"never": "9" * 400, "kept": "4000000000"}
    lines = (f"x.test\tTRUE\t/\tTRUE\t{date}\t{name}\tb" for name, date in dates.items())
    found = login_file.read("\n".join(lines), None)
    assert [cookie["name"] for cookie in found.cookies] == ["kept"]
    assert [one["what"] for one in found.refused] == ["cookie never"]
