"""Tests the JavaScript that runs in pages: its syntax, and how a script is put together."""

import json
import subprocess
from importlib import resources
from pathlib import Path

from browser_service.host import scripts
from browser_service.host.scripts import call_of, script
from conformance.packages import node

FILES = {file.name: file.read_text("utf-8") for file in resources.files(scripts).iterdir() if file.name.endswith(".js")}
CALLED = [name.removesuffix(".js") for name, source in FILES.items() if "export default " in source]
CHECK = Path(__file__).parents[1] / "support" / "check_scripts.mjs"


def wrong(modules: dict[str, str], sources: dict[str, str]) -> dict[str, str]:
    """Return what Playwright's own Node finds wrong with modules, and with what pages evaluate."""
    asked = json.dumps({"modules": {f"./{name}": text for name, text in modules.items()}, "scripts": sources})
    command = [node(), "--experimental-vm-modules", "--no-warnings", str(CHECK)]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, timeout=60)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_each_file_is_a_module_and_each_function_a_script() -> None:
    assert wrong(FILES, {name: script(name) for name in CALLED}) == {}


def test_the_check_finds_bad_syntax_and_what_is_not_there_to_import() -> None:
    broken = {"a.js": "export default e => {;", "b.js": 'import {none} from "./c.js";', "c.js": "export const c = 1;"}
    assert wrong(broken, {"d": "e => }"}).keys() == {"./a.js", "./b.js", "d"}


def test_imported_functions_stand_before_a_script_once() -> None:
    source = script("form_look")
    assert source.count("const formControl = ") == source.count("const field = ") == 1
    assert "import" not in source
    assert "export" not in source
    assert "//" not in source


def test_a_function_is_applied_to_sources() -> None:
    assert call_of("act => act", "e => 1", '"x"') == '(act => act)(e => 1, "x")'
