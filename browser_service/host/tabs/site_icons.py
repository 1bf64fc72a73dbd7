"""The icons of the sites that a session's pages show, for viewers: each is loaded once, by the first page that is seen
there, through all that checks what the page itself loads."""

import asyncio
import contextlib
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browser_service.host.scripts import results, script
from browser_service.host.tabs.tab import Tab
from browser_service.rules.bounded import Bounded
from browser_service.security.urls import UrlPolicy, is_private
from shared.background import Background

_MOST_ICONS: Final = 200
_LASTS_S: Final = 3_600.0
"""For this long we ask for no icon again, whether there was one or not."""
_AGAIN_S: Final = 60.0
"""So soon we ask again if the page was gone before its icon came."""
_RESTS_WITHIN_MS: Final = 10_000
_LOADS_WITHIN_S: Final = 6.0
_HEARD_OF_S: Final = 10.0
"""For this long something may be told of the request, the last of it after its end."""
_MOST_CHARACTERS: Final = 16_000
_SERVED: Final = ("http://", "https://")
_ICON: Final = results.bounded(script("site_icon"))


class SiteIcons:
    """The icons of one session, by site: a PNG in base64, "" where there is none."""

    def __init__(self, policy: UrlPolicy) -> None:
        self._policy = policy
        self._icons = Bounded[str, str](_MOST_ICONS, ttl_s=_LASTS_S)
        self._background = Background()

    def of(self, tab: Tab) -> str:
        """Return the icon of the site that a tab shows, "" as long as it is not known."""
        if not (site := _site(tab)):
            return ""
        self._icons.trim()
        if site not in self._icons:
            self._icons[site] = ""  # so that nobody else loads it, and a failure is remembered
            self._background.spawn(self._load(tab, site))
        return self._icons[site]

    async def _load(self, tab: Tab, site: str) -> None:
        with contextlib.suppress(PlaywrightError):  # it always loads something
            # Whoever waits for the page to load must not wait for this.
            await tab.page.wait_for_load_state("networkidle", timeout=_RESTS_WITHIN_MS)
        icon = None
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_LOADS_WITHIN_S):
                icon = await self._loaded(tab, site)
        if icon is None or _site(tab) != site:
            asyncio.get_running_loop().call_later(_AGAIN_S, self._icons.pop, site, None)
        else:
            self._icons[site] = icon

    async def _loaded(self, tab: Tab, site: str) -> str:
        url = results.read(str, await tab.evaluate(_ICON))
        is_itself = url == tab.page.url.partition("#")[0]  # of whose requests agents are to hear
        if is_itself or not self._may_load(url, site):
            return ""
        tab.events.ours.add(url)
        asyncio.get_running_loop().call_later(_HEARD_OF_S, tab.events.ours.discard, url)
        icon = results.read(str, await tab.evaluate(_ICON, url))
        return icon if len(icon) <= _MOST_CHARACTERS else ""

    def _may_load(self, url: str, site: str) -> bool:
        """Say if an icon may be loaded: by the URL policy, and not by a public site from a private network."""
        if not url.startswith(_SERVED):
            return url.startswith("data:image/")
        return self._policy.permits(url) and (url.startswith(f"{site}/") or not is_private(url))


def _site(tab: Tab) -> str:
    """Return the origin of the document that a tab shows, as browsers write it; "" if it came from no server."""
    url = tab.page.url
    return "/".join(url.split("/", 3)[:3]) if url.startswith(_SERVED) else ""
