"""Grants permissions to sites in a session, such as reading the clipboard: on request, to one origin, and again in a
newly started browser."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.errors import ResourceExhausted
from browse_together.contract.next_calls import next_call
from browser_service.host.sessions.windows import Windows

_MOST_SITES = 100


@dataclass(eq=False)
class Permissions:
    by_origin: dict[str, list[str]] = field(default_factory=dict)
    _granted_by: dict[str, str] = field(default_factory=dict)
    """The client for which each origin got its permissions; none is known in a session that came back."""
    _used_by: set[str] = field(default_factory=set)
    """Those of these clients that have held a page since."""

    async def attach(self, context: BrowserContext, windows: Windows) -> None:
        """Grant everything again in a new context of the session."""
        for origin, names in self.by_origin.items():
            await _set(context, windows, origin, names, ())

    async def grant(
        self, context: BrowserContext, windows: Windows, origin: str, names: Sequence[str], client_id: str = ""
    ) -> list[str]:
        """Replace the origin's permissions, and return those it had before. Raises ResourceExhausted if too many sites
        have some."""
        before = self.by_origin.get(origin, [])
        if names and not before and len(self.by_origin) >= _MOST_SITES:
            raise ResourceExhausted(
                f"{_MOST_SITES} sites of the session have permissions, which is the limit.",
                hint=f"Take it back from one: {next_call('grant_permissions', permissions=[], origin='...')}.",
            )
        await _set(context, windows, origin, names, before)
        if names:
            self.by_origin[origin], self._granted_by[origin] = [*names], client_id
        else:
            self.by_origin.pop(origin, None)
            self._granted_by.pop(origin, None)
        return before

    def outlived(self, holders: Collection[str], gone: str = "") -> list[str]:
        """Return the origins whose permissions outlive their client's hold of the session's pages. `gone` is a client
        that has left, though it may not have held any."""
        self._used_by = {*self._granted_by.values()} & {*self._used_by, *holders}
        ended = {gone, *self._used_by} - {*holders, ""}
        return [origin for origin, client_id in self._granted_by.items() if client_id in ended]


async def _set(
    context: BrowserContext, windows: Windows, origin: str, granted: Sequence[str], before: Collection[str]
) -> None:
    """Set permissions one by one if the engine can, all or none. Playwright's own call denies an origin every
    permission that it does not name, and revokes them only for all origins at once."""
    browser = context.browser
    if browser is None or browser.browser_type.name != "chromium":
        await context.grant_permissions([*granted], origin=origin)
        return
    done: list[str] = []

    async def put(name: str, *, on: bool) -> None:
        setting = "granted" if on else "prompt"
        await windows.command(
            "Browser.setPermission", {"permission": {"name": name}, "setting": setting, "origin": origin}
        )
        done.append(name)

    try:
        for name in (*granted, *(name for name in before if name not in granted)):
            await put(name, on=name in granted)
    except PlaywrightError:
        for name in [*done]:
            await put(name, on=name in before)
        raise
