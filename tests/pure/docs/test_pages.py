"""Tests that what the pages for people say is so: their tables, tools, links and configurations."""

import json
import re
from pathlib import PurePosixPath

import pytest
import yaml

from browser_service.cli.install.command import FIRST_PROMPT
from scripts.settings_tables import PAGE, filled
from shared.catalogue import ACTIONS
from tests.support.docs import PAGES, ROOT, page


def test_the_settings_tables_are_what_the_settings_classes_say() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert filled(text) == text, "run `make docs`"


def test_every_tool_is_named_and_no_other() -> None:
    section = page("docs/tools.md").split("[The reference]", 1)[0]
    assert set(re.findall(r"`([a-z_0-9]+)`", section)) == set(ACTIONS)


@pytest.mark.parametrize("name", PAGES)
def test_every_linked_file_exists(name: str) -> None:
    linked = re.findall(r"\]\(([^)#:]+)\)", page(name))
    assert [link for link in linked if not (ROOT / PurePosixPath(name).parent / link).exists()] == []


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    readme = page("README.md")
    assert len(readme.splitlines()) <= 150
    lead_on = {"docs/index.md", "docs/reference.md"}  # they are reached from the others
    assert {name for name in PAGES if name.startswith("docs/")} - lead_on <= set(re.findall(r"\]\(([^)#]+)\)", readme))


def test_the_first_prompt_is_the_one_that_install_gives() -> None:
    assert f"> {FIRST_PROMPT}\n" in page("README.md")


def test_the_site_has_every_page() -> None:
    site = yaml.safe_load(page("mkdocs.yml"))
    listed = {f"docs/{file}" for entry in site["nav"] for file in entry.values()}
    assert listed == {name for name in PAGES if name.startswith("docs/")}


def configurations() -> list[dict[str, object]]:
    """Return what the pages tell people to write into the files of chat clients."""
    blocks = [block for name in PAGES for block in re.findall(r"```json\n(.*?)```", page(name), re.DOTALL)]
    servers = [json.loads(block)["mcpServers"] for block in blocks]
    assert {name for server in servers for name in server} == {"browse-together"}
    return [dict(server["browse-together"]) for server in servers]


def test_the_configurations_for_chat_hosts_have_the_usual_shape() -> None:
    for configuration in configurations():
        assert set(configuration) == {"command", "args", "env"}
        assert configuration["env"] == {"PORT": "8888"}
