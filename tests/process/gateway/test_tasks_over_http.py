"""Tests tasks over streamable HTTP: a chat finds its task again by another connection, and no other chat does. A real
service, a real gateway that listens."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Literal

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client import ClaimContext, ClientExtension, NotificationBinding, ResultClaim
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    CallToolResult,
    Request,
    RequestParams,
    Result,
    SubscriptionFilter,
    SubscriptionsListenRequest,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)
from pydantic import BaseModel, ConfigDict

from examples.processes import ServiceProcess
from mcp_gateway.tasks import EXTENSION
from tests.support.chat import ROOT, Json, environment, text
from tests.support.following import LATE, LONG, PATIENCE_S
from tests.support.processes import address_of
from tests.support.site import Site

pytestmark = pytest.mark.anyio

KEY = "a-key-of-sufficiently-many-characters"
OTHER_KEY = KEY.upper()
INVALID = -32602
