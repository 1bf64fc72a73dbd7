"""Files to pages and from them: uploads, drops, downloads."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from browse_together.contract.actions.arguments import Part
from browse_together.contract.actions.base import ElementAction, ServiceAction
from browse_together.contract.actions.interaction import At, NoWaitAfter
from browse_together.contract.wire import MAX_MESSAGE_BYTES

_MOST = 50
_BYTES_MS = 30_000


class GivenFile(Part):
    name: str | None = Field(default=None, min_length=1, max_length=500, description="File name.")
    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_000,
        description="In BROWSE_UPLOAD_ROOTS, or your client's roots.",
    )
    text: str | None = Field(default=None, max_length=MAX_MESSAGE_BYTES, description="Its content as text.")
    data: str | None = Field(default=None, max_length=MAX_MESSAGE_BYTES, description="Its content as base64.")
    artifact_id: str | None = Field(default=None, description="Content of an earlier reply's file.")
    mime_type: str | None = Field(default=None, max_length=200, description="By default from the name.")

    @model_validator(mode="after")
    def _is_called_something(self) -> Self:
        if not (self.called or self.artifact_id):
            raise ValueError("needs 'path', 'artifactId', or 'name'")
        return self

    @property
    def called(self) -> str:
        return self.name or self.path or ""


Files = Annotated[list[GivenFile], Field(max_length=_MOST)]


class UploadFile(ElementAction):
    """Choose files in a file input, or in the chooser that a click on the element opens.

    Base64 goes in "data", and [] chooses none. The reply tells what the input holds afterwards."""

    everyday = ()

    files: Files = Field(description='Each {"path"}, {"artifactId"} or {"name", "text"}.')
    no_wait_after: NoWaitAfter = False

    def allowed_ms(self) -> int:
        """Return more time than usual unless the caller bounds it, because many bytes take long to reach the page."""
        return self.timeout if "timeout" in self.model_fields_set else _BYTES_MS


class Drop(ElementAction):
    """Drop files or data onto an element, as if dragged from outside of the browser."""

    everyday = ("files", "data")

    files: Files = Field(default=[], description="As upload_file takes them, 2 MB at most.")
    data: dict[str, str] | None = Field(
        default=None, max_length=_MOST, description='By MIME type: {"text/plain": "..."}.'
    )
    position: At = None


class ListDownloads(ServiceAction):
    """List what your pages downloaded, newest first: name, URL, size, state, and where the file is or why it did not
    come."""

    lasts = True
    unmetered = True

    wait: int = Field(default=0, ge=0, le=300_000, description="Milliseconds to wait for one to end.")

    def allowed_ms(self) -> int:
        return self.wait + super().allowed_ms()
