"""Tests that nothing that is typed into pages is left in the browser's profile."""

from pathlib import Path

import pytest

from tests.support.service import running_service, settings_for
from tests.support.site import Site

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]

TYPED = "Zq9-typed-8xW"


async def test_typed_text_tabs_and_downloads_are_in_no_file_of_the_profile(tmp_path: Path, site: Site) -> None:
    form = '<form><input name=plain aria-label="Plain"><textarea></textarea><input type=password></form>'
    async with running_service(settings_for(tmp_path)) as service, service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/form", form))
        for selector in ("[name=plain]", "textarea", "[type=password]"):
            await agent.call("fill", pageId="p", selector=selector, value=TYPED)
        saved = f"<a id=a download='{TYPED}.txt' href='data:text/plain,{TYPED}'>save</a>"
        await agent.call("goto", pageId="p", url=site.page("/saved", saved))
        assert "download" in (await agent.call("click", pageId="p", selector="#a"))["observed"]
        await agent.call(
            "goto", pageId="p", url=site.page("/other", f"<script>history.pushState(0, '', '#{TYPED}')</script>")
        )
    files = [file for file in (tmp_path / "profile").rglob("*") if file.is_file()]
    assert any(file.name == "Cookies" for file in files)
    kept = {file for file in files for text in (TYPED.encode(), TYPED.encode("utf-16-le")) if text in file.read_bytes()}
    assert {file.name for file in kept if "Cache" not in str(file)} == set()  # a site's own answer has it there
