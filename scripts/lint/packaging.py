"""Checks what sets a checkout up: pins, scripts and the Makefile."""

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from typing import Final

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from conformance import packages
from conformance.trials import EXPECTED_FAILURES
from scripts.lint.sources import ROOT

_SHELL_SCRIPTS: Final = ("scripts/setup.sh", "scripts/pin.sh", ".ci/run")
_INSTALLERS: Final = (*_SHELL_SCRIPTS, "scripts/bare.py", "Makefile", "Dockerfile")


def _requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [name for group in project["dependency-groups"].values() for name in group if isinstance(name, str)]
    extras = [text for extra in project["project"]["optional-dependencies"].values() for text in extra]
    return [Requirement(text) for text in [*project["project"]["dependencies"], *extras, *groups]]


def pins() -> Iterator[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = {line: re.fullmatch(r"([\w.-]+)==([\w.]+)", line) for line in lines if not line.startswith("#")}
    yield from (f"constraints.txt: no exact pin: {line}" for line, pin in found.items() if pin is None)
    pinned = {canonicalize_name(pin[1]): pin[2] for pin in found.values() if pin}
    for requirement in _requirements():
        version = pinned.get(canonicalize_name(requirement.name))
        if version is None:
            yield f"constraints.txt: {requirement.name} has no pin: run scripts/pin.sh"
        elif not requirement.specifier.contains(version, prereleases=True):
            yield f"constraints.txt: {requirement} does not allow {version}"


def shell_scripts() -> Iterator[str]:
    for name in _SHELL_SCRIPTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        shell = re.match(r"#!/(?:bin/|usr/bin/env )(\w+)\n", text)
        if shell is None or not os.access(ROOT / name, os.X_OK):
            yield f"{name}: it cannot be run"
        elif subprocess.run([shell[1], "-n", ROOT / name], check=False).returncode:
            yield f"{name}: it is no script of {shell[1]}"
        if not re.search(r"^set -eu", text, re.MULTILINE):
            yield f"{name}: it does not stop at the first error: set -eu"


def sources_of_packages() -> Iterator[str]:
    """Yield what takes packages from another place than this machine does."""
    for name in _INSTALLERS:
        text = (ROOT / name).read_text(encoding="utf-8")
        for said in re.findall(r"https?://(?!127\.0\.0\.1)|index-url|find-links|trusted-host", text):
            yield f"{name}: it says where packages come from: {said}"


def makefile() -> Iterator[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = {name for names in re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE) for name in names.split()}
    explained = {*re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE)}
    yield from (f"Makefile: {name} is no .PHONY target with an explanation" for name in phony ^ explained)


def conformance() -> Iterator[str]:
    versions = json.loads((packages.FOLDER / "package.json").read_text("utf-8"))["dependencies"]
    for name, version in versions.items():
        if not re.fullmatch(r"(npm:@[\w/-]+@)?\d+\.\d+\.\d+(-alpha\.\d+)?", version):
            yield f"conformance/package.json: {name} has no exact version"
    text = EXPECTED_FAILURES.read_text("utf-8")
    listed = yaml.safe_load(text)["server"]
    below_a_reason = re.findall(r"^  # .+\n(?:^  - .+\n)+", text, re.MULTILINE)
    if listed != [name for part in below_a_reason for name in re.findall(r"^  - (.+)$", part, re.MULTILINE)]:
        yield f"{EXPECTED_FAILURES.name}: a failure has no reason above it"
    if len(listed) != len({*listed}):
        yield f"{EXPECTED_FAILURES.name}: a failure is listed twice"


CHECKS: Final = (pins, shell_scripts, sources_of_packages, makefile, conformance)
