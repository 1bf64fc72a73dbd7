"""Tests which names are pages, without a browser: one directory knows the open, the reserved and the closed ones."""

import pytest

from browse_together.contract import catalogue
from browse_together.contract.calls import ClientRef
from browse_together.contract.errors import Forbidden, PageNotFound
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState
from browser_service.security.auth import Identity
from browser_service.sessions.directory import Directory
from browser_service.sessions.records import SessionRecord
from browser_service.spine.addressing import Address, Addressing

ME = Identity(client_id="me", label="Claude")


@pytest.fixture
def directory() -> Directory:
    directory = Directory()
    directory.sessions.add(SessionRecord(session_id="default"))
    directory.sessions.add(SessionRecord(session_id="theirs", owner=ClientRef(client_id="other"), shared=False))
    return directory


def address(directory: Directory, action: str, **arguments: str) -> Address:
    body: Json = {"action": action, **arguments}
    return Addressing(directory).address(catalogue.parse(body), ME)


def test_a_name_is_reserved_only_as_long_as_the_call_that_may_open_a_page_of_it(directory: Directory) -> None:
    with directory.reserve(directory.free_name(), "me"), directory.reserve(directory.free_name(), "me") as second:
        assert second.startswith("main-")
        assert directory.reserved_by("me") == {"main", second}
        assert directory.reserved_by("other") == set()
        assert not directory.is_taken("main", "me")
        assert directory.is_taken("main", "other")
    assert directory.reserved_by("me") == set()
    assert directory.free_name() == "main"


def test_two_calls_that_open_one_page_reserve_its_name_until_both_have_ended(directory: Directory) -> None:
    with directory.reserve("shop", "me"):
        with directory.reserve("shop", "me"):
            assert directory.is_taken("shop")
        assert directory.is_taken("shop")
    assert not directory.is_taken("shop")


def test_addressing_a_call_reserves_no_name(directory: Directory) -> None:
    assert address(directory, "goto", url="about:blank") == Address("main", "default", is_new=True)
    assert address(directory, "goto", url="about:blank", pageId="p") == Address("p", "default", is_new=True)
    with pytest.raises(Forbidden):
        address(directory, "goto", url="about:blank", sessionId="theirs")
    assert directory.free_name() == "main"
    assert not directory.is_taken("p")


def test_only_a_call_that_may_open_a_page_gets_the_address_of_a_new_one(directory: Directory) -> None:
    directory.note(PageState(page_id="shop", session_id="default", holder_id="me"))
    assert address(directory, "goto", pageId="shop", url="about:blank") == Address("shop", "default")
    assert address(directory, "goto", pageId="news", url="about:blank") == Address("news", "default", is_new=True)
    assert address(directory, "content") == Address("shop", "default")
    with pytest.raises(PageNotFound, match="There is no page 'shop2'"):
        address(directory, "content", pageId="shop2")
    directory.drop("shop")
    with pytest.raises(PageNotFound, match="There is no page 'shop'"):
        address(directory, "content", pageId="shop")
