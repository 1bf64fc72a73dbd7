"""Tests what sets a checkout up: pins, scripts, and the Makefile."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
SCRIPTS = [ROOT / "scripts/setup.sh", ROOT / "scripts/pin.sh", ROOT / ".ci/run"]
TARGETS = {"setup", "demo", "test", "lint", "types", "docs", "bench", "bundle", "clean", "help", "check"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line) for line in lines if not line.startswith("#")]
    return {canonicalize_name(pin[1]): pin[2] for pin in found if pin}


def requirements() -> list[Requirement]:
    groups = [name for group in PROJECT["dependency-groups"].values() for name in group if isinstance(name, str)]
    extras = [text for extra in PROJECT["project"]["optional-dependencies"].values() for text in extra]
    return [Requirement(text) for text in [*PROJECT["project"]["dependencies"], *extras, *groups]]


def test_constraints_are_exact_pins_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert len(pins()) == len([line for line in lines if not line.startswith("#")])
    assert PROJECT["project"]["name"] not in pins()


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_every_dependency_is_pinned_to_a_version_that_it_allows(requirement: Requirement) -> None:
    version = pins().get(canonicalize_name(requirement.name))
    assert version, f"{requirement.name} has no pin: run scripts/pin.sh"
    assert requirement.specifier.contains(version, prereleases=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_can_be_run_and_stops_at_the_first_error(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    shell = re.match(r"#!/(?:bin/|usr/bin/env )(\w+)\n", text)
    assert shell
    assert os.access(script, os.X_OK)
    subprocess.run([shell[1], "-n", script], check=True)
    assert re.search(r"^set -eu", text, re.MULTILINE)


@pytest.mark.parametrize(
    "path", ["scripts/bare.py", "scripts/setup.sh", "scripts/pin.sh", ".ci/run", "Makefile", "Dockerfile"]
)
def test_packages_come_from_wherever_this_machine_takes_them(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not re.search(r"https?://(?!127\.0\.0\.1)|index-url|find-links|trusted-host", text)


def test_make_explains_its_targets() -> None:
    make = [str(shutil.which("make")), "--no-print-directory"]
    done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True)
    explained = dict(re.findall(r"^make (\S+) +(.+)$", done.stdout, re.MULTILINE))
    assert set(explained) >= TARGETS
    phony = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony
    assert set(phony[1].split()) == set(explained)


def test_without_a_fitting_python_setup_says_what_is_needed(tmp_path: Path) -> None:
    copy, tools = checkout(tmp_path)
    done = setup(copy, tools)
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    assert not (copy / ".venv").exists()


def test_without_the_means_to_make_an_environment_setup_names_the_package(tmp_path: Path) -> None:
    copy, tools = checkout(tmp_path)
    python = tools / "python3"
    python.write_text('#!/bin/sh\ncase "$*" in *ensurepip*) exit 1; esac\n', encoding="utf-8")
    python.chmod(0o755)
    done = setup(copy, tools)
    assert done.returncode == 1
    assert "apt-get install python3-venv" in done.stderr
    assert not (copy / ".venv").exists()


def checkout(folder: Path) -> tuple[Path, Path]:
    """Make what setup reads of a checkout, and a PATH with little more than a shell."""
    copy, tools = folder / "checkout", folder / "bin"
    (copy / "scripts").mkdir(parents=True)
    tools.mkdir()
    for path in ("pyproject.toml", "constraints.txt", "scripts/setup.sh"):
        shutil.copy2(ROOT / path, copy / path)
    for tool in ("sh", "dirname", "cat", "cksum"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    return copy, tools


def setup(copy: Path, tools: Path, *goals: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/sh", copy / "scripts/setup.sh", *goals],
        env={"PATH": str(tools)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_setup_alone_says_how_to_connect_a_chat_client(tmp_path: Path) -> None:
    copy, tools = checkout(tmp_path)
    python = copy / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    for program in (python, tools / "browser"):
        program.touch(mode=0o755)
    sums = 'cd "$0" && { pwd; cat pyproject.toml constraints.txt scripts/setup.sh; } | cksum'
    stamp = subprocess.run(["/bin/sh", "-c", sums, copy], capture_output=True, text=True, check=True).stdout
    (copy / ".venv" / ".setup-stamp").write_text(f"{stamp}{tools / 'browser'}\n", encoding="utf-8")
    assert setup(copy, tools).stdout == ""
    said = setup(copy, tools, "setup").stdout
    assert said == f"setup: now set up a chat client: {copy}/.venv/bin/browse-together install claude-code\n"
