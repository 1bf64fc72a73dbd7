"""Tests the example of a shell script: bash, a gateway process, a service, a browser, and the smart home."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from examples.smart_home.server import SiteServer
from examples.smart_home.state import Home
from tests.support.gateways import ROOT, environment
from tests.support.listening import listening

pytestmark = pytest.mark.anyio

WITHIN_S = 60


async def run(command: list[str], env: dict[str, str], said: str = "") -> tuple[int, str, str]:
    """Return the exit code, stdout and stderr of a program that reads what is said."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, env=env, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(WITHIN_S):
            stdout, stderr = await process.communicate(said.encode())
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode or 0, stdout.decode(), stderr.decode()


async def test_a_shell_script_signs_in_and_switches_a_light_once(tmp_path: Path) -> None:
    serving = asyncio.Event()
    house = SiteServer(Home(), announce=lambda _: serving.set())
    house_task = asyncio.create_task(house.serve())
    async with listening(tmp_path) as service:
        await asyncio.wait_for(serving.wait(), WITHIN_S)
        env = environment(tmp_path, BROWSE_URL=service.base_url, BROWSE_AUTOSTART="false")
        env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
        script = ["bash", str(ROOT / "examples" / "light.sh"), house.url, "cocina"]
        assert await run(script, env) == (0, "cocina is on now\n", "")
        assert await run(script, env) == (0, "cocina was on already\n", "")
    assert house.home.counts == {"login": 1, "set_light_state": 1, "set_light_state:cocina": 1}
    house.should_exit = True
    await asyncio.wait_for(house_task, WITHIN_S)
