"""Traces: what Playwright's trace viewer shows, step by step, of all pages of a session."""

from pydantic import Field

from browse_together.contract.actions.base import SessionAct, SessionAction
from browse_together.contract.actions.traits import Cookies, Effect, computed


def _cookies(action: "StartTracing") -> Cookies:
    return Cookies.EXPORTS if action.snapshots else Cookies.NONE


class StartTracing(SessionAct):
    """Record a trace of all pages of a session: steps, pictures, documents, requests. Refused while a page is
    private to another client."""

    everyday = ()
    gives = False
    shows_all_pages = True
    cookie_use = computed(Cookies.NONE, _cookies)

    screenshots: bool = Field(default=True, description="With pictures.")
    snapshots: bool = Field(default=True, description="With documents and requests.")
    trace_title: str | None = Field(
        default=None, alias="title", min_length=1, max_length=200, description="Its name in the viewer."
    )
    max_seconds: int = Field(default=300, ge=1, le=1800, description="It ends by itself after this.")


class StopTracing(SessionAction):
    """End the trace that you began, and get it as a file for Playwright's trace viewer."""

    gives = False
    effect = Effect.ACTS
    text_key = "observed"

    def allowed_ms(self) -> int:
        return 40_000
