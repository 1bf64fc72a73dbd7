"""Tests what `host --engine ray` refuses before it asks any cluster."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from browser_service.joining import CannotJoin, Join
from browser_service.ray_hosts import launch

JOIN = Join("https://server:8888", Path("/etc/host.token"))


def refusal() -> str:
    with pytest.raises(CannotJoin) as refused:
        launch(JOIN, 1, plain_http=False, say=lambda _: None)
    return str(refused.value)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install 'browse-together[ray]'" in refusal()


@pytest.mark.parametrize("version", ["2.51.2", "1.13.0"])
def test_a_version_in_which_pages_ran_code_is_refused(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(__version__=version))
    assert f"Ray {version} lets web pages run code" in refusal()
