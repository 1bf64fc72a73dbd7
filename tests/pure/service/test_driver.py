"""Tests that what we change in Playwright's driver is there to be changed: after an update it may be elsewhere."""

import json
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

from browser_service.host.sessions import driver
from browser_service.host.sessions.driver import SAME_SCRIPT

NODE, CLI = compute_driver_executable()
LIBRARY = Path(CLI).parent / "lib"
SAYS_IF_WHOLE = "process.on('exit', () => { try { require('%s').z } catch { process.exitCode = 7 } })"
LEAN = 7


def test_the_driver_has_each_text_that_is_replaced_in_it_once() -> None:
    """After an update of Playwright, look where its driver has them now. Until then it starts whole, as it comes."""
    script = f"JSON.stringify(Object.values(require({json.dumps(str(SAME_SCRIPT))})))"
    told = subprocess.run([NODE, "-p", script], capture_output=True, text=True, check=True, timeout=20)
    changes, lean, (begin, end) = json.loads(told.stdout)
    core, utils = ((LIBRARY / f"{name}Bundle.js").read_text(encoding="utf-8") for name in ("core", "utils"))
    assert [core.count(text) for text, _ in [*changes, *lean]] == [1] * 23
    unused = utils[utils.index(begin) : utils.rindex(end)]
    assert "modelcontextprotocol" in unused
    assert end not in unused


@pytest.mark.parametrize(
    ("bundle", "text", "other", "exit_code"),
    [
        pytest.param("core", "", "", LEAN, id="as it comes"),
        pytest.param("core", "libCliTestStub: () =>", "libCliTestStub: ()  =>", 0, id="has another text"),
        pytest.param("utils", "var ws =", "z.object({}); var ws =", 0, id="needs all"),
    ],
)
def test_a_driver_starts_without_what_it_does_not_need_and_whole_where_it_is_another(
    bundle: str, text: str, other: str, exit_code: int, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    shutil.copytree(LIBRARY.parent, package, ignore=shutil.ignore_patterns("vite", "skills", "types"))
    changed = package / "lib" / f"{bundle}Bundle.js"
    changed.write_text(changed.read_text(encoding="utf-8").replace(text, other, 1), encoding="utf-8")
    says = tmp_path / "says.cjs"
    says.write_text(SAYS_IF_WHOLE % (package / "lib" / "utilsBundle.js").as_posix(), encoding="utf-8")
    command = [NODE, "--require", str(SAME_SCRIPT), "--require", str(says), str(package / "cli.js"), "run-driver"]
    first = {"id": 1, "guid": "", "method": "initialize", "params": {"sdkLanguage": "python"}, "metadata": {}}
    question = json.dumps(first).encode()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        too_long = threading.Timer(20, process.kill)
        too_long.start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(len(question).to_bytes(4, "little") + question)
        process.stdin.flush()
        answer: dict[str, object] = {}
        while answer.get("id") != 1:
            answer = json.loads(process.stdout.read(int.from_bytes(process.stdout.read(4), "little")))
        process.stdin.close()
    too_long.cancel()
    assert answer["result"]
    assert process.returncode == exit_code


@pytest.mark.parametrize("folder", ["a b", 'a"b', "a\\b", "a'$HOME'b", "a\tb\nc", "ü 漢"])
def test_the_driver_starts_wherever_the_program_lies(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / folder / SAME_SCRIPT.name
    script.parent.mkdir()
    shutil.copy(SAME_SCRIPT, script)
    monkeypatch.setattr(driver, "SAME_SCRIPT", script)
    monkeypatch.setenv("NODE_OPTIONS", "--no-warnings")
    driver.economize(tmp_path / "cache")
    command = [NODE, "-p", "Object.keys(require.cache)[0] + process.execArgv"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    assert told.stdout.startswith(str(script))
