"""Starts real processes: a service on a free port, and chats, each with a real MCP client and its own gateway."""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, Implementation, TextContent

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browse_together.contract.secret import ensure_secret
from examples.processes import ServiceProcess, service
from tests.support import browsers
from tests.support.json import AnyJson

ROOT = Path(__file__).parents[2]
COLD = {
    "BROWSE_MIN_INSTANCES": "0",
    "BROWSE_CONFIG": os.devnull,
    "BROWSE_SHARED": os.environ.get("BROWSE_TESTS_SHARED", "false"),
    "BROWSE_SHARED_IDLE_S": "1",
}
"""Starts the browser with the first call that needs it (most process tests need none), keeps the developer's settings
file out, and gives each gateway its own process; BROWSE_TESTS_SHARED=true tests the shared one."""


def environment(data_dir: Path, **changes: str) -> dict[str, str]:
    """Return the environment of our processes, with none of the developer's settings and with this source tree."""
    ours = {"PORT", "LOG_LEVEL", "APP_ENV", "HEADLESS", "BROWSER_TYPE", "CLAUDE_CODE_SESSION_ID"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BROWSE_") and name not in ours}
    return {**kept, "PYTHONPATH": str(ROOT), "BROWSE_DATA_DIR": str(data_dir), **COLD, **browsers.setting(), **changes}


def tuned(directory: Path, **figures: int) -> dict[str, str]:
    """Return the variable by which processes start with other figures than those of `Tuning`."""
    directory.mkdir()
    (directory / "sitecustomize.py").write_text(
        f"from browser_service.tuning import Tuning\nTuning.__init__.__kwdefaults__.update({figures})\n"
    )
    return {"PYTHONPATH": f"{ROOT}{os.pathsep}{directory}"}


def service_process(data_dir: Path, **changes: str) -> AbstractAsyncContextManager[ServiceProcess]:
    """Start a service on a free port."""
    return service(data_dir, environment(data_dir, **changes))


async def close_all(of: ServiceProcess) -> None:
    """Close every page and every session but the default one, as the account's person."""
    token = mint(ensure_secret(of.data_dir), "cli", "CLI", operator=True)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=of.url, headers=headers, timeout=60, trust_env=False) as http:

        async def done(action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
            reply = (await http.post(wire.BROWSER, json={"action": action, **arguments})).json()
            assert reply["success"], reply
            return dict(reply["result"])

        listed = await done("list_pages", all=True)
        for page in [page for part in ("yours", "people", "others") for page in listed[part]]:
            await done("claim_page", pageId=page["pageId"], reason="Its tests are over.")
            await done("close_page", pageId=page["pageId"])
        for session in (await done("list_sessions"))["sessions"]:
            if session["sessionId"] != wire.DEFAULT_SESSION:
                await done("close_session", sessionId=session["sessionId"])


@asynccontextmanager
async def chat(
    of: ServiceProcess,
    name: str,
    mode: str = "legacy",
    *,
    does: Mapping[str, Any] | None = None,  # Any: the SDK's callbacks, by their names
    **changes: str,
) -> AsyncIterator[Client]:
    """Start a chat that is connected to a running service."""
    env = environment(of.data_dir, BROWSE_URL=of.url, BROWSE_AUTOSTART="false", **changes)
    gateway = StdioServerParameters(command=sys.executable, args=["-m", "mcp_gateway"], env=env, cwd="/")
    info = Implementation(name=name, version="1")
    async with Client(gateway, client_info=info, mode=mode, read_timeout_seconds=60, **does or {}) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
