"""Does what a viewer of the wall asks for, through ordinary calls that the spine checks and records."""

import contextlib
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from pydantic import JsonValue

from browse_together.contract import catalogue
from browse_together.contract.attached import AttachTarget
from browse_together.contract.calls import Outcome
from browse_together.contract.cuts import cut
from browse_together.contract.errors import BrowseError, Forbidden, HostGone, Relayed
from browse_together.contract.limits import Limits
from browse_together.contract.model import Json
from browse_together.contract.pages import Answer
from browse_together.contract.strokes import Stroke, Strokes
from browse_together.contract.wire import WALL_WINDOW, nearest_valid_id
from browser_service.security.auth import Identity
from browser_service.security.urls import abridged
from browser_service.services import Services
from browser_service.spine.call import FrontCall
from browser_service.wall import messages
from browser_service.wall.places import go, open_page, places
from browser_service.wall.talking import Talking
from browser_service.wall.viewing import Viewer

_TITLE: Final = 200
_WHY: Final = "A person closed it at the wall."


def identity_of(viewer: Viewer) -> Identity:
    """Return a viewer's identity for the spine: the account's own person, or a reader."""
    name = viewer.name or "person"
    if viewer.read_only:
        return Identity(
            client_id=f"viewer-{uuid4().hex[:12]}",
            label=f"{name} (looks on)",
            looks_on=True,
            limits=Limits(read_only=True),
        )
    return Identity(client_id=f"person-{nearest_valid_id(name)}", label=name, operator=True)


@dataclass(eq=False)
class Requests:
    parts: Services
    identity: Identity
    recorded: Identity
    """The identity that the record names."""
    viewer: Viewer
    _types: bool = False
    """Whether the record already says that the person types; reset when they press something."""

    def __post_init__(self) -> None:
        self._talking = Talking(self.parts.reads, self._run)

    def check(self, message: messages.Request | messages.Input) -> None:
        """Raise Forbidden if this viewer may not ask for that."""
        if self.identity.request_id:
            self._check_request(message)
        elif not isinstance(message, messages.Listing) and not self.identity.operator:
            raise Forbidden("You may look, and do nothing: your link was a read-only one.", hint="browse-together show")

    def _check_request(self, message: messages.Request | messages.Input) -> None:
        """Raise Forbidden for anything beyond the one request that the viewer came for."""
        match message:
            case messages.Reply() | messages.Share() if message.request_id == self.identity.request_id:
                return
            case messages.Tabs():
                self.parts.requests.asking_for_tab(self.identity.request_id)
                return
            case messages.Input() | messages.Files() | messages.Dropped() | messages.Login() | messages.DialogAnswer():
                if not self.parts.wall.is_locked(message.page_id, self.identity):
                    return
        raise Forbidden("Your link is for one request and its page.", hint="The whole wall: browse-together show")

    async def answer(self, message: messages.Request) -> Json:
        """Return the answer. Raises the error of its call."""
        if isinstance(message, messages.Question):
            return await self._told(message)
        match message:
            case messages.Reply():
                text = await self._reply(message)
            case messages.Open():
                text = await open_page(self.parts, self._run, message.session_id)
            case messages.Show():
                text = f"{WALL_WINDOW}/{self.parts.viewing.ticket(self.viewer, message.what, message.of)}"
            case messages.Attach() | messages.Share() | messages.Unshare():
                text = await self._share(message)
            case _:
                text = await self._on_page(message)
        return {"type": "done", "id": message.id, "text": text}

    async def _on_page(self, message: messages.OnPage) -> str:
        """Do something to one page, and return what is to be told of it."""
        match message:
            case messages.DialogAnswer():
                text = await self._answer_dialog(message)
            case messages.Files() | messages.Dropped():
                text = await self._give(message)
            case messages.Login():
                given = Stroke(do="login", username=message.username, text=message.password)
                await self._hand(message.page_id, [given])
                text = ""
            case messages.Go():
                text = await go(self.parts, self._run, message)
            case messages.Find():
                await self._hand(message.page_id, [Stroke(do="find", text=message.text, back=message.back)])
                text = ""
            case messages.Save():
                body = message.model_dump(by_alias=True, include={"page_id", "name", "since", "until"})
                text = str((await self._run({**body, "action": "save_flow"}))["observed"])
            case messages.Act():
                text = await self._act(message)
        return text

    async def _told(self, message: messages.Question) -> Json:
        """Return the answer to what asks for more than a line."""
        match message:
            case messages.Listing():
                return await self._listing(message)
            case messages.Tabs():
                return {"type": "tabs", "id": message.id, **await self._tabs()}
            case messages.Places():
                return {"type": "places", "id": message.id, **places(self.parts, message.session_id)}
            case messages.Day():
                return {"type": "day", "id": message.id, **await self.parts.past.day()}
            case _:
                return {"id": message.id, **await self._talking.answer(message)}

    async def hand_in(self, message: messages.Input) -> None:
        """Do what the person's hand does. The record names their clicks, and that they typed, but not the text."""
        batch_id = await self._hand(message.page_id, message.made)
        pressed = [stroke for stroke in message.made if stroke.do == "down"]
        bodies: list[Json] = [{"action": "mouse", "do": "click", "x": each.x, "y": each.y} for each in pressed]
        typed = any(stroke.do in {"key", "text"} for stroke in message.made)
        if typed and not self._types:
            bodies.append({"action": "type", "selector": ":focus", "text": "…"})
        if any(stroke.do == "choose" and stroke.index is not None for stroke in message.made):
            bodies.append({"action": "select_option", "selector": ":focus", "value": "…"})
        self._types = (typed or self._types) and not pressed
        for body in bodies:
            self._note(message.page_id, body, batch_id)

    async def _hand(self, page_id: str, made: list[Stroke]) -> str:
        """Perform strokes on a page, and return the id of their record. Raises whatever prevents them."""
        strokes = Strokes(batch_id=uuid4().hex, made=made)
        if problem := await self.parts.host.hand(page_id, strokes):
            raise Relayed(problem)
        return strokes.batch_id

    def _note(self, page_id: str, body: Json, batch_id: str) -> None:
        """Record an action as the person's."""
        action = catalogue.parse({**body, "pageId": page_id})
        outcome = Outcome(call_id=batch_id, page=self.parts.directory.get(page_id))
        self.parts.activity.note(self.recorded, action, outcome, f"wall-{batch_id}", 0)

    async def _reply(self, message: messages.Reply) -> str:
        text = "answer" if message.state == "done" else "reason"
        said: Json = {"state": message.state, text: message.answer, "by": self.recorded.label}
        await self.parts.requests.resolve(self.identity, message.request_id, said)
        return "Thank you: the agents go on." if message.state == "done" else "You declined it."

    async def _answer_dialog(self, message: messages.DialogAnswer) -> str:
        """Answer a page's dialog as the person at the wall, even one with the link of a request."""
        text: Json = {} if message.text is None else {"promptText": message.text}
        body: Json = {"action": "handle_dialog", "pageId": message.page_id, "accept": message.accept, **text}
        await self._run(body, self.recorded)
        return "The page has your answer."

    async def _give(self, message: messages.Files | messages.Dropped) -> str:
        """Give a page the files that it asks for, or that are dropped onto it, then discard them."""
        for file in () if self.identity.operator else message.files:  # the owner may read all
            await self.parts.artifacts.path(file.artifact_id, self.recorded.client_id)
        stroke = Stroke(do="files", files=message.files)
        if isinstance(message, messages.Dropped):
            stroke = Stroke(do="drop", x=message.x, y=message.y, files=message.files)
        try:
            batch_id = await self._hand(message.page_id, [stroke])
        finally:
            for file in message.files:
                await self.parts.artifacts.discard(file.artifact_id, self.recorded.client_id)
        if not message.files:
            return ""
        names: list[JsonValue] = [{"name": file.name, "text": ""} for file in message.files]
        self._note(message.page_id, {"action": "upload_file", "selector": ":focus", "files": names}, batch_id)
        return "The page has it." if len(names) == 1 else f"The page has {len(names)} files."

    async def be_there(self, request_id: str) -> None:
        with contextlib.suppress(HostGone):  # they say so again in a moment
            await self.parts.host.answer(request_id, Answer(state="there"))

    async def _act(self, message: messages.Act) -> str:
        """Perform an act. The person takes a page in hand before giving it away or closing it, so its agent need not
        agree."""
        page_id = message.page_id
        if message.do == "release":
            return await self._call("give_back", page_id)
        page = self.parts.directory.get(page_id)
        was_theirs = page is not None and page.person is not None
        observed = await self._call("take_over", page_id, stop=message.do in {"stop", "close"})
        if message.do == "close":
            return await self._call("close_page", page_id, reason=_WHY)
        if message.do == "give":
            try:
                observed = await self._call("hand_over_page", page_id, to=message.to)
            except BrowseError:
                if not was_theirs:
                    await self._call("give_back", page_id)
                raise
            await self._call("give_back", page_id)
        return observed

    async def _share(self, message: messages.Attach | messages.Share | messages.Unshare) -> str:
        attached = self.parts.attached
        if isinstance(message, messages.Share):
            return f"It is shared: agents call it {(await attached.share(message, self.recorded)).page_id}."
        if isinstance(message, messages.Attach):
            return (await attached.attach(AttachTarget())).words
        await attached.unshare(message.tab_id, self.recorded)
        return "It is yours alone again."

    async def _tabs(self) -> Json:
        """Return the person's own tabs, which nobody but them sees."""
        attached = self.parts.attached
        state, tabs = await attached.state(), await attached.tabs()
        shown = [
            tab.model_copy(update={"title": cut(tab.title, _TITLE), "url": abridged(tab.url)}).model_dump(
                mode="json", exclude_none=True
            )
            for tab in tabs
        ]
        return {"attachment": state.model_dump(mode="json", exclude_none=True), "tabs": [*shown]}

    async def _listing(self, message: messages.Listing) -> Json:
        if message.what == "pictures":
            return await self._pictures(message)
        if message.what == "console":
            result = await self._run({"action": "get_console_messages", "pageId": message.page_id, "limit": 100})
            rows = result.get("messages")
        else:
            wanted: Json = {"format": "records", "limit": 100, "budget": 100_000}
            result = await self._run({"action": "get_network_log", "pageId": message.page_id, **wanted})
            rows = result.get("requests")
        return {"type": message.what, "pageId": message.page_id, "rows": rows}

    async def _pictures(self, message: messages.Listing) -> Json:
        """Return the thumbnails of these acts, as far as they exist."""
        identity = self.identity
        found = await self.parts.activity.pictures(message.ids, identity.client_id, all_rows=identity.operator)
        made: Json = {
            str(each): pictures.model_dump(mode="json", exclude_none=True) for each, pictures in found.items()
        }
        return {"type": "pictures", "pageId": message.page_id, "pictures": made}

    async def _call(self, action: str, page_id: str, **arguments: str | bool) -> str:
        result = await self._run({"action": action, "pageId": page_id, **arguments})
        return str(result.get("observed", ""))

    async def _run(self, body: Json, identity: Identity | None = None) -> Json:
        call_id, who = f"wall-{uuid4().hex}", identity or self.identity
        reply = await self.parts.dispatcher.run(FrontCall(who, body, call_id=call_id, request_id=call_id))
        return reply.result()
