"""Tells clients that listen to their tasks (`subscriptions/listen`) of each change."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Final, Literal, cast

from anyio import BrokenResourceError, ClosedResourceError
from mcp import types as protocol
from mcp.server.context import ServerRequestContext as Context
from mcp.server.session import ServerSession
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from browse_together.contract.model import Json
from browse_together.contract.replies import ForModel
from browse_together.contract.wire import MOST_SUBSCRIBED
from mcp_gateway import tasks
from mcp_gateway.chats import Chat

_TASK_IDS: Final = "taskIds"
_IDS: Final = TypeAdapter(Annotated[list[str], Field(max_length=MOST_SUBSCRIBED)])
_EVERY_S: Final = 1.0
"""How often a task is looked at, so that its client is told no more often."""
_ELAPSED: Final = re.compile(r", \d+ s$")

Listen = Callable[[Context, protocol.SubscriptionsListenRequestParams], Awaitable[protocol.SubscriptionsListenResult]]


class TaskChanged(BaseModel):
    """The notification of a task's state, as `tasks/get` would tell it."""

    method: Literal["notifications/tasks"] = "notifications/tasks"
    params: Json


class _Acknowledging:
    """A listening request's session, whose acknowledgement names tasks too; all else is the session's own."""

    def __init__(self, session: ServerSession, task_ids: list[str]) -> None:
        self._session, self._task_ids = session, task_ids
        self.acknowledged = asyncio.Event()

    async def send_notification(
        self, notification: protocol.ServerNotification, related_request_id: protocol.RequestId | None = None
    ) -> None:
        if not isinstance(notification, protocol.SubscriptionsAcknowledgedNotification):
            await self._session.send_notification(notification, related_request_id)
            return
        named_too = notification.params.notifications.model_copy(update={_TASK_IDS: self._task_ids})
        notification.params.notifications = named_too
        await self._session.send_notification(notification, related_request_id)
        self.acknowledged.set()

    def __getattr__(self, name: str) -> object:
        return getattr(self._session, name)


def named(ctx: Context, notifications: protocol.SubscriptionFilter) -> list[str]:
    """Return the ids of the tasks that a client wants to hear of, each once. Raises MCPError if it has not said that it
    takes tasks."""
    given = (notifications.model_extra or {}).get(_TASK_IDS)
    if given is None:
        return []
    tasks.check(ctx)
    try:
        return [*dict.fromkeys(_IDS.validate_python(given))]
    except ValidationError:
        raise MCPError(
            protocol.INVALID_PARAMS, f"notifications.{_TASK_IDS} must be a list of at most {MOST_SUBSCRIBED} ids"
        ) from None


async def listen(
    ctx: Context,
    params: protocol.SubscriptionsListenRequestParams,
    news: "News",
    task_ids: list[str],
    listen_to_others: Listen,
) -> protocol.SubscriptionsListenResult:
    """Serve a listening request, and tell its client of its chat's tasks among those."""
    known = [task_id for task_id in task_ids if await news.knows(task_id)]
    session = _Acknowledging(ctx.session, known)
    async with asyncio.TaskGroup() as both:  # if one fails, the client need not listen on to the other
        telling = both.create_task(news.tell(session.acknowledged, known))
        stands_in = cast("ServerSession", session)  # it has all that a session has
        result = await listen_to_others(replace(ctx, session=stands_in), params)
        telling.cancel()
    return result


class News:
    """What a client that listens is told of its tasks."""

    def __init__(self, ctx: Context, chat: Chat, form: ForModel) -> None:
        self._ctx, self._chat, self._form = ctx, chat, form

    async def knows(self, task_id: str) -> bool:
        """Return whether there is such a task in this chat, as far as can be told."""
        try:
            await self._state(task_id)
        except MCPError as error:
            return error.error.code != protocol.INVALID_PARAMS
        except ValidationError:  # no id
            return False
        return True

    async def tell(self, acknowledged: asyncio.Event, task_ids: list[str]) -> None:
        """Tell how the tasks are, and of each change from then on, until all have ended or are forgotten."""
        await acknowledged.wait()
        told: dict[str, Json] = {task_id: {} for task_id in task_ids}
        while told:
            for task_id, last in [*told.items()]:
                try:
                    task = await self._state(task_id)
                except MCPError as error:
                    if error.error.code == protocol.INVALID_PARAMS:
                        del told[task_id]
                    continue
                if _essence(task) != _essence(last):
                    await self._notify(task)
                told[task_id] = task
                if task["status"] not in tasks.OPEN:
                    del told[task_id]
            await asyncio.sleep(_EVERY_S)  # no event tells a gateway of another's calls

    async def _state(self, task_id: str) -> Json:
        return await tasks.get(self._ctx, self._chat, self._form, tasks.TaskParams(task_id=task_id))

    async def _notify(self, task: Json) -> None:
        meta: Json = {SUBSCRIPTION_ID_META_KEY: self._ctx.request_id}
        changed = cast("protocol.ServerNotification", TaskChanged(params={**task, "_meta": meta}))  # of an extension
        with suppress(BrokenResourceError, ClosedResourceError):  # the client is gone
            await self._ctx.session.send_notification(changed, related_request_id=self._ctx.request_id)


def _essence(task: Json) -> Json:
    """Return what of a task's state is news if it changes: passing time is none."""
    message = _ELAPSED.sub("", str(task.get("statusMessage")))
    return {"status": task.get("status"), "message": message, "asks": task.get("inputRequests")}
