"""What calls give: small typed objects, made of the replies.

Each has what its action is asked for under its own name, besides `page`, the page as it is now, and `notices`, what
happened to this client's pages since the last reply. `data` is the whole result as JSON, by the names on the wire.

They stand in one file of over 300 lines, because a program's author looks them up here.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Json = dict[str, Any]
"""A JSON object. Any: whatever the site, or a script, made of it."""


class _Lenient(BaseModel):
    """A part of a reply. What a newer service sends besides is in `model_extra`."""

    model_config = ConfigDict(extra="allow", frozen=True, alias_generator=to_camel, validate_by_name=True)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:  # Any: pydantic's own, a field's value
        """Show what there is."""
        return [(name, value) for name, value in super().__repr_args__() if value not in (None, "", [], {})]


class Owner(_Lenient):
    """Who may act on a page, or has a piece of work."""

    label: str = ""
    you: bool = False


class PageInfo(_Lenient):
    """A page as a reply tells of it."""

    page_id: str
    session_id: str = ""
    url: str = ""
    title: str = ""
    revision: int = 0
    owner: Owner | None = None
    dialog: str | None = None


class Answer:
    """A reply of the service, from which results are made."""

    def __init__(self, data: Json, page: PageInfo | None, notices: list[str], content: bytes = b"") -> None:
        self.data, self.page, self.notices, self.content = data, page, notices, content


class Result(_Lenient):
    """What a call gave."""

    observed: str = ""
    """What an act was seen to do, in words."""

    _answer: Answer

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """Make the result of a reply."""
        return cls.model_validate(answer.data, context=answer)

    def model_post_init(self, context: Answer) -> None:
        self._answer = context

    @property
    def data(self) -> Json:
        return self._answer.data

    @property
    def page(self) -> PageInfo | None:
        return self._answer.page

    @property
    def notices(self) -> list[str]:
        return self._answer.notices

    def __str__(self) -> str:
        return self.observed or repr(self)


class Download(_Lenient):
    """A file that a page downloaded. It is a path: `open(download)` reads it."""

    name: str
    url: str = ""
    state: str = "finished"
    size: int | None = None
    mime_type: str | None = None
    reason: str | None = None
    """Why it did not come."""
    file_path: str | None = Field(default=None, alias="path", repr=False)

    @property
    def path(self) -> Path:
        """Where the file is, on this machine. Raises FileNotFoundError, with the reason, if it did not come."""
        if self.state != "finished" or self.file_path is None:
            raise FileNotFoundError(f"{self.name}: the download is {self.state}. {self.reason or ''}".rstrip())
        return Path(self.file_path)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def save_as(self, path: str | os.PathLike[str]) -> Path:
        """Copy the file to a path. Raises OSError."""
        return Path(shutil.copyfile(self.path, path))


class Dialog(_Lenient):
    """A dialog that waits for `handle_dialog`, and with it the act that opened it."""

    type: str
    message: str = ""


class Request(_Lenient):
    """A request that an act caused."""

    method: str = ""
    url: str = ""
    status: int | None = None


class Done(Result):
    """What an act did."""

    url: str = ""
    status: int | None = None
    """The HTTP status of a navigation."""
    navigated_to: str = ""
    popups: list[str] = []
    """The pageIds of the pages that it opened."""
    downloads: list[Download] = []
    requests: list[Request] = []
    dialog: Dialog | None = None
    outline: str = ""
    changes: str = ""


class Answered(Result):
    """What became of a request to a person."""

    request_id: str = ""
    state: str = "pending"
    answer: str = ""

    @property
    def done(self) -> bool:
        """True if the person did what was asked."""
        return self.state == "done"


class Text(Result):
    """The text of the first element, and of all: more than one with `all`."""

    texts: list[str] = Field(default=[], validation_alias=AliasChoices("text", "html"))

    @classmethod
    def of(cls, answer: Answer) -> Self:
        listed = {key: [value] for key in ("text", "html") if isinstance(value := answer.data.get(key), str)}
        return super().of(Answer({**answer.data, **listed}, answer.page, answer.notices))

    @property
    def text(self) -> str:
        return self.texts[0] if self.texts else ""

    def __str__(self) -> str:
        return self.text


class Values(Result):
    """The attribute of the first element, and of all: more than one with `all`."""

    values: list[Any] = Field(default=[], alias="value")  # Any: a text, nothing, or an object of all data-* attributes

    @classmethod
    def of(cls, answer: Answer) -> Self:
        value = answer.data.get("value")
        listed = value if isinstance(value, list) else [value]
        return super().of(Answer({**answer.data, "value": listed}, answer.page, answer.notices))

    @property
    def value(self) -> Any:  # as above
        return self.values[0] if self.values else None


class Value(Result):
    """What a script returned."""

    value: Any = None  # whatever JSON the script returns


class Content(Result):
    """A page, or a part of it, as text."""

    content: str = ""
    format: str = ""
    url: str = ""
    cursor: str | None = None

    def __str__(self) -> str:
        return self.content


class Snapshot(Result):
    """The accessibility tree, with refs."""

    snapshot: str = ""
    cursor: str | None = None

    def __str__(self) -> str:
        return self.snapshot


class Match(_Lenient):
    """An element that was found. Every selector takes its `ref`."""

    ref: str = ""
    role: str = ""
    name: str = ""
    place: str = Field(default="", alias="in")


class Found(Result):
    """The elements that a search found."""

    matches: list[Match] = []
    total: int = 0


class Element(Result):
    """An element as it is now."""

    exists: bool = False
    visible: bool = False
    enabled: bool = False
    text: str | None = None
    html: str | None = None
    attributes: dict[str, str] = {}


class Seen(_Lenient):
    """An element that matched. Every selector takes its `selector`."""

    selector: str
    tag: str = ""
    text: str = ""
    visible: bool = False
    enabled: bool = False


class Elements(Result):
    """All elements that match."""

    elements: list[Seen] = []
    count: int = 0


class Link(_Lenient):
    text: str = ""
    url: str


class Links(Result):
    links: list[Link] = []


class Exchange(Result):
    """A request that was waited for, with its response."""

    method: str = ""
    url: str = ""
    status: int | None = None


class Fetched(Result):
    """A response to a request from the page."""

    status: int = 0
    url: str = ""
    headers: dict[str, str] = {}
    body: Any = None  # a text, or JSON if that was asked for


class Data(Result):
    """Data by its schema, in the attribute `fields`."""

    fields: Json = Field(default={}, alias="data")
    not_found: list[str] = []


class State(Result):
    """Where a page is, and how far it has loaded."""

    url: str = ""
    title: str = ""
    ready_state: str = ""
    loaded: bool = False


class Cookie(_Lenient):
    name: str
    value: str = ""
    domain: str = ""
    path: str = "/"


class Cookies(Result):
    cookies: list[Cookie] = []


class Stored(Result):
    """The items of an origin's storage."""

    items: dict[str, Any] = {}  # texts, or JSON


class Session(Result):
    """A session: its cookies and logins."""

    session_id: str = Field(default="", validation_alias=AliasChoices("sessionId", "id"))


class Pages(Result):
    """The open pages: this client's, people's, and other clients'."""

    yours: list[PageInfo] = []
    people: list[PageInfo] = []
    others: list[PageInfo] = []


class Downloads(Result):
    downloads: list[Download] = []


class File(Result):
    """A file that a call made: a PDF, a HAR, a trace, a video. It is a path: `open(file)` reads it."""

    artifact: Download | None = None

    @property
    def path(self) -> Path:
        """Where the file is, on this machine. Raises FileNotFoundError if the call made none."""
        if self.artifact is None:
            raise FileNotFoundError(self.observed or "the call made no file")
        return self.artifact.path

    def __fspath__(self) -> str:
        return os.fspath(self.path)


class Picture(bytes):
    """A picture of a page, as its bytes. A notebook shows it."""

    result: File

    @classmethod
    def of(cls, answer: Answer) -> Self:
        picture = cls(answer.content)
        picture.result = File.of(answer)
        return picture

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self):,} bytes, {self.result.path}>"

    def _repr_png_(self) -> bytes | None:
        return bytes(self) if self.startswith(b"\x89PNG") else None

    def _repr_jpeg_(self) -> bytes | None:
        return bytes(self) if self.startswith(b"\xff\xd8") else None


class Table(list[dict[str, str]]):
    """The rows of the first table, each by its headers: `pandas.DataFrame(table)` takes it as it is."""

    headers: list[str]
    tables: list["Table"]
    """All tables that matched: more than this one with `all`."""
    result: Result

    @classmethod
    def of(cls, answer: Answer) -> Self:
        result = Result.of(answer)
        found = [cls(each["rows"]) for each in answer.data["tables"]]
        for table, each in zip(found, answer.data["tables"], strict=True):
            table.headers, table.result, table.tables = each["headers"], result, [*found]
        return found[0]


RESULTS: Final[Mapping[str, type[Result | Picture | Table]]] = MappingProxyType(
    {
        "compare_screenshots": File,
        "content": Content,
        "create_session": Session,
        "evaluate_script": Value,
        "export_har": File,
        "export_session": File,
        "extract_attribute": Values,
        "extract_data": Data,
        "extract_html": Text,
        "extract_links": Links,
        "extract_table": Table,
        "extract_text": Text,
        "fetch": Fetched,
        "find": Found,
        "find_elements": Elements,
        "generate_pdf": File,
        "get_cookies": Cookies,
        "get_current_url": State,
        "get_element": Element,
        "get_page_state": State,
        "get_page_title": State,
        "get_screenshot": Picture,
        "get_session": Session,
        "get_storage": Stored,
        "list_downloads": Downloads,
        "list_pages": Pages,
        "record_video": File,
        "request_human": Answered,
        "screenshot": Picture,
        "snapshot": Snapshot,
        "stop_tracing": File,
        "wait_for_request": Exchange,
        "wait_for_response": Exchange,
    }
)
"""The results with a class of their own, by action. Other acts give `Done`, and other readings `Result`."""
