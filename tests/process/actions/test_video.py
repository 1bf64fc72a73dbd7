"""Tests videos of a page: what is on them, how they end, and who keeps them."""

from pathlib import Path

import pytest

from tests.page.actions.test_video import PAINTED, RED, _watched
from tests.support.service import running_service, settings_for
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def test_record_video_is_kept_when_the_service_stops(tmp_path: Path, site: Site) -> None:
    url = site.page("/", PAINTED.format(colour=RED))
    async with running_service(settings_for(tmp_path)) as service, service.agent("Claude") as agent:
        await agent.call("goto", url=url)
        await agent.call("record_video", command="start")
    (kept,) = (tmp_path / "output").iterdir()
    assert (kept.name.startswith("video-main-"), kept.suffix) == (True, ".mp4")
    assert {colour for _, colour in _watched(kept.read_bytes())} == {(240, 0, 0)}
