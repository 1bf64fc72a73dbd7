"""Tests bodies that mean two things, or would keep everybody waiting while they are read: refused, and no defect."""

import pytest

from browse_together.contract import wire
from tests.support.service import Agent

pytestmark = pytest.mark.anyio

REFUSED = {
    b'{"action": "list_pages", "action": "close_page", "pageId": "a"}': "the key 'action' twice",
    b'{"action": "goto", "url": "http://a/", "params": {"timeout": 1, "timeout": 2}}': "the key 'timeout' twice",
    b'{"action": "wait", "duration": 1e999}': "too large",
    b'{"action": "wait", "duration": ' + b"9" * 5_000 + b"}": "too large",
    b'{"action": "evaluate_script", "expression": "1", "arg": ' + b"[" * 200 + b"]" * 200 + b"}": "deeper than 64",
    b'{"action": "evaluate_script", "expression": "1", "arg": [' + b"[]," * 100_000 + b"[]]}": "more than 20,000",
    b"{" + b",".join(b'"%d":0' % n for n in range(400_000)) + b"}": "more than 20,000",
    b'{"action": "list_pages", "x\xff": 1}': "invalid",
}


@pytest.mark.parametrize("body", REFUSED, ids=lambda body: str(body[:40]))
async def test_a_body_is_refused_before_it_is_read_and_the_reply_says_why(agent: Agent, body: bytes) -> None:
    reply = await agent.http.post(wire.BROWSER, content=body, headers={"Content-Type": "application/json"})
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (400, "INVALID_REQUEST")
    assert REFUSED[body] in error["message"]


async def test_a_mark_of_the_byte_order_is_no_part_of_the_body(agent: Agent) -> None:
    body = b'\xef\xbb\xbf{"action": "list_pages"}'
    reply = await agent.http.post(wire.BROWSER, content=body, headers={"Content-Type": "application/json"})
    assert reply.json()["success"] is True
