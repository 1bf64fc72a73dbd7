"""Tests that a secret, once its site got it, is guarded in whatever field holds it, whole or cut."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from PIL import Image, ImageChops

from shared.named_secrets import NamedSecret
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio

VALUE: Final = "Kx7qP2mWz9Lt"
REF: Final[AnyJson] = {"secret": "pw"}
LOGIN: Final = """<form action=/in><input id=pw name=pw type=password><button type=button id=eye
onclick='pw.type = pw.type === "text" ? "password" : "text"'>Show</button><input id=zip name=zip maxlength=5></form>
<input id=plain>"""
SETTINGS: Final = f"""<input id=a value={VALUE}><textarea id=b>{VALUE}</textarea><div id=c contenteditable>{VALUE}</div>
<div id=host></div><iframe id=f srcdoc="<input value={VALUE}>"></iframe>
<script>host.attachShadow({{mode: 'open'}}).innerHTML = '<input id=d value={VALUE}>'</script>"""
STYLE: Final = "e => getComputedStyle(e).webkitTextSecurity"


@pytest.fixture
async def signed_in(agent: Agent, service: RunningService, site: Site) -> AsyncSite:
    """The site, which got the secret in the agent's own session."""
    ...
