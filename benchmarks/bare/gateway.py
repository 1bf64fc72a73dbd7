"""Passes the calls of one chat on to the bare service."""

import argparse
import asyncio
import json
from typing import Final

import httpx
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

_TOOLS: Final = ("goto", "click", "fill", "evaluate_script", "snapshot")


async def serve(url: str) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:

        async def list_tools(*_: object) -> types.ListToolsResult:
            return types.ListToolsResult(
                tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in _TOOLS]
            )

        async def call_tool(_: object, request: types.CallToolRequestParams) -> types.CallToolResult:
            arguments = dict(request.arguments or {})
            path = f"/api/browser/{arguments.pop('pageId')}"
            reply = await http.post(path, json={"action": request.name, **arguments})
            text = json.dumps(reply.raise_for_status().json()["result"])
            return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

        server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="where the service answers")
    asyncio.run(serve(parser.parse_args().url))


if __name__ == "__main__":
    main()
