"""Tests the container files, as far as they can be checked without an engine."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from fastapi import FastAPI
from pydantic import AliasChoices

from browser_service.app import create_app
from browser_service.cli.root import COMMANDS, command_in
from browser_service.settings import Settings
from examples.smart_home.site import create_site
from scripts import wheel

ROOT = Path(__file__).parents[3]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
WITH_HOSTS = yaml.safe_load((ROOT / "compose.hosts.yaml").read_text(encoding="utf-8"))
HOST = WITH_HOSTS["services"]["host"]
LOOPBACK = "127.0.0.1:"

TOP_LEVEL = {"name", "services", "networks", "volumes", "configs", "secrets", "include", "models"}
OF_A_SERVICE = {
    *("build", "image", "pull_policy", "command", "entrypoint", "init", "user", "working_dir", "platform", "profiles"),
    "secrets",
    *("environment", "env_file", "volumes", "tmpfs", "shm_size", "ipc", "ports", "expose", "networks", "extra_hosts"),
    *("depends_on", "restart", "healthcheck", "stop_grace_period", "stop_signal", "security_opt", "cap_add"),
    *("cap_drop", "read_only", "mem_limit", "cpus", "pids_limit", "ulimits", "logging", "labels", "deploy", "develop"),
}
OF_A_BUILD = {"context", "dockerfile", "args", "target", "cache_from", "labels"}
OF_A_HEALTHCHECK = {"test", "interval", "timeout", "retries", "start_period", "start_interval", "disable"}

services = pytest.mark.parametrize("name", list(SERVICES))


def instructions() -> list[tuple[str, str]]:
    """Name and arguments of each instruction of the Dockerfile, with its lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    return [(found[1], " ".join(found[2].split())) for found in re.finditer(r"^([A-Z]+) +(.*)$", lines, re.MULTILINE)]


def arguments(instruction: str) -> list[str]:
    return [given for name, given in instructions() if name == instruction]


def variables() -> set[str]:
    """Return every name of a setting."""
    names = {f"BROWSE_{name.upper()}" for name in Settings.model_fields}
    aliases = [field.validation_alias for field in Settings.model_fields.values()]
    return names | {str(choice) for alias in aliases if isinstance(alias, AliasChoices) for choice in alias.choices}


def paths(app: FastAPI) -> set[str]:
    return {str(path) for path in app.openapi()["paths"]}


def checked_address(test: list[str]) -> tuple[str, int, str]:
    """Return the host, port and path that a health check's script requests."""
    script = test[-1]
    compile(script, "healthcheck", "exec")
    host, port = re.findall(r"HTTPConnection\('([^']+)', (\d+)", script)[0]
    return host, int(port), re.findall(r"request\('GET', '([^']+)'\)", script)[0]


def test_only_what_the_compose_specification_knows_is_in_it() -> None:
    assert set(COMPOSE) | set(WITH_HOSTS) <= TOP_LEVEL
    for service in (*SERVICES.values(), *WITH_HOSTS["services"].values()):
        assert set(service) <= OF_A_SERVICE
        assert set(service.get("healthcheck", {})) <= OF_A_HEALTHCHECK


@services
def test_the_build_context_of_each_service_exists(name: str) -> None:
    build = SERVICES[name]["build"]
    build = {"context": build} if isinstance(build, str) else build
    assert set(build) <= OF_A_BUILD
    assert (ROOT / build["context"] / build.get("dockerfile", "Dockerfile")).is_file()


@services
def test_every_mounted_volume_is_declared(name: str) -> None:
    mounted = {volume.partition(":")[0] for volume in SERVICES[name].get("volumes", [])}
    assert mounted <= set(COMPOSE.get("volumes", {}))


@services
def test_ports_are_published_on_loopback_only(name: str) -> None:
    published = SERVICES[name]["ports"]
    assert published
    assert all(isinstance(port, str) and port.startswith(LOOPBACK) for port in published)


@services
def test_a_container_has_an_init_and_gains_no_privileges(name: str) -> None:
    assert SERVICES[name]["init"] is True
    assert "no-new-privileges:true" in SERVICES[name]["security_opt"]
    assert not {"privileged", "cap_add", "network_mode"} & set(SERVICES[name])


def test_the_service_has_memory_to_share_and_a_directory_that_lasts() -> None:
    browser = SERVICES["browser"]
    assert browser["shm_size"]
    assert any(volume.endswith(":/data") for volume in browser["volumes"])
    assert "/data" in arguments("VOLUME")


def test_every_variable_is_a_setting() -> None:
    given = set(SERVICES["browser"]["environment"])
    given |= {name for line in arguments("ENV") for name in re.findall(r"(\w+)=", line)}
    assert given <= variables()


def test_the_settings_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    of_image = {name: value for line in arguments("ENV") for name, value in re.findall(r"(\w+)=(\S+)", line)}
    for name, value in {**of_image, **SERVICES["browser"]["environment"]}.items():
        monkeypatch.setenv(name, re.sub(r"\$\{\w+:-(.*)\}", r"\1", value))
    settings = Settings()
    assert str(settings.data_dir) == "/data"
    assert settings.sandbox == "off"
    assert settings.allowed_hosts == (f"browser:{settings.port}",)
    assert f"{LOOPBACK}{settings.port}:{settings.port}" in SERVICES["browser"]["ports"]


def test_the_health_checks_ask_routes_that_exist(tmp_path: Path) -> None:
    of_image = json.loads(arguments("HEALTHCHECK")[0].partition("CMD ")[2])
    service = paths(create_app(Settings(data_dir=tmp_path)))
    for test in (of_image, SERVICES["browser"]["healthcheck"]["test"][1:]):
        host, port, path = checked_address(test)
        assert (host, port, path in service) == ("127.0.0.1", 8888, True)
    host, port, path = checked_address(SERVICES["smart-home"]["healthcheck"]["test"])
    assert (host, str(port)) == ("127.0.0.1", SERVICES["smart-home"]["command"][-1])
    assert path in paths(create_site())


def test_the_image_starts_the_service_where_its_port_can_be_reached_as_an_ordinary_user() -> None:
    assert json.loads(arguments("CMD")[0]) == ["browse-together", "up", "--host", "0.0.0.0"]
    assert arguments("EXPOSE") == ["8888"]
    assert arguments("USER")[-1] not in {"root", "0"}
    names = [name for name, _ in instructions()]
    assert names.index("USER") > max(index for index, name in enumerate(names) if name in {"RUN", "COPY"})


def test_the_images_labels_say_what_the_package_says() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    labels = dict(word.split("=", 1) for word in shlex.split(arguments("LABEL")[0]))
    said = {"title": "name", "description": "description", "version": "version", "licenses": "license"}
    assert labels == {f"org.opencontainers.image.{label}": about[field] for label, field in said.items()}


def test_copied_files_exist_and_are_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split() if line.startswith("!")}
    sources = {source for line in arguments("COPY") for source in shlex.split(line)[:-1]}
    assert {source for source in sources if not (ROOT / source).exists()} == set()
    assert {Path(source).name for source in sources} == kept


def test_everything_that_is_installed_is_copied_before() -> None:
    before = [line for name, line in instructions() if name in {"COPY", "RUN"}]
    install = next(index for index, line in enumerate(before) if line.startswith("pip install"))
    copied = {source for line in before[:install] for source in shlex.split(line)[:-1]}
    places = [place for folder in wheel.packages().values() for place in (ROOT / folder, *(ROOT / folder).iterdir())]
    needed = {place.resolve().relative_to(ROOT.resolve()).parts[0] for place in places}  # a link leads elsewhere
    assert {*needed, "pyproject.toml", wheel.project()["project"]["readme"]} - copied == set()


def test_hosts_are_reached_by_nobody_and_have_time_to_drain() -> None:
    assert not {"ports", "volumes", "privileged", "cap_add", "network_mode"} & set(HOST)
    assert (HOST["image"], HOST["init"]) == (SERVICES["browser"]["image"], True)
    assert HOST["security_opt"] == ["no-new-privileges:true"]
    assert (HOST["restart"], HOST["stop_grace_period"]) == ("always", "90s")
    assert [f"/run/secrets/{name}" for name in WITH_HOSTS["secrets"]] == [HOST["command"][-1]]


@pytest.mark.parametrize(
    "words", [WITH_HOSTS["services"]["browser"]["command"], HOST["command"], HOST["healthcheck"]["test"][1:]]
)
def test_the_commands_for_hosts_have_options_that_exist(words: list[str]) -> None:
    program, name, *options = words
    assert program == "browse-together"
    command_in(COMMANDS[name].module, name).make_context(name, options)


def test_hosts_join_where_the_service_answers() -> None:
    joined = urlsplit(HOST["command"][HOST["command"].index("--join") + 1])
    assert joined.netloc == SERVICES["browser"]["environment"]["BROWSE_ALLOWED_HOSTS"]
