"""Tries the libraries that change most often in other versions than those of constraints.txt, and another Chromium.

`smoke` runs some sixty tests with the oldest versions that pyproject.toml allows, with the newest, and with the
Chromium of a package of npm. `upgrade` takes the newest that there are, allowed or not, runs the quick tests, and says
what broke, and by which library. Each set of versions has an environment of its own, which lies above .venv and has all
the rest from there.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final, cast

from packaging.requirements import Requirement

from conformance.packages import node
from scripts.lint.sources import ROOT

LIBRARIES: Final = ("playwright", "mcp", "uvicorn", "websockets")
SMOKE: Final = MappingProxyType(
    {
        "tests/page/actions/test_reading.py": (
            "test_snapshot_shows_roles_names_and_a_ref_for_what_can_be_acted_on",
            "test_following_the_cursor_of_a_snapshot_gives_the_identical_whole_and_its_refs_work",
            "test_content_as_text_is_what_a_person_sees",
            "test_content_as_markdown_keeps_headings_links_lists_and_tables",
            "test_a_snapshot_of_an_element_in_a_frame",
            "test_refs_reach_into_a_frame_of_another_origin_and_may_name_the_frame",
        ),
        "tests/page/actions/test_forms.py": (
            "test_fill_replaces_the_value_and_the_page_hears_of_it",
            "test_check_of_a_radio_button_unchecks_its_sibling",
            "test_type_presses_keys_one_by_one_after_the_existing_text",
            "test_press_takes_combinations",
        ),
        "tests/page/actions/test_choosing.py": ("test_select_option_chooses_by_value_label_or_position",),
        "tests/page/actions/test_effects.py": (
            "test_changes_of_title_and_style_are_reported",
            "test_a_change_by_a_gets_answer_is_reported_by_the_act_that_sent_it",
            "test_requests_that_follow_from_answers_are_awaited_too",
            "test_a_script_that_throws_an_empty_text_is_reported_and_recorded_too",
        ),
        "tests/page/actions/test_interaction.py": (
            "test_click_names_a_dialog_and_what_was_answered",
            "test_click_names_the_popup_that_it_opened_and_the_popup_is_the_agents",
            "test_click_that_sends_a_form_names_the_post_and_the_page_after_it",
            "test_click_without_effect_says_that_nothing_was_observable",
            "test_hover_opens_menus_under_the_mouse",
        ),
        "tests/page/actions/test_frames.py": (
            "test_a_form_names_the_frame_of_its_field",
            "test_a_frame_in_a_frame_is_named_from_the_page_on",
            "test_a_snapshot_has_the_names_of_frames_also_within_frames",
        ),
        "tests/page/service/test_dialog_policy.py": (),
        "tests/page/service/test_world.py": (),
        "tests/front/gateway/test_early_server.py": ("test_the_early_replies_are_what_the_sdk_would_say",),
        "tests/front/transports/test_every_transport.py": (),
        "tests/process/cli/test_lifecycle.py": ("test_a_service_is_started_found_and_ended",),
    }
)
"""The tests of the smoke, by file; all of a file that names none."""
_SMOKE: Final = tuple(f"{file}::{test}" if test else file for file, tests in SMOKE.items() for test in tests or ("",))
_QUICK: Final = ("-m", "not (thorough or long or ray)", "tests/pure", "tests/front", *_SMOKE)
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)
_CHROMIUM: Final = "@sparticuz/chromium@153.0.0"
_UNPACK: Final = """const [, from, to] = process.argv, fs = require('fs'), {brotliDecompressSync} = require('zlib');
fs.writeFileSync(to, brotliDecompressSync(fs.readFileSync(from)), {mode: 0o755})"""
_INSTALLED_WITHIN_S: Final = 300
_TRIED_WITHIN_S: Final = 900

Versions = dict[str, str]


class Environment:
    """A virtual environment above .venv, with some libraries in other versions."""

    def __init__(self, name: str) -> None:
        self._folder = ROOT / ".venv" / "with" / name
        self._python = self._folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def make(self, wanted: Iterable[str]) -> None:
        """Install the wanted requirements. Exits with pip's words if it cannot."""
        shutil.rmtree(self._folder, ignore_errors=True)
        _run(sys.executable, "-m", "venv", "--without-pip", str(self._folder))
        below, own = (self._answer(python, _WHERE) for python in (sys.executable, self._python))
        (Path(own) / "below.pth").write_text(f"import site; site.addsitedir({below!r})\n", encoding="utf-8")
        pip = (sys.executable, "-m", "pip", "--python", str(self._python), "--disable-pip-version-check", "-qq")
        done = _run(*pip, "install", "--upgrade", *wanted)
        if done.returncode != 0:
            sys.exit(f"libraries: pip could not install {' '.join(wanted)}:\n{done.stderr}")

    def versions(self) -> Versions:
        """Return the versions that are used here."""
        asked = f"from importlib.metadata import version; print(*map(version, {LIBRARIES}))"
        return dict(zip(LIBRARIES, self._answer(self._python, asked).split(), strict=True))

    def failed(self, tests: Sequence[str]) -> list[str]:
        """Run tests, and return which of them failed."""
        return self.failed_of(str(self._python), tests)

    @staticmethod
    def failed_of(python: str, tests: Sequence[str], **variables: str) -> list[str]:
        """Run tests by some Python and with some variables, likewise."""
        options = ("-m", "pytest", "-n", "3", "--dist", "worksteal", "-p", "no:cacheprovider", "-rfE", "--tb=short")
        done = _run(python, *options, *tests, within_s=_TRIED_WITHIN_S, **variables)
        failed = [*dict.fromkeys(_FAILED.findall(done.stdout))]
        if done.returncode != 0:
            print(done.stdout[-20_000:], done.stderr[-5_000:])
        return failed or ([] if done.returncode == 0 else ["all: the tests did not start"])

    @staticmethod
    def _answer(python: str | Path, code: str) -> str:
        return _run(str(python), "-c", code).stdout.strip()


_WHERE: Final = "import sysconfig; print(sysconfig.get_path('purelib'))"


def _run(*command: str, within_s: int = _INSTALLED_WITHIN_S, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=within_s,
    )


def requirements() -> list[Requirement]:
    """Return what pyproject.toml allows of these libraries."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    every = [Requirement(each) for each in project["dependencies"]]
    return [each for each in every if each.name in LIBRARIES]


def oldest(requirement: Requirement) -> str:
    """Return the requirement of the oldest version that another allows."""
    return next(f"{requirement.name}=={each.version}" for each in requirement.specifier if each.operator == ">=")


def smoke() -> None:
    """Run the smoke at both ends of the range, but not with the versions that all other tests run with."""
    here, broken = {name: version(name) for name in LIBRARIES}, False
    ends = {"oldest": [*map(oldest, requirements())], "newest": [*map(str, requirements())]}
    for end, wanted in ends.items():
        environment = Environment(end)
        environment.make(wanted)
        used = environment.versions()
        if used == here:
            print(f"smoke: the {end} are those of constraints.txt, with which all tests run")
            continue
        failed = environment.failed(_SMOKE)
        broken = broken or bool(failed)
        print(f"smoke: the {end} ({_words(used)}): {'; '.join(failed) or 'all pass'}")
    if browser := other_chromium():
        failed = Environment.failed_of(sys.executable, _SMOKE, TESTS_BROWSER=str(browser))
        broken = broken or bool(failed)
        said = _run(str(browser), "--version").stdout.strip()
        print(f"smoke: {said} of {_CHROMIUM}: {'; '.join(failed) or 'all pass'}")
    sys.exit(broken)


def other_chromium() -> Path | None:
    """Return the browser of npm's package, which is unpacked once; None without npm or on another kind of machine."""
    if platform.system() != "Linux" or platform.machine() != "x86_64" or not shutil.which("npm"):
        print(f"smoke: {_CHROMIUM} is left out: it needs npm, and Linux on x86-64")
        return None
    folder = ROOT / ".venv" / "with" / _CHROMIUM.replace("/", "-")
    browser = folder / "chromium"
    if not browser.exists():
        folder.mkdir(parents=True, exist_ok=True)
        done = _run("npm", "pack", "--silent", "--pack-destination", str(folder), _CHROMIUM)
        if done.returncode != 0:
            sys.exit(f"libraries: npm could not fetch {_CHROMIUM}:\n{done.stderr}")
        packed, unpacked = folder / "chromium.br", folder / "chromium.new"
        with tarfile.open(folder / done.stdout.strip()) as package, packed.open("wb") as file:
            shutil.copyfileobj(cast("IO[bytes]", package.extractfile("package/bin/chromium.br")), file)  # it is a file
        _run(node(), "-e", _UNPACK, str(packed), str(unpacked)).check_returncode()
        unpacked.rename(browser)
    return browser


def upgrade() -> None:
    """Run the quick tests with the newest versions, and what failed once more with each of these alone."""
    here, environment = {name: version(name) for name in LIBRARIES}, Environment("upgrade")
    environment.make(LIBRARIES)
    newest = {name: each for name, each in environment.versions().items() if each != here[name]}
    if not newest:
        print(f"upgrade: nothing is newer than {_words(here)}")
        return
    print(f"upgrade: trying {_words(newest)} in place of {_words({name: here[name] for name in newest})}")
    if not (failed := environment.failed(_QUICK)):
        print("upgrade: the quick tests pass; widen the ranges in pyproject.toml, run scripts/pin.sh, then make check")
        return
    for name, each in newest.items():
        alone = Environment(f"upgrade-{name}")
        alone.make([f"{name}=={each}"])
        broke = alone.failed(failed)
        print(f"upgrade: {name} {each} alone breaks {len(broke)} of {len(failed)}:", *broke or ["none"], sep="\n  ")
    sys.exit(1)


def _words(versions: Versions) -> str:
    return ", ".join(f"{name} {each}" for name, each in versions.items())


if __name__ == "__main__":
    {"smoke": smoke, "upgrade": upgrade}[sys.argv[1]]()
