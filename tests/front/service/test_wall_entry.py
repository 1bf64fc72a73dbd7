"""Tests the way in to the wall: a link of the account's owner becomes a cookie and a proof, and nothing else does."""

import httpx
import pytest

from browse_together.contract import wire
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService

pytestmark = pytest.mark.anyio


async def link(service: RunningService, *, read_only: bool = False) -> str:
    async with service.agent(operator=True) as owner:
        reply = await owner.http.post(wire.WALL_LINK, json={"readOnly": read_only, "name": "ana"})
        return str(reply.json()["result"]["code"])


def visitor(service: RunningService) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=service.app), base_url=service.base_url)


async def test_a_link_becomes_a_cookie_that_no_script_reads_and_a_proof(service: RunningService) -> None:
    async with visitor(service) as browser:
        entered = await browser.post(wire.WALL_ENTER, json={"code": await link(service, read_only=True)})
        assert entered.status_code == 200
        assert entered.json()["result"]["readOnly"] is True
        cookie = entered.headers["set-cookie"]
        assert {"HttpOnly", "Path=/", "SameSite=strict"} <= {part.strip() for part in cookie.split(";")}
        assert (await browser.post(wire.WALL_LEAVE, json={})).status_code == 403
        proof = {wire.PROOF: entered.json()["result"]["proof"]}
        assert (await browser.post(wire.WALL_LEAVE, json={}, headers=proof)).status_code == 200
        assert (await browser.post(wire.WALL_LEAVE, json={}, headers=proof)).status_code == 401


async def test_only_the_accounts_own_person_on_this_machine_stays_signed_in(service: RunningService) -> None:
    elsewhere = httpx.ASGITransport(app=service.app, client=("192.0.2.7", 4000))
    for read_only, stays in ((False, True), (True, False)):
        async with visitor(service) as browser:
            code = await link(service, read_only=read_only)
            entered = await browser.post(wire.WALL_ENTER, json={"code": code})
            proof = {wire.PROOF: entered.json()["result"]["proof"]}
            assert (await browser.post(wire.WALL_RENEW, json={})).status_code == 403
            renewed = await browser.post(wire.WALL_RENEW, json={}, headers=proof)
            assert (renewed.status_code, "set-cookie" in renewed.headers) == (200, stays)
            async with httpx.AsyncClient(
                transport=elsewhere, base_url=service.base_url, cookies=browser.cookies
            ) as far:
                assert (await far.post(wire.WALL_RENEW, json={}, headers=proof)).status_code == 403


async def test_nobody_else_makes_a_link_or_gets_in(service: RunningService, agent: Agent) -> None:
    assert (await agent.http.post(wire.WALL_LINK, json={})).status_code == 403
    async with visitor(service) as browser:
        assert (await browser.post(wire.WALL_LINK, json={})).status_code == 401
        code = await link(service)
        for wrong in ({"code": "x"}, {"code": ""}, {"code": 1}, {}, {"code": "x" * 5_000}):
            refused = await browser.post(wire.WALL_ENTER, json=wrong)
            assert refused.status_code in {401, 422}
            assert "browse-together show" in refused.text
        foreign = {"Origin": "https://evil.example"}
        assert (await browser.post(wire.WALL_ENTER, json={"code": code}, headers=foreign)).status_code == 403
        assert (await browser.post(wire.WALL_ENTER, json={"code": code})).status_code == 200
        again = (await browser.post(wire.WALL_ENTER, json={"code": code})).json()["error"]
        assert (again["code"], "used already" in again["message"]) == ("UNAUTHORIZED", True)


async def test_nobody_gets_in_from_another_machine_without_tls(service: RunningService) -> None:
    code = await link(service)
    elsewhere = httpx.ASGITransport(app=service.app, client=("192.0.2.7", 4000))
    async with httpx.AsyncClient(transport=elsewhere, base_url=service.base_url) as browser:
        refused = await browser.post(wire.WALL_ENTER, json={"code": code})
        assert (refused.status_code, "TLS" in refused.text) == (403, True)


async def test_people_elsewhere_get_in_only_by_the_configured_address(start: StartService) -> None:
    service = await start(public_url="https://browse.example.com")
    async with service.agent(operator=True) as owner:
        made = (await owner.http.post(wire.WALL_LINK, json={})).json()["result"]
    address, _, code = str(made["url"]).partition("/#")
    assert address == "https://browse.example.com"
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=service.app), base_url=service.base_url) as proxy:
        other = await proxy.post(wire.WALL_ENTER, json={"code": code}, headers={"Host": "browse.example.org"})
        assert other.status_code == 403
        named = {"Host": "browse.example.com", "Origin": address}
        entered = await proxy.post(wire.WALL_ENTER, json={"code": code}, headers=named)
        assert "; Secure" in entered.headers["set-cookie"]


async def test_the_page_can_be_opened_by_a_link_not_framed_and_runs_only_its_own_scripts(
    service: RunningService,
) -> None:
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    async with visitor(service) as browser:
        page = await browser.get(wire.WALL, headers=followed)
        policy = page.headers["content-security-policy"]
        assert (page.status_code, "frame-ancestors 'none'" in policy) == (200, True)
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert (await browser.get(f"{wire.WALL_FILES}/main.js")).headers["content-type"].startswith("text/javascript")
        assert (await browser.get(f"{wire.WALL_FILES}/..%2fperson.html")).status_code == 404
        assert (await browser.get(wire.WALL, headers={**followed, "sec-fetch-dest": "iframe"})).status_code == 403


async def test_the_wall_comes_packed_to_whoever_can_unpack_it(service: RunningService) -> None:
    async with visitor(service) as browser:
        packed = await browser.get(f"{wire.WALL_FILES}/wall.css")
        plain = await browser.get(f"{wire.WALL_FILES}/wall.css", headers={"Accept-Encoding": "identity"})
        assert (packed.headers["content-encoding"], "content-encoding" in plain.headers) == ("gzip", False)
        assert packed.text == plain.text
