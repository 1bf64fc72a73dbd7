"""Brings back a closed page: its place, its storage, and its settings."""

from typing import Any, Final, cast

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import AtMost
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState
from browser_service.host.tabs.life import Life
from browser_service.host.tabs.place import has_unsent_fields, history_of, place_of
from browser_service.host.tabs.record import DialogPolicy, PageRecord, Place
from browser_service.host.tabs.settings import PageSettings

_READS_WITHIN_S: Final = 0.5


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
        **settings.to_json(),
        "dialogs": [*record.dialog_policy],
    }


def renewed_state(state: PageState, former: Json) -> PageState:
    """Return the state in which a closed page opens again: parked at its old place, with a revision it has not had
    yet."""
    parked = PageState.model_validate(former["page"]).parked
    return state.model_copy(
        update={"parked": parked, "revision": state.revision + 1, "target_id": "", "opener_id": None}
    )


def restore(record: PageRecord, settings: PageSettings, former: Json) -> None:
    """Give a new entry the settings, the dialog policy and the history that the closed page had."""
    known = cast("dict[str, Any]", former)  # Any: JSON, as `remember` returned it
    settings.restore(known, record.holder_id)
    record.dialog_policy = DialogPolicy(*known["dialogs"])
    history = (*known["history"], record.url) if known["history"] else ()
    record.place = Place(record.place.parked, known["storage"], history, restored=True)
