"""Tests the objects for Kubernetes against its schemas, where those are installed (`make test-ray`), and against us."""

from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from browser_service.cli.root import COMMANDS, command_in
from browser_service.settings import Settings

ROOT = Path(__file__).parents[3]
OBJECTS = [*yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text(encoding="utf-8"))]
KUBERNETES = "1.37"

Json = dict[str, Any]  # Any: values of a YAML file

objects = pytest.mark.parametrize("each", OBJECTS, ids=lambda each: f"{each['kind']} {each['metadata']['name']}")


def pod(kind: str) -> Json:
    """Return what the pods of the one object of this kind are made by."""
    (found,) = [each for each in OBJECTS if each["kind"] == kind]
    return dict(found["spec"]["template"]["spec"])


FRONT, HOST = pod("StatefulSet"), pod("Deployment")
pods = pytest.mark.parametrize("made", [FRONT, HOST], ids=["front", "host"])


def container(made: Json) -> Json:
    (found,) = made["containers"]
    return dict(found)


@objects
def test_an_object_is_one_that_kubernetes_knows(each: Json) -> None:
    pytest.importorskip("kubernetes_validate").validate(each, KUBERNETES, strict=True)


@pods
def test_a_pod_is_an_ordinary_user_without_a_key_of_the_cluster(made: Json) -> None:
    assert made["automountServiceAccountToken"] is False
    assert made["securityContext"]["runAsNonRoot"] is True
    assert container(made)["securityContext"]["allowPrivilegeEscalation"] is False
    assert container(made)["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pods
def test_a_pod_has_memory_of_its_own_to_share_and_a_fixed_amount_in_all(made: Json) -> None:
    resources = container(made)["resources"]
    assert resources["limits"]["memory"] == resources["requests"]["memory"]
    (shared,) = [each["name"] for each in container(made)["volumeMounts"] if each["mountPath"] == "/dev/shm"]  # noqa: S108 - the container's
    assert {each["name"]: each for each in made["volumes"]}[shared]["emptyDir"]["medium"] == "Memory"


@pods
def test_every_mounted_volume_is_declared(made: Json) -> None:
    (front,) = [each for each in OBJECTS if each["kind"] == "StatefulSet"]
    claims = [each["metadata"]["name"] for each in front["spec"]["volumeClaimTemplates"]]
    declared = {*claims, *(each["name"] for each in made["volumes"])}
    assert {each["name"] for each in container(made)["volumeMounts"]} <= declared


def test_the_commands_have_options_that_exist() -> None:
    probes = [each["exec"]["command"] for name, each in container(HOST).items() if name.endswith("Probe")]
    for program, name, *options in (container(FRONT)["command"], container(HOST)["command"], *probes):
        assert program == "browse-together"
        command_in(COMMANDS[name].module, name).make_context(name, options)
    assert len(probes) == 3


def test_hosts_join_where_the_front_answers_and_have_time_to_drain(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (*container(FRONT)["env"], *container(HOST)["env"]):
        monkeypatch.setenv(each["name"], each["value"])
    given = dict(pairwise(container(HOST)["command"]))
    assert urlsplit(given["--join"]).netloc in Settings().allowed_hosts
    assert given["--token-file"] == "/token/host.token"
    assert HOST["terminationGracePeriodSeconds"] == 90


def test_nobody_reaches_hosts_and_they_reach_no_private_network() -> None:
    policies = {each["metadata"]["name"]: each["spec"] for each in OBJECTS if each["kind"] == "NetworkPolicy"}
    assert policies["who-is-reached"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    reached = [spec["podSelector"]["matchLabels"] for spec in policies.values() if "ingress" in spec]
    assert reached == [{"app": "front"}]
    blocks = [to["ipBlock"] for to in policies["where-pages-go"]["egress"][1]["to"]]
    refused = {network for block in blocks for network in block["except"]}
    assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7"} <= refused
