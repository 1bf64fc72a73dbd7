"""Makes pages that show dialogs, and reads what tests of dialogs look at."""

from typing import Any

from browse_together.contract.pages import PageState
from tests.support.service import RunningService
from tests.support.waiting import become

CONFIRM = "<button onclick=\"window.said = confirm('Delete all?')\">b</button><input id=i>"
ASKING = "<button>b</button><script>onbeforeunload = event => event.preventDefault()</script>"
OPENER = "<button onclick=\"window.open('/popup')\">b</button>"


def state(service: RunningService, page_id: str) -> PageState | None:
    return service.known_page(page_id)


async def asking(service: RunningService, page_id: str) -> None:
    """Wait until the service knows that a page shows a dialog."""
    await become(lambda: (found := state(service, page_id)) is not None and found.dialog is not None)


async def asks(service: RunningService, page_id: str, script: str) -> None:
    """Have a page's script show a dialog without a causing call, and wait until it is shown."""
    await service.window(page_id).evaluate(f"void setTimeout(() => {{ {script} }})")
    await asking(service, page_id)


async def asking_no_more(service: RunningService, page_id: str) -> None:
    await become(lambda: (found := state(service, page_id)) is not None and found.dialog is None)


def notices(reply: Any) -> list[str]:  # Any: a reply
    return [notice["text"] for notice in reply.json()["notices"]]
