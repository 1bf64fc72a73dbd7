"""The actions as methods. `make docs` writes this file from the contract's: do not edit it."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NotRequired, TypedDict, Unpack

from browse_together.calling import AsyncCalling, Calling
from browse_together.results import (
    Answered,
    Content,
    Cookies,
    Data,
    Done,
    Downloads,
    Element,
    Elements,
    Exchange,
    Fetched,
    File,
    Found,
    Links,
    Pages,
    Picture,
    Result,
    Session,
    Snapshot,
    State,
    Stored,
    Table,
    Text,
    Value,
    Values,
)


class SecretRef(TypedDict):
    secret: str
    """Its name."""


class HttpAuth(TypedDict):
    username: NotRequired[str]
    """As the site knows it."""
    password: NotRequired[str | SecretRef]
    """Text, or {"secret": NAME}."""


class Position(TypedDict):
    x: float
    """Pixels from the element's left edge."""
    y: float
    """Pixels from the element's top edge."""


class Point(TypedDict):
    x: float
    """Px to the right."""
    y: float
    """Px down."""


class GivenFile(TypedDict):
    name: NotRequired[str]
    """File name."""
    path: NotRequired[str]
    """In BROWSE_UPLOAD_ROOTS, or your client's roots."""
    text: NotRequired[str]
    """Its content as text."""
    data: NotRequired[str]
    """Its content as base64."""
    artifactId: NotRequired[str]
    """Content of an earlier reply's file."""
    mimeType: NotRequired[str]
    """By default from the name."""


class FormField(TypedDict):
    selector: str
    """Ref, CSS, role=... or //xpath; of radio buttons, all of the group."""
    value: str | bool | int | float | Sequence[str] | SecretRef
    """Text, {"secret": NAME}; true or false for a checkbox; an option's value or label, or a list."""


class FindQuery(TypedDict):
    text: NotRequired[str]
    """Part of what it says, in any case."""
    role: NotRequired[str]
    """ARIA role: button, link, textbox, row, ..."""
    name: NotRequired[str]
    """Part of its accessible name."""


class SecretHeader(TypedDict):
    secret: str
    """Its name."""
    prefix: NotRequired[str]
    """What stands before it, such as "Bearer "."""


class Clip(TypedDict):
    x: float
    """Left edge, px."""
    y: float
    """Top edge, px."""
    width: float
    """Width, px."""
    height: float
    """Height, px."""


class Margin(TypedDict):
    top: NotRequired[str]
    """Such as 2cm."""
    right: NotRequired[str]
    """Such as 2cm."""
    bottom: NotRequired[str]
    """Such as 2cm."""
    left: NotRequired[str]
    """Such as 2cm."""


class Geolocation(TypedDict):
    latitude: float
    """Degrees."""
    longitude: float
    """Degrees."""
    accuracy: NotRequired[float]
    """Metres."""


class Viewport(TypedDict):
    width: NotRequired[int]
    """px"""
    height: NotRequired[int]
    """px"""


class SessionProxy(TypedDict):
    server: str
    """http://host:port, or socks5://host:port."""
    username: NotRequired[str]
    """Where it asks for one."""
    password: NotRequired[str]
    """Told to nobody."""


class Cookie(TypedDict):
    name: str
    """Its name."""
    value: str
    """Its value."""
    url: NotRequired[str]
    """For this URL's host; or give domain."""
    domain: NotRequired[str]
    """Such as .example.com, for those below it too."""
    path: NotRequired[str]
    """/ by default."""
    expires: NotRequired[float]
    """Unix time in s; without, it ends with the browser."""
    httpOnly: NotRequired[bool]
    """Hidden from scripts."""
    secure: NotRequired[bool]
    """Only over https."""
    sameSite: NotRequired[Literal["Strict", "Lax", "None"]]
    """None needs secure."""
    partitionKey: NotRequired[str]
    """Top-level site of a partitioned cookie."""


class OfPage(TypedDict, total=False):
    """The arguments that every action on a page takes."""

    timeout: int
    """Milliseconds the action may take on the page. Default: 5000."""
    if_revision: int
    """Refuse (STALE_REVISION) unless the page is still at this revision."""
    expect_url: str
    """Refuse (STALE_REVISION) unless the page's URL matches this glob (`*` is any text)."""
    reply: Literal["none", "effects", "delta", "full"]
    """What an act returns: nothing, what followed from it (navigation, requests, windows), also what it changed, or also a snapshot. Default: delta."""
    as_: str
    """Which of several agents behind one client this is: a label for siblings and people, no authority."""


class PageActions(Calling):
    """The actions on one page. Each also takes the arguments of `OfPage`, such as `timeout` (ms)."""

    def goto(
        self, url: str, *, auth: HttpAuth | None = None,
        wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        referer: str | None = None, new_session: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Go to a URL; the reply outlines the page. Without page_id each call opens a new page. A new page_id opens a
        page of that name, in the shared login. A page that has not loaded after 8 s counts as loaded once it can be
        used.

        auth: Login for HTTP authentication: sent only to the URL's origin, and kept for the session.
        url: Absolute URL.
        wait_until: The event that counts as loaded. Default: load.
        referer: Referer header value.
        new_session: Without page_id and session_id: in a session of its own, with no login. Default: False.
        """
        return self._call("goto", Done, locals())

    def go_back(
        self, *, wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Go back one entry in the page's history.

        wait_until: The event that counts as loaded. Default: load.
        """
        return self._call("go_back", Done, locals())

    def go_forward(
        self, *, wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Go forward one entry in the page's history.

        wait_until: The event that counts as loaded. Default: load.
        """
        return self._call("go_forward", Done, locals())

    def reload_page(
        self, *, ignore_cache: bool | None = None,
        wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Reload the page. Also brings back a page that no longer responds.

        ignore_cache: Fetch everything anew from the servers. Default: False.
        wait_until: The event that counts as loaded. Default: load.
        """
        return self._call("reload_page", Done, locals())

    def get_current_url(self, **common: Unpack[OfPage]) -> State:
        """Get the URL that the page is at."""
        return self._call("get_current_url", State, locals())

    def get_page_title(self, **common: Unpack[OfPage]) -> State:
        """Get the title of the page's document."""
        return self._call("get_page_title", State, locals())

    def click(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, position: Position | None = None,
        force: bool | None = None, no_wait_after: bool | None = None, trial: bool | None = None,
        scroll: Literal["auto", "none"] | None = None, button: Literal["left", "right", "middle"] | None = None,
        click_count: int | None = None, delay: float | None = None,
        modifiers: Sequence[Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]] | None = None,
        steps: int | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Click an element. Double: params {"clickCount": 2}. The reply tells of a navigation, requests sent, a popup,
        what changed, or that there was nothing.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        position: Where in the element, px from its top left corner.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        trial: Check that it could be done, and do nothing. Default: False.
        scroll: `none` leaves the scroll position as it is. Default: auto.
        button: Mouse button. Default: left.
        click_count: 2 is a double click. Default: 1.
        delay: Ms between mouse down and up.
        modifiers: Keys held down meanwhile.
        steps: Mouse moves on the way to the element.
        """
        return self._call("click", Done, locals())

    def fill(
        self, selector: str, value: str | SecretRef, *, frame: str | None = None, strict: bool | None = None,
        force: bool | None = None, no_wait_after: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Set the value of a field, replacing what it has. Of an input, a textarea or an editable element, at once. The
        reply has the value that the page shows afterwards, unless it is the given one.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        value: Text, or {"secret": NAME}.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        """
        return self._call("fill", Done, locals())

    def type(
        self, text: str | SecretRef, *, selector: str | None = None, frame: str | None = None,
        strict: bool | None = None, delay: float | None = None, no_wait_after: bool | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Type text key by key where the focus is. Prefer `fill`. It is for pages that listen for keys. It comes after
        what is there: in a paragraph of an editor at its end, and without a selector where the caret is.

        text: Text, or {"secret": NAME}.
        selector: Focused first.
        frame: Selector of its iframe.
        strict: false takes the first of several. Default: True.
        delay: Ms between keys. Default: 0.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        """
        return self._call("type", Done, locals())

    def press(
        self, key: str, *, selector: str | None = None, frame: str | None = None, strict: bool | None = None,
        delay: float | None = None, no_wait_after: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Press a key where the focus is. Control+v pastes what you copied by Control+c or Control+x in this session:
        the browser's own clipboard has what others copy too, and is not pasted.

        key: Such as Enter or Control+a.
        selector: Focused first.
        frame: Selector of its iframe.
        strict: false takes the first of several. Default: True.
        delay: Ms between key down and up.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        """
        return self._call("press", Done, locals())

    def hover(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, position: Position | None = None,
        force: bool | None = None, no_wait_after: bool | None = None, trial: bool | None = None,
        scroll: Literal["auto", "none"] | None = None,
        modifiers: Sequence[Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Move the mouse over an element.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        position: Where in the element, px from its top left corner.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        trial: Check that it could be done, and do nothing. Default: False.
        scroll: `none` leaves the scroll position as it is. Default: auto.
        modifiers: Keys held down meanwhile.
        """
        return self._call("hover", Done, locals())

    def select_option(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None,
        value: str | Sequence[str] | None = None, label: str | Sequence[str] | None = None,
        index: int | Sequence[int] | None = None, force: bool | None = None, no_wait_after: bool | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Choose options of a select element; [] chooses none. By value, label or index. The reply has the values
        selected afterwards.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        value: Values, or visible labels.
        label: Visible labels.
        index: Positions, from 0.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        """
        return self._call("select_option", Done, locals())

    def check(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, position: Position | None = None,
        force: bool | None = None, no_wait_after: bool | None = None, trial: bool | None = None,
        scroll: Literal["auto", "none"] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Tick a checkbox or radio button; one that is ticked already stays so.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        position: Where in the element, px from its top left corner.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        trial: Check that it could be done, and do nothing. Default: False.
        scroll: `none` leaves the scroll position as it is. Default: auto.
        """
        return self._call("check", Done, locals())

    def uncheck(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, position: Position | None = None,
        force: bool | None = None, no_wait_after: bool | None = None, trial: bool | None = None,
        scroll: Literal["auto", "none"] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Untick a checkbox; one that is not ticked stays so.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        position: Where in the element, px from its top left corner.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        trial: Check that it could be done, and do nothing. Default: False.
        scroll: `none` leaves the scroll position as it is. Default: auto.
        """
        return self._call("uncheck", Done, locals())

    def drag_and_drop(
        self, source: str, target: str, *, frame: str | None = None, strict: bool | None = None,
        source_position: Position | None = None, target_position: Position | None = None, force: bool | None = None,
        no_wait_after: bool | None = None, trial: bool | None = None, steps: int | None = None,
        scroll: Literal["auto", "none"] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Drag an element onto another one. The reply says what the page made of it: an HTML drag and where it was
        dropped, or where the element is now.

        source: Element to drag: ref, CSS, text=, role=.
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        target: Element to drop it on.
        source_position: Where in the element, px from its top left corner.
        target_position: Where in the element, px from its top left corner.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        trial: Check that it could be done, and do nothing. Default: False.
        steps: Mouse moves on the way. Default: 5.
        scroll: `none` leaves the scroll position as it is. Default: auto.
        """
        return self._call("drag_and_drop", Done, locals())

    def mouse(
        self, do: Literal["move", "click", "down", "up", "drag", "wheel"], x: float, y: float, *,
        to: Point | None = None, by: Point | None = None, button: Literal["left", "right", "middle"] | None = None,
        click_count: int | None = None, delay: float | None = None, steps: int | None = None,
        modifiers: Sequence[Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Use the mouse at a point of the window, where no selector helps. Points are in CSS px of the viewport. It is
        for places such as on a canvas; the reply names the element there.

        do: What to do there.
        x: Px from the left.
        y: Px from the top.
        to: drag: let go at this {x, y}.
        by: wheel: by this {x, y}.
        button: Mouse button. Default: left.
        click_count: 2 is a double click. Default: 1.
        delay: click: ms between down and up.
        steps: move, drag: mouse moves on the way. Default: 5.
        modifiers: Keys held down meanwhile.
        """
        return self._call("mouse", Done, locals())

    def scroll(
        self, selector: str | None = None, *, frame: str | None = None, strict: bool | None = None,
        to: Literal["top", "bottom", "view"] | None = None, x: float | None = None, y: float | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Scroll the page or an element: one screen down, by px or to an end; or an element into view. The reply says
        where it is then, and how much more there is.

        selector: Element to show, or to scroll in.
        frame: Selector of its iframe.
        strict: false takes the first of several. Default: True.
        to: Where to first.
        x: Px to the right; negative is left.
        y: Px down; negative is up.
        """
        return self._call("scroll", Done, locals())

    def focus(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Give an element the keyboard's focus, without clicking it.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        """
        return self._call("focus", Done, locals())

    def blur(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Take the focus from an element, as leaving a field does. The page then runs its checks or saves.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        """
        return self._call("blur", Done, locals())

    def paste(
        self, text: str, *, html: str | None = None, selector: str | None = None, frame: str | None = None,
        strict: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Paste text into an element, or where the focus is. Also as HTML. No clipboard is read or changed. The reply
        tells what the page made of it.

        text: What to paste.
        html: The same as HTML, for editors that take it.
        selector: Element to focus first.
        frame: Selector of its iframe.
        strict: false takes the first of several. Default: True.
        """
        return self._call("paste", Done, locals())

    def upload_file(
        self, selector: str, files: Sequence[str | PathLike[str] | GivenFile], *, frame: str | None = None,
        strict: bool | None = None, no_wait_after: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Choose files in a file input, or in the chooser that a click on the element opens. Base64 goes in "data", and
        [] chooses none. The reply tells what the input holds afterwards.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        files: Each {"path"}, {"artifactId"} or {"name", "text"}.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        """
        return self._call("upload_file", Done, locals())

    def drop(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None,
        files: Sequence[str | PathLike[str] | GivenFile] | None = None, data: Mapping[str, str] | None = None,
        position: Position | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Drop files or data onto an element, as if dragged from outside of the browser.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        files: As upload_file takes them, 2 MB at most.
        data: By MIME type: {"text/plain": "..."}.
        position: Where in the element, px from its top left corner.
        """
        return self._call("drop", Done, locals())

    def batch(self, steps: Sequence[Mapping[str, Any]], **common: Unpack[OfPage]) -> Done:
        """Do several actions in one call; it stops at the first that fails. On one page, in one turn. Cheaper than
        single calls if you need not look in between. A failure tells what was done before it.

        steps: Each {"action": "click", "selector": "#buy"}: any tool but batch and request_human.
        """
        return self._call("batch", Done, locals())

    def fill_form(
        self, fields: Sequence[FormField], *, submit: str | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Fill many fields at once: also checkboxes, selects, sliders and tags. The kind of each field is detected. The
        reply names fields that hold something else than you gave.

        fields: Value: text, {"secret": NAME}, true or false, or a list.
        submit: Button to click then.
        frame: Selector of the iframe to look in.
        """
        return self._call("fill_form", Done, locals())

    def refill(self, **common: Unpack[OfPage]) -> Done:
        """Refill what you had filled in but not sent when the page was lost. As the notice offers. Secrets are not
        kept; the reply names them, so that you can give them again."""
        return self._call("refill", Done, locals())

    def wait_for_selector(
        self, selector: str, *, state: Literal["attached", "detached", "visible", "hidden"] | None = None,
        frame: str | None = None, strict: bool | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Wait until an element is there, or gone. `state` chooses: visible, hidden, attached or detached.

        selector: Ref (e12), CSS or role=...
        state: What to wait for. Default: visible.
        frame: Selector of its iframe.
        strict: Refuse when several match. Default: False.
        """
        return self._call("wait_for_selector", Result, locals())

    def wait_for_navigation(
        self, *, url: str | None = None,
        wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        **common: Unpack[OfPage],
    ) -> Result:
        """Wait for the page's next navigation to load. One that began after your own last act on the page counts too.

        url: Only to a URL that matches.
        wait_until: The event that counts as loaded. Default: load.
        """
        return self._call("wait_for_navigation", Result, locals())

    def wait_for_url(
        self, url: str, *, wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        **common: Unpack[OfPage],
    ) -> Result:
        """Wait until the page is at a URL that matches, and has loaded.

        url: Glob (`*` is any text), /path, or /regex/flags.
        wait_until: The event that counts as loaded. Default: load.
        """
        return self._call("wait_for_url", Result, locals())

    def wait_for_load(
        self, *, state: Literal["load", "domcontentloaded", "networkidle"] | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Wait until the page's document has loaded.

        state: networkidle: no requests for 500 ms. Default: load.
        """
        return self._call("wait_for_load", Result, locals())

    def wait(self, duration: int, **common: Unpack[OfPage]) -> Result:
        """Wait for a duration. Prefer wait_for_selector, which goes on as soon as it can.

        duration: Milliseconds.
        """
        return self._call("wait", Result, locals())

    def expect(
        self, selector: str | None = None, *, url: str | None = None, request: str | None = None,
        to: Literal["visible", "hidden", "attached", "detached", "enabled", "disabled", "checked", "unchecked", "text", "value", "count"] | None = None,
        value: str | int | None = None, status: str | None = None, frame: str | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Check an element, the page's URL or a request, as soon as it is so; if it never is, the error has what is
        there. A request counts from your own last act on the page. Of several elements, the first visible one is
        checked.

        selector: Ref (e12), CSS or role=...
        url: The page is at a URL that matches.
        request: The page has sent one, such as `POST /api/orders`: method, if any, and URL glob.
        to: What the element must be or have; text: anywhere in it. Default: visible.
        value: The text, the field's value or the count.
        status: The request's answer: 201, 2xx.
        frame: Selector of its iframe.
        """
        return self._call("expect", Result, locals())

    def content(
        self, selector: str | None = None, *, query: str | None = None, section: str | None = None,
        format: Literal["html", "markdown", "text"] | None = None, frame: str | None = None, unseen: bool | None = None,
        include_shadow: bool | None = None, budget: int | None = None, cursor: str | None = None,
        **common: Unpack[OfPage],
    ) -> Content:
        """Read the page, best as markdown; a long one by `query` or `section`. `query` returns the passages about it.
        Without arguments, a short page comes as raw HTML; a long one as its headings with handles, its beginning,
        and a cursor. To find something to act on, `find` and `snapshot` are shorter.

        query: Question or words.
        section: Handle or heading.
        format: Raw HTML without it.
        selector: Only this element.
        frame: Selector of the iframe to read.
        unseen: Only the text that nobody sees, which is otherwise left out. Default: False.
        include_shadow: With html: open shadow roots too, as templates. Default: False.
        budget: Most characters to return; the rest by cursor.
        cursor: From an earlier reply.
        """
        return self._call("content", Content, locals())

    def snapshot(
        self, selector: str | None = None, *, frame: str | None = None, depth: int | None = None,
        interactive_only: bool | None = None, boxes: bool | None = None, since: bool | None = None,
        filename: str | None = None, budget: int | None = None, cursor: str | None = None, **common: Unpack[OfPage],
    ) -> Snapshot:
        """Get the accessibility tree, with refs (e12). `find` is shorter. Elements that can be acted on, and their
        containers, have refs. Every selector argument takes a ref until the document changes.

        selector: Only this element.
        frame: Selector of the iframe that `selector` is looked up in.
        depth: Levels of the tree to show.
        interactive_only: Only controls and headings. Default: False.
        boxes: Add each element's box: x, y, width, height in px. Default: False.
        since: Only what changed since your last snapshot of the page. Default: False.
        filename: Save it as this.
        budget: Most characters to return; the rest by cursor.
        cursor: From an earlier reply.
        """
        return self._call("snapshot", Snapshot, locals())

    def find(
        self, text: str | None = None, *, role: str | None = None, name: str | None = None, selector: str | None = None,
        frame: str | None = None, queries: Sequence[str | FindQuery] | None = None, **common: Unpack[OfPage],
    ) -> Found:
        """Find at most 12 elements, with refs. Each with its state, and its row's or section's heading. Each of
        `queries` is a text, or {text, role, name}.

        text: Part of its words.
        role: button, link, row, ...
        name: Part of the name.
        selector: All that match, or what is in them.
        frame: Selector of the iframe that `selector` is looked up in.
        queries: Several at once: texts.
        """
        return self._call("find", Found, locals())

    def extract_text(
        self, selector: str, *, all: bool | None = None, trim: bool | None = None,
        normalize_whitespace: bool | None = None, frame: str | None = None, **common: Unpack[OfPage],
    ) -> Text:
        """Get the text of elements, or the value of a field. As a person sees it; with trim and normalize_whitespace
        false, as it stands in the document (text_content).

        selector: Ref (e12), CSS or role=...
        all: Of all elements that match, as a list; else of the first. Default: False.
        trim: Without space at the ends. Default: True.
        normalize_whitespace: Runs of space and line ends as one space. Default: True.
        frame: Selector of its iframe.
        """
        return self._call("extract_text", Text, locals())

    def extract_html(
        self, selector: str, *, inner: bool | None = None, all: bool | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Text:
        """Get the HTML of elements. `content` has the whole page's.

        selector: Ref (e12), CSS or role=...
        inner: Without the element's own tag. Default: True.
        all: Of all elements that match, as a list; else of the first. Default: False.
        frame: Selector of its iframe.
        """
        return self._call("extract_html", Text, locals())

    def extract_attribute(
        self, selector: str, attribute: str, *, all: bool | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Values:
        """Get an attribute of elements; null where one has it not.

        selector: Ref (e12), CSS or role=...
        attribute: Its name, such as href; data-* gets all that begin so.
        all: Of all elements that match, as a list; else of the first. Default: False.
        frame: Selector of its iframe.
        """
        return self._call("extract_attribute", Values, locals())

    def extract_data(
        self, schema: Mapping[str, str | Mapping[str, Any]], *, selector: str | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Data:
        """Get data by a schema of selectors: {"title": "h1", "items": {"selector": ".item", "all": true, "fields":
        {...}}}. A field may have a type too: {"price": {"selector": ".price", "type": "number"}}. Says what it did
        not find.

        schema: Field -> a selector, or where it is.
        selector: Only within the first element that matches.
        frame: Selector of its iframe.
        """
        return self._call("extract_data", Data, locals())

    def extract_table(
        self, selector: str | None = None, *, all: bool | None = None, headers: Sequence[str] | None = None,
        frame: str | None = None, **common: Unpack[OfPage],
    ) -> Table:
        """Get tables as rows by their headers. Rows are objects by their column's header, cells that span repeated,
        hidden rows left out. Columns without a header are column1, column2.

        selector: A table, or what it is in. Default: table, [role=table], [role=grid].
        all: Of all elements that match, as a list; else of the first. Default: False.
        headers: Names for the columns, instead of its own.
        frame: Selector of its iframe.
        """
        return self._call("extract_table", Table, locals())

    def extract_links(
        self, selector: str | None = None, *, site: Literal["any", "same", "other"] | None = None,
        unique: bool | None = None, frame: str | None = None, **common: Unpack[OfPage],
    ) -> Links:
        """Get the links of a page or of a part: text and absolute URL.

        selector: Only within the first element that matches.
        site: Only to the page's own origin, or not. Default: any.
        unique: Each URL once. Default: False.
        frame: Selector of its iframe.
        """
        return self._call("extract_links", Links, locals())

    def extract_images(
        self, selector: str | None = None, *, backgrounds: bool | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Result:
        """Get the pictures of a page or of a part: URL, alt text, size in px, and whether each is loaded.

        selector: Only within the first element that matches.
        backgrounds: Those of CSS backgrounds too. Default: False.
        frame: Selector of its iframe.
        """
        return self._call("extract_images", Result, locals())

    def extract_metadata(self, *, frame: str | None = None, **common: Unpack[OfPage]) -> Result:
        """Get what a page says of itself: title, description, canonical URL, OpenGraph, JSON-LD. Its keywords,
        language, Twitter, alternates and icons too.

        frame: Selector of its iframe.
        """
        return self._call("extract_metadata", Result, locals())

    def extract_computed_style(
        self, selector: str, *, properties: Sequence[str] | None = None, pseudo: str | None = None,
        all: bool | None = None, frame: str | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Get the CSS of an element as the browser computed it.

        selector: Ref (e12), CSS or role=...
        properties: Such as color or --brand; ["*"] for all; the usual ones without.
        pseudo: Such as ::before.
        all: Of all elements that match, as a list; else of the first. Default: False.
        frame: Selector of its iframe.
        """
        return self._call("extract_computed_style", Result, locals())

    def find_elements(
        self, selector: str, *, limit: int | None = None, attributes: bool | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Elements:
        """Look at all that match a selector: how many, with ref, text, state and box. As they are now; the box is in px
        of the window. No match is an answer, not an error.

        selector: Ref (e12), CSS or role=...
        limit: Most elements to return. Default: 20.
        attributes: With their attributes. Default: False.
        frame: Selector of its iframe.
        """
        return self._call("find_elements", Elements, locals())

    def get_console_messages(
        self, text: str | None = None, *,
        types: Sequence[Literal["exception", "error", "warning", "info", "log", "debug", "other"]] | None = None,
        since: int | None = None, all: bool | None = None, limit: int | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Get what the page's scripts logged and threw, oldest first. Console messages and uncaught exceptions of the
        page's document: the last 200 of each.

        types: Only these; exception: thrown, with its stack.
        text: Only with this text in it.
        since: Only after this number: `last` of an earlier reply. Default: 0.
        all: Earlier documents too. Default: False.
        limit: Most messages; the latest. Default: 50.
        """
        return self._call("get_console_messages", Result, locals())

    def list_frames(self, **common: Unpack[OfPage]) -> Result:
        """List the iframes of a page: URL, name, and the selector that `frame` arguments take."""
        return self._call("list_frames", Result, locals())

    def evaluate_script(
        self, expression: str, *, arg: Any | None = None, selector: str | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Value:
        """Run JavaScript in the page and get its JSON result; promises are awaited. An expression, or a function. With
        `selector`, the function gets the element as its first argument.

        expression: Expression or function.
        arg: JSON value given to the function.
        selector: Element for the function.
        frame: Selector of the iframe to run in.
        """
        return self._call("evaluate_script", Value, locals())

    def add_init_script(self, script: str, **common: Unpack[OfPage]) -> Done:
        """Run JavaScript in each later document of the page, before its own scripts. Also in its frames. With
        session_id and no page_id: in all pages of a session of your own.

        script: JavaScript, such as `Math.random = () => 0.5`.
        """
        return self._call("add_init_script", Done, locals())

    def remove_init_scripts(self, *, script_ids: Sequence[str] | None = None, **common: Unpack[OfPage]) -> Done:
        """Remove init scripts of the page: some, or all. Their effects stay until the next document.

        script_ids: Only these of list_routes.
        """
        return self._call("remove_init_scripts", Done, locals())

    def fetch(
        self, url: str, *, response_type: Literal["text", "json", "binary"] | None = None, method: str | None = None,
        headers: Mapping[str, str | SecretHeader] | None = None,
        body: str | Mapping[str, Any] | Sequence[Any] | None = None,
        mode: Literal["cors", "no-cors", "same-origin", "navigate"] | None = None,
        credentials: Literal["omit", "same-origin", "include"] | None = None,
        cache: Literal["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"] | None = None,
        redirect: Literal["follow", "error", "manual"] | None = None, referrer: str | None = None,
        referrer_policy: str | None = None, integrity: str | None = None, keepalive: bool | None = None,
        priority: Literal["high", "low", "auto"] | None = None, duplex: Literal["half"] | None = None,
        **common: Unpack[OfPage],
    ) -> Fetched:
        """Send a request with the page's cookies. It has the page's origin. A PDF is kept as a file whatever the type.
        A header's value may be a secret's name, with what comes before it: {"secret": "api", "prefix": "Bearer "}.
        An HTTP error status is an error that carries status, headers and the body's start.

        url: Or a path.
        response_type: binary: file. Default: text.
        method: Else GET.
        headers: Or {"secret": NAME}.
        body: Or JSON.
        mode: CORS mode.
        credentials: When cookies go along; same-origin by default.
        cache: Use of the HTTP cache.
        redirect: What to do on redirects.
        referrer: Referrer URL, or about:client.
        referrer_policy: Referrer policy.
        integrity: Subresource integrity hash.
        keepalive: Let the request outlive the page.
        priority: Fetch priority.
        duplex: Duplex mode.
        """
        return self._call("fetch", Fetched, locals())

    def list_page_tools(self, *, name: str | None = None, frame: str | None = None, **common: Unpack[OfPage]) -> Result:
        """List the tools that the page itself declares, at most 20. Names, descriptions and schemas are the page's
        words. `read_only`, `consequential` and `untrusted_content` are what it says of its tools.

        name: Only with this in the name.
        frame: Selector of the iframe whose tools to list.
        """
        return self._call("list_page_tools", Result, locals())

    def call_page_tool(
        self, name: str, *, arguments: Mapping[str, Any] | None = None, frame: str | None = None,
        schema: Mapping[str, Any] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Call a tool that the page itself declares, and get what it gives. A tool that has changed since you listed it
        is not called.

        name: As list_page_tools gives it.
        arguments: By the tool's schema.
        frame: Selector of the iframe that declares it.
        schema: What it has to take still, or is not called.
        """
        return self._call("call_page_tool", Done, locals())

    def screenshot(
        self, selector: str | None = None, *, frame: str | None = None, full_page: bool | None = None,
        type: Literal["png", "jpeg", "webp"] | None = None, quality: int | None = None,
        omit_background: bool | None = None, clip: Clip | None = None,
        animations: Literal["disabled", "allow"] | None = None, caret: Literal["hide", "initial"] | None = None,
        scale: Literal["css", "device"] | None = None, mask: Sequence[str] | None = None, mask_color: str | None = None,
        style: str | None = None, marks: bool | None = None, cursor: str | None = None, **common: Unpack[OfPage],
    ) -> Picture:
        """Take a picture of the window. With `clip`: only a region.

        selector: Only this element.
        frame: Selector of its iframe.
        full_page: The whole scrollable page. Default: False.
        type: Image format. Default: png.
        quality: Quality of jpeg and webp; png has none. Default: 80.
        omit_background: Transparent where the page has no background; not with jpeg. Default: False.
        clip: Only this region of the window, or with full_page of the page.
        animations: `disabled` finishes them first. Default: allow.
        caret: The text caret. Default: hide.
        scale: One picture pixel for each CSS or device pixel. Default: device.
        mask: Elements to paint over.
        mask_color: CSS colour of the paint.
        style: CSS to apply while the picture is taken.
        marks: With the refs of controls drawn on them. Default: False.
        cursor: From an earlier reply.
        """
        return self._call("screenshot", Picture, locals())

    def get_screenshot_as_base64(
        self, selector: str | None = None, *, frame: str | None = None, full_page: bool | None = None,
        type: Literal["png", "jpeg", "webp"] | None = None, quality: int | None = None,
        omit_background: bool | None = None, clip: Clip | None = None,
        animations: Literal["disabled", "allow"] | None = None, caret: Literal["hide", "initial"] | None = None,
        scale: Literal["css", "device"] | None = None, mask: Sequence[str] | None = None, mask_color: str | None = None,
        style: str | None = None, marks: bool | None = None, cursor: str | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Take a picture like `screenshot`, as base64 text (long). To look at a picture, use `screenshot`.

        selector: Only this element.
        frame: Selector of its iframe.
        full_page: The whole scrollable page. Default: False.
        type: Image format. Default: png.
        quality: Quality of jpeg and webp; png has none. Default: 80.
        omit_background: Transparent where the page has no background; not with jpeg. Default: False.
        clip: Only this region of the window, or with full_page of the page.
        animations: `disabled` finishes them first. Default: allow.
        caret: The text caret. Default: hide.
        scale: One picture pixel for each CSS or device pixel. Default: device.
        mask: Elements to paint over.
        mask_color: CSS colour of the paint.
        style: CSS to apply while the picture is taken.
        marks: With the refs of controls drawn on them. Default: False.
        cursor: From an earlier reply.
        """
        return self._call("get_screenshot_as_base64", Result, locals())

    def generate_pdf(
        self, *,
        format: Literal["Letter", "Legal", "Tabloid", "Ledger", "A0", "A1", "A2", "A3", "A4", "A5", "A6"] | None = None,
        landscape: bool | None = None, width: str | None = None, height: str | None = None,
        margin: Margin | None = None, scale: float | None = None, page_ranges: str | None = None,
        print_background: bool | None = None, display_header_footer: bool | None = None,
        header_template: str | None = None, footer_template: str | None = None,
        prefer_css_page_size: bool | None = None, outline: bool | None = None, tagged: bool | None = None,
        filename: str | None = None, **common: Unpack[OfPage],
    ) -> File:
        """Print the page to a PDF, with its print styles.

        format: Paper size; Letter by default.
        landscape: Landscape orientation. Default: False.
        width: Instead of a format: 10cm, 4in, 300px.
        height: Likewise.
        margin: None by default.
        scale: Scale of the print. Default: 1.
        page_ranges: Such as 1-3, 5.
        print_background: With background colours and pictures. Default: False.
        display_header_footer: Print the templates; they need a margin. Default: False.
        header_template: HTML; elements of class date, title, url, page_number, total_pages are filled in.
        footer_template: Likewise.
        prefer_css_page_size: The page's own @page size comes first. Default: False.
        outline: With the headings as bookmarks. Default: False.
        tagged: Accessible (tagged) PDF. Default: False.
        filename: Save it as this.
        """
        return self._call("generate_pdf", File, locals())

    def record_video(
        self, command: Literal["start", "stop"], *, max_seconds: int | None = None, fps: int | None = None,
        **common: Unpack[OfPage],
    ) -> File:
        """Record a video of the page. The page is not reopened. It records across navigation, until you stop it, after
        max_seconds, or when the page closes. The client that began it gets the file.

        command: stop answers with the file.
        max_seconds: It ends by itself after this. Default: 120.
        fps: Pictures a second at most. Default: 10.
        """
        return self._call("record_video", File, locals())

    def compare_screenshots(
        self, baseline: str, *, current: str | None = None, selector: str | None = None, full_page: bool | None = None,
        threshold: float | None = None, **common: Unpack[OfPage],
    ) -> File:
        """Compare a picture with another, or with the page now. Tells how many pixels differ and where, with a picture
        of the differences.

        baseline: artifact_id of a screenshot of yours.
        current: artifact_id of the other; by default the page is captured now.
        selector: When capturing now: only this element.
        full_page: When capturing now: the whole page. Default: False.
        threshold: How much two colours may differ and still count as equal. Default: 0.1.
        """
        return self._call("compare_screenshots", File, locals())

    def highlight(
        self, selector: str | None = None, *, frame: str | None = None, label: str | None = None,
        colour: str | None = None, seconds: float | None = None, strict: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Outline an element with a label, for people to see; without a selector, remove all outlines. Screenshots show
        them too.

        selector: The element; it is scrolled into view.
        frame: Selector of the iframe to look in.
        label: Words beside it.
        colour: CSS colour. Default: #d6006c.
        seconds: How long it stays; 0 is as long as the document. Default: 0.
        strict: Refuse when several elements match; false takes the first. Default: True.
        """
        return self._call("highlight", Done, locals())

    def mock_response(
        self, pattern: str, *, method: Literal["GET", "POST", "PUT", "DELETE", "PATCH"] | None = None,
        status: int | None = None, headers: Mapping[str, str] | None = None, body: str | None = None,
        content_type: str | None = None, delay: int | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Answer the page's requests that match, instead of the server. The latest match counts.

        pattern: Glob (* is any text, scheme optional) or /regex/flags.
        method: HTTP method; all without.
        status: HTTP status. Default: 200.
        headers: Response headers.
        body: Response body.
        content_type: Content-Type. Default: application/json.
        delay: Milliseconds before the answer. Default: 0.
        """
        return self._call("mock_response", Done, locals())

    def block_requests(
        self, *, patterns: Sequence[str] | None = None,
        resource_types: Sequence[Literal["image", "stylesheet", "font", "script", "xhr", "fetch", "document", "media", "eventsource", "manifest", "ping", "other", "websocket"]] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Block the page's requests by URL or type. Also those answered by caches and service workers; WebSockets by
        glob or type. Adds to earlier blocks.

        patterns: Globs (* is any text, scheme optional) or /regex/flags.
        resource_types: Types.
        """
        return self._call("block_requests", Done, locals())

    def list_routes(self, **common: Unpack[OfPage]) -> Result:
        """List the page's mocks and blocks, with how often each matched, the names of its extra headers, and its init
        scripts."""
        return self._call("list_routes", Result, locals())

    def remove_routes(self, *, route_ids: Sequence[str] | None = None, **common: Unpack[OfPage]) -> Done:
        """Remove mocks and blocks of the page: some, or all.

        route_ids: Only these of list_routes.
        """
        return self._call("remove_routes", Done, locals())

    def set_extra_headers(
        self, headers: Mapping[str, str], *, affect_others: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Send extra headers with every request of the page; {} removes them. Replaces earlier ones. With session_id
        and no page_id: for the whole session, later pages included.

        headers: Names and values.
        affect_others: For a session: even if others hold pages there. Default: False.
        """
        return self._call("set_extra_headers", Done, locals())

    def get_network_log(
        self, pattern: str | None = None, *, include_headers: bool | None = None, include_bodies: bool | None = None,
        include_secrets: bool | None = None, method: str | None = None,
        resource_types: Sequence[Literal["image", "stylesheet", "font", "script", "xhr", "fetch", "document", "media", "eventsource", "manifest", "ping", "other"]] | None = None,
        status: str | None = None, since: int | None = None, limit: int | None = None,
        format: Literal["text", "records"] | None = None, budget: int | None = None, cursor: str | None = None,
        **common: Unpack[OfPage],
    ) -> Result:
        """List the page's last 500 requests, oldest first. Only the client that held the page when a request was sent
        gets its headers and body.

        include_headers: Headers too. Default: False.
        include_bodies: Bodies too, as far as the browser has them. Default: False.
        include_secrets: Values of Cookie, Authorization and the like too. Default: False.
        pattern: Only these URLs: glob or /regex/flags.
        method: Only this HTTP method.
        resource_types: Only these.
        status: 404, 5xx, failed or pending.
        since: Only those after this number.
        limit: At most this many, the latest. Default: 100.
        format: Lines, or objects. Default: text.
        budget: Most characters to return; the rest by cursor.
        cursor: From an earlier reply.
        """
        return self._call("get_network_log", Result, locals())

    def wait_for_request(
        self, pattern: str | None = None, *, include_headers: bool | None = None, include_bodies: bool | None = None,
        include_secrets: bool | None = None, during: Mapping[str, Any] | None = None, method: str | None = None,
        resource_types: Sequence[Literal["image", "stylesheet", "font", "script", "xhr", "fetch", "document", "media", "eventsource", "manifest", "ping", "other"]] | None = None,
        **common: Unpack[OfPage],
    ) -> Exchange:
        """Wait until the page sends a request that matches.

        include_headers: Headers too. Default: False.
        include_bodies: Bodies too, as far as the browser has them. Default: False.
        include_secrets: Values of Cookie, Authorization and the like too. Default: False.
        during: An action with its arguments. Done once the wait is armed: {"action": "click", "selector": "#go"}.
        pattern: Its URL: glob (* is any text, scheme optional) or /regex/flags.
        method: Only this HTTP method.
        resource_types: Only these.
        """
        return self._call("wait_for_request", Exchange, locals())

    def wait_for_response(
        self, pattern: str | None = None, *, include_headers: bool | None = None, include_bodies: bool | None = None,
        include_secrets: bool | None = None, during: Mapping[str, Any] | None = None, method: str | None = None,
        resource_types: Sequence[Literal["image", "stylesheet", "font", "script", "xhr", "fetch", "document", "media", "eventsource", "manifest", "ping", "other"]] | None = None,
        status: str | None = None, **common: Unpack[OfPage],
    ) -> Exchange:
        """Wait until a request of the page that matches is answered.

        include_headers: Headers too. Default: False.
        include_bodies: Bodies too, as far as the browser has them. Default: False.
        include_secrets: Values of Cookie, Authorization and the like too. Default: False.
        during: An action with its arguments. Done once the wait is armed: {"action": "click", "selector": "#go"}.
        pattern: Its URL: glob (* is any text, scheme optional) or /regex/flags.
        method: Only this HTTP method.
        resource_types: Only these.
        status: 404 or 5xx.
        """
        return self._call("wait_for_response", Exchange, locals())

    def export_har(
        self, *, content: Literal["omit", "embed", "attach"] | None = None,
        mode: Literal["full", "minimal"] | None = None, url_filter: str | None = None,
        include_secrets: bool | None = None, **common: Unpack[OfPage],
    ) -> File:
        """Export the page's last 500 requests as a HAR 1.2 file. Requests sent while you did not hold the page come
        without headers and bodies.

        content: Bodies, as far as the browser has them; attach: a zip with them as files. Default: omit.
        mode: minimal: what a replay needs. Default: full.
        url_filter: Only these URLs: glob or /regex/flags.
        include_secrets: Values of Cookie, Authorization and the like too. Default: False.
        """
        return self._call("export_har", File, locals())

    def emulate(
        self, *, affect_others: bool | None = None, viewport: Viewport | None = None, device: str | None = None,
        color_scheme: Literal["light", "dark", "no-preference"] | None = None,
        media: Literal["screen", "print"] | None = None,
        reduced_motion: Literal["reduce", "no-preference"] | None = None,
        forced_colors: Literal["active", "none"] | None = None,
        contrast: Literal["more", "no-preference"] | None = None, locale: str | None = None,
        timezone: str | None = None, geolocation: Geolocation | None = None, offline: bool | None = None,
        reset: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Show one page another device, place, language or network. Other pages are unaffected. What you do not name
        stays. geolocation also grants the page's site that permission, which affects others at that site.

        affect_others: Do it even if it affects pages that others hold. Default: False.
        viewport: Size of the page.
        device: Of Playwright's list, such as "Pixel 7".
        color_scheme: Colours.
        media: CSS media type.
        reduced_motion: Motion.
        forced_colors: Forced colours.
        contrast: Contrast.
        locale: Such as de-DE.
        timezone: Such as Europe/Rome.
        geolocation: Where it is.
        offline: Without network.
        reset: End what was emulated before. Default: False.
        """
        return self._call("emulate", Done, locals())

    def close_page(
        self, *, run_before_unload: bool | None = None, reason: str | None = None, confirm: bool | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Close a page; what was typed and not sent is lost. The login stays.

        run_before_unload: Let the page ask before it closes. Default: False.
        reason: Why; needed for a tab that a person opened.
        confirm: Close it though a sibling behind your client opened it. Default: False.
        """
        return self._call("close_page", Done, locals())

    def handle_dialog(self, accept: bool, *, prompt_text: str | None = None, **common: Unpack[OfPage]) -> Done:
        """Answer the alert, confirm, prompt or beforeunload dialog of a page. Returns the result of the call that
        waited for the answer, or the next dialog.

        accept: OK, or leave the page.
        prompt_text: Answer to a prompt.
        """
        return self._call("handle_dialog", Done, locals())

    def set_dialog_policy(
        self, policy: Literal["ask", "accept", "dismiss"], *, prompt_text: str | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Choose how a page's dialogs are answered while you hold it: by you (ask), or at once. Also those of its
        popups. Replies still name each dialog and its answer.

        policy: `accept` is OK, and leaving the page.
        prompt_text: accept: what prompts are answered; their default value without.
        """
        return self._call("set_dialog_policy", Done, locals())

    def claim_page(
        self, *, wait_seconds: int | None = None, reason: str | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Become a page's owner: in line, or at once with a reason. Its owner is told the reason. With both you take it
        after wait_seconds. A private page stays its owner's until they give it up.

        wait_seconds: How long to wait in line. Default: 0.
        reason: Why you take it now.
        """
        return self._call("claim_page", Done, locals())

    def release_page(self, **common: Unpack[OfPage]) -> Done:
        """Give a page up: whoever waits for it is offered it, else the next to act on it gets it."""
        return self._call("release_page", Done, locals())

    def hold_page(self, reason: str, *, minutes: int | None = None, **common: Unpack[OfPage]) -> Done:
        """Keep a page of yours though you will be idle, as when you wait for a code. Others need a reason to take it
        until then.

        reason: What you wait for; others read it.
        minutes: For how long. Default: 15.
        """
        return self._call("hold_page", Done, locals())

    def share_page(self, access: Literal["private", "read", "act"], **common: Unpack[OfPage]) -> Done:
        """Say what others may do with a page of yours: nothing, read (the default) or act. `private` hides URL and
        content from those clients. Clients that may act take turns.

        access: What others may do with it.
        """
        return self._call("share_page", Done, locals())

    def hand_over_page(self, to: str, *, note: str | None = None, **common: Unpack[OfPage]) -> Done:
        """Make another client the owner of a page of yours. A private one stays private.

        to: The client's name as list_pages shows it, or a page_id of one of its.
        note: What the new owner should know.
        """
        return self._call("hand_over_page", Done, locals())

    def request_human(
        self, *, kind: Literal["login", "code", "decision", "tab", "other"] | None = None, message: str | None = None,
        origin: str | None = None, choices: Sequence[str] | None = None, request_id: str | None = None,
        withdraw: bool | None = None, **common: Unpack[OfPage],
    ) -> Answered:
        """Have a person sign in, type a code, decide or share a tab. Waits 45 s; gives the answer or a request_id. The
        page is theirs meanwhile. If several agents meet the same login, the first call asks, and the same call from
        the others joins it. The kind "tab" asks for a tab that the person has open in a browser of their own: the
        reply's page is that tab.

        kind: What for. Default: other.
        message: What to do.
        origin: Site that it is about; refused if the page is elsewhere. People see the page's own.
        choices: To choose from.
        request_id: Wait on an earlier request instead of asking anew.
        withdraw: With request_id: nobody is needed any more. Default: False.
        """
        return self._call("request_human", Answered, locals())

    def take_over(self, *, stop: bool | None = None, **common: Unpack[OfPage]) -> Done:
        """For people alone: take a page in hand, above its agent's lease. Until you give it back, what agents want to
        do there is refused with HUMAN_IN_CONTROL; its agent goes on first afterwards.

        stop: Also cancel the act that runs there now. Default: False.
        """
        return self._call("take_over", Done, locals())

    def give_back(self, **common: Unpack[OfPage]) -> Done:
        """For people alone: give a page that you took over back to its agent."""
        return self._call("give_back", Done, locals())

    def get_storage(
        self, *, kind: Literal["local", "session"] | None = None, keys: Sequence[str] | None = None,
        **common: Unpack[OfPage],
    ) -> Stored:
        """Get local or session storage of the page's origin.

        kind: local: shared by all pages of the origin. session: of this page, until it closes. Default: local.
        keys: Only these; null where there is none.
        """
        return self._call("get_storage", Stored, locals())

    def set_storage(
        self, items: Mapping[str, Any], *, affect_others: bool | None = None,
        kind: Literal["local", "session"] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Set items of local or session storage of the page's origin; others stay.

        affect_others: Do it even if it affects pages that others hold. Default: False.
        kind: local: shared by all pages of the origin. session: of this page, until it closes. Default: local.
        items: Key -> value; values that are no text are stored as JSON.
        """
        return self._call("set_storage", Done, locals())

    def remove_storage(
        self, keys: Sequence[str], *, affect_others: bool | None = None,
        kind: Literal["local", "session"] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Remove items from local or session storage of the page's origin.

        affect_others: Do it even if it affects pages that others hold. Default: False.
        kind: local: shared by all pages of the origin. session: of this page, until it closes. Default: local.
        keys: Keys to remove.
        """
        return self._call("remove_storage", Done, locals())

    def clear_storage(
        self, *, affect_others: bool | None = None, kind: Literal["local", "session"] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Remove all of local or session storage of the page's origin. This may sign you out. What local storage had is
        kept for a day, and the reply has the call that puts it back.

        affect_others: Do it even if it affects pages that others hold. Default: False.
        kind: local: shared by all pages of the origin. session: of this page, until it closes. Default: local.
        """
        return self._call("clear_storage", Done, locals())

    def get_page_state(self, *, max_age: int | None = None, **common: Unpack[OfPage]) -> State:
        """Get the state of a page: URL, title, how far it has loaded, its frames, and its description.

        max_age: Milliseconds that the answer may be old, at the page's same revision. Default: 0.
        """
        return self._call("get_page_state", State, locals())

    def get_element(self, selector: str, *, max_age: int | None = None, **common: Unpack[OfPage]) -> Element:
        """Get what is known of an element: whether it is there, visible and enabled, its box, attributes, text and
        HTML.

        selector: Ref (e12), CSS or role=...
        max_age: Milliseconds that the answer may be old, at the page's same revision. Default: 0.
        """
        return self._call("get_element", Element, locals())

    def get_screenshot(
        self, *, screenshot_id: str | None = None, max_age: int | None = None, **common: Unpack[OfPage],
    ) -> Picture:
        """Get a screenshot that you took, by its artifact_id, or the current one.

        screenshot_id: artifact_id, or `current`. Default: current.
        max_age: Milliseconds that the answer may be old, at the page's same revision. Default: 0.
        """
        return self._call("get_screenshot", Picture, locals())


class BrowserActions(Calling):
    """The actions on sessions, and in the service."""

    def list_downloads(self, *, wait: int | None = None) -> Downloads:
        """List what your pages downloaded, newest first: name, URL, size, state, and where the file is or why it did
        not come.

        wait: Milliseconds to wait for one to end. Default: 0.
        """
        return self._call("list_downloads", Downloads, locals())

    def add_session_init_script(
        self, script: str, *, session_id: str | None = None, affect_others: bool | None = None,
    ) -> Done:
        """Run JavaScript in each document of a session, before its own scripts. For a session of your own, also in
        frames, popups and later pages. For one page: add_init_script.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        script: JavaScript, such as `Math.random = () => 0.5`.
        """
        return self._call("add_session_init_script", Done, locals())

    def remove_session_init_scripts(
        self, *, session_id: str | None = None, affect_others: bool | None = None,
        script_ids: Sequence[str] | None = None,
    ) -> Done:
        """Remove init scripts of a session: some, or all. Their effects stay until the next document.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        script_ids: Only these of list_routes.
        """
        return self._call("remove_session_init_scripts", Done, locals())

    def start_tracing(
        self, *, session_id: str | None = None, affect_others: bool | None = None, screenshots: bool | None = None,
        snapshots: bool | None = None, title: str | None = None, max_seconds: int | None = None,
    ) -> Done:
        """Record a trace of all pages of a session: steps, pictures, documents, requests. Refused while a page is
        private to another client.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        screenshots: With pictures. Default: True.
        snapshots: With documents and requests. Default: True.
        title: Its name in the viewer.
        max_seconds: It ends by itself after this. Default: 300.
        """
        return self._call("start_tracing", Done, locals())

    def stop_tracing(self, *, session_id: str | None = None) -> File:
        """End the trace that you began, and get it as a file for Playwright's trace viewer.

        session_id: The session; leave out for the shared login. Default: default.
        """
        return self._call("stop_tracing", File, locals())

    def set_session_headers(
        self, headers: Mapping[str, str], *, session_id: str | None = None, affect_others: bool | None = None,
    ) -> Done:
        """Send extra headers with every request of a session; {} removes them. Also for later pages; replaces earlier
        ones. For one page: set_extra_headers.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        headers: Names and values.
        """
        return self._call("set_session_headers", Done, locals())

    def list_pages(self, *, session_id: str | None = None, all: bool | None = None) -> Pages:
        """List the open pages: yours, people's, other agents'. A long list is shortened to counts; private pages of
        others are only counted.

        session_id: Only pages of this session.
        all: List every page; don't shorten to a count. Default: False.
        """
        return self._call("list_pages", Pages, locals())

    def open_page(
        self, *, page_id: str | None = None, session_id: str | None = None, timeout: int | None = None,
        if_revision: int | None = None, expect_url: str | None = None,
        reply: Literal["none", "effects", "delta", "full"] | None = None, as_: str | None = None,
        auth: HttpAuth | None = None, url: str | None = None,
        wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        referer: str | None = None,
    ) -> Done:
        """Open a page of your own, with the shared login. It goes to a URL if one is given. Without page_id a free name
        is made and returned.

        page_id: Page; your only one without.
        session_id: The session (cookies and logins) that the page belongs to.
        timeout: Milliseconds the navigation may take. Default: 30000.
        if_revision: Refuse (STALE_REVISION) unless the page is still at this revision.
        expect_url: Refuse (STALE_REVISION) unless the page's URL matches this glob (`*` is any text).
        reply: What an act returns: nothing, what followed from it (navigation, requests, windows), also what it
            changed, or also a snapshot. Default: delta.
        as_: Which of several agents behind one client this is: a label for siblings and people, no authority.
        auth: Login for HTTP authentication: sent only to the URL's origin, and kept for the session.
        url: Absolute URL.
        wait_until: The event that counts as loaded. Default: load.
        referer: Referer header value.
        """
        return self._call("open_page", Done, locals())

    def tell_person(self, message: str) -> Done:
        """Write your person a line, as an answer to theirs. It waits for nothing; request_human asks them something.
        They read it at the live wall: at most 10 lines a minute.

        message: What to tell them.
        """
        return self._call("tell_person", Done, locals())

    def tell_agent(
        self, *, to: str | None = None, message: str | None = None, page_id: str | None = None,
        about: str | None = None,
    ) -> Done:
        """For people alone: write a line to an agent, or to all. It stands in their next reply; a call that waits
        replies at once.

        to: Its name, or a page_id of one of its; without, all agents.
        message: What to tell them.
        page_id: The page that it is about.
        about: The element on it that is meant, with its ref.
        """
        return self._call("tell_agent", Done, locals())

    def halt_agent(self, how: Literal["pause", "stop", "go_on"], *, to: str | None = None) -> Done:
        """For people alone: pause an agent, so that its calls wait for at most 10 minutes; stop it, so that what runs
        is cancelled and what comes is refused; or let it go on. Without `to`, all agents, and those who come.

        to: Its name, or a page_id of one of its; without, all agents.
        how: What to do.
        """
        return self._call("halt_agent", Done, locals())

    def create_session(
        self, *, session_id: str | None = None, user_id: str | None = None, name: str | None = None,
        persistent: bool | None = None, guarded: bool | None = None, ttl: int | None = None,
        browser_type: Literal["chromium", "firefox", "webkit"] | None = None, viewport: Viewport | None = None,
        user_agent: str | None = None, locale: str | None = None, timezone: str | None = None,
        permissions: Sequence[Literal["geolocation", "notifications", "camera", "microphone", "clipboard-read", "clipboard-write"]] | None = None,
        proxy: SessionProxy | None = None, own_browser: bool | None = None, headless: bool | None = None,
        from_: str | None = None, sites: Sequence[str] | None = None,
    ) -> Session:
        """Create a session of your own, which only you can use until you share it: signed in nowhere, or `from`
        another. With `from` it begins with a copy of that session's cookies, and of the storage of `sites`. A site
        that rotates its tokens may then sign the other session out.

        session_id: Its id; by default a free one.
        user_id: Whom it is for; list_sessions filters by it.
        name: A name for people.
        persistent: Keep it, with its logins, when the service ends. Default: False.
        guarded: What you read at one site goes to no other until a person allows it. Default: False.
        ttl: Lifetime in milliseconds. Default: 86400000.
        browser_type: Engine. Default: chromium.
        viewport: Size of its pages. Default: {'width': 1920, 'height': 1080}.
        user_agent: User agent of its pages.
        locale: Such as de-DE. Default: en-US.
        timezone: Such as Europe/Rome; by default the machine's.
        permissions: What its pages are granted.
        proxy: Proxy of its pages.
        own_browser: A browser of its own: nothing there touches the shared one. Default: False.
        headless: true: without windows.
        from_: Session whose cookies it begins with; default is the shared login.
        sites: With from: origins whose storage is copied too.
        """
        return self._call("create_session", Session, locals())

    def get_session(self, *, session_id: str | None = None) -> Session:
        """Get what a session is: owner, options, when it was made and last used, its pages, calls and errors.

        session_id: The session; leave out for the shared login. Default: default.
        """
        return self._call("get_session", Session, locals())

    def list_sessions(self, *, user_id: str | None = None, persistent: bool | None = None) -> Result:
        """List the sessions: whose each is, whether you may use it, and how many pages it has.

        user_id: Only those that were created for this user.
        persistent: Only persistent ones, or only the others.
        """
        return self._call("list_sessions", Result, locals())

    def extend_session(self, session_id: str, *, ttl: int | None = None) -> Done:
        """Let a session of yours last longer: so many milliseconds from now.

        session_id: The session.
        ttl: Milliseconds from now. Default: 86400000.
        """
        return self._call("extend_session", Done, locals())

    def share_session(self, session_id: str, *, access: Literal["private", "act"] | None = None) -> Done:
        """Say whether others may use a session of yours (act) or not (private).

        session_id: The session.
        access: What others may do in it. Default: act.
        """
        return self._call("share_session", Done, locals())

    def close_session(self, session_id: str) -> Done:
        """Close a session of yours with all of its pages. Its logins are kept for a day: the reply has the call that
        opens it again with them. What save_session_state saved of it is gone.

        session_id: The session.
        """
        return self._call("close_session", Done, locals())

    def grant_permissions(
        self,
        permissions: Sequence[Literal["geolocation", "notifications", "camera", "microphone", "clipboard-read", "clipboard-write"]],
        origin: str, *, session_id: str | None = None, affect_others: bool | None = None,
    ) -> Done:
        """Grant a site (one origin) permissions in all pages of the session; [] takes them back. Replaces earlier
        grants. All pages share one clipboard.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        permissions: Which; [] for none.
        origin: Such as https://example.com.
        """
        return self._call("grant_permissions", Done, locals())

    def get_cookies(
        self, *, session_id: str | None = None, urls: Sequence[str] | None = None, domain: str | None = None,
        name: str | None = None, path: str | None = None,
    ) -> Cookies:
        """Get the cookies of a session. Of all sites or some. Values of the shared login are shown only if the token
        allows it.

        session_id: The session; leave out for the shared login. Default: default.
        urls: Only cookies that would be sent to these URLs.
        domain: Only of this domain and those below it.
        name: Only with this name.
        path: Only with this path.
        """
        return self._call("get_cookies", Cookies, locals())

    def set_cookies(
        self, cookies: Sequence[Cookie], *, session_id: str | None = None, affect_others: bool | None = None,
    ) -> Done:
        """Set cookies in a session, each for a url or a domain. Refused while others hold pages that would send them,
        unless affect_others.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        cookies: Each for a url, or for a domain.
        """
        return self._call("set_cookies", Done, locals())

    def clear_cookies(
        self, *, session_id: str | None = None, affect_others: bool | None = None, domain: str | None = None,
        name: str | None = None, path: str | None = None,
    ) -> Done:
        """Delete cookies of a session: all, or those of a domain, name or path. Whoever works there may be logged out.
        Without a name or path this also removes logins by HTTP that `goto` was given there. What was there is kept
        for a day, and the reply has the call that puts it back.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        domain: Only of this domain and those below it.
        name: Only with this name.
        path: Only with this path.
        """
        return self._call("clear_cookies", Done, locals())

    def save_session_state(self, *, session_id: str | None = None, name: str | None = None) -> Done:
        """Save the logins of a session (cookies, local storage, IndexedDB) under a name, encrypted, to restore later.

        session_id: The session; leave out for the shared login. Default: default.
        name: Name to save it under. Default: saved.
        """
        return self._call("save_session_state", Done, locals())

    def restore_session_state(
        self, *, session_id: str | None = None, affect_others: bool | None = None, name: str | None = None,
    ) -> Done:
        """Put the logins of a session back as they were saved. What changed since is lost. Also those that an act of
        the last day ended, by the name in its reply. A session that you closed opens again.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        name: Its name. Default: saved.
        """
        return self._call("restore_session_state", Done, locals())

    def export_session(self, *, session_id: str | None = None) -> File:
        """Write the logins of a session to a file that import_login takes. In Playwright's format. Whoever has the file
        is signed in. So the shared login is exported only if the token allows it, and never while a page is private
        to another client.

        session_id: The session; leave out for the shared login. Default: default.
        """
        return self._call("export_session", File, locals())

    def login(
        self, *, session_id: str | None = None, affect_others: bool | None = None, url: str | None = None,
    ) -> Done:
        """Have a person at the service's machine sign in, in an ordinary window, where a site refuses automated
        browsers. Tell them first. The window opens with the shared login, and you wait until they close it.
        Meanwhile no page can be used (HUMAN_IN_CONTROL); afterwards each is back under its page_id, with the new
        login.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        url: Where the window opens, such as the login page.
        """
        return self._call("login", Done, locals())

    def import_login(
        self, content: str, *, session_id: str | None = None, affect_others: bool | None = None,
        site: str | None = None,
    ) -> Done:
        """Bring a login into a session from a Playwright storage state (JSON) or a cookies.txt. Cookies and storage of
        another browser. Says what could not be brought and why; values are never shown.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        content: What the file has in it.
        site: Only this host and its subdomains, such as example.com.
        """
        return self._call("import_login", Done, locals())

    def list_logins(self, *, session_id: str | None = None, urls: Sequence[str] | None = None) -> Result:
        """List the sites where a session seems to be signed in, by its cookies: last used when, until when, by whom. A
        cookie counts if its value is too long to be guessed, and scripts cannot read it or its name says that it is
        a login. `bound` logins work in this browser alone, whoever has their cookies. Values are never shown.

        session_id: The session; leave out for the shared login. Default: default.
        urls: Only by cookies that would be sent to these URLs.
        """
        return self._call("list_logins", Result, locals())

    def get_call(self, call_id: str, *, wait: int | None = None) -> Result:
        """Get the outcome of an earlier call by its call_id; waits for a call that still runs.

        call_id: The call_id that a reply named.
        wait: Milliseconds to wait for it to end. Default: 30000.
        """
        return self._call("get_call", Result, locals())

    def cancel_call(self, call_id: str) -> Done:
        """Stop one of your calls. One that still waited did not happen; one that ran may have happened in part.

        call_id: The call_id that a reply named.
        """
        return self._call("cancel_call", Done, locals())

    def get_activity(
        self, *, page_id: str | None = None, client: str | None = None, session_id: str | None = None,
        action_name: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None,
        budget: int | None = None, format: Literal["text", "records"] | None = None, cursor: str | None = None,
    ) -> Result:
        """Get who did what in this browser, newest first. When, which client, the action and its page, what it sent,
        where it led, how it ended. Reads are not recorded, and of typed text and scripts only the length.

        page_id: Only what was done on this page.
        client: Only this client: its label, or `me`.
        session_id: Only what was done in this session.
        action_name: Only this action, such as click.
        since: Not before: how long ago (10m, 2h, 1d) or an ISO time.
        until: Not after: likewise.
        limit: Records at most; older ones by cursor. Default: 30.
        budget: Characters at most; older ones by cursor. Default: 8000.
        format: A line each, or objects for programs. Default: text.
        cursor: From an earlier reply.
        """
        return self._call("get_activity", Result, locals())

    def save_flow(
        self, name: str, *, description: str | None = None, since: str | None = None, until: str | None = None,
        calls: Sequence[str] | None = None, page_id: str | None = None,
        values: Mapping[str, str | bool | int | float | Sequence[str] | SecretRef] | None = None,
        replace: bool | None = None,
    ) -> Done:
        """Save what you did as a flow, which runs again without a model. From the record of your calls: failed tries,
        looks and dead ends are left out, what you typed becomes parameters, what you extracted an output, and what
        each step caused is checked at each run.

        name: Lower case, such as send-invoice.
        description: What it is for.
        since: From when on: how long ago (10m, 2h) or an ISO time. Default: 30m.
        until: Up to when: likewise.
        calls: Only these call_ids.
        page_id: Only what was done on this page.
        values: Defaults of parameters, by name; see the reply of a first save.
        replace: Overwrite your flow of this name. Default: False.
        """
        return self._call("save_flow", Done, locals())

    def run_flow(
        self, name: str, *, values: Mapping[str, str | bool | int | float | Sequence[str] | SecretRef] | None = None,
        page_id: str | None = None, heal: bool | None = None, dry_run: bool | None = None,
    ) -> Done:
        """Run a saved flow. It stops at the step where the page differs, and says what is nearest. Without page_id on a
        page of its own, which stays open. `list_flows` names the values that it needs.

        name: Lower case, such as send-invoice.
        values: By parameter: text, number, true or false, {"secret": NAME}.
        page_id: A page of yours to do it on.
        heal: If an element is not found, take the only one of its role and name, or one in its place that was renamed.
            Default: False.
        dry_run: Only check that it could begin, and list its steps. Default: False.
        """
        return self._call("run_flow", Done, locals())

    def mend_flow(self, name: str, *, step: int | None = None, selector: str | None = None) -> Done:
        """Go on with your flow that stopped at a step, with another element for that step. The element is kept in the
        flow, if it is yours and the step succeeds.

        name: Lower case, such as send-invoice.
        step: Where to go on; by default where it stopped.
        selector: The step's element now: ref, CSS or role=...
        """
        return self._call("mend_flow", Done, locals())

    def list_flows(self, *, name: str | None = None) -> Result:
        """List the saved flows and the values that they need; with a name, that flow's file.

        name: Show this one's file.
        """
        return self._call("list_flows", Result, locals())


class AsyncPageActions(AsyncCalling):
    """The actions on one page. Each also takes the arguments of `OfPage`, such as `timeout` (ms)."""

    async def goto(
        self, url: str, *, auth: HttpAuth | None = None,
        wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        referer: str | None = None, new_session: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Go to a URL; the reply outlines the page. Without page_id each call opens a new page. A new page_id opens a
        page of that name, in the shared login. A page that has not loaded after 8 s counts as loaded once it can be
        used.

        auth: Login for HTTP authentication: sent only to the URL's origin, and kept for the session.
        url: Absolute URL.
        wait_until: The event that counts as loaded. Default: load.
        referer: Referer header value.
        new_session: Without page_id and session_id: in a session of its own, with no login. Default: False.
        """
        return await self._call("goto", Done, locals())

    async def go_back(
        self, *, wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Go back one entry in the page's history.

        wait_until: The event that counts as loaded. Default: load.
        """
        return await self._call("go_back", Done, locals())

    async def go_forward(
        self, *, wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Go forward one entry in the page's history.

        wait_until: The event that counts as loaded. Default: load.
        """
        return await self._call("go_forward", Done, locals())

    async def reload_page(
        self, *, ignore_cache: bool | None = None,
        wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Reload the page. Also brings back a page that no longer responds.

        ignore_cache: Fetch everything anew from the servers. Default: False.
        wait_until: The event that counts as loaded. Default: load.
        """
        return await self._call("reload_page", Done, locals())

    async def get_current_url(self, **common: Unpack[OfPage]) -> State:
        """Get the URL that the page is at."""
        return await self._call("get_current_url", State, locals())

    async def get_page_title(self, **common: Unpack[OfPage]) -> State:
        """Get the title of the page's document."""
        return await self._call("get_page_title", State, locals())

    async def click(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, position: Position | None = None,
        force: bool | None = None, no_wait_after: bool | None = None, trial: bool | None = None,
        scroll: Literal["auto", "none"] | None = None, button: Literal["left", "right", "middle"] | None = None,
        click_count: int | None = None, delay: float | None = None,
        modifiers: Sequence[Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]] | None = None,
        steps: int | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Click an element. Double: params {"clickCount": 2}. The reply tells of a navigation, requests sent, a popup,
        what changed, or that there was nothing.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        position: Where in the element, px from its top left corner.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        trial: Check that it could be done, and do nothing. Default: False.
        scroll: `none` leaves the scroll position as it is. Default: auto.
        button: Mouse button. Default: left.
        click_count: 2 is a double click. Default: 1.
        delay: Ms between mouse down and up.
        modifiers: Keys held down meanwhile.
        steps: Mouse moves on the way to the element.
        """
        return await self._call("click", Done, locals())

    async def fill(
        self, selector: str, value: str | SecretRef, *, frame: str | None = None, strict: bool | None = None,
        force: bool | None = None, no_wait_after: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Set the value of a field, replacing what it has. Of an input, a textarea or an editable element, at once. The
        reply has the value that the page shows afterwards, unless it is the given one.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        value: Text, or {"secret": NAME}.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        """
        return await self._call("fill", Done, locals())

    async def type(
        self, text: str | SecretRef, *, selector: str | None = None, frame: str | None = None,
        strict: bool | None = None, delay: float | None = None, no_wait_after: bool | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Type text key by key where the focus is. Prefer `fill`. It is for pages that listen for keys. It comes after
        what is there: in a paragraph of an editor at its end, and without a selector where the caret is.

        text: Text, or {"secret": NAME}.
        selector: Focused first.
        frame: Selector of its iframe.
        strict: false takes the first of several. Default: True.
        delay: Ms between keys. Default: 0.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        """
        return await self._call("type", Done, locals())

    async def press(
        self, key: str, *, selector: str | None = None, frame: str | None = None, strict: bool | None = None,
        delay: float | None = None, no_wait_after: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Press a key where the focus is. Control+v pastes what you copied by Control+c or Control+x in this session:
        the browser's own clipboard has what others copy too, and is not pasted.

        key: Such as Enter or Control+a.
        selector: Focused first.
        frame: Selector of its iframe.
        strict: false takes the first of several. Default: True.
        delay: Ms between key down and up.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        """
        return await self._call("press", Done, locals())

    async def hover(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, position: Position | None = None,
        force: bool | None = None, no_wait_after: bool | None = None, trial: bool | None = None,
        scroll: Literal["auto", "none"] | None = None,
        modifiers: Sequence[Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Move the mouse over an element.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        position: Where in the element, px from its top left corner.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        trial: Check that it could be done, and do nothing. Default: False.
        scroll: `none` leaves the scroll position as it is. Default: auto.
        modifiers: Keys held down meanwhile.
        """
        return await self._call("hover", Done, locals())

    async def select_option(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None,
        value: str | Sequence[str] | None = None, label: str | Sequence[str] | None = None,
        index: int | Sequence[int] | None = None, force: bool | None = None, no_wait_after: bool | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Choose options of a select element; [] chooses none. By value, label or index. The reply has the values
        selected afterwards.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        value: Values, or visible labels.
        label: Visible labels.
        index: Positions, from 0.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        """
        return await self._call("select_option", Done, locals())

    async def check(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, position: Position | None = None,
        force: bool | None = None, no_wait_after: bool | None = None, trial: bool | None = None,
        scroll: Literal["auto", "none"] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Tick a checkbox or radio button; one that is ticked already stays so.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        position: Where in the element, px from its top left corner.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        trial: Check that it could be done, and do nothing. Default: False.
        scroll: `none` leaves the scroll position as it is. Default: auto.
        """
        return await self._call("check", Done, locals())

    async def uncheck(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, position: Position | None = None,
        force: bool | None = None, no_wait_after: bool | None = None, trial: bool | None = None,
        scroll: Literal["auto", "none"] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Untick a checkbox; one that is not ticked stays so.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        position: Where in the element, px from its top left corner.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        trial: Check that it could be done, and do nothing. Default: False.
        scroll: `none` leaves the scroll position as it is. Default: auto.
        """
        return await self._call("uncheck", Done, locals())

    async def drag_and_drop(
        self, source: str, target: str, *, frame: str | None = None, strict: bool | None = None,
        source_position: Position | None = None, target_position: Position | None = None, force: bool | None = None,
        no_wait_after: bool | None = None, trial: bool | None = None, steps: int | None = None,
        scroll: Literal["auto", "none"] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Drag an element onto another one. The reply says what the page made of it: an HTML drag and where it was
        dropped, or where the element is now.

        source: Element to drag: ref, CSS, text=, role=.
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        target: Element to drop it on.
        source_position: Where in the element, px from its top left corner.
        target_position: Where in the element, px from its top left corner.
        force: Skip the checks that the element can be acted on. Default: False.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        trial: Check that it could be done, and do nothing. Default: False.
        steps: Mouse moves on the way. Default: 5.
        scroll: `none` leaves the scroll position as it is. Default: auto.
        """
        return await self._call("drag_and_drop", Done, locals())

    async def mouse(
        self, do: Literal["move", "click", "down", "up", "drag", "wheel"], x: float, y: float, *,
        to: Point | None = None, by: Point | None = None, button: Literal["left", "right", "middle"] | None = None,
        click_count: int | None = None, delay: float | None = None, steps: int | None = None,
        modifiers: Sequence[Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Use the mouse at a point of the window, where no selector helps. Points are in CSS px of the viewport. It is
        for places such as on a canvas; the reply names the element there.

        do: What to do there.
        x: Px from the left.
        y: Px from the top.
        to: drag: let go at this {x, y}.
        by: wheel: by this {x, y}.
        button: Mouse button. Default: left.
        click_count: 2 is a double click. Default: 1.
        delay: click: ms between down and up.
        steps: move, drag: mouse moves on the way. Default: 5.
        modifiers: Keys held down meanwhile.
        """
        return await self._call("mouse", Done, locals())

    async def scroll(
        self, selector: str | None = None, *, frame: str | None = None, strict: bool | None = None,
        to: Literal["top", "bottom", "view"] | None = None, x: float | None = None, y: float | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Scroll the page or an element: one screen down, by px or to an end; or an element into view. The reply says
        where it is then, and how much more there is.

        selector: Element to show, or to scroll in.
        frame: Selector of its iframe.
        strict: false takes the first of several. Default: True.
        to: Where to first.
        x: Px to the right; negative is left.
        y: Px down; negative is up.
        """
        return await self._call("scroll", Done, locals())

    async def focus(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Give an element the keyboard's focus, without clicking it.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        """
        return await self._call("focus", Done, locals())

    async def blur(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Take the focus from an element, as leaving a field does. The page then runs its checks or saves.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        """
        return await self._call("blur", Done, locals())

    async def paste(
        self, text: str, *, html: str | None = None, selector: str | None = None, frame: str | None = None,
        strict: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Paste text into an element, or where the focus is. Also as HTML. No clipboard is read or changed. The reply
        tells what the page made of it.

        text: What to paste.
        html: The same as HTML, for editors that take it.
        selector: Element to focus first.
        frame: Selector of its iframe.
        strict: false takes the first of several. Default: True.
        """
        return await self._call("paste", Done, locals())

    async def upload_file(
        self, selector: str, files: Sequence[str | PathLike[str] | GivenFile], *, frame: str | None = None,
        strict: bool | None = None, no_wait_after: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Choose files in a file input, or in the chooser that a click on the element opens. Base64 goes in "data", and
        [] chooses none. The reply tells what the input holds afterwards.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        files: Each {"path"}, {"artifactId"} or {"name", "text"}.
        no_wait_after: Do not wait for a navigation that the act starts. Default: False.
        """
        return await self._call("upload_file", Done, locals())

    async def drop(
        self, selector: str, *, frame: str | None = None, strict: bool | None = None,
        files: Sequence[str | PathLike[str] | GivenFile] | None = None, data: Mapping[str, str] | None = None,
        position: Position | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Drop files or data onto an element, as if dragged from outside of the browser.

        selector: Ref (e12), CSS or role=...
        frame: Selector of its iframe; refs need none.
        strict: false takes the first of several. Default: True.
        files: As upload_file takes them, 2 MB at most.
        data: By MIME type: {"text/plain": "..."}.
        position: Where in the element, px from its top left corner.
        """
        return await self._call("drop", Done, locals())

    async def batch(self, steps: Sequence[Mapping[str, Any]], **common: Unpack[OfPage]) -> Done:
        """Do several actions in one call; it stops at the first that fails. On one page, in one turn. Cheaper than
        single calls if you need not look in between. A failure tells what was done before it.

        steps: Each {"action": "click", "selector": "#buy"}: any tool but batch and request_human.
        """
        return await self._call("batch", Done, locals())

    async def fill_form(
        self, fields: Sequence[FormField], *, submit: str | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Fill many fields at once: also checkboxes, selects, sliders and tags. The kind of each field is detected. The
        reply names fields that hold something else than you gave.

        fields: Value: text, {"secret": NAME}, true or false, or a list.
        submit: Button to click then.
        frame: Selector of the iframe to look in.
        """
        return await self._call("fill_form", Done, locals())

    async def refill(self, **common: Unpack[OfPage]) -> Done:
        """Refill what you had filled in but not sent when the page was lost. As the notice offers. Secrets are not
        kept; the reply names them, so that you can give them again."""
        return await self._call("refill", Done, locals())

    async def wait_for_selector(
        self, selector: str, *, state: Literal["attached", "detached", "visible", "hidden"] | None = None,
        frame: str | None = None, strict: bool | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Wait until an element is there, or gone. `state` chooses: visible, hidden, attached or detached.

        selector: Ref (e12), CSS or role=...
        state: What to wait for. Default: visible.
        frame: Selector of its iframe.
        strict: Refuse when several match. Default: False.
        """
        return await self._call("wait_for_selector", Result, locals())

    async def wait_for_navigation(
        self, *, url: str | None = None,
        wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        **common: Unpack[OfPage],
    ) -> Result:
        """Wait for the page's next navigation to load. One that began after your own last act on the page counts too.

        url: Only to a URL that matches.
        wait_until: The event that counts as loaded. Default: load.
        """
        return await self._call("wait_for_navigation", Result, locals())

    async def wait_for_url(
        self, url: str, *, wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        **common: Unpack[OfPage],
    ) -> Result:
        """Wait until the page is at a URL that matches, and has loaded.

        url: Glob (`*` is any text), /path, or /regex/flags.
        wait_until: The event that counts as loaded. Default: load.
        """
        return await self._call("wait_for_url", Result, locals())

    async def wait_for_load(
        self, *, state: Literal["load", "domcontentloaded", "networkidle"] | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Wait until the page's document has loaded.

        state: networkidle: no requests for 500 ms. Default: load.
        """
        return await self._call("wait_for_load", Result, locals())

    async def wait(self, duration: int, **common: Unpack[OfPage]) -> Result:
        """Wait for a duration. Prefer wait_for_selector, which goes on as soon as it can.

        duration: Milliseconds.
        """
        return await self._call("wait", Result, locals())

    async def expect(
        self, selector: str | None = None, *, url: str | None = None, request: str | None = None,
        to: Literal["visible", "hidden", "attached", "detached", "enabled", "disabled", "checked", "unchecked", "text", "value", "count"] | None = None,
        value: str | int | None = None, status: str | None = None, frame: str | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Check an element, the page's URL or a request, as soon as it is so; if it never is, the error has what is
        there. A request counts from your own last act on the page. Of several elements, the first visible one is
        checked.

        selector: Ref (e12), CSS or role=...
        url: The page is at a URL that matches.
        request: The page has sent one, such as `POST /api/orders`: method, if any, and URL glob.
        to: What the element must be or have; text: anywhere in it. Default: visible.
        value: The text, the field's value or the count.
        status: The request's answer: 201, 2xx.
        frame: Selector of its iframe.
        """
        return await self._call("expect", Result, locals())

    async def content(
        self, selector: str | None = None, *, query: str | None = None, section: str | None = None,
        format: Literal["html", "markdown", "text"] | None = None, frame: str | None = None, unseen: bool | None = None,
        include_shadow: bool | None = None, budget: int | None = None, cursor: str | None = None,
        **common: Unpack[OfPage],
    ) -> Content:
        """Read the page, best as markdown; a long one by `query` or `section`. `query` returns the passages about it.
        Without arguments, a short page comes as raw HTML; a long one as its headings with handles, its beginning,
        and a cursor. To find something to act on, `find` and `snapshot` are shorter.

        query: Question or words.
        section: Handle or heading.
        format: Raw HTML without it.
        selector: Only this element.
        frame: Selector of the iframe to read.
        unseen: Only the text that nobody sees, which is otherwise left out. Default: False.
        include_shadow: With html: open shadow roots too, as templates. Default: False.
        budget: Most characters to return; the rest by cursor.
        cursor: From an earlier reply.
        """
        return await self._call("content", Content, locals())

    async def snapshot(
        self, selector: str | None = None, *, frame: str | None = None, depth: int | None = None,
        interactive_only: bool | None = None, boxes: bool | None = None, since: bool | None = None,
        filename: str | None = None, budget: int | None = None, cursor: str | None = None, **common: Unpack[OfPage],
    ) -> Snapshot:
        """Get the accessibility tree, with refs (e12). `find` is shorter. Elements that can be acted on, and their
        containers, have refs. Every selector argument takes a ref until the document changes.

        selector: Only this element.
        frame: Selector of the iframe that `selector` is looked up in.
        depth: Levels of the tree to show.
        interactive_only: Only controls and headings. Default: False.
        boxes: Add each element's box: x, y, width, height in px. Default: False.
        since: Only what changed since your last snapshot of the page. Default: False.
        filename: Save it as this.
        budget: Most characters to return; the rest by cursor.
        cursor: From an earlier reply.
        """
        return await self._call("snapshot", Snapshot, locals())

    async def find(
        self, text: str | None = None, *, role: str | None = None, name: str | None = None, selector: str | None = None,
        frame: str | None = None, queries: Sequence[str | FindQuery] | None = None, **common: Unpack[OfPage],
    ) -> Found:
        """Find at most 12 elements, with refs. Each with its state, and its row's or section's heading. Each of
        `queries` is a text, or {text, role, name}.

        text: Part of its words.
        role: button, link, row, ...
        name: Part of the name.
        selector: All that match, or what is in them.
        frame: Selector of the iframe that `selector` is looked up in.
        queries: Several at once: texts.
        """
        return await self._call("find", Found, locals())

    async def extract_text(
        self, selector: str, *, all: bool | None = None, trim: bool | None = None,
        normalize_whitespace: bool | None = None, frame: str | None = None, **common: Unpack[OfPage],
    ) -> Text:
        """Get the text of elements, or the value of a field. As a person sees it; with trim and normalize_whitespace
        false, as it stands in the document (text_content).

        selector: Ref (e12), CSS or role=...
        all: Of all elements that match, as a list; else of the first. Default: False.
        trim: Without space at the ends. Default: True.
        normalize_whitespace: Runs of space and line ends as one space. Default: True.
        frame: Selector of its iframe.
        """
        return await self._call("extract_text", Text, locals())

    async def extract_html(
        self, selector: str, *, inner: bool | None = None, all: bool | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Text:
        """Get the HTML of elements. `content` has the whole page's.

        selector: Ref (e12), CSS or role=...
        inner: Without the element's own tag. Default: True.
        all: Of all elements that match, as a list; else of the first. Default: False.
        frame: Selector of its iframe.
        """
        return await self._call("extract_html", Text, locals())

    async def extract_attribute(
        self, selector: str, attribute: str, *, all: bool | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Values:
        """Get an attribute of elements; null where one has it not.

        selector: Ref (e12), CSS or role=...
        attribute: Its name, such as href; data-* gets all that begin so.
        all: Of all elements that match, as a list; else of the first. Default: False.
        frame: Selector of its iframe.
        """
        return await self._call("extract_attribute", Values, locals())

    async def extract_data(
        self, schema: Mapping[str, str | Mapping[str, Any]], *, selector: str | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Data:
        """Get data by a schema of selectors: {"title": "h1", "items": {"selector": ".item", "all": true, "fields":
        {...}}}. A field may have a type too: {"price": {"selector": ".price", "type": "number"}}. Says what it did
        not find.

        schema: Field -> a selector, or where it is.
        selector: Only within the first element that matches.
        frame: Selector of its iframe.
        """
        return await self._call("extract_data", Data, locals())

    async def extract_table(
        self, selector: str | None = None, *, all: bool | None = None, headers: Sequence[str] | None = None,
        frame: str | None = None, **common: Unpack[OfPage],
    ) -> Table:
        """Get tables as rows by their headers. Rows are objects by their column's header, cells that span repeated,
        hidden rows left out. Columns without a header are column1, column2.

        selector: A table, or what it is in. Default: table, [role=table], [role=grid].
        all: Of all elements that match, as a list; else of the first. Default: False.
        headers: Names for the columns, instead of its own.
        frame: Selector of its iframe.
        """
        return await self._call("extract_table", Table, locals())

    async def extract_links(
        self, selector: str | None = None, *, site: Literal["any", "same", "other"] | None = None,
        unique: bool | None = None, frame: str | None = None, **common: Unpack[OfPage],
    ) -> Links:
        """Get the links of a page or of a part: text and absolute URL.

        selector: Only within the first element that matches.
        site: Only to the page's own origin, or not. Default: any.
        unique: Each URL once. Default: False.
        frame: Selector of its iframe.
        """
        return await self._call("extract_links", Links, locals())

    async def extract_images(
        self, selector: str | None = None, *, backgrounds: bool | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Result:
        """Get the pictures of a page or of a part: URL, alt text, size in px, and whether each is loaded.

        selector: Only within the first element that matches.
        backgrounds: Those of CSS backgrounds too. Default: False.
        frame: Selector of its iframe.
        """
        return await self._call("extract_images", Result, locals())

    async def extract_metadata(self, *, frame: str | None = None, **common: Unpack[OfPage]) -> Result:
        """Get what a page says of itself: title, description, canonical URL, OpenGraph, JSON-LD. Its keywords,
        language, Twitter, alternates and icons too.

        frame: Selector of its iframe.
        """
        return await self._call("extract_metadata", Result, locals())

    async def extract_computed_style(
        self, selector: str, *, properties: Sequence[str] | None = None, pseudo: str | None = None,
        all: bool | None = None, frame: str | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Get the CSS of an element as the browser computed it.

        selector: Ref (e12), CSS or role=...
        properties: Such as color or --brand; ["*"] for all; the usual ones without.
        pseudo: Such as ::before.
        all: Of all elements that match, as a list; else of the first. Default: False.
        frame: Selector of its iframe.
        """
        return await self._call("extract_computed_style", Result, locals())

    async def find_elements(
        self, selector: str, *, limit: int | None = None, attributes: bool | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Elements:
        """Look at all that match a selector: how many, with ref, text, state and box. As they are now; the box is in px
        of the window. No match is an answer, not an error.

        selector: Ref (e12), CSS or role=...
        limit: Most elements to return. Default: 20.
        attributes: With their attributes. Default: False.
        frame: Selector of its iframe.
        """
        return await self._call("find_elements", Elements, locals())

    async def get_console_messages(
        self, text: str | None = None, *,
        types: Sequence[Literal["exception", "error", "warning", "info", "log", "debug", "other"]] | None = None,
        since: int | None = None, all: bool | None = None, limit: int | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Get what the page's scripts logged and threw, oldest first. Console messages and uncaught exceptions of the
        page's document: the last 200 of each.

        types: Only these; exception: thrown, with its stack.
        text: Only with this text in it.
        since: Only after this number: `last` of an earlier reply. Default: 0.
        all: Earlier documents too. Default: False.
        limit: Most messages; the latest. Default: 50.
        """
        return await self._call("get_console_messages", Result, locals())

    async def list_frames(self, **common: Unpack[OfPage]) -> Result:
        """List the iframes of a page: URL, name, and the selector that `frame` arguments take."""
        return await self._call("list_frames", Result, locals())

    async def evaluate_script(
        self, expression: str, *, arg: Any | None = None, selector: str | None = None, frame: str | None = None,
        **common: Unpack[OfPage],
    ) -> Value:
        """Run JavaScript in the page and get its JSON result; promises are awaited. An expression, or a function. With
        `selector`, the function gets the element as its first argument.

        expression: Expression or function.
        arg: JSON value given to the function.
        selector: Element for the function.
        frame: Selector of the iframe to run in.
        """
        return await self._call("evaluate_script", Value, locals())

    async def add_init_script(self, script: str, **common: Unpack[OfPage]) -> Done:
        """Run JavaScript in each later document of the page, before its own scripts. Also in its frames. With
        session_id and no page_id: in all pages of a session of your own.

        script: JavaScript, such as `Math.random = () => 0.5`.
        """
        return await self._call("add_init_script", Done, locals())

    async def remove_init_scripts(self, *, script_ids: Sequence[str] | None = None, **common: Unpack[OfPage]) -> Done:
        """Remove init scripts of the page: some, or all. Their effects stay until the next document.

        script_ids: Only these of list_routes.
        """
        return await self._call("remove_init_scripts", Done, locals())

    async def fetch(
        self, url: str, *, response_type: Literal["text", "json", "binary"] | None = None, method: str | None = None,
        headers: Mapping[str, str | SecretHeader] | None = None,
        body: str | Mapping[str, Any] | Sequence[Any] | None = None,
        mode: Literal["cors", "no-cors", "same-origin", "navigate"] | None = None,
        credentials: Literal["omit", "same-origin", "include"] | None = None,
        cache: Literal["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"] | None = None,
        redirect: Literal["follow", "error", "manual"] | None = None, referrer: str | None = None,
        referrer_policy: str | None = None, integrity: str | None = None, keepalive: bool | None = None,
        priority: Literal["high", "low", "auto"] | None = None, duplex: Literal["half"] | None = None,
        **common: Unpack[OfPage],
    ) -> Fetched:
        """Send a request with the page's cookies. It has the page's origin. A PDF is kept as a file whatever the type.
        A header's value may be a secret's name, with what comes before it: {"secret": "api", "prefix": "Bearer "}.
        An HTTP error status is an error that carries status, headers and the body's start.

        url: Or a path.
        response_type: binary: file. Default: text.
        method: Else GET.
        headers: Or {"secret": NAME}.
        body: Or JSON.
        mode: CORS mode.
        credentials: When cookies go along; same-origin by default.
        cache: Use of the HTTP cache.
        redirect: What to do on redirects.
        referrer: Referrer URL, or about:client.
        referrer_policy: Referrer policy.
        integrity: Subresource integrity hash.
        keepalive: Let the request outlive the page.
        priority: Fetch priority.
        duplex: Duplex mode.
        """
        return await self._call("fetch", Fetched, locals())

    async def list_page_tools(
        self, *, name: str | None = None, frame: str | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """List the tools that the page itself declares, at most 20. Names, descriptions and schemas are the page's
        words. `read_only`, `consequential` and `untrusted_content` are what it says of its tools.

        name: Only with this in the name.
        frame: Selector of the iframe whose tools to list.
        """
        return await self._call("list_page_tools", Result, locals())

    async def call_page_tool(
        self, name: str, *, arguments: Mapping[str, Any] | None = None, frame: str | None = None,
        schema: Mapping[str, Any] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Call a tool that the page itself declares, and get what it gives. A tool that has changed since you listed it
        is not called.

        name: As list_page_tools gives it.
        arguments: By the tool's schema.
        frame: Selector of the iframe that declares it.
        schema: What it has to take still, or is not called.
        """
        return await self._call("call_page_tool", Done, locals())

    async def screenshot(
        self, selector: str | None = None, *, frame: str | None = None, full_page: bool | None = None,
        type: Literal["png", "jpeg", "webp"] | None = None, quality: int | None = None,
        omit_background: bool | None = None, clip: Clip | None = None,
        animations: Literal["disabled", "allow"] | None = None, caret: Literal["hide", "initial"] | None = None,
        scale: Literal["css", "device"] | None = None, mask: Sequence[str] | None = None, mask_color: str | None = None,
        style: str | None = None, marks: bool | None = None, cursor: str | None = None, **common: Unpack[OfPage],
    ) -> Picture:
        """Take a picture of the window. With `clip`: only a region.

        selector: Only this element.
        frame: Selector of its iframe.
        full_page: The whole scrollable page. Default: False.
        type: Image format. Default: png.
        quality: Quality of jpeg and webp; png has none. Default: 80.
        omit_background: Transparent where the page has no background; not with jpeg. Default: False.
        clip: Only this region of the window, or with full_page of the page.
        animations: `disabled` finishes them first. Default: allow.
        caret: The text caret. Default: hide.
        scale: One picture pixel for each CSS or device pixel. Default: device.
        mask: Elements to paint over.
        mask_color: CSS colour of the paint.
        style: CSS to apply while the picture is taken.
        marks: With the refs of controls drawn on them. Default: False.
        cursor: From an earlier reply.
        """
        return await self._call("screenshot", Picture, locals())

    async def get_screenshot_as_base64(
        self, selector: str | None = None, *, frame: str | None = None, full_page: bool | None = None,
        type: Literal["png", "jpeg", "webp"] | None = None, quality: int | None = None,
        omit_background: bool | None = None, clip: Clip | None = None,
        animations: Literal["disabled", "allow"] | None = None, caret: Literal["hide", "initial"] | None = None,
        scale: Literal["css", "device"] | None = None, mask: Sequence[str] | None = None, mask_color: str | None = None,
        style: str | None = None, marks: bool | None = None, cursor: str | None = None, **common: Unpack[OfPage],
    ) -> Result:
        """Take a picture like `screenshot`, as base64 text (long). To look at a picture, use `screenshot`.

        selector: Only this element.
        frame: Selector of its iframe.
        full_page: The whole scrollable page. Default: False.
        type: Image format. Default: png.
        quality: Quality of jpeg and webp; png has none. Default: 80.
        omit_background: Transparent where the page has no background; not with jpeg. Default: False.
        clip: Only this region of the window, or with full_page of the page.
        animations: `disabled` finishes them first. Default: allow.
        caret: The text caret. Default: hide.
        scale: One picture pixel for each CSS or device pixel. Default: device.
        mask: Elements to paint over.
        mask_color: CSS colour of the paint.
        style: CSS to apply while the picture is taken.
        marks: With the refs of controls drawn on them. Default: False.
        cursor: From an earlier reply.
        """
        return await self._call("get_screenshot_as_base64", Result, locals())

    async def generate_pdf(
        self, *,
        format: Literal["Letter", "Legal", "Tabloid", "Ledger", "A0", "A1", "A2", "A3", "A4", "A5", "A6"] | None = None,
        landscape: bool | None = None, width: str | None = None, height: str | None = None,
        margin: Margin | None = None, scale: float | None = None, page_ranges: str | None = None,
        print_background: bool | None = None, display_header_footer: bool | None = None,
        header_template: str | None = None, footer_template: str | None = None,
        prefer_css_page_size: bool | None = None, outline: bool | None = None, tagged: bool | None = None,
        filename: str | None = None, **common: Unpack[OfPage],
    ) -> File:
        """Print the page to a PDF, with its print styles.

        format: Paper size; Letter by default.
        landscape: Landscape orientation. Default: False.
        width: Instead of a format: 10cm, 4in, 300px.
        height: Likewise.
        margin: None by default.
        scale: Scale of the print. Default: 1.
        page_ranges: Such as 1-3, 5.
        print_background: With background colours and pictures. Default: False.
        display_header_footer: Print the templates; they need a margin. Default: False.
        header_template: HTML; elements of class date, title, url, page_number, total_pages are filled in.
        footer_template: Likewise.
        prefer_css_page_size: The page's own @page size comes first. Default: False.
        outline: With the headings as bookmarks. Default: False.
        tagged: Accessible (tagged) PDF. Default: False.
        filename: Save it as this.
        """
        return await self._call("generate_pdf", File, locals())

    async def record_video(
        self, command: Literal["start", "stop"], *, max_seconds: int | None = None, fps: int | None = None,
        **common: Unpack[OfPage],
    ) -> File:
        """Record a video of the page. The page is not reopened. It records across navigation, until you stop it, after
        max_seconds, or when the page closes. The client that began it gets the file.

        command: stop answers with the file.
        max_seconds: It ends by itself after this. Default: 120.
        fps: Pictures a second at most. Default: 10.
        """
        return await self._call("record_video", File, locals())

    async def compare_screenshots(
        self, baseline: str, *, current: str | None = None, selector: str | None = None, full_page: bool | None = None,
        threshold: float | None = None, **common: Unpack[OfPage],
    ) -> File:
        """Compare a picture with another, or with the page now. Tells how many pixels differ and where, with a picture
        of the differences.

        baseline: artifact_id of a screenshot of yours.
        current: artifact_id of the other; by default the page is captured now.
        selector: When capturing now: only this element.
        full_page: When capturing now: the whole page. Default: False.
        threshold: How much two colours may differ and still count as equal. Default: 0.1.
        """
        return await self._call("compare_screenshots", File, locals())

    async def highlight(
        self, selector: str | None = None, *, frame: str | None = None, label: str | None = None,
        colour: str | None = None, seconds: float | None = None, strict: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Outline an element with a label, for people to see; without a selector, remove all outlines. Screenshots show
        them too.

        selector: The element; it is scrolled into view.
        frame: Selector of the iframe to look in.
        label: Words beside it.
        colour: CSS colour. Default: #d6006c.
        seconds: How long it stays; 0 is as long as the document. Default: 0.
        strict: Refuse when several elements match; false takes the first. Default: True.
        """
        return await self._call("highlight", Done, locals())

    async def mock_response(
        self, pattern: str, *, method: Literal["GET", "POST", "PUT", "DELETE", "PATCH"] | None = None,
        status: int | None = None, headers: Mapping[str, str] | None = None, body: str | None = None,
        content_type: str | None = None, delay: int | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Answer the page's requests that match, instead of the server. The latest match counts.

        pattern: Glob (* is any text, scheme optional) or /regex/flags.
        method: HTTP method; all without.
        status: HTTP status. Default: 200.
        headers: Response headers.
        body: Response body.
        content_type: Content-Type. Default: application/json.
        delay: Milliseconds before the answer. Default: 0.
        """
        return await self._call("mock_response", Done, locals())

    async def block_requests(
        self, *, patterns: Sequence[str] | None = None,
        resource_types: Sequence[Literal["image", "stylesheet", "font", "script", "xhr", "fetch", "document", "media", "eventsource", "manifest", "ping", "other", "websocket"]] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Block the page's requests by URL or type. Also those answered by caches and service workers; WebSockets by
        glob or type. Adds to earlier blocks.

        patterns: Globs (* is any text, scheme optional) or /regex/flags.
        resource_types: Types.
        """
        return await self._call("block_requests", Done, locals())

    async def list_routes(self, **common: Unpack[OfPage]) -> Result:
        """List the page's mocks and blocks, with how often each matched, the names of its extra headers, and its init
        scripts."""
        return await self._call("list_routes", Result, locals())

    async def remove_routes(self, *, route_ids: Sequence[str] | None = None, **common: Unpack[OfPage]) -> Done:
        """Remove mocks and blocks of the page: some, or all.

        route_ids: Only these of list_routes.
        """
        return await self._call("remove_routes", Done, locals())

    async def set_extra_headers(
        self, headers: Mapping[str, str], *, affect_others: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Send extra headers with every request of the page; {} removes them. Replaces earlier ones. With session_id
        and no page_id: for the whole session, later pages included.

        headers: Names and values.
        affect_others: For a session: even if others hold pages there. Default: False.
        """
        return await self._call("set_extra_headers", Done, locals())

    async def get_network_log(
        self, pattern: str | None = None, *, include_headers: bool | None = None, include_bodies: bool | None = None,
        include_secrets: bool | None = None, method: str | None = None,
        resource_types: Sequence[Literal["image", "stylesheet", "font", "script", "xhr", "fetch", "document", "media", "eventsource", "manifest", "ping", "other"]] | None = None,
        status: str | None = None, since: int | None = None, limit: int | None = None,
        format: Literal["text", "records"] | None = None, budget: int | None = None, cursor: str | None = None,
        **common: Unpack[OfPage],
    ) -> Result:
        """List the page's last 500 requests, oldest first. Only the client that held the page when a request was sent
        gets its headers and body.

        include_headers: Headers too. Default: False.
        include_bodies: Bodies too, as far as the browser has them. Default: False.
        include_secrets: Values of Cookie, Authorization and the like too. Default: False.
        pattern: Only these URLs: glob or /regex/flags.
        method: Only this HTTP method.
        resource_types: Only these.
        status: 404, 5xx, failed or pending.
        since: Only those after this number.
        limit: At most this many, the latest. Default: 100.
        format: Lines, or objects. Default: text.
        budget: Most characters to return; the rest by cursor.
        cursor: From an earlier reply.
        """
        return await self._call("get_network_log", Result, locals())

    async def wait_for_request(
        self, pattern: str | None = None, *, include_headers: bool | None = None, include_bodies: bool | None = None,
        include_secrets: bool | None = None, during: Mapping[str, Any] | None = None, method: str | None = None,
        resource_types: Sequence[Literal["image", "stylesheet", "font", "script", "xhr", "fetch", "document", "media", "eventsource", "manifest", "ping", "other"]] | None = None,
        **common: Unpack[OfPage],
    ) -> Exchange:
        """Wait until the page sends a request that matches.

        include_headers: Headers too. Default: False.
        include_bodies: Bodies too, as far as the browser has them. Default: False.
        include_secrets: Values of Cookie, Authorization and the like too. Default: False.
        during: An action with its arguments. Done once the wait is armed: {"action": "click", "selector": "#go"}.
        pattern: Its URL: glob (* is any text, scheme optional) or /regex/flags.
        method: Only this HTTP method.
        resource_types: Only these.
        """
        return await self._call("wait_for_request", Exchange, locals())

    async def wait_for_response(
        self, pattern: str | None = None, *, include_headers: bool | None = None, include_bodies: bool | None = None,
        include_secrets: bool | None = None, during: Mapping[str, Any] | None = None, method: str | None = None,
        resource_types: Sequence[Literal["image", "stylesheet", "font", "script", "xhr", "fetch", "document", "media", "eventsource", "manifest", "ping", "other"]] | None = None,
        status: str | None = None, **common: Unpack[OfPage],
    ) -> Exchange:
        """Wait until a request of the page that matches is answered.

        include_headers: Headers too. Default: False.
        include_bodies: Bodies too, as far as the browser has them. Default: False.
        include_secrets: Values of Cookie, Authorization and the like too. Default: False.
        during: An action with its arguments. Done once the wait is armed: {"action": "click", "selector": "#go"}.
        pattern: Its URL: glob (* is any text, scheme optional) or /regex/flags.
        method: Only this HTTP method.
        resource_types: Only these.
        status: 404 or 5xx.
        """
        return await self._call("wait_for_response", Exchange, locals())

    async def export_har(
        self, *, content: Literal["omit", "embed", "attach"] | None = None,
        mode: Literal["full", "minimal"] | None = None, url_filter: str | None = None,
        include_secrets: bool | None = None, **common: Unpack[OfPage],
    ) -> File:
        """Export the page's last 500 requests as a HAR 1.2 file. Requests sent while you did not hold the page come
        without headers and bodies.

        content: Bodies, as far as the browser has them; attach: a zip with them as files. Default: omit.
        mode: minimal: what a replay needs. Default: full.
        url_filter: Only these URLs: glob or /regex/flags.
        include_secrets: Values of Cookie, Authorization and the like too. Default: False.
        """
        return await self._call("export_har", File, locals())

    async def emulate(
        self, *, affect_others: bool | None = None, viewport: Viewport | None = None, device: str | None = None,
        color_scheme: Literal["light", "dark", "no-preference"] | None = None,
        media: Literal["screen", "print"] | None = None,
        reduced_motion: Literal["reduce", "no-preference"] | None = None,
        forced_colors: Literal["active", "none"] | None = None,
        contrast: Literal["more", "no-preference"] | None = None, locale: str | None = None,
        timezone: str | None = None, geolocation: Geolocation | None = None, offline: bool | None = None,
        reset: bool | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Show one page another device, place, language or network. Other pages are unaffected. What you do not name
        stays. geolocation also grants the page's site that permission, which affects others at that site.

        affect_others: Do it even if it affects pages that others hold. Default: False.
        viewport: Size of the page.
        device: Of Playwright's list, such as "Pixel 7".
        color_scheme: Colours.
        media: CSS media type.
        reduced_motion: Motion.
        forced_colors: Forced colours.
        contrast: Contrast.
        locale: Such as de-DE.
        timezone: Such as Europe/Rome.
        geolocation: Where it is.
        offline: Without network.
        reset: End what was emulated before. Default: False.
        """
        return await self._call("emulate", Done, locals())

    async def close_page(
        self, *, run_before_unload: bool | None = None, reason: str | None = None, confirm: bool | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Close a page; what was typed and not sent is lost. The login stays.

        run_before_unload: Let the page ask before it closes. Default: False.
        reason: Why; needed for a tab that a person opened.
        confirm: Close it though a sibling behind your client opened it. Default: False.
        """
        return await self._call("close_page", Done, locals())

    async def handle_dialog(self, accept: bool, *, prompt_text: str | None = None, **common: Unpack[OfPage]) -> Done:
        """Answer the alert, confirm, prompt or beforeunload dialog of a page. Returns the result of the call that
        waited for the answer, or the next dialog.

        accept: OK, or leave the page.
        prompt_text: Answer to a prompt.
        """
        return await self._call("handle_dialog", Done, locals())

    async def set_dialog_policy(
        self, policy: Literal["ask", "accept", "dismiss"], *, prompt_text: str | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Choose how a page's dialogs are answered while you hold it: by you (ask), or at once. Also those of its
        popups. Replies still name each dialog and its answer.

        policy: `accept` is OK, and leaving the page.
        prompt_text: accept: what prompts are answered; their default value without.
        """
        return await self._call("set_dialog_policy", Done, locals())

    async def claim_page(
        self, *, wait_seconds: int | None = None, reason: str | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Become a page's owner: in line, or at once with a reason. Its owner is told the reason. With both you take it
        after wait_seconds. A private page stays its owner's until they give it up.

        wait_seconds: How long to wait in line. Default: 0.
        reason: Why you take it now.
        """
        return await self._call("claim_page", Done, locals())

    async def release_page(self, **common: Unpack[OfPage]) -> Done:
        """Give a page up: whoever waits for it is offered it, else the next to act on it gets it."""
        return await self._call("release_page", Done, locals())

    async def hold_page(self, reason: str, *, minutes: int | None = None, **common: Unpack[OfPage]) -> Done:
        """Keep a page of yours though you will be idle, as when you wait for a code. Others need a reason to take it
        until then.

        reason: What you wait for; others read it.
        minutes: For how long. Default: 15.
        """
        return await self._call("hold_page", Done, locals())

    async def share_page(self, access: Literal["private", "read", "act"], **common: Unpack[OfPage]) -> Done:
        """Say what others may do with a page of yours: nothing, read (the default) or act. `private` hides URL and
        content from those clients. Clients that may act take turns.

        access: What others may do with it.
        """
        return await self._call("share_page", Done, locals())

    async def hand_over_page(self, to: str, *, note: str | None = None, **common: Unpack[OfPage]) -> Done:
        """Make another client the owner of a page of yours. A private one stays private.

        to: The client's name as list_pages shows it, or a page_id of one of its.
        note: What the new owner should know.
        """
        return await self._call("hand_over_page", Done, locals())

    async def request_human(
        self, *, kind: Literal["login", "code", "decision", "tab", "other"] | None = None, message: str | None = None,
        origin: str | None = None, choices: Sequence[str] | None = None, request_id: str | None = None,
        withdraw: bool | None = None, **common: Unpack[OfPage],
    ) -> Answered:
        """Have a person sign in, type a code, decide or share a tab. Waits 45 s; gives the answer or a request_id. The
        page is theirs meanwhile. If several agents meet the same login, the first call asks, and the same call from
        the others joins it. The kind "tab" asks for a tab that the person has open in a browser of their own: the
        reply's page is that tab.

        kind: What for. Default: other.
        message: What to do.
        origin: Site that it is about; refused if the page is elsewhere. People see the page's own.
        choices: To choose from.
        request_id: Wait on an earlier request instead of asking anew.
        withdraw: With request_id: nobody is needed any more. Default: False.
        """
        return await self._call("request_human", Answered, locals())

    async def take_over(self, *, stop: bool | None = None, **common: Unpack[OfPage]) -> Done:
        """For people alone: take a page in hand, above its agent's lease. Until you give it back, what agents want to
        do there is refused with HUMAN_IN_CONTROL; its agent goes on first afterwards.

        stop: Also cancel the act that runs there now. Default: False.
        """
        return await self._call("take_over", Done, locals())

    async def give_back(self, **common: Unpack[OfPage]) -> Done:
        """For people alone: give a page that you took over back to its agent."""
        return await self._call("give_back", Done, locals())

    async def get_storage(
        self, *, kind: Literal["local", "session"] | None = None, keys: Sequence[str] | None = None,
        **common: Unpack[OfPage],
    ) -> Stored:
        """Get local or session storage of the page's origin.

        kind: local: shared by all pages of the origin. session: of this page, until it closes. Default: local.
        keys: Only these; null where there is none.
        """
        return await self._call("get_storage", Stored, locals())

    async def set_storage(
        self, items: Mapping[str, Any], *, affect_others: bool | None = None,
        kind: Literal["local", "session"] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Set items of local or session storage of the page's origin; others stay.

        affect_others: Do it even if it affects pages that others hold. Default: False.
        kind: local: shared by all pages of the origin. session: of this page, until it closes. Default: local.
        items: Key -> value; values that are no text are stored as JSON.
        """
        return await self._call("set_storage", Done, locals())

    async def remove_storage(
        self, keys: Sequence[str], *, affect_others: bool | None = None,
        kind: Literal["local", "session"] | None = None, **common: Unpack[OfPage],
    ) -> Done:
        """Remove items from local or session storage of the page's origin.

        affect_others: Do it even if it affects pages that others hold. Default: False.
        kind: local: shared by all pages of the origin. session: of this page, until it closes. Default: local.
        keys: Keys to remove.
        """
        return await self._call("remove_storage", Done, locals())

    async def clear_storage(
        self, *, affect_others: bool | None = None, kind: Literal["local", "session"] | None = None,
        **common: Unpack[OfPage],
    ) -> Done:
        """Remove all of local or session storage of the page's origin. This may sign you out. What local storage had is
        kept for a day, and the reply has the call that puts it back.

        affect_others: Do it even if it affects pages that others hold. Default: False.
        kind: local: shared by all pages of the origin. session: of this page, until it closes. Default: local.
        """
        return await self._call("clear_storage", Done, locals())

    async def get_page_state(self, *, max_age: int | None = None, **common: Unpack[OfPage]) -> State:
        """Get the state of a page: URL, title, how far it has loaded, its frames, and its description.

        max_age: Milliseconds that the answer may be old, at the page's same revision. Default: 0.
        """
        return await self._call("get_page_state", State, locals())

    async def get_element(self, selector: str, *, max_age: int | None = None, **common: Unpack[OfPage]) -> Element:
        """Get what is known of an element: whether it is there, visible and enabled, its box, attributes, text and
        HTML.

        selector: Ref (e12), CSS or role=...
        max_age: Milliseconds that the answer may be old, at the page's same revision. Default: 0.
        """
        return await self._call("get_element", Element, locals())

    async def get_screenshot(
        self, *, screenshot_id: str | None = None, max_age: int | None = None, **common: Unpack[OfPage],
    ) -> Picture:
        """Get a screenshot that you took, by its artifact_id, or the current one.

        screenshot_id: artifact_id, or `current`. Default: current.
        max_age: Milliseconds that the answer may be old, at the page's same revision. Default: 0.
        """
        return await self._call("get_screenshot", Picture, locals())


class AsyncBrowserActions(AsyncCalling):
    """The actions on sessions, and in the service."""

    async def list_downloads(self, *, wait: int | None = None) -> Downloads:
        """List what your pages downloaded, newest first: name, URL, size, state, and where the file is or why it did
        not come.

        wait: Milliseconds to wait for one to end. Default: 0.
        """
        return await self._call("list_downloads", Downloads, locals())

    async def add_session_init_script(
        self, script: str, *, session_id: str | None = None, affect_others: bool | None = None,
    ) -> Done:
        """Run JavaScript in each document of a session, before its own scripts. For a session of your own, also in
        frames, popups and later pages. For one page: add_init_script.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        script: JavaScript, such as `Math.random = () => 0.5`.
        """
        return await self._call("add_session_init_script", Done, locals())

    async def remove_session_init_scripts(
        self, *, session_id: str | None = None, affect_others: bool | None = None,
        script_ids: Sequence[str] | None = None,
    ) -> Done:
        """Remove init scripts of a session: some, or all. Their effects stay until the next document.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        script_ids: Only these of list_routes.
        """
        return await self._call("remove_session_init_scripts", Done, locals())

    async def start_tracing(
        self, *, session_id: str | None = None, affect_others: bool | None = None, screenshots: bool | None = None,
        snapshots: bool | None = None, title: str | None = None, max_seconds: int | None = None,
    ) -> Done:
        """Record a trace of all pages of a session: steps, pictures, documents, requests. Refused while a page is
        private to another client.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        screenshots: With pictures. Default: True.
        snapshots: With documents and requests. Default: True.
        title: Its name in the viewer.
        max_seconds: It ends by itself after this. Default: 300.
        """
        return await self._call("start_tracing", Done, locals())

    async def stop_tracing(self, *, session_id: str | None = None) -> File:
        """End the trace that you began, and get it as a file for Playwright's trace viewer.

        session_id: The session; leave out for the shared login. Default: default.
        """
        return await self._call("stop_tracing", File, locals())

    async def set_session_headers(
        self, headers: Mapping[str, str], *, session_id: str | None = None, affect_others: bool | None = None,
    ) -> Done:
        """Send extra headers with every request of a session; {} removes them. Also for later pages; replaces earlier
        ones. For one page: set_extra_headers.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        headers: Names and values.
        """
        return await self._call("set_session_headers", Done, locals())

    async def list_pages(self, *, session_id: str | None = None, all: bool | None = None) -> Pages:
        """List the open pages: yours, people's, other agents'. A long list is shortened to counts; private pages of
        others are only counted.

        session_id: Only pages of this session.
        all: List every page; don't shorten to a count. Default: False.
        """
        return await self._call("list_pages", Pages, locals())

    async def open_page(
        self, *, page_id: str | None = None, session_id: str | None = None, timeout: int | None = None,
        if_revision: int | None = None, expect_url: str | None = None,
        reply: Literal["none", "effects", "delta", "full"] | None = None, as_: str | None = None,
        auth: HttpAuth | None = None, url: str | None = None,
        wait_until: Literal["load", "domcontentloaded", "networkidle", "commit"] | None = None,
        referer: str | None = None,
    ) -> Done:
        """Open a page of your own, with the shared login. It goes to a URL if one is given. Without page_id a free name
        is made and returned.

        page_id: Page; your only one without.
        session_id: The session (cookies and logins) that the page belongs to.
        timeout: Milliseconds the navigation may take. Default: 30000.
        if_revision: Refuse (STALE_REVISION) unless the page is still at this revision.
        expect_url: Refuse (STALE_REVISION) unless the page's URL matches this glob (`*` is any text).
        reply: What an act returns: nothing, what followed from it (navigation, requests, windows), also what it
            changed, or also a snapshot. Default: delta.
        as_: Which of several agents behind one client this is: a label for siblings and people, no authority.
        auth: Login for HTTP authentication: sent only to the URL's origin, and kept for the session.
        url: Absolute URL.
        wait_until: The event that counts as loaded. Default: load.
        referer: Referer header value.
        """
        return await self._call("open_page", Done, locals())

    async def tell_person(self, message: str) -> Done:
        """Write your person a line, as an answer to theirs. It waits for nothing; request_human asks them something.
        They read it at the live wall: at most 10 lines a minute.

        message: What to tell them.
        """
        return await self._call("tell_person", Done, locals())

    async def tell_agent(
        self, *, to: str | None = None, message: str | None = None, page_id: str | None = None,
        about: str | None = None,
    ) -> Done:
        """For people alone: write a line to an agent, or to all. It stands in their next reply; a call that waits
        replies at once.

        to: Its name, or a page_id of one of its; without, all agents.
        message: What to tell them.
        page_id: The page that it is about.
        about: The element on it that is meant, with its ref.
        """
        return await self._call("tell_agent", Done, locals())

    async def halt_agent(self, how: Literal["pause", "stop", "go_on"], *, to: str | None = None) -> Done:
        """For people alone: pause an agent, so that its calls wait for at most 10 minutes; stop it, so that what runs
        is cancelled and what comes is refused; or let it go on. Without `to`, all agents, and those who come.

        to: Its name, or a page_id of one of its; without, all agents.
        how: What to do.
        """
        return await self._call("halt_agent", Done, locals())

    async def create_session(
        self, *, session_id: str | None = None, user_id: str | None = None, name: str | None = None,
        persistent: bool | None = None, guarded: bool | None = None, ttl: int | None = None,
        browser_type: Literal["chromium", "firefox", "webkit"] | None = None, viewport: Viewport | None = None,
        user_agent: str | None = None, locale: str | None = None, timezone: str | None = None,
        permissions: Sequence[Literal["geolocation", "notifications", "camera", "microphone", "clipboard-read", "clipboard-write"]] | None = None,
        proxy: SessionProxy | None = None, own_browser: bool | None = None, headless: bool | None = None,
        from_: str | None = None, sites: Sequence[str] | None = None,
    ) -> Session:
        """Create a session of your own, which only you can use until you share it: signed in nowhere, or `from`
        another. With `from` it begins with a copy of that session's cookies, and of the storage of `sites`. A site
        that rotates its tokens may then sign the other session out.

        session_id: Its id; by default a free one.
        user_id: Whom it is for; list_sessions filters by it.
        name: A name for people.
        persistent: Keep it, with its logins, when the service ends. Default: False.
        guarded: What you read at one site goes to no other until a person allows it. Default: False.
        ttl: Lifetime in milliseconds. Default: 86400000.
        browser_type: Engine. Default: chromium.
        viewport: Size of its pages. Default: {'width': 1920, 'height': 1080}.
        user_agent: User agent of its pages.
        locale: Such as de-DE. Default: en-US.
        timezone: Such as Europe/Rome; by default the machine's.
        permissions: What its pages are granted.
        proxy: Proxy of its pages.
        own_browser: A browser of its own: nothing there touches the shared one. Default: False.
        headless: true: without windows.
        from_: Session whose cookies it begins with; default is the shared login.
        sites: With from: origins whose storage is copied too.
        """
        return await self._call("create_session", Session, locals())

    async def get_session(self, *, session_id: str | None = None) -> Session:
        """Get what a session is: owner, options, when it was made and last used, its pages, calls and errors.

        session_id: The session; leave out for the shared login. Default: default.
        """
        return await self._call("get_session", Session, locals())

    async def list_sessions(self, *, user_id: str | None = None, persistent: bool | None = None) -> Result:
        """List the sessions: whose each is, whether you may use it, and how many pages it has.

        user_id: Only those that were created for this user.
        persistent: Only persistent ones, or only the others.
        """
        return await self._call("list_sessions", Result, locals())

    async def extend_session(self, session_id: str, *, ttl: int | None = None) -> Done:
        """Let a session of yours last longer: so many milliseconds from now.

        session_id: The session.
        ttl: Milliseconds from now. Default: 86400000.
        """
        return await self._call("extend_session", Done, locals())

    async def share_session(self, session_id: str, *, access: Literal["private", "act"] | None = None) -> Done:
        """Say whether others may use a session of yours (act) or not (private).

        session_id: The session.
        access: What others may do in it. Default: act.
        """
        return await self._call("share_session", Done, locals())

    async def close_session(self, session_id: str) -> Done:
        """Close a session of yours with all of its pages. Its logins are kept for a day: the reply has the call that
        opens it again with them. What save_session_state saved of it is gone.

        session_id: The session.
        """
        return await self._call("close_session", Done, locals())

    async def grant_permissions(
        self,
        permissions: Sequence[Literal["geolocation", "notifications", "camera", "microphone", "clipboard-read", "clipboard-write"]],
        origin: str, *, session_id: str | None = None, affect_others: bool | None = None,
    ) -> Done:
        """Grant a site (one origin) permissions in all pages of the session; [] takes them back. Replaces earlier
        grants. All pages share one clipboard.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        permissions: Which; [] for none.
        origin: Such as https://example.com.
        """
        return await self._call("grant_permissions", Done, locals())

    async def get_cookies(
        self, *, session_id: str | None = None, urls: Sequence[str] | None = None, domain: str | None = None,
        name: str | None = None, path: str | None = None,
    ) -> Cookies:
        """Get the cookies of a session. Of all sites or some. Values of the shared login are shown only if the token
        allows it.

        session_id: The session; leave out for the shared login. Default: default.
        urls: Only cookies that would be sent to these URLs.
        domain: Only of this domain and those below it.
        name: Only with this name.
        path: Only with this path.
        """
        return await self._call("get_cookies", Cookies, locals())

    async def set_cookies(
        self, cookies: Sequence[Cookie], *, session_id: str | None = None, affect_others: bool | None = None,
    ) -> Done:
        """Set cookies in a session, each for a url or a domain. Refused while others hold pages that would send them,
        unless affect_others.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        cookies: Each for a url, or for a domain.
        """
        return await self._call("set_cookies", Done, locals())

    async def clear_cookies(
        self, *, session_id: str | None = None, affect_others: bool | None = None, domain: str | None = None,
        name: str | None = None, path: str | None = None,
    ) -> Done:
        """Delete cookies of a session: all, or those of a domain, name or path. Whoever works there may be logged out.
        Without a name or path this also removes logins by HTTP that `goto` was given there. What was there is kept
        for a day, and the reply has the call that puts it back.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        domain: Only of this domain and those below it.
        name: Only with this name.
        path: Only with this path.
        """
        return await self._call("clear_cookies", Done, locals())

    async def save_session_state(self, *, session_id: str | None = None, name: str | None = None) -> Done:
        """Save the logins of a session (cookies, local storage, IndexedDB) under a name, encrypted, to restore later.

        session_id: The session; leave out for the shared login. Default: default.
        name: Name to save it under. Default: saved.
        """
        return await self._call("save_session_state", Done, locals())

    async def restore_session_state(
        self, *, session_id: str | None = None, affect_others: bool | None = None, name: str | None = None,
    ) -> Done:
        """Put the logins of a session back as they were saved. What changed since is lost. Also those that an act of
        the last day ended, by the name in its reply. A session that you closed opens again.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        name: Its name. Default: saved.
        """
        return await self._call("restore_session_state", Done, locals())

    async def export_session(self, *, session_id: str | None = None) -> File:
        """Write the logins of a session to a file that import_login takes. In Playwright's format. Whoever has the file
        is signed in. So the shared login is exported only if the token allows it, and never while a page is private
        to another client.

        session_id: The session; leave out for the shared login. Default: default.
        """
        return await self._call("export_session", File, locals())

    async def login(
        self, *, session_id: str | None = None, affect_others: bool | None = None, url: str | None = None,
    ) -> Done:
        """Have a person at the service's machine sign in, in an ordinary window, where a site refuses automated
        browsers. Tell them first. The window opens with the shared login, and you wait until they close it.
        Meanwhile no page can be used (HUMAN_IN_CONTROL); afterwards each is back under its page_id, with the new
        login.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        url: Where the window opens, such as the login page.
        """
        return await self._call("login", Done, locals())

    async def import_login(
        self, content: str, *, session_id: str | None = None, affect_others: bool | None = None,
        site: str | None = None,
    ) -> Done:
        """Bring a login into a session from a Playwright storage state (JSON) or a cookies.txt. Cookies and storage of
        another browser. Says what could not be brought and why; values are never shown.

        session_id: The session; leave out for the shared login. Default: default.
        affect_others: Do it even if it affects pages that others hold. Default: False.
        content: What the file has in it.
        site: Only this host and its subdomains, such as example.com.
        """
        return await self._call("import_login", Done, locals())

    async def list_logins(self, *, session_id: str | None = None, urls: Sequence[str] | None = None) -> Result:
        """List the sites where a session seems to be signed in, by its cookies: last used when, until when, by whom. A
        cookie counts if its value is too long to be guessed, and scripts cannot read it or its name says that it is
        a login. `bound` logins work in this browser alone, whoever has their cookies. Values are never shown.

        session_id: The session; leave out for the shared login. Default: default.
        urls: Only by cookies that would be sent to these URLs.
        """
        return await self._call("list_logins", Result, locals())

    async def get_call(self, call_id: str, *, wait: int | None = None) -> Result:
        """Get the outcome of an earlier call by its call_id; waits for a call that still runs.

        call_id: The call_id that a reply named.
        wait: Milliseconds to wait for it to end. Default: 30000.
        """
        return await self._call("get_call", Result, locals())

    async def cancel_call(self, call_id: str) -> Done:
        """Stop one of your calls. One that still waited did not happen; one that ran may have happened in part.

        call_id: The call_id that a reply named.
        """
        return await self._call("cancel_call", Done, locals())

    async def get_activity(
        self, *, page_id: str | None = None, client: str | None = None, session_id: str | None = None,
        action_name: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None,
        budget: int | None = None, format: Literal["text", "records"] | None = None, cursor: str | None = None,
    ) -> Result:
        """Get who did what in this browser, newest first. When, which client, the action and its page, what it sent,
        where it led, how it ended. Reads are not recorded, and of typed text and scripts only the length.

        page_id: Only what was done on this page.
        client: Only this client: its label, or `me`.
        session_id: Only what was done in this session.
        action_name: Only this action, such as click.
        since: Not before: how long ago (10m, 2h, 1d) or an ISO time.
        until: Not after: likewise.
        limit: Records at most; older ones by cursor. Default: 30.
        budget: Characters at most; older ones by cursor. Default: 8000.
        format: A line each, or objects for programs. Default: text.
        cursor: From an earlier reply.
        """
        return await self._call("get_activity", Result, locals())

    async def save_flow(
        self, name: str, *, description: str | None = None, since: str | None = None, until: str | None = None,
        calls: Sequence[str] | None = None, page_id: str | None = None,
        values: Mapping[str, str | bool | int | float | Sequence[str] | SecretRef] | None = None,
        replace: bool | None = None,
    ) -> Done:
        """Save what you did as a flow, which runs again without a model. From the record of your calls: failed tries,
        looks and dead ends are left out, what you typed becomes parameters, what you extracted an output, and what
        each step caused is checked at each run.

        name: Lower case, such as send-invoice.
        description: What it is for.
        since: From when on: how long ago (10m, 2h) or an ISO time. Default: 30m.
        until: Up to when: likewise.
        calls: Only these call_ids.
        page_id: Only what was done on this page.
        values: Defaults of parameters, by name; see the reply of a first save.
        replace: Overwrite your flow of this name. Default: False.
        """
        return await self._call("save_flow", Done, locals())

    async def run_flow(
        self, name: str, *, values: Mapping[str, str | bool | int | float | Sequence[str] | SecretRef] | None = None,
        page_id: str | None = None, heal: bool | None = None, dry_run: bool | None = None,
    ) -> Done:
        """Run a saved flow. It stops at the step where the page differs, and says what is nearest. Without page_id on a
        page of its own, which stays open. `list_flows` names the values that it needs.

        name: Lower case, such as send-invoice.
        values: By parameter: text, number, true or false, {"secret": NAME}.
        page_id: A page of yours to do it on.
        heal: If an element is not found, take the only one of its role and name, or one in its place that was renamed.
            Default: False.
        dry_run: Only check that it could begin, and list its steps. Default: False.
        """
        return await self._call("run_flow", Done, locals())

    async def mend_flow(self, name: str, *, step: int | None = None, selector: str | None = None) -> Done:
        """Go on with your flow that stopped at a step, with another element for that step. The element is kept in the
        flow, if it is yours and the step succeeds.

        name: Lower case, such as send-invoice.
        step: Where to go on; by default where it stopped.
        selector: The step's element now: ref, CSS or role=...
        """
        return await self._call("mend_flow", Done, locals())

    async def list_flows(self, *, name: str | None = None) -> Result:
        """List the saved flows and the values that they need; with a name, that flow's file.

        name: Show this one's file.
        """
        return await self._call("list_flows", Result, locals())
