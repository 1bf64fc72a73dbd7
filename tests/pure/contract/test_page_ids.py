"""Tests what a page or a session may be called: the pattern decides, and a refusal shows a name that would do."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from browse_together.contract.actions.base import PageAction
from browse_together.contract.argument_errors import check_page_id
from browse_together.contract.catalogue import parse
from browse_together.contract.errors import ErrorBody, ValidationFailed
from browse_together.contract.wire import ANY_PAGE_ID_PATTERN, ID_PATTERN, RESERVED_IDS, is_page_id, nearest_valid_id

NEARLY = st.from_regex(r"[A-Za-z0-9._~\- ]{0,60}", fullmatch=True)
ANYTHING = st.one_of(st.text(), NEARLY, st.from_regex(ANY_PAGE_ID_PATTERN, fullmatch=True))


def context(error: ErrorBody) -> dict[str, object]:
    inner = error.details["context"]
    assert isinstance(inner, dict)
    return dict(inner)


@given(ANYTHING)
@example("pages")
@example("")
@example("a\n")
@example("٣")
@example("../../etc")
@example("x" * 49)
def test_any_text_is_a_page_id_or_is_refused_with_one_that_is(text: str) -> None:
    if re.fullmatch(ANY_PAGE_ID_PATTERN, text) and text not in RESERVED_IDS:
        parsed = parse({"action": "get_current_url", "pageId": text})
        assert isinstance(parsed, PageAction)
        assert parsed.page_id == check_page_id(text) == text
        return
    with pytest.raises(ValidationFailed) as in_path:
        check_page_id(text)
    if not text:  # in a body it stands for none
        assert parse({"action": "get_current_url", "pageId": text}) == parse({"action": "get_current_url"})
        return
    with pytest.raises(ValidationFailed) as in_body:
        parse({"action": "get_current_url", "pageId": text})
    assert in_body.value.message == in_path.value.message
    suggested = str(context(in_body.value.body())["example"])
    assert re.fullmatch(str(context(in_body.value.body())["pattern"]), suggested)
    assert check_page_id(suggested) == suggested
    assert f'"pageId": "{suggested}"' in str(in_body.value.advice)


@given(ANYTHING)
def test_a_session_id_is_refused_with_one_that_is_valid(text: str) -> None:
    if re.fullmatch(ID_PATTERN, text):
        assert parse({"action": "list_pages", "sessionId": text}).wire_body()["sessionId"] == text
        return
    if not text:
        assert parse({"action": "list_pages", "sessionId": text}) == parse({"action": "list_pages"})
        return
    with pytest.raises(ValidationFailed, match="sessionId") as caught:
        parse({"action": "list_pages", "sessionId": text})
    assert re.fullmatch(ID_PATTERN, str(context(caught.value.body())["example"]))


@pytest.mark.parametrize("reserved", sorted(RESERVED_IDS))
def test_a_path_of_the_service_is_no_page(reserved: str) -> None:
    with pytest.raises(ValidationFailed, match=f"'{reserved}' is a path of the service") as caught:
        parse({"action": "goto", "url": "https://example.com", "pageId": reserved})
    assert caught.value.body().details["tool"] == "goto"


@pytest.mark.parametrize(("wished", "spelled"), [("My Page!", "My-Page"), ("pages", "page-pages"), ("~", "page")])
def test_a_suggestion_keeps_what_it_can(wished: str, spelled: str) -> None:
    assert nearest_valid_id(wished) == spelled


@pytest.mark.parametrize("text", ["shop~1", "shop~999999", "default~12"])
def test_popups_and_foreign_tabs_have_ids_that_no_session_has(text: str) -> None:
    assert is_page_id(text)
    with pytest.raises(ValidationFailed):
        parse({"action": "list_pages", "sessionId": text})


@pytest.mark.parametrize("text", ["shop~0", "shop~01", "shop~1~2", "~1", "shop~"])
def test_popups_are_counted_from_one_and_by_their_root(text: str) -> None:
    assert not is_page_id(text)


@pytest.mark.parametrize("value", [5, True, ["cart"], {"id": "cart"}])
def test_a_page_id_that_is_no_text_is_refused(value: int | list[str] | dict[str, str]) -> None:
    with pytest.raises(ValidationFailed, match="pageId of content"):
        parse({"action": "content", "pageId": value})  # type: ignore[dict-item] # JSON all the same
