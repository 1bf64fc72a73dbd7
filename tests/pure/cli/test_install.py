"""Tests `install` and `uninstall`: each client's configuration is changed in one place, and nothing else is lost."""

import json
import re
import shlex
import stat
import tomllib
from pathlib import Path
from typing import cast

import pytest
import yaml

from browse_together.contract.installation import GATEWAY, program
from browse_together.contract.wire import APP_NAME
from browser_service.cli.files import backup_of
from browser_service.cli.install import skill
from browser_service.cli.install.chat_clients import CLIENTS
from browser_service.cli.install.machine import Machine
from browser_service.cli.install.pasted_clients import PASTED
from browser_service.host.sessions.errors import setup_hint, start_timeout
from tests.support.home import Home

NAME = "browse-together"
OTHERS = {
    "JSON": '{\n\t"theme": "dark",\n\t"SECTION": {\n\t\t"github": {\n\t\t\t"command": "npx"\n\t\t}\n\t}\n}\n',
    "TOML": '# my models\nmodel = "o9"  # the good one\n\n[SECTION.github]\ncommand = "npx"\nargs = ["gh"]\n',
}
WITH_COMMENTS = (
    '{\n  // all of mine\n  "SECTION": {\n    "github": {"command": "npx"}, // pinned\n  }, /* the end */\n}\n'
)
BROKEN = {"JSON": '{\n  "SECTION": {]\n}\n', "TOML": "model = \n"}
PLACES = {"JSON": "(line 2, column ", "TOML": "line 1, column 9)"}

WHOLE = pytest.mark.parametrize("key", ["cursor", "codex"])
"""A client with JSON, and one with TOML and a command of its own, which is not on the PATH here."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def prepare(home: Home, key: str, texts: dict[str, str]) -> tuple[Path, str]:
    """Write a client's configuration. Returns where, and what."""
    client = CLIENTS[key]
    path, text = client.file(home.machine), texts[client.format.name].replace("SECTION", client.section)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path, text


def content(key: str, path: Path) -> dict[str, dict[str, dict[str, object]]]:
    """Return what a configuration says, as an independent reader of its format finds it."""
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if key == "codex" else json.loads(text)


@pytest.mark.parametrize("key", CLIENTS)
def test_a_client_gets_an_entry_that_starts_this_installation_beside_those_of_others(home: Home, key: str) -> None:
    path, before = prepare(home, key, OTHERS)
    said = home.succeed("install", key)
    section = content(key, path)[CLIENTS[key].section]
    server = section[NAME]
    assert section.keys() == {"github", NAME}
    assert [server["command"], *cast("list[str]", server["args"])] == [*program(GATEWAY)]
    assert server.get("type") == ("stdio" if key in {"claude-code", "vscode"} else None)
    assert server["env"] == {"BROWSE_DATA_DIR": str(home.path / "data")}
    assert (f"+++ {path}" in said, CLIENTS[key].next_step in said) == (True, True)
    once = path.stat().st_mtime_ns
    assert "nothing changes" in home.succeed("install", key)
    assert path.stat().st_mtime_ns == once
    home.succeed("uninstall", key)
    assert path.read_bytes() == before.encode()


def entry_of(key: str, home: Home) -> dict[str, object]:
    """Return the entry that a client of this kind reads."""
    words, variables = [*program(GATEWAY)], {"BROWSE_DATA_DIR": str(home.path / "data")}
    usual: dict[str, object] = {"command": words[0], "args": words[1:], "env": variables}
    special: dict[str, dict[str, object]] = {
        "opencode": {"type": "local", "command": words, "environment": variables},
        "copilot": {"type": "local", **usual, "tools": ["*"]},
        "goose": {"name": NAME, "type": "stdio", "enabled": True, "timeout": 300}
        | {"cmd": words[0], "args": words[1:], "envs": variables},
    }
    return special.get(key, usual)


@pytest.mark.parametrize("key", PASTED)
def test_a_client_whose_file_a_person_edits_gets_the_lines_and_the_file_stays(home: Home, key: str) -> None:
    client = PASTED[key]
    path = client.file(home.machine)
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")
    for command, what in (("install", "Paste this into"), ("uninstall", f"Take {NAME} out of")):
        done = home.run(command, key)
        assert (done.exit_code, what in done.stderr, str(path) in done.stderr) == (0, True, True)
        assert yaml.safe_load(done.stdout) == {client.section: {NAME: entry_of(key, home)}}, "JSON is YAML too"
        assert (client.next_step in done.stderr) == (command == "install")
    assert (path.read_text(encoding="utf-8"), [*path.parent.iterdir()]) == ("mine", [path])


@WHOLE
def test_a_client_without_a_configuration_gets_one_for_this_account_alone(home: Home, key: str) -> None:
    home.succeed("install", key)
    path = CLIENTS[key].file(home.machine)
    words = content(key, path)[CLIENTS[key].section][NAME]["command"]
    assert (Path(str(words)).is_absolute(), Path(str(words)).is_file()) == (True, True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    home.succeed("uninstall", key)
    assert not path.exists()
    assert "nothing changes" in home.succeed("uninstall", key)


@WHOLE
def test_what_else_is_configured_stays_and_comes_back_byte_for_byte(home: Home, key: str) -> None:
    path, before = prepare(home, key, OTHERS)
    path.chmod(0o640)
    home.succeed("install", key)
    after = path.read_text(encoding="utf-8")
    section = content(key, path)[CLIENTS[key].section]
    assert section.keys() == {"github", NAME}
    assert [line for line in before.splitlines() if line not in after and not line.endswith("}")] == []
    assert backup_of(path).read_text(encoding="utf-8") == before
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, backup_of(path))] == [0o640, 0o600]
    home.succeed("uninstall", key)
    assert path.read_bytes() == before.encode()
    assert not backup_of(path).exists()


@WHOLE
def test_a_broken_configuration_is_left_as_it_is_and_told_with_the_place(home: Home, key: str) -> None:
    path, before = prepare(home, key, BROKEN)
    for command in ("install", "uninstall"):
        refused = home.run(command, key)
        assert refused.exit_code == 1
        assert str(path) in refused.stderr
        assert PLACES[CLIENTS[key].format.name] in refused.stderr
        assert "It was left as it is" in refused.stderr
    assert path.read_text(encoding="utf-8") == before
    assert [*path.parent.iterdir()] == [path]


@WHOLE
def test_a_read_only_configuration_is_an_error_and_stays(home: Home, key: str) -> None:
    path, before = prepare(home, key, OTHERS)
    path.chmod(0o444)
    refused = home.run("install", key)
    assert (refused.exit_code, f"{path} is read-only" in refused.stderr) == (1, True)
    assert path.read_text(encoding="utf-8") == before
    assert not backup_of(path).exists()


@WHOLE
def test_print_changes_nothing(home: Home, key: str) -> None:
    path, before = prepare(home, key, OTHERS)
    assert program(GATEWAY)[0] in home.succeed("install", key, "--print")
    assert path.read_text(encoding="utf-8") == before
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("key", ["cursor", "vscode", "gemini"])
def test_a_configuration_with_comments_is_left_with_what_to_paste(home: Home, key: str) -> None:
    path, before = prepare(home, key, {"JSON": WITH_COMMENTS})
    refused = home.run("install", key)
    assert (refused.exit_code, "was left as it is" in refused.stderr) == (1, True)
    assert json.loads(refused.stderr.partition("Paste this there:")[2])[CLIENTS[key].section].keys() == {NAME}
    assert path.read_text(encoding="utf-8") == before


def test_a_configuration_comes_back_as_it_was_laid_out(home: Home) -> None:
    path, before = prepare(home, "cursor", {"JSON": '{ "SECTION": {"github": {"command": "npx"}} }'})
    home.succeed("install", "cursor")
    home.succeed("uninstall", "cursor")
    assert path.read_text(encoding="utf-8") == before


def test_comments_are_no_json_where_the_client_does_not_read_them(home: Home) -> None:
    path, before = prepare(home, "claude-desktop", {"JSON": WITH_COMMENTS})
    refused = home.run("install", "claude-desktop")
    assert "is no JSON that Claude Desktop could read" in refused.stderr
    assert "(line 2, column 3)" in refused.stderr
    assert path.read_text(encoding="utf-8") == before


def test_an_entry_of_another_installation_is_brought_up_to_date_and_keeps_its_settings(home: Home) -> None:
    both = ("cursor", "codex")
    for key in both:
        CLIENTS[key].file(home.machine).parent.mkdir(parents=True)
    old = {"command": "/gone/mcp-gateway", "args": [], "env": {"PORT": "9000"}}
    CLIENTS["cursor"].file(home.machine).write_text(json.dumps({"mcpServers": {NAME: old}}), encoding="utf-8")
    CLIENTS["codex"].file(home.machine).write_text(
        f'[mcp_servers.{NAME}]\ncommand = "/gone/mcp-gateway" # old\nenv = {{ PORT = "9000" }}\n', encoding="utf-8"
    )
    for key in both:
        home.succeed("install", key)
        server = content(key, CLIENTS[key].file(home.machine))[CLIENTS[key].section][NAME]
        variables = {"PORT": "9000", "BROWSE_DATA_DIR": str(home.path / "data")}
        assert (server["command"], server["env"]) == (program(GATEWAY)[0], variables)
        assert "nothing changes" in home.succeed("install", key)
        assert "nothing changes" not in home.succeed("install", key, PORT="9001")


def test_another_name_is_another_server(home: Home) -> None:
    home.succeed("install", "cursor")
    home.succeed("install", "cursor", "--server", "work")
    path = CLIENTS["cursor"].file(home.machine)
    assert content("cursor", path)["mcpServers"].keys() == {NAME, "work"}
    home.succeed("uninstall", "cursor")
    assert content("cursor", path)["mcpServers"].keys() == {"work"}
    assert home.run("install", "cursor", "--server", "a b").exit_code == 2


def test_the_chats_of_a_client_can_be_given_a_name(home: Home) -> None:
    home.succeed("install", "cursor", "--name", "Ana's books")
    entry = content("cursor", CLIENTS["cursor"].file(home.machine))["mcpServers"][NAME]
    assert '"Ana\'s books"' in json.dumps(entry["env"])
    assert "nothing changes" in home.succeed("install", "cursor"), "it keeps the name"
    pasted = json.loads(home.run("install", "nimbus", "--name", "books").stdout)
    assert pasted["mcpServers"][NAME]["env"]["BROWSE_NAME"] == "books"


def test_a_link_stays_a_link(home: Home, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles" / "mcp.json"
    dotfiles.parent.mkdir()
    dotfiles.write_text("{}\n", encoding="utf-8")
    path = CLIENTS["cursor"].file(home.machine)
    path.parent.mkdir()
    path.symlink_to(dotfiles)
    home.succeed("install", "cursor")
    assert path.is_symlink()
    assert NAME in content("cursor", dotfiles)["mcpServers"]
    home.succeed("uninstall", "cursor")
    assert (path.is_symlink(), dotfiles.read_text(encoding="utf-8")) == (True, "{}\n")


def test_a_backup_replaces_a_link_that_lies_in_its_place(home: Home, tmp_path: Path) -> None:
    others = tmp_path / "others.txt"
    others.write_text("of somebody else", encoding="utf-8")
    path = CLIENTS["cursor"].file(home.machine)
    path.parent.mkdir()
    path.write_text('{"mcpServers": {}}', encoding="utf-8")
    backup = backup_of(path)
    backup.symlink_to(others)
    home.succeed("install", "cursor")
    assert others.read_text(encoding="utf-8") == "of somebody else"
    assert (backup.is_symlink(), backup.read_text(encoding="utf-8")) == (False, '{"mcpServers": {}}')


def test_a_folder_that_cannot_be_made_is_an_error(home: Home) -> None:
    (home.path / ".cursor").write_text("a file", encoding="utf-8")
    refused = home.run("install", "cursor")
    assert (refused.exit_code, "cannot be" in refused.stderr) == (1, True)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"mcpServers": []}', "is no group of servers"),
        (b"[1]", "it is no object"),
        (b'{\n "a": "\xff"}', "is no UTF-8 text (line 2)"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_configuration_is_left_as_it_is(home: Home, text: bytes, problem: str) -> None:
    path = CLIENTS["cursor"].file(home.machine)
    path.parent.mkdir()
    path.write_bytes(text)
    refused = home.run("install", "cursor")
    assert (refused.exit_code, problem in refused.stderr, path.read_bytes() == text) == (1, True, True)


def test_without_a_client_all_are_listed_with_what_they_have(home: Home) -> None:
    home.succeed("install", "cursor")
    prepare(home, "gemini", BROKEN)
    listed = {each["client"]: each for each in json.loads(home.run("install", "--json").stdout)}
    assert [*listed] == [*CLIENTS]
    states = {key: (each["found"], each["installed"]) for key, each in listed.items()}
    assert (states["cursor"], states["codex"], states["gemini"]) == ((True, "yes"), (False, "no"), (True, "unreadable"))
    said = home.run("install")
    assert ("Claude Desktop" in said.stdout, "settings.json is no JSON" in said.stderr) == (True, True)


def test_a_client_that_is_not_known_gets_the_usual_lines(home: Home) -> None:
    other = home.run("install", "nimbus", "--server", "work", BROWSE_DATA_DIR="", PORT="8888")
    assert (other.exit_code, "nimbus is none of the clients" in other.stderr) == (1, True)
    assert json.loads(other.stdout) == {"mcpServers": {"work": {"command": program(GATEWAY)[0], "args": []}}}
    assert f'Take {NAME} out of "mcpServers"' in home.run("uninstall", "nimbus").stderr
    assert "claude-code" in home.run("install", "claude").stderr


def test_without_a_client_it_is_taken_from_all_and_what_is_left_is_named(home: Home) -> None:
    for key in ("cursor", "codex"):
        prepare(home, key, OTHERS)
        home.succeed("install", key)
    home.succeed("install", "cursor", "--server", "work")
    home.succeed("install", "codex", "--skill")
    prepare(home, "gemini", BROKEN)
    PASTED["zed"].file(home.machine).parent.mkdir(parents=True)
    PASTED["zed"].file(home.machine).write_text(home.run("install", "zed").stdout, encoding="utf-8")
    config = home.path / ".config" / "browse-together" / "config.toml"
    config.parent.mkdir()
    config.write_text("max_pages = 50\n", encoding="utf-8")
    (home.path / "data").mkdir()
    before = home.run("uninstall", "--print")
    assert (before.exit_code, str(home.path / "data") in before.stdout) == (1, True)
    assert content("cursor", CLIENTS["cursor"].file(home.machine))["mcpServers"].keys() == {"github", NAME, "work"}
    home.succeed("service", "install")
    done = home.run("uninstall")
    assert (done.exit_code, "settings.json is no JSON" in done.stderr) == (1, True)
    for key in ("cursor", "codex"):
        path = CLIENTS[key].file(home.machine)
        assert path.read_text(encoding="utf-8") == OTHERS[CLIENTS[key].format.name].replace(
            "SECTION", CLIENTS[key].section
        )
    assert re.search(r"^It starts at login\. To stop that: \S+ service uninstall$", done.stdout, re.MULTILINE)
    assert re.search(r"^Zed has lines that you pasted: \S+ uninstall zed says", done.stdout, re.MULTILINE)
    assert re.findall(r"^  (.*)$", done.stdout.partition("delete what is left")[2], re.MULTILINE) == [
        f"{home.path / 'data'}, with all logins",
        str(config),
        str(home.path / ".agents" / "skills" / NAME),
    ]
    assert home.run("uninstall", "--skill").exit_code == 2
    CLIENTS["gemini"].file(home.machine).unlink()
    assert "No chat client that is set up here has the server any more." in home.succeed("uninstall")


@pytest.mark.parametrize("key", ["codex", "zed"])
def test_the_skill_is_put_where_a_client_reads_it_and_taken_away(home: Home, key: str) -> None:
    path = skill.place(CLIENTS.get(key) or PASTED[key], home.machine)
    assert path is not None
    assert "name: browse-together" in home.succeed("install", key, "--skill", "--print")
    assert not path.exists()
    home.succeed("install", "--skill", key)
    assert path.read_text(encoding="utf-8") == skill.text()
    assert "nothing changes" in home.succeed("install", "--skill", key)
    path.write_text("mine", encoding="utf-8")
    assert str(backup_of(path)) in home.succeed("install", "--skill", key)
    backup_of(path).unlink()
    home.succeed("uninstall", key, "--skill")
    assert not path.parent.exists()
    assert "nothing changes" in home.succeed("uninstall", key, "--skill")


def test_a_client_without_skills_is_told_which_file_to_upload(home: Home) -> None:
    refused = home.run("install", "claude-desktop", "--skill")
    assert (refused.exit_code, str(skill.SOURCE) in refused.stderr) == (1, True)


def test_each_platform_has_its_places(tmp_path: Path) -> None:
    mac = Machine("darwin", tmp_path, {})
    windows = Machine("win32", tmp_path, {"APPDATA": str(tmp_path / "Roaming")})
    linux = Machine("linux", tmp_path, {"CODEX_HOME": str(tmp_path / "cx"), "CLAUDE_CONFIG_DIR": str(tmp_path / "cc")})
    files = {key: client.file for key, client in CLIENTS.items()} | {key: client.file for key, client in PASTED.items()}
    found = {
        (machine.platform, key): file(machine).relative_to(tmp_path).as_posix()
        for machine in (mac, windows, linux)
        for key, file in files.items()
    }
    assert found["darwin", "claude-desktop"] == "Library/Application Support/Claude/claude_desktop_config.json"
    assert found["win32", "claude-desktop"] == "Roaming/Claude/claude_desktop_config.json"
    assert found["linux", "claude-desktop"] == ".config/Claude/claude_desktop_config.json"
    assert found["darwin", "vscode"] == "Library/Application Support/Code/User/mcp.json"
    assert found["win32", "vscode"] == "Roaming/Code/User/mcp.json"
    assert (found["linux", "codex"], found["darwin", "codex"]) == ("cx/config.toml", ".codex/config.toml")
    assert (found["linux", "claude-code"], found["win32", "claude-code"]) == ("cc/.claude.json", ".claude.json")
    assert {found[platform, "cursor"] for platform in ("darwin", "win32", "linux")} == {".cursor/mcp.json"}
    assert found["linux", "windsurf"] == ".codeium/windsurf/mcp_config.json"
    assert found["linux", "opencode"] == ".config/opencode/opencode.json"
    assert (found["darwin", "zed"], found["win32", "zed"]) == (".config/zed/settings.json", "Roaming/Zed/settings.json")
    assert found["linux", "copilot"] == ".copilot/mcp-config.json"
    assert found["linux", "cline"] == ".cline/data/settings/cline_mcp_settings.json"
    assert found["win32", "jetbrains"] == ".junie/mcp/mcp.json"
    assert found["darwin", "goose"] == ".config/goose/config.yaml"
    assert found["win32", "goose"] == "Roaming/Block/goose/config/config.yaml"
    extension = tmp_path / ".config/Code/User/globalStorage/saoudrizwan.claude-dev"
    extension.mkdir(parents=True)
    assert files["cline"](linux) == extension / "settings/cline_mcp_settings.json"
    assert found["win32", "gemini"] == ".gemini/settings.json"
    packaged = tmp_path / "AppData/Local/Packages/Claude_abc/LocalCache/Roaming/Claude"
    packaged.mkdir(parents=True)
    assert CLIENTS["claude-desktop"].file(windows).parent == packaged


def test_the_hint_of_a_browser_that_does_not_start_can_be_typed_where_nothing_is_on_the_path() -> None:
    (command,) = re.findall(r"`([^`]+)`", start_timeout(5).advice or "")
    assert Path(shlex.split(command)[0]).is_absolute()
    assert setup_hint("firefox").endswith(f"{program(APP_NAME)[0]} setup --browser-type firefox")
