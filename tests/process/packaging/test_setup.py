"""Tests what `make setup` says where something is missing, and at its end."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]


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
