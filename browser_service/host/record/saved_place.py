"""Reads and restores where a page is: how far it is scrolled, its session storage, its history, and, of a page that was
closed, its settings."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Final

import structlog
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page
from pydantic import FiniteFloat, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from browse_together.contract.background import AtMost, Background
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.model import Json, weight
from browse_together.contract.pages import PageState, Parked
from browser_service.host import world
from browser_service.host.background import bounded
from browser_service.host.record.life import Life
from browser_service.host.record.record import DialogPolicy, PageRecord, SavedPlace
from browser_service.host.record.settings import PageSettings, SettingsJson
from browser_service.host.scripts import call_of, results, script
from browser_service.host.tabs.tab import Tab
from browser_service.host.world.ties import ignore, listen, open_session
from browser_service.security.urls import BLANK

_READS_WITHIN_S: Final = 0.5
_SCROLLS_WITHIN_S: Final = 2.0
_WALKS_WITHIN_S: Final = 5.0
_MOST_STORAGE: Final = 1_000_000
_MOST_ENTRIES: Final = 10
WEB: Final = ("http:", "https:")
"""The beginnings of addresses that a history may have."""

_PLACE: Final = results.bounded(script("parked_place"))
_FIELDS: Final = "input:not([type=hidden]), textarea, select, [contenteditable]"
_UNSENT: Final = results.bounded(script("unsent_fields"))
_SCROLL: Final = results.bounded(script("scroll_back"))
_FILL: Final = script("session_storage")


log = structlog.get_logger(__name__)


class Former(TypedDict):
    """What `remember` returned. A host elsewhere may have sent it."""

    page: PageState
    storage: dict[str, str]
    history: list[str]
    settings: SettingsJson
    dialogs: tuple[str, bool | None, str | None]


_FORMER: Final = TypeAdapter(Former)


class _Place(TypedDict):
    x: FiniteFloat
    y: FiniteFloat
    history: int
    storage: list[tuple[str, str]] | None


async def place_of(page: Page) -> tuple[Parked, dict[str, str]]:
    """Read how far a page is scrolled, and its session storage. Large storage is left out, and counts as lost."""
    place = results.read(_Place, await world.evaluate(page, _PLACE, _MOST_STORAGE))
    storage = dict(place["storage"] or ())
    too_large = place["storage"] is None or weight({**storage}) > _MOST_STORAGE
    parked = Parked(x=round(place["x"]), y=round(place["y"]), history=place["history"], loses=too_large)
    return parked, {} if too_large else storage


async def has_unsent_fields(frames: list[Frame]) -> bool:
    for frame in frames:
        if results.value_of(await world.evaluate_all(frame.locator(_FIELDS), _UNSENT)):
            return True
    return False


async def scroll_back(page: Page, parked: Parked) -> None:
    if not parked.x and not parked.y:
        return
    async with AtMost(_SCROLLS_WITHIN_S, PlaywrightError):  # it went on elsewhere, or is busy: it is open all the same
        await world.evaluate(page, _SCROLL, [parked.x, parked.y, 1_000])


async def restore_storage(tab: Tab, url: str, storage: Mapping[str, str], background: Background) -> None:
    """Fill the session storage before the first script of the next document runs, and never again: what a site removes
    later stays removed."""
    cdp, page = tab.cdp, tab.page
    if cdp is None or not storage:
        return
    origin = "/".join(url.split("/")[:3])
    source = call_of(_FILL, json.dumps(origin), json.dumps([*storage.items()]))
    try:
        await cdp.send("Page.enable")
        added = await cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    except PlaywrightError:
        return

    def remove_script(at: Page) -> None:
        if at.url.startswith("http"):
            ignore(page, "domcontentloaded", remove_script)
            background.spawn(bounded(cdp.send("Page.removeScriptToEvaluateOnNewDocument", added)))

    listen(page, "domcontentloaded", remove_script)


async def history_of(tab: Tab) -> tuple[str, ...]:
    """Return the page's earlier addresses, oldest first."""
    if tab.cdp is None:
        return ()
    found = await tab.cdp.send("Page.getNavigationHistory")
    earlier = [str(each["url"]) for each in found["entries"][: found["currentIndex"]]]
    return tuple(url for url in earlier if url.startswith(WEB))[-_MOST_ENTRIES:]


async def replay_history(page: Page, urls: Sequence[str]) -> None:
    """Give a new window a history, and leave it at the last entry. This sends nothing to the site: each entry is an
    empty document until somebody goes back to it."""
    async with AtMost(_WALKS_WITHIN_S, PlaywrightError):  # the page itself comes back all the same
        cdp = await open_session(page)
        await cdp.send("Network.enable")
        await cdp.send("Network.setBypassServiceWorker", {"bypass": True})  # which would answer in our place
        await page.route("**/*", lambda route: route.fulfill(body="", content_type="text/html"))
        for url in urls:
            await page.goto(url, wait_until="commit")
        await cdp.detach()
    with contextlib.suppress(PlaywrightError):
        if page.url != urls[-1]:  # it did not get there, and must not seem to be there
            await page.goto(BLANK, wait_until="commit")
        await page.unroute("**/*")


async def remember(
    record: PageRecord, settings: PageSettings, *, stays_open: bool = False, moves: bool = False
) -> Json:
    """Return the JSON from which `restore` brings the page back. If its tab does not answer, use what the record has. A
    page that `stays_open` and is lost later comes back as lost, and not as parked. One that `moves` was in use, so its
    scripts' memory counts as lost, as filled fields always do."""
    place, tab = record.place, record.tab
    parked, storage, history = place.parked, place.storage, place.history[:-1]
    if tab is not None and record.live and not record.dialog and record.life is not Life.SUSPECT:
        async with AtMost(_READS_WITHIN_S, PlaywrightError):
            history = await history_of(tab)
            here, storage = await place_of(tab.page)
            loses = here.loses or moves or await has_unsent_fields(tab.page.frames)
            parked = None if stays_open else here.model_copy(update={"loses": loses})
    state = record.state().model_copy(update={"parked": parked, "dialog": None, "person": None, "asker_id": None})
    return {
        "page": state.model_dump(mode="json"),
        "storage": {**storage},
        "history": [*history],
        "settings": settings.to_json(),
        "dialogs": [*record.dialog_policy],
    }


def read_former(page_id: str, former: Json | None) -> Former | None:
    """Return what brings a page back; None for what nobody can read, so that the page comes back without it."""
    try:
        return None if former is None else _FORMER.validate_python(former)
    except ValidationError as error:
        log.warning("a page comes back without its settings", page=page_id, faults=error.error_count())
        return None


def renewed_state(state: PageState, former: Former) -> PageState:
    """Return the state in which a closed page opens again: parked at its old place, with a revision it has not had
    yet."""
    return state.model_copy(
        update={"parked": former["page"].parked, "revision": state.revision + 1, "target_id": "", "opener_id": None}
    )


def restore(record: PageRecord, settings: PageSettings, former: Former) -> None:
    """Give a new entry the settings, the dialog policy and the history that the closed page had."""
    with contextlib.suppress(ValidationFailed):  # a pattern that is none: the page comes back without its settings
        settings.restore(former["settings"], record.holder_id)
    record.dialog_policy = DialogPolicy(*former["dialogs"])
    earlier = [url for url in former["history"] if url.startswith(WEB)]
    history = (*earlier, record.url) if earlier else ()
    record.place = SavedPlace(record.place.parked, former["storage"], history, restored=True)
