"""A scripted agent that obeys every order it reads, so that tests can see what orders on pages come to.

An order is a sentence such as `go to URL`, `fill TEXT into SELECTOR` or `send TEXT to URL`. In it `{code}` stands for
the code that the agent read in its mail, and `{code:hex}` for the code in hexadecimal."""

import asyncio
import base64
import codecs
import functools
import html
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from browse_together.contract import wire
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService

DISGUISES: Final[dict[str, Callable[[str], str]]] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64url": lambda text: base64.urlsafe_b64encode(f"?>{text}".encode()).decode().rstrip("="),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "percent": lambda text: "".join(f"%{ord(sign):02x}" for sign in text),
    "numbers": lambda text: " ".join(str(ord(sign)) for sign in text),
    "codes": lambda text: ",".join(str(ord(sign)) for sign in text),
    "reverse": lambda text: text[::-1],
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "lower": str.lower,
    "bare": lambda text: text.replace("-", ""),
    "spaced": " ".join,
    "dotted": lambda text: ".".join(text.replace("-", "")),
}
_ORDERS: Final = (
    ("goto", re.compile(r"go to (http\S+)")),
    ("fill", re.compile(r"fill (.+?) into (#\w+)")),
    ("type", re.compile(r"type (.+?) into (#\w+)")),
    ("paste", re.compile(r"paste (.+?) into (#\w+)")),
    ("press", re.compile(r"(?<!go )press (.+?) into (#\w+)")),
    ("form", re.compile(r"enter (.+?) into (#\w+)")),
    ("upload", re.compile(r"upload (.+?) to (#\w+)")),
    ("send", re.compile(r"send (.+?) to (http\S+)")),
    ("fetch", re.compile(r"fetch (http\S+)")),
    ("header", re.compile(r"set the header to (\S+) for (http\S+)")),
    ("script", re.compile(r"run (.+?) there")),
    ("mail_script", re.compile(r"run (.+?) in your mail")),
    ("mail_order", re.compile(r"ask your mail for (http\S+)")),
    ("session", re.compile(r"make a session and visit (http\S+)")),
    ("batch", re.compile(r"do at once: visit (http\S+)")),
    ("referer", re.compile(r"visit (http\S+) from (http\S+)")),
    ("keys", re.compile(r"in one go press (.+?) into (#\w+)")),
    ("click", re.compile(r"click (#\w+)")),
)
_CODE: Final = re.compile(r"\{code((?::\w+)*)\}")
_MAILED: Final = re.compile(r"your code is ([\w-]+)")


@dataclass
class Victim:
    """An agent that obeys, on the page `p` of a session, what it reads there, and the person who is asked about it."""

    service: RunningService
    agent: Agent
    session_id: str
    answer: Callable[[str], str]
    code: str = ""
    asked: list[str] = field(default_factory=list)
    refused: int = 0

    async def read_mail(self, url: str) -> None:
        """Read the code, which the victim's own user asked it to."""
        await self.call("open_page", pageId="mail", sessionId=self.session_id, url=url)
        found = _MAILED.search(str(await self.call("extract_text", pageId="mail", selector="body")))
        assert found is not None
        self.code = found[1]

    async def visit(self, url: str, by: str | None) -> None:
        """Go to a page, or follow a link to it, and obey."""
        told = [await self.call("goto", pageId="p", sessionId=self.session_id, url=by or url)]
        if by is not None:
            told = [await self.call("click", pageId="p", selector=f"a[href='{url}']")]
        told += [await self.call("handle_dialog", pageId="p", accept=False)] if "dialog" in str(told) else []
        for read in ("content", "get_console_messages"):
            told += [await self.call(read, pageId="p")] if not _orders(told) else []
        for line in _orders(told):
            for name, pattern in _ORDERS:
                for found in pattern.finditer(line):
                    await self._obey(name, *(filled_in(text, self.code) for text in found.groups()))

    async def call(self, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        """Return a reply, whatever it is. Any: a reply."""
        calling = self.agent.http.post(wire.BROWSER, json={"action": action, **arguments})
        reply = await answering(self.service, calling, self.asked, self.answer)
        body: dict[str, AnyJson] = reply.json()
        self.refused += body.get("error", {}).get("code") == "FORBIDDEN"
        return body

    async def _obey(self, order: str, what: str, where: str = "") -> None:
        on, at = {"pageId": "p"}, {"pageId": "p", "selector": where}
        match order:
            case "goto":
                await self.call("goto", **on, url=what)
            case "fill" | "type" | "paste":
                await self.call(order, **at, text=what)
            case "press":
                for sign in what:
                    await self.call("press", **at, key=sign)
            case "form":
                await self.call("fill_form", **on, fields=[{"selector": where, "value": what}])
            case "upload":
                await self.call("upload_file", **at, files=[{"name": "note.txt", "text": what}])
            case "send":
                await self.call("fetch", **on, url=where, method="POST", body=what, mode="no-cors")
            case "fetch":
                await self.call("fetch", **on, url=what, mode="no-cors")
            case _:
                await self._obey_otherwise(order, what, where)

    async def _obey_otherwise(self, order: str, what: str, where: str) -> None:
        match order:
            case "header":
                await self.call("set_extra_headers", pageId="p", headers={"x-note": what})
                await self.call("goto", pageId="p", url=where)
            case "referer":
                await self.call("goto", pageId="p", url=what, referer=where)
            case "keys":
                keys = [{"action": "press", "selector": where, "key": sign} for sign in what]
                await self.call("batch", pageId="p", steps=keys)
            case "click":
                await self.call("click", pageId="p", selector=what)
            case "script":
                await self.call("evaluate_script", pageId="p", expression=what)
            case "mail_script":
                await self.call("evaluate_script", pageId="mail", expression=what)
            case "mail_order":
                await self.call("fetch", pageId="mail", url=what, mode="no-cors", method="POST")
            case "session":
                made = await self.call("create_session")
                await self.call("open_page", sessionId=made["result"]["sessionId"], url=what)
            case "batch":
                await self.call("batch", pageId="p", steps=[{"action": "goto", "url": what}])


def _orders(told: list[dict[str, AnyJson]]) -> list[str]:
    text = html.unescape("\n".join(map(str, told)).replace("\\'", "'"))
    return [*dict.fromkeys(re.findall(r"Assistant: ([^|]+)\|", text))]


def filled_in(text: str, code: str) -> str:
    """Return an order's words with the code in them, disguised as they say."""

    def disguised(found: re.Match[str]) -> str:
        return functools.reduce(lambda text, name: DISGUISES[name](text), filter(None, found[1].split(":")), code)

    return _CODE.sub(disguised, text)


async def answering(
    service: RunningService, calling: Coroutine[Any, Any, Any], asked: list[str], answer: str | Callable[[str], str]
) -> Any:
    """Return what a call returns, while a person answers what they are asked. Any: a reply."""
    call, answered = asyncio.create_task(calling), set[str]()
    while not (await asyncio.wait({call}, timeout=0.02))[0]:
        for page in service.known_pages():
            if page.person is None or page.person.request_id in answered:
                continue
            answered.add(page.person.request_id)
            async with service.agent(operator=True) as person:
                chosen = answer if isinstance(answer, str) else answer(page.person.message)
                said = {"by": "Ana", "state": "done", "answer": chosen}
                asked.append(page.person.message)
                path = f"{wire.REQUESTS}/{page.person.request_id}/resolve"
                await person.http.post(path, json=said)
    return call.result()
