"""Shows people what agents ask of them, takes their answers, and keeps how it ended."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Final, Literal

import structlog
from pydantic import Field, StringConstraints, ValidationError

from browse_together.client.credentials import mint_key
from browse_together.contract.background import Background
from browse_together.contract.errors import (
    BrowseError,
    Forbidden,
    JournalFailed,
    RequestNotFound,
    ValidationFailed,
    field_details,
)
from browse_together.contract.events import RequestOver
from browse_together.contract.model import Json, Model, first_fault
from browse_together.contract.pages import Answer, PageState
from browse_together.contract.wire import APP_NAME, REQUESTS, request_path
from browse_together.contract.words import quotable
from browser_service.host.seam import SessionHost
from browser_service.security.auth import Identity
from browser_service.security.redaction import safe_url
from browser_service.security.urls import origin_of
from browser_service.sessions.directory import Directory
from browser_service.store.tables import EndedRequestTable

_ANSWERS_WITHIN_S: Final = 1.0
_SILENT: Final = "Its host does not answer now, so an answer may not reach it."

log = structlog.get_logger(__name__)


class Resolution(Model):
    """The body of an answer. `by` counts only if the account's own command line sends it."""

    state: Literal["done", "refused"] = "done"
    answer: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(default="", max_length=2_000, repr=False)
    reason: str = Field(default="", max_length=500, repr=False)
    by: str = Field(default="", max_length=80)


@dataclass(eq=False, repr=False)
class HumanInbox:
    """Open requests to people. The account's owner sees all, a person with a request's key that one, a client its own.
    Only people answer them."""

    host: SessionHost
    directory: Directory
    secret: str
    address: Callable[[], str]
    on_answered: Callable[[], Awaitable[object]] = field(init=False, default=partial(asyncio.sleep, 0))
    """Waits until what its host says of an answered request is known here."""

    def link(self, request_id: str) -> str:
        """Return the link to the request's page, where a person answers it."""
        return self.address() + request_path(request_id, mint_key(self.secret, request_id))

    async def listed(self, caller: Identity) -> list[Json]:
        """Return the open requests. If the account's owner asks, the requests learn that a person is there."""
        requests = self._open(caller)
        if not caller.operator:
            return [describe_request(page) for page in requests.values()]
        troubles = await asyncio.gather(*map(self._tell_there, requests))
        return [
            {**describe_request(page), **trouble, "link": self.link(request_id)}
            for (request_id, page), trouble in zip(requests.items(), troubles, strict=True)
        ]

    async def one(self, caller: Identity, request_id: str) -> Json:
        """Return one open request. Raises RequestNotFound, also for one that is over."""
        page = self._open(caller).get(request_id)
        if page is None:
            raise _not_open(request_id)
        trouble = await self._tell_there(request_id) if caller.request_id else {}
        return {**describe_request(page), **trouble}

    async def _tell_there(self, request_id: str) -> Json:
        """Tell a request's host that a person is there. Returns what to say beside the request if that host does not
        answer soon: no other request waits for it."""
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S):
                await self.host.answer(request_id, Answer(state="there"))
        except (TimeoutError, BrowseError):
            return {"trouble": _SILENT}
        return {}

    async def resolve(self, caller: Identity, request_id: str, body: Json) -> Json:
        """Answer a request. Raises Forbidden for a client, because only people answer; RequestNotFound, also for a
        request that was answered already; ValidationFailed."""
        try:
            resolution = Resolution.model_validate(body)
        except ValidationError as error:
            raise _invalid(error) from None
        page = self._open(caller).get(request_id)
        if page is not None and not (caller.operator or caller.request_id):
            raise Forbidden(
                "A person answers this, and no client's token.",
                hint=f"By the link of the request, in the form of a chat, or with `{APP_NAME} requests`.",
            )
        if page is None or page.person is None:
            raise _not_open(request_id)
        if page.person.kind == "tab" and resolution.state == "done":
            raise ValidationFailed(
                "The agent asks for a tab, and none was chosen yet.",
                hint=f"Choose it by the link of the request, at the wall, or with `{APP_NAME} requests tab`.",
            )
        choices = page.person.choices
        if (
            resolution.state == "done"
            and page.person.kind == "decision"
            and resolution.answer not in (choices or {resolution.answer} - {""})
        ):
            raise ValidationFailed(
                f"A decision needs an answer{', one of: ' + ', '.join(choices) if choices else ''}.",
                hint=f'Send {{"answer": "..."}}, or: {APP_NAME} requests done ID --answer "{[*choices, "..."][0]}".',
                details=field_details("answer", choices=[*choices]),
            )
        text = resolution.answer if resolution.state == "done" else resolution.reason
        by = _name(caller, resolution)
        if not await self.host.answer(request_id, Answer(state=resolution.state, text=text, by=by)):
            raise RequestNotFound(f"Request {request_id!r} was answered by somebody else first.")
        await self.on_answered()
        log.info("request to a person", request=request_id, kind=page.person.kind, state=resolution.state, by=by)
        return {"requestId": request_id, "state": resolution.state}

    def all_asking_for_tabs(self) -> list[PageState]:
        """Return the pages that stand for the tabs of open requests."""
        return [page for page in self.directory.pages_now() if page.person is not None and page.person.kind == "tab"]

    def asking_for_tab(self, request_id: str) -> PageState:
        """Return the page that stands for the tab of an open request. Raises RequestNotFound."""
        for page in self.all_asking_for_tabs():
            if page.person is not None and page.person.request_id == request_id:
                return page
        raise RequestNotFound(f"No agent asks for a tab by {request_id!r} now.", hint=f"{APP_NAME} requests")

    def _open(self, caller: Identity) -> dict[str, PageState]:
        """Return the open requests that the caller may see, each with its page."""
        requests: dict[str, PageState] = {}
        for page in self.directory.pages_now():
            if page.person is not None and not page.person.is_hold and self._may(caller, page, page.person.request_id):
                requests.setdefault(page.person.request_id, page)
        return requests

    def _may(self, caller: Identity, page: PageState, request_id: str) -> bool:
        if caller.request_id and not caller.in_chat:
            return caller.request_id == request_id
        return caller.operator or (caller.client_id == page.asker_id and caller.request_id in {"", request_id})


def _not_open(request_id: str) -> RequestNotFound:
    return RequestNotFound(
        f"There is no open request {request_id!r}: it was answered or withdrawn, or what it was about has ended. "
        "Nothing was done now.",
        hint=f"`{APP_NAME} requests` or GET {REQUESTS} lists the open ones.",
    )


def _name(caller: Identity, resolution: Resolution) -> str:
    """Return the name of the person who answers: as the command line gives it, or the person at a chat. One who used a
    link has none."""
    if caller.operator:
        return quotable(resolution.by)
    return f'The person at "{caller.label}"' if caller.in_chat else ""


def describe_request(page: PageState) -> Json:
    """Describe a request and its page. The URL and origin come from the page, never from the agent."""
    assert page.person is not None  # noqa: S101 - only such pages come here
    return {
        **page.person.model_dump(mode="json"),
        "origin": origin_of(page.url) or "",
        "url": safe_url(page.url),
        "title": page.title[:200],
    }


def _invalid(error: ValidationError) -> ValidationFailed:
    field, why = first_fault(error)
    return ValidationFailed(
        f"{field}: {why}",
        hint='Send {"state": "done", "answer": "..."} or {"state": "refused", "reason": "..."}.',
        details=field_details(field),
    )


@dataclass(eq=False)
class EndedRequests:
    """The requests to people that are over, as the journal has them."""

    table: EndedRequestTable
    _writing: Background = field(default_factory=Background)

    def note(self, over: RequestOver) -> None:
        self._writing.spawn(self._write(over))

    async def since(self, at: float, limit: int) -> list[tuple[float, RequestOver]]:
        """Return the requests that ended since a time, each with the time of its end, the latest first."""
        await self.close()
        return await self.table.since(at, limit)

    async def close(self) -> None:
        """Wait until all are written."""
        await asyncio.shield(self._writing.finish())  # whoever is cancelled here cancels no writing

    async def _write(self, over: RequestOver) -> None:
        try:
            await self.table.keep(over)
        except JournalFailed as error:
            log.warning("a request to a person cannot be written", reason=str(error))
