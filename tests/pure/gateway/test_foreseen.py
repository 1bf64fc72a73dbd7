"""Tests what a gateway knows of its settings before it has loaded what reads them."""

import itertools
from pathlib import Path

import platformdirs
import pytest

from browse_together.client import config_place
from browse_together.client.credentials import mint
from browse_together.contract import toolsets, written
from browse_together.contract.wire import APP_NAME, TOKEN_LIMITS
from mcp_gateway.arguments import take
from mcp_gateway.flags import simple
from mcp_gateway.startup import prepare
from mcp_gateway.stdio.foreseen import Foreseen, foresee
from mcp_gateway.tools import listed_tools
from tests.support.each import each

SECRET = "s" * 32


@each({",".join(names): names for several in (1, 2) for names in itertools.combinations(toolsets.NAMES, several)})
def test_a_written_list_is_what_the_catalogue_gives(names: tuple[str, ...]) -> None:
    made = toolsets.tools(names, extra=toolsets.listed_names(frozenset(names)))
    assert list(written.tools(names)) == [tool.message() for tool in made]
    assert listed_tools(frozenset(names)) == written.tools(names)


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ([], {}),
        (["--toolsets", "all"], {"BROWSE_TOOLSETS": "all"}),
        (["--toolsets=help,files", "--session", "new"], {"BROWSE_TOOLSETS": "help,files", "BROWSE_SESSION": "new"}),
        (["--no-shared", "--structured"], {"BROWSE_SHARED": "False", "BROWSE_STRUCTURED": "True"}),
        (["--port", "1", "--service-port=2"], {"BROWSE_MCP_PORT": "1", "BROWSE_PORT": "2"}),
        (["--toolsets", "help", "--toolsets="], {"BROWSE_TOOLSETS": ""}),
        *((wrong, None) for wrong in (["--help"], ["--toolset=all"], ["--token", "x"], ["x"], ["--toolsets"])),
        *((wrong, None) for wrong in (["--shared=no"], ["--session", "--shared"], ["--mcp-port", "1"], [""])),
    ],
)
def test_flags_are_read_early_unless_one_needs_the_parser(arguments: list[str], given: dict[str, str] | None) -> None:
    assert simple(arguments) == given


@pytest.mark.parametrize(
    "arguments",
    [
        ["--toolsets", "all"],
        ["--toolsets=help,files", "--session", "new"],
        ["--no-shared", "--structured", "--no-autostart"],
        ["--port", "1", "--service-port=2", "--host=::1"],
        ["--toolsets", "help", "--toolsets="],
    ],
)
def test_flags_that_are_read_early_are_read_as_the_parser_reads_them(arguments: list[str]) -> None:
    environment = dict[str, str]()
    take(arguments, environment)
    assert simple(arguments) == environment


@pytest.mark.parametrize(
    ("text", "toolsets"),
    [
        ("", {"core"}),
        ("session = 'new'\n", {"core"}),
        ("toolsets = 'help, files'\n", {"help", "files"}),
        ("toolsets = ['help', 'files']\n", {"help", "files"}),
        *((wrong, None) for wrong in ("toolsets = 'medai'\n", "toolsets = 3\n", "toolset = 'help'\n", "toolsets =")),
    ],
)
def test_the_file_counts_below_the_environment(
    text: str, toolsets: set[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("BROWSE_CONFIG", str(file))
    seen = foresee({}, {"BROWSE_CONFIG": str(file)})
    assert (None if seen is None else {*seen.toolsets}) == toolsets
    if seen:
        assert {*prepare().settings.toolsets} == toolsets
        assert foresee({"BROWSE_TOOLSETS": "all"}, {"BROWSE_CONFIG": str(file)}) == Foreseen(
            toolsets=frozenset({"all"})
        )


def test_a_file_that_is_named_and_missing_is_in_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSE_CONFIG", str(tmp_path / "none.toml"))
    assert foresee({}, {"BROWSE_CONFIG": str(tmp_path / "none.toml")}) is None


def test_a_token_with_limits_is_in_doubt_and_one_without_is_not(tmp_path: Path) -> None:
    free, limited = mint(SECRET, "free"), mint(SECRET, "limited", claims={TOKEN_LIMITS: {"read_only": True}})
    for token, seen in ((free, Foreseen()), (limited, None), ("nonsense", None)):
        file = tmp_path / "token"
        file.write_text(f"{token}\n", encoding="utf-8")
        assert foresee({}, {"BROWSE_TOKEN": token}) == seen
        assert foresee({"BROWSE_TOKEN_FILE": str(file)}, {}) == seen
    assert foresee({"BROWSE_TOKEN_FILE": str(tmp_path / "none")}, {}) is None


def test_names_of_variables_that_differ_only_in_case_are_in_doubt() -> None:
    assert foresee({}, {"BROWSE_TOOLSETS": "help", "browse_toolsets": "all"}) is None


def test_bytes_that_are_no_text_are_in_doubt() -> None:
    assert foresee({}, {"BROWSE_TOOLSETS": "\udc80"}) is None


@pytest.mark.parametrize("home", ["/home/ada", "", "relative"])
@pytest.mark.parametrize("given", ["", "/etc/of-ada", "relative"])
def test_the_file_is_where_platformdirs_says(home: str, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROWSE_CONFIG", raising=False)
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("XDG_CONFIG_HOME", given)
    assert config_place.path().parent == Path(platformdirs.user_config_dir(APP_NAME, appauthor=False))
