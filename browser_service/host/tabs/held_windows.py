"""Holds back the windows that an agent's page would open before what the person looks at, in that person's browser."""

import asyncio
import json
import secrets
from collections.abc import Callable

from playwright.async_api import CDPSession

from browser_service.host.scripts import call_of, script


async def hold_windows(cdp: CDPSession, on_asked: Callable[[str], None]) -> None:
    """Call `on_asked` with the URL of each window that documents of a page would open; frames in processes of their own
    open theirs."""
    name = f"_{secrets.token_hex(8)}"
    cdp.on("Runtime.bindingCalled", lambda event: on_asked(event["payload"]) if event["name"] == name else None)
    source = call_of(script("windows_behind"), json.dumps(name))
    await asyncio.gather(
        cdp.send("Page.enable"),
        cdp.send("Runtime.enable"),
        cdp.send("Runtime.addBinding", {"name": name}),
        cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "runImmediately": True}),
    )
