"""Checks the pages that people read: their links, tools and configurations."""

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import yaml

from browse_together.contract.catalogue import ACTIONS
from browser_service.cli.install.command import FIRST_PROMPT
from scripts.lint.sources import ROOT

PAGES: Final = [
    *("README.md", "CONTRIBUTING.md"),
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")),
]
LONGEST_README: Final = 150
_LED_TO_BY_OTHERS: Final = {"docs/index.md", "docs/reference.md"}


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def configurations() -> list[dict[str, object]]:
    """Return what the pages tell people to write into the files of chat clients."""
    blocks = [block for name in PAGES for block in re.findall(r"```json\n(.*?)```", page(name), re.DOTALL)]
    return [server for block in blocks for server in json.loads(block)["mcpServers"].values()]


def tools() -> Iterator[str]:
    named = set(re.findall(r"`([a-z_0-9]+)`", page("docs/tools.md").split("[The reference]", 1)[0]))
    yield from (f"docs/tools.md: `{name}` is named, or missing, by mistake" for name in named ^ {*ACTIONS})


def links() -> Iterator[str]:
    for name in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page(name)):
            if not (ROOT / PurePosixPath(name).parent / link).exists():
                yield f"{name}: there is no {link}"


def readme() -> Iterator[str]:
    text = page("README.md")
    if len(text.splitlines()) > LONGEST_README:
        yield f"README.md: it has more than {LONGEST_README} lines"
    pages = {name for name in PAGES if name.startswith("docs/")}
    for name in pages - _LED_TO_BY_OTHERS - set(re.findall(r"\]\(([^)#]+)\)", text)):
        yield f"README.md: it does not lead to {name}"
    if f"> {FIRST_PROMPT}\n" not in text:
        yield f"README.md: the first prompt is not that of install: {FIRST_PROMPT}"
    groups = [group for entry in yaml.safe_load(page("mkdocs.yml"))["nav"] for group in entry.values()]
    for name in pages ^ {f"docs/{file}" for group in groups for each in group for file in each.values()}:
        yield f"mkdocs.yml: {name} is listed, or missing, by mistake"


def chat_clients() -> Iterator[str]:
    for configuration in configurations():
        if set(configuration) != {"command", "args", "env"} or configuration["env"] != {"PORT": "8888"}:
            yield f"docs: a configuration for chat clients has not the usual shape: {configuration}"


def defences() -> Iterator[str]:
    """Find sentences about what is defended without the name of a test beside them, and names of no test."""
    text = page("SECURITY.md").partition("## What we defend")[2].partition("## What we do not defend")[0]
    bullets = re.findall(r"^- (.*?)(?=^- |^#|\Z)", text, re.MULTILINE | re.DOTALL)
    for bullet in bullets:
        *proven, rest = re.split(r"<!-- (\S+) -->", bullet)
        for sentence in [*(each for each in proven[::2] if re.search(r"\. [A-Z]", each)), *filter(str.strip, [rest])]:
            yield f"SECURITY.md: no test stands beside {' '.join(sentence.split())!r}"
        for name, _, test in (each.partition("::") for each in proven[1::2]):
            path = ROOT / "tests" / f"{name}.py"
            if not path.exists() or f"def {test}(" not in path.read_text(encoding="utf-8"):
                yield f"SECURITY.md: there is no {name}::{test}"


CHECKS: Final = (tools, links, readme, chat_clients, defences)
