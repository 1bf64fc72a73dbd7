"""Tests the files with which Prometheus and Grafana watch the service, as far as they can be checked without them."""

import json
import re
from collections.abc import Iterator

import pytest
import yaml
from pydantic import JsonValue

from browse_together.contract.pages import Figures
from browser_service.observability.metrics import Made, Metrics
from browser_service.settings import Settings
from tests.support.docs import ROOT
from tests.support.json import AnyJson

HERE = ROOT / "examples" / "observability"
COMPOSE = yaml.safe_load((HERE / "compose.yaml").read_text(encoding="utf-8"))
DASHBOARD = json.loads((HERE / "grafana" / "browse-together.json").read_text(encoding="utf-8"))
NONE = Figures(pages=0, parked=0, sessions=0, browsers=0, browser_restarts=0, memory_mb=0, memory_limit_mb=0)
SAMPLES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}


def served() -> dict[str, set[str]]:
    """Return every series that the service serves, with its labels."""
    metrics = Metrics(lambda: 0, lambda: Made(0, 0))
    metrics.count_call("click", "ok", 0.1, 5)
    text = metrics.text(NONE).decode()
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    names = {f"{name}{ending}" for name, kind in types.items() for ending in SAMPLES[kind]}
    return {
        name: {
            label for labels in re.findall(rf"^{name}\{{(.*?)\}}", text, re.MULTILINE) for label in labels_in(labels)
        }
        for name in names
    }


def labels_in(text: str) -> set[str]:
    return set(re.findall(r'(\w+)="', text))


def expressions(node: JsonValue = DASHBOARD) -> Iterator[str]:
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name == "expr" and isinstance(value, str))
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        yield from expressions(child)


def test_every_metric_of_the_dashboard_is_one_that_the_service_serves() -> None:
    named = {name for text in expressions() for name in re.findall(r"\b[a-z_]+_[a-z_]+\b(?=[\[{ )]|$)", text)}
    ours = {name for name in named if name.startswith("playwright_mcp_")}
    assert ours
    assert ours <= served().keys()
    assert named - ours <= {"histogram_quantile", "__rate_interval"}


def test_every_label_of_the_dashboard_is_one_of_the_metrics() -> None:
    labels = set[str]().union(*served().values())
    assert labels == {"action", "outcome", "le"}
    grouped = {
        name for text in expressions() for group in re.findall(r"by \((.*?)\)", text) for name in group.split(", ")
    }
    legends = set(re.findall(r"\{\{(\w+)\}\}", json.dumps(DASHBOARD)))
    assert grouped | legends | {name for text in expressions() for name in re.findall(r"\{(\w+)[!=]", text)} <= labels


def test_every_figure_that_is_served_is_on_the_dashboard() -> None:
    shown = " ".join(expressions())
    ours = {re.sub(r"_(bucket|sum|count)$", "", name) for name in served()}
    own = {name for name in ours if "_process_" not in name and not name.endswith("_created")}
    assert {name for name in own if name not in shown} == set()


def test_the_dashboards_panels_have_places_and_a_source_that_is_provisioned() -> None:
    source = yaml.safe_load((HERE / "grafana" / "datasource.yaml").read_text(encoding="utf-8"))["datasources"][0]
    panels = DASHBOARD["panels"]
    assert {panel["datasource"]["uid"] for panel in panels} == {source["uid"]}
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [(at["x"] + dx, at["y"] + dy) for at in (panel["gridPos"] for panel in panels) for dx, dy in cells(at)]
    assert len(places) == len(set(places)), "two panels are in one place"
    assert max(x for x, _ in places) < 24


def cells(at: AnyJson) -> Iterator[tuple[int, int]]:
    yield from ((x, y) for x in range(at["w"]) for y in range(at["h"]))


def test_prometheus_asks_where_the_service_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in COMPOSE["services"]["browser"]["environment"].items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert settings.metrics_address == ("0.0.0.0", 9_090)
    prometheus = yaml.safe_load((HERE / "prometheus.yml").read_text(encoding="utf-8"))
    (target,) = prometheus["scrape_configs"][0]["static_configs"][0]["targets"]
    assert target == "browser:9090"
    assert COMPOSE["services"]["browser"]["expose"] == ["9090"]


def test_the_profile_mounts_files_that_exist_and_publishes_on_loopback() -> None:
    root = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    assert COMPOSE["services"].keys() - root["services"].keys() == {"prometheus", "grafana"}
    for name in ("prometheus", "grafana"):
        service = COMPOSE["services"][name]
        assert service["profiles"] == ["observability"]
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        assert not service["image"].endswith("latest")
        for volume in service["volumes"]:
            source = volume.partition(":")[0]
            assert (ROOT / source).is_file() if source.startswith("./") else source in COMPOSE["volumes"]
            assert not source.startswith("./") or volume.endswith(":ro")
    assert "ports" not in COMPOSE["services"]["browser"]
