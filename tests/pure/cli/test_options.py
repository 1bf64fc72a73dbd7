"""Tests that options are computed: from the settings, and from the catalogue."""

import os
import re
import shlex
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import typer
from pydantic import AliasChoices, JsonValue
from typer.testing import CliRunner

from browse_together.contract import catalogue
from browse_together.contract.actions.base import Action
from browse_together.contract.actions.flows import RunFlow
from browse_together.contract.call_spellings import as_command
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.help_text import example
from browse_together.contract.next_calls import marked, next_call, spelled
from browse_together.contract.schema import full_schema
from browser_service.cli import flags, lifecycle, secrets, upkeep
from browser_service.cli.actions import command_of
from browser_service.cli.root import COMMANDS, GROUPS, app
from browser_service.settings import Settings
from tests.support.each import each

OWN = {"--data-dir", "--json", "--out", "--output", "--person", "--help"}
SAMPLES: dict[object, JsonValue] = {int: 1234, int | None: 1234, bool: False, str: "x"}


def offered(app: typer.Typer, *command: str) -> list[str]:
    """Return the options in a command's help as they are written there, without those that switch them off."""
    text = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"}).output
    lines = re.findall(r"^  ((?:-\w, )?--.*?)(?:  | / |$)", text, re.MULTILINE)
    return [option for line in lines for option in re.findall(r"--[A-Za-z][\w-]*", line)]


def kebab(name: str) -> str:
    return "--" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).replace("_", "-").lower()


@pytest.mark.parametrize(("app", "command"), [(lifecycle.app, "up"), (upkeep.app, "doctor")])
def test_every_setting_is_a_flag(app: typer.Typer, command: str) -> None:
    assert {kebab(name) for name in Settings.model_fields} <= set(offered(app, command))


def test_flags_reach_a_child_through_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = {name: sample(field.annotation) for name, field in Settings.model_fields.items()}
    changes |= {"viewport": "640x480", "metrics_port": "9090"}
    changes["host"] = "127.0.0.2"  # others need more than their own flag
    for name in ("cdp_url", "attach"):  # which do not go with all others
        del changes[name]
    for name, value in flags.environment(changes).items():
        monkeypatch.setenv(name, value)
    assert Settings() == Settings.model_validate(changes)


def sample(annotation: Any) -> JsonValue:  # Any: a type as an annotation has it
    if "tuple" in str(annotation):
        return ["a.example", "b.example"]
    if get_origin(annotation) is Literal:
        return str(get_args(annotation)[-1])
    return SAMPLES.get(annotation, "http://localhost:8901")


@each(catalogue.ACTIONS)
def test_an_actions_options_are_its_arguments_and_nothing_else(action: type[Action]) -> None:
    spelled = offered(command_of(action.name(), action))
    assert len(spelled) == len(set(spelled)), "an argument has the name of another option"
    names = full_schema(action)["properties"]
    assert isinstance(names, dict)
    in_help = {f"--{name}" for name in names} | {kebab(name) for name in names}
    assert in_help <= set(spelled)
    own = OWN | ({"--secret"} if action.name() in {"fill", "type"} else set())
    assert set(spelled) - in_help == (own | second_names(action)) - in_help


def second_names(action: type[Action]) -> set[str]:
    aliases = [field.validation_alias for field in action.model_fields.values()]
    names = [str(name) for alias in aliases if isinstance(alias, AliasChoices) for name in alias.choices[1:]]
    names += [name for alias in action.aliases for name in alias.renames]
    page = {"--page"} if "page_id" in action.model_fields else set()
    return page | {f"--{name}" for name in names} | {kebab(name) for name in names}


def test_every_command_of_the_list_is_there() -> None:
    for name, command in COMMANDS.items():
        app = __import__(f"browser_service.cli.{command.module}", fromlist=["app"]).app
        commands = {made.name or made.callback.__name__ for made in app.registered_commands}
        assert name in commands | {group.name for group in app.registered_groups}


def test_the_help_is_in_groups_and_cuts_no_line_and_names_values_as_people_do() -> None:
    whole = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).output
    assert [*re.findall(r"^(\w+):$", whole, re.MULTILINE)][1:] == [*GROUPS]
    settings = CliRunner().invoke(app, ["up", "--help"], env={"COLUMNS": "80"}).output
    assert re.findall(r"^(\w.*):$", settings, re.MULTILINE) == ["Options", *flags.PARTS.values()]
    assert flags.PARTS.keys() <= Settings.model_fields.keys()
    run = CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "80"}).output
    assert [name.lower() for name in re.findall(r"^(\w+.*):$", run, re.MULTILINE)][1:] == [
        each.replace("_", " ") for each in catalogue.CATEGORIES
    ]
    for name in COMMANDS.keys() - {"run", "mcp"}:
        shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "80"}).output
        lines = [line for line in shown.splitlines() if not line.startswith("Usage")]
        assert not re.search(r"<(str|int|path|.* range)>", shown), shown
        assert not [line for line in lines if line.endswith("...")], shown


BODIES: list[tuple[str, list[str], dict[str, JsonValue]]] = [
    ("click", ["e3"], {"selector": "e3"}),
    ("click", ["--selector", "e3", "--click-count", "2", "--no-strict"], {"clickCount": 2, "strict": False}),
    ("click", ["e3", "--clickCount", "2", "--noWaitAfter"], {"clickCount": 2, "noWaitAfter": True}),
    ("click", ["e3", "--modifiers", "Alt", "--modifiers", "Shift"], {"modifiers": ["Alt", "Shift"]}),
    ("click", ["e3", "--position", '{"x": 1, "y": 2.5}'], {"position": {"x": 1, "y": 2.5}}),
    ("fill", ["e3", "new text"], {"selector": "e3", "value": "new text"}),
    ("fill", ["--text", "new text", "e3"], {"selector": "e3", "value": "new text"}),
    ("fill", ["e3", "--", "--dashes"], {"value": "--dashes"}),
    ("fill", ["e3", ""], {"value": ""}),
    ("fill", ["e3", "7", "--page", "shop"], {"value": "7", "pageId": "shop"}),
    ("fetch", ["/api", "--headers", '{"A": "b"}'], {"headers": {"A": "b"}}),
    ("evaluate_script", ["x => x", "--arg", "[1, null]"], {"arg": [1, None]}),
    ("evaluate", ["--script", "x => x", "--arg", '"text"'], {"expression": "x => x", "arg": "text"}),
    ("select_option", ["e3", "--value", "7"], {"value": "7"}),
    ("select_option", ["e3", "--value", '["a", "b"]'], {"value": ["a", "b"]}),
    ("select_option", ["e3", "--value", "red", "--value", "7"], {"value": ["red", "7"]}),
    ("select_option", ["e3", "--index", "2"], {"index": 2}),
    ("select_option", ["e3", "7"], {"selector": "e3", "value": "7"}),
    ("press", ["Enter", "e3"], {"key": "Enter", "selector": "e3"}),
    ("extract_text", ["h1"], {"selector": "h1"}),
    ("screenshot", ["h1"], {"selector": "h1"}),
    (
        "fill_form",
        ['{"selector": "e3", "value": "7"}', "e4"],
        {"fields": [{"selector": "e3", "value": "7"}], "submit": "e4"},
    ),
    ("handle_dialog", ["true"], {"accept": True}),
    ("select_option", ["e3", "--index", "0", "--index", "2"], {"index": [0, 2]}),
    ("find", ["--queries", '["tea", {"role": "link"}]'], {"queries": ["tea", {"role": "link"}]}),
    ("find", ["--queries", "tea", "--queries", '{"role": "link"}'], {"queries": ["tea", {"role": "link"}]}),
    ("find", ["--queries", "[tea"], {"queries": ["[tea"]}),
]


@pytest.mark.parametrize(("name", "typed", "expected"), BODIES)
def test_what_is_typed_becomes_the_body(name: str, typed: list[str], expected: dict[str, JsonValue]) -> None:
    bodies: list[dict[str, JsonValue]] = []
    command = command_of(name, catalogue.NAMES[name].action, lambda body, *_, **__: bodies.append(body))
    assert CliRunner().invoke(command, typed).exit_code == 0
    assert {key: bodies[0].get(key) for key in expected} == expected
    catalogue.parse(bodies[0])


def typed_secret(*typed: str, stdin: str = "") -> tuple[int, str, list[dict[str, JsonValue]]]:
    """Return the exit code, the output and the bodies of a `fill`."""
    bodies: list[dict[str, JsonValue]] = []
    fill = command_of("fill", catalogue.NAMES["fill"].action, lambda body, *_, **__: bodies.append(body))
    done = CliRunner().invoke(fill, list(typed), input=stdin)
    return done.exit_code, done.output, bodies


def test_a_secret_is_read_from_stdin_or_a_file_and_stands_in_no_command_line(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hunter 2\r\n", encoding="utf-8")
    for source, stdin in (("-", "hunter 2\n"), ("-", "hunter 2"), (str(tmp_path / "password"), "")):
        code, _, (body,) = typed_secret("#pw", "--secret", source, stdin=stdin)
        assert (code, body) == (0, {"action": "fill", "selector": "#pw", "value": "hunter 2"})


def test_a_secret_beside_the_text_itself_is_a_mistake_and_none_at_all_too() -> None:
    code, said, bodies = typed_secret("#pw", "--secret", "-", "--value", "x", stdin="y")
    assert (code, bodies, "not both" in said) == (2, [], True)
    code, said, bodies = typed_secret("#pw", "x", "--secret", "-", stdin="y")
    assert (code, bodies, "'x'" in said) == (2, [], True)
    with pytest.raises(ValidationFailed, match="no secret"):
        secrets.read(os.devnull)


def test_what_a_reply_says_of_a_secret_is_masked_wherever_it_stands() -> None:
    reply: dict[str, JsonValue] = {"result": {"value": "hunter 2", "all": ["is hunter 2", 2, None]}, "success": True}
    assert secrets.masked(reply, "hunter 2") == {
        "result": {"value": "••••••••", "all": ["is ••••••••", 2, None]},
        "success": True,
    }


@each({name: each for name, each in catalogue.ACTIONS.items() if each is not RunFlow})
def test_the_command_that_stands_for_a_call_makes_that_call(action: type[Action]) -> None:
    call = {"action": action.name(), **example(action)}
    command = spelled(next_call(action.name(), **example(action)), as_command)
    program, run, name, *typed = shlex.split(command)
    assert (program, run, name) == ("browse-together", "run", action.name())
    bodies: list[dict[str, JsonValue]] = []
    made = command_of(name, action, lambda body, *_, **__: bodies.append(body))
    assert CliRunner().invoke(made, typed).exit_code == 0, command
    assert bodies == [call]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("snapshot {}", "browse-together run snapshot"),
        ('goto {"pageId": "cart", "url": "..."}', "browse-together run goto --page cart --url ..."),
        ('goto {"url": ...}', "browse-together run goto --url ..."),
        ("click {...}", "browse-together run click ..."),
        ('batch {"steps": [...], ...}', "browse-together run batch --steps [...] ..."),
        ('click {"force": true, "noWaitAfter": false}', "browse-together run click --force --wait-after"),
        ('fill {"selector": "#it\'s", "value": 7}', "browse-together run fill --selector '#it'\"'\"'s' --value 7"),
        ('run_flow {"name": "a", "values": {"b": "..."}}', "browse-together flow run a --value b=..."),
        ('run_flow {"name": "a"}', "browse-together flow run a"),
    ],
)
def test_calls_in_texts_are_spelled_as_commands(call: str, said: str) -> None:
    assert spelled(marked(f"Look first ({call}).", [call]), as_command) == f"Look first ({said})."


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("click", ["e3", "e4"], "What is 'e4'?"),
        ("list_pages", ["shop"], "unexpected extra argument"),
        ("click", ["e3", "--positon", "{}"], "--position"),
        ("click", ["e3", "--position", "{x: 1}"], "is no JSON"),
        ("click", ["e3", "--button", "up"], "left"),
        ("click", ["e3", "--click-count", "two"], "--click-count"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_sent(name: str, typed: list[str], said: str) -> None:
    bodies: list[dict[str, JsonValue]] = []
    command = command_of(name, catalogue.NAMES[name].action, lambda body, *_, **__: bodies.append(body))
    refused = CliRunner().invoke(command, typed)
    assert (refused.exit_code, bodies) == (2, [])
    assert said in refused.output
