"""Tests what a person means who points at a page."""

import pytest

from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

_HTML = (
    "<style>body {margin: 0} button {display: block; width: 200px; height: 60px}</style><button><b>Buy</b></button>"
    "<form name=body style='width: 200px; height: 60px'>12 euros</form>"
)


async def test_an_element_is_meant_and_on_blank_space_nothing(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="shop", url=site.page("/shop", _HTML))
    point = service.parts.reads.point
    button, words = [await point("shop", 100, y, picks=True) for y in (30, 90)]
    assert (button.role, button.name, bool(button.ref)) == ("button", "Buy", True)
    assert words.name == "12 euros"
    for x, y in ((600, 30), (600, 400)):  # beside what there is, and below it
        for picks in (False, True):
            assert (await point("shop", x, y, picks=picks)).box is None
