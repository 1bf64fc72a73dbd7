"""People: what an agent asks them to do."""

from typing import Annotated

from pydantic import Field, StringConstraints

from browse_together.contract.actions.arguments import OneLine
from browse_together.contract.actions.base import OwnershipAction, ServiceAct
from browse_together.contract.actions.traits import PersonAsked, Unaddressed, computed
from browse_together.contract.pages import RequestKind

_MESSAGE = 500

Message = Annotated[str, StringConstraints(max_length=_MESSAGE), OneLine]
Choice = Annotated[str, StringConstraints(min_length=1, max_length=100), OneLine]


def _request(action: "RequestHuman") -> PersonAsked:
    return PersonAsked(action.kind, action.request_id)


def _page(action: "RequestHuman") -> Unaddressed:
    asks_for_tab = action.kind == "tab" and not action.request_id
    return Unaddressed.ANOTHER_PAGE if asks_for_tab else Unaddressed.ONLY_PAGE


class RequestHuman(OwnershipAction):
    """Have a person sign in, type a code, decide or share a tab. Waits 45 s; gives the answer or a requestId.

    The page is theirs meanwhile. If several agents meet the same login, the first call asks, and the same call from the
    others joins it. The kind "tab" asks for a tab that the person has open in a browser of their own: the reply's page
    is that tab."""

    everyday = ("kind", "message", "choices")
    asks_person = computed(PersonAsked(), _request)
    hears_person = True
    lasts = True
    unaddressed = computed(Unaddressed.ONLY_PAGE, _page)

    kind: RequestKind = Field(default="other", description="What for.")
    message: Message = Field(default="", description="What to do.")
    origin: str | None = Field(
        default=None,
        pattern=r"^https?://[A-Za-z0-9.:\[\]-]{1,253}$",
        description="Site that it is about; refused if the page is elsewhere. People see the page's own.",
    )
    choices: list[Choice] | None = Field(default=None, max_length=10, description="To choose from.")
    request_id: str | None = Field(
        default=None, min_length=1, max_length=64, description="Wait on an earlier request instead of asking anew."
    )
    withdraw: bool = Field(default=False, description="With requestId: nobody is needed any more.")
    timeout: int = Field(default=45_000, ge=1, le=1_800_000, description="Milliseconds to wait for the person.")

    @property
    def wakes_page(self) -> bool:
        return True


class TellPerson(ServiceAct):
    """Write your person a line, as an answer to theirs. It waits for nothing; request_human asks them something.

    They read it at the live wall: at most 10 lines a minute."""

    gives = False
    serves_reading = True
    unmetered = True

    message: Message = Field(min_length=1, description="What to tell them.")
