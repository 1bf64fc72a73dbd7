"""Tests what is remembered of the lines on pages that chats have read."""

from pydantic import JsonValue

from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.replies import ForModel
from browser_service.spine.rendering.readers import Readers
from browser_service.spine.rendering.reply import rendered

LINE = "[page cart · https://shop.example]"


def needs(told: Readers, body: Json, line: str = LINE, page_id: str = "cart", client: str = "ana") -> bool:
    return told.reader(client, body, None).needs(page_id, line)


def test_each_client_and_agent_reads_a_line_once_until_it_changes() -> None:
    told = Readers()
    named: Json = {"pageId": "cart"}
    assert [needs(told, named), needs(told, named)] == [True, False]
    assert [needs(told, named, LINE + "!"), needs(told, named, LINE + "!")] == [True, False]
    assert [needs(told, {**named, "as": "bo"}), needs(told, {**named, "as": "bo"})] == [True, False]
    assert [needs(told, named, client="bo"), needs(told, named, client="bo")] == [True, False]


def test_a_call_without_a_page_learns_which_page_it_used_if_that_changed() -> None:
    told = Readers()
    for page in ("cart", "mail"):
        needs(told, {"pageId": page}, page, page)
    assert [needs(told, {}, "cart", "cart"), needs(told, {}, "cart", "cart")] == [True, False]


def test_a_client_that_counts_revisions_gets_each() -> None:
    told = Readers()
    needs(told, {"pageId": "cart"})
    assert needs(told, {"pageId": "cart", "params": {"ifRevision": 3}})
    assert needs(told, {"name": "click", "arguments": {"pageId": "cart", "expectUrl": "*"}})


def test_a_path_names_the_page_too() -> None:
    told = Readers()
    needs(told, {"pageId": "cart"})
    needs(told, {"pageId": "mail"}, "mail", "mail")
    assert not told.reader("ana", {}, "cart").needs("cart", LINE)


def test_advice_names_the_page_of_its_step_where_the_call_named_one() -> None:
    steps: list[JsonValue] = [
        {"action": "find", "pageId": page_id, "found": "", "advice": f"look: {next_call('content')}"}
        for page_id in ("cart", "mail")
    ]
    page: Json = {"pageId": "cart", "url": "https://shop.example/", "title": "", "revision": 1}
    envelope: Json = {"success": True, "result": {"steps": steps}, "page": page}
    body: Json = {"action": "batch", "pageId": "cart", "steps": []}
    told = str(rendered(envelope, body, ForModel(), reader=Readers().reader("ana", body, None)))
    assert ('content {"pageId": "cart"}' in told, 'content {"pageId": "mail"}' in told) == (True, True)
