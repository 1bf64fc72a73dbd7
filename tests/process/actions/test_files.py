"""Tests uploads and drops: what the page and its server get, and what may not be sent."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.page.actions.test_files import BYTES, FORM
from tests.support.service import Agent, RunningService, visiting
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="package")
def root(outbox: Path) -> Path:
    """Return the folder of uploads with a file, and with what is not to be uploaded."""
    (outbox / "deep").mkdir()
    (outbox / "deep" / "report.csv").write_bytes(BYTES)
    (outbox.parent / "secret.txt").write_text("secret")
    (outbox / "link.txt").symlink_to(outbox.parent / "secret.txt")
    (outbox / "way").symlink_to(outbox.parent)
    with (outbox / "huge.bin").open("wb") as huge:
        huge.truncate(50_000_001)
    return outbox


@pytest.fixture(scope="module")
async def folders(limited: RunningService, root: Path) -> AsyncIterator[tuple[Agent, Path]]:
    async with visiting(limited) as agent:
        with Site() as site:
            await agent.call("goto", pageId="p", url=site.page("/", Answer(FORM)))
            yield agent, root


async def test_a_file_of_the_operators_folders_is_uploaded_by_its_name(folders: tuple[Agent, Path]) -> None:
    agent, root = folders
    for named in ({"name": "deep/report.csv"}, {"path": "deep/report.csv"}, {"path": f"{root}/deep/report.csv"}):
        result = await agent.call("upload_file", selector="#one", files=[named])
        assert result["files"] == [{"name": "report.csv", "size": 1_280, "type": "text/csv"}]
    renamed = await agent.call("upload_file", selector="#one", files=[{"name": "r.txt", "path": "deep/report.csv"}])
    assert renamed["files"] == [{"name": "r.txt", "size": 1_280, "type": "text/plain"}]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("../secret.txt", "FORBIDDEN"),
        ("deep/../../secret.txt", "FORBIDDEN"),
        ("/etc/passwd", "FORBIDDEN"),
        ("{root}/../secret.txt", "FORBIDDEN"),
        ("{root}/way/secret.txt", "FORBIDDEN"),
        ("{root}/none.txt", "VALIDATION_ERROR"),
        ("link.txt", "FORBIDDEN"),
        ("way/secret.txt", "FORBIDDEN"),
        ("deep", "VALIDATION_ERROR"),
        ("none.txt", "VALIDATION_ERROR"),
        ("huge.bin", "VALIDATION_ERROR"),
        ("x" * 3_000, "VALIDATION_ERROR"),
    ],
    ids=lambda given: given[:30],
)
async def test_no_name_leads_out_of_the_folders(folders: tuple[Agent, Path], name: str, code: str) -> None:
    agent, root = folders
    for action in ("upload_file", "drop"):
        for how in ("name", "path"):
            error = await agent.error(action, selector="#many", files=[{how: name.format(root=root)}])
            assert error["code"] == code, error
    assert code != "FORBIDDEN" or "link" in error["message"] or "BROWSE_UPLOAD_ROOTS" in error["message"]
    held = await agent.call("evaluate_script", expression="many.files.length")
    assert held["value"] == 0
