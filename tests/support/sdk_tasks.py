"""The tasks extension in the SDK's client: what it sends, takes and hears."""

import asyncio
from typing import ClassVar, Literal

from mcp.client import ClaimContext, ClientExtension, NotificationBinding, ResultClaim
from mcp.types import (
    CallToolResult,
    Request,
    RequestParams,
    Result,
    SubscriptionFilter,
    SubscriptionsListenRequest,
    SubscriptionsListenRequestParams,
)
from pydantic import BaseModel

from mcp_gateway.tasks import EXTENSION
from tests.support.chat import Json

POLL_S = 1.0
"""How often a gateway wants to be asked for a task: one that listens takes 100 requests a minute."""


class TaskSeen(Result):
    """A task as the SDK's client hands it over."""

    result_type: Literal["task"] = "task"
    task_id: str


class ById(RequestParams):
    """The parameters of a request about a task."""

    task_id: str


class GetTask(Request[ById, Literal["tasks/get"]]):
    """A request for a task."""

    method: Literal["tasks/get"] = "tasks/get"
    name_param: ClassVar[str | None] = "taskId"


class CancelTask(Request[ById, Literal["tasks/cancel"]]):
    """A request to stop a task."""

    method: Literal["tasks/cancel"] = "tasks/cancel"
    name_param: ClassVar[str | None] = "taskId"


class TaskState(Result):
    """What `tasks/get` says."""

    status: str
    result: CallToolResult | None = None


class TaskTold(BaseModel):
    """What a notification tells of a task."""

    status: str
    result: Json | None = None


class Tasks(ClientExtension):
    """The extension, which waits for the end of each task of `call_tool`, and keeps what it hears."""

    identifier = EXTENSION

    def __init__(self) -> None:
        self.told = asyncio.Queue[TaskTold]()

    def claims(self) -> list[ResultClaim[TaskSeen]]:
        return [ResultClaim(result_type="task", model=TaskSeen, resolve=self._resolve)]

    def notifications(self) -> list[NotificationBinding[TaskTold]]:
        return [NotificationBinding(method="notifications/tasks", params_type=TaskTold, handler=self.told.put)]

    @staticmethod
    async def _resolve(task: TaskSeen, context: ClaimContext) -> CallToolResult:
        state = TaskState(status="working")
        while state.status == "working":
            await asyncio.sleep(POLL_S)
            state = await context.session.send_request(GetTask(params=ById(task_id=task.task_id)), TaskState)
        assert state.result is not None
        return state.result


def listening(task_id: str) -> SubscriptionsListenRequest:
    """Return the request to hear of a task."""
    wanted = SubscriptionFilter.model_validate({"taskIds": [task_id]})
    return SubscriptionsListenRequest(params=SubscriptionsListenRequestParams(notifications=wanted))
