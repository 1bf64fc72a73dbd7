"""Passes calls on to pages, without a check and without a look at what came of them."""

import argparse
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI
from playwright.async_api import Page
from pydantic import BaseModel

from benchmarks.plain import Plain, plain_playwright


class Call(BaseModel):
    """Is one call of any of the tools."""

    action: str
    selector: str = ""
    value: str = ""
    expression: str = ""
    url: str = ""


class Pages:
    """Holds the pages by their ids."""

    def __init__(self) -> None:
        self._pages = dict[str, Page]()
        self.browser: Plain | None = None

    async def act(self, page_id: str, call: Call) -> object:
        """Do what is asked for, and return what Playwright returns. Raises KeyError for a page that is not there."""
        result: object = None
        if call.action == "goto" and self.browser is not None:
            self._pages[page_id] = await self.browser.page(call.url)
        elif call.action == "click":
            await self._pages[page_id].click(call.selector)
        elif call.action == "fill":
            await self._pages[page_id].fill(call.selector, call.value)
        elif call.action == "snapshot":
            result = await self._pages[page_id].aria_snapshot(mode="ai")
        else:
            result = await self._pages[page_id].evaluate(call.expression)
        return result


pages = Pages()


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    async with plain_playwright() as pages.browser:
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/api/browser/{page_id}")
async def act(page_id: str, call: Call) -> dict[str, object]:
    return {"result": await pages.act(page_id, call)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("descriptor", type=int, help="a socket that listens")
    listener = socket.socket(fileno=parser.parse_args().descriptor)  # whose family uvicorn would not look at
    uvicorn.Server(uvicorn.Config(app, log_level="critical", loop="uvloop", http="httptools")).run([listener])


if __name__ == "__main__":
    main()
