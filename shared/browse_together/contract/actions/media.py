"""Pictures, prints and videos of a page, and marks on it for those who look."""

from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue, StringConstraints, ValidationInfo, field_validator

from browse_together.contract.actions.arguments import Clip, Part, Selector, Style
from browse_together.contract.actions.base import PageAct, PageAction
from browse_together.contract.actions.reading import Cursor, Named

_WHOLE_PAGE_MS = 30_000


class Screenshot(PageAction):
    """Take a picture of the window.

    With `clip`: only a region."""

    everyday = ("selector", "fullPage")

    selector: Selector | None = Field(default=None, description="Only this element.")
    frame: Selector | None = Field(default=None, description="Selector of its iframe.")
    full_page: bool = Field(default=False, description="The whole scrollable page.")
    type: Literal["png", "jpeg", "webp"] = Field(default="png", description="Image format.")
    quality: int = Field(default=80, ge=0, le=100, description="Quality of jpeg and webp; png has none.")
    omit_background: bool = Field(
        default=False, description="Transparent where the page has no background; not with jpeg."
    )
    clip: Clip | None = Field(default=None, description="Only this region of the window, or with fullPage of the page.")
    animations: Literal["disabled", "allow"] = Field(default="allow", description="`disabled` finishes them first.")
    caret: Literal["hide", "initial"] = Field(default="hide", description="The text caret.")
    scale: Literal["css", "device"] = Field(
        default="device", description="One picture pixel for each CSS or device pixel."
    )
    mask: list[Selector] | None = Field(default=None, max_length=100, description="Elements to paint over.")
    mask_color: str | None = Field(default=None, description="CSS colour of the paint.")
    style: Style | None = Field(default=None, description="CSS to apply while the picture is taken.")
    marks: bool = Field(default=False, description="With the refs of controls drawn on them.")
    cursor: Cursor = None

    @field_validator("full_page")
    @classmethod
    def _one_of_page_and_element(cls, value: bool, info: ValidationInfo) -> bool:  # noqa: FBT001 - pydantic's form
        if value and info.data.get("selector"):
            raise ValueError("asks for the whole page, and selector for one element: leave one of them out")
        return value

    @field_validator("omit_background")
    @classmethod
    def _has_transparency(cls, value: bool, info: ValidationInfo) -> bool:  # noqa: FBT001 - pydantic's form
        if value and info.data.get("type") == "jpeg":
            raise ValueError("jpeg has no transparency; take png or webp")
        return value

    @field_validator("clip")
    @classmethod
    def _one_of_both(cls, value: Clip | None, info: ValidationInfo) -> Clip | None:
        if value is not None and info.data.get("selector"):
            raise ValueError("a region of the page and one element (selector) exclude each other; give one")
        return value

    @field_validator("marks")
    @classmethod
    def _of_the_page(cls, value: bool, info: ValidationInfo) -> bool:  # noqa: FBT001 - pydantic's form
        if value and (info.data.get("selector") or info.data.get("clip")):
            raise ValueError("is for the window or the fullPage: leave selector and clip out")
        return value

    def allowed_ms(self) -> int:
        """Return more time for a full page than for others, because a tall page takes long."""
        return (
            max(self.timeout, _WHOLE_PAGE_MS)
            if self.full_page and "timeout" not in self.model_fields_set
            else self.timeout
        )


class GetScreenshotAsBase64(Screenshot):
    """Take a picture like `screenshot`, as base64 text (long).

    To look at a picture, use `screenshot`."""

    text_key = "base64"
    extra_keys = ("mimeType", "width", "height")


def _text_of(value: JsonValue) -> JsonValue:
    """Return a bare number as a length in pixels."""
    return f"{value}px" if isinstance(value, int | float) and not isinstance(value, bool) else value


Length = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?(px|in|cm|mm)?$"), BeforeValidator(_text_of)]

_PAPERS = ("Letter", "Legal", "Tabloid", "Ledger", "A0", "A1", "A2", "A3", "A4", "A5", "A6")


def _paper(value: JsonValue) -> JsonValue:
    return next((name for name in _PAPERS if isinstance(value, str) and name.lower() == value.lower()), value)


class Margin(Part):
    top: Length = Field(default="0", description="Such as 2cm.")
    right: Length = Field(default="0", description="Such as 2cm.")
    bottom: Length = Field(default="0", description="Such as 2cm.")
    left: Length = Field(default="0", description="Such as 2cm.")


class GeneratePdf(PageAction):
    """Print the page to a PDF, with its print styles."""

    everyday = ("format", "landscape", "filename")

    format: Annotated[
        Literal["Letter", "Legal", "Tabloid", "Ledger", "A0", "A1", "A2", "A3", "A4", "A5", "A6"] | None,
        BeforeValidator(_paper),
    ] = Field(default=None, description="Paper size; Letter by default.")
    landscape: bool = Field(default=False, description="Landscape orientation.")
    width: Length | None = Field(default=None, description="Instead of a format: 10cm, 4in, 300px.")
    height: Length | None = Field(default=None, description="Likewise.")
    margin: Margin | None = Field(default=None, description="None by default.")
    scale: float = Field(default=1, ge=0.1, le=2, description="Scale of the print.")
    page_ranges: str | None = Field(
        default=None, pattern=r"^[0-9]+(-[0-9]+)?(, ?[0-9]+(-[0-9]+)?)*$", description="Such as 1-3, 5."
    )
    print_background: bool = Field(default=False, description="With background colours and pictures.")
    display_header_footer: bool = Field(default=False, description="Print the templates; they need a margin.")
    header_template: Style | None = Field(
        default=None,
        description="HTML; elements of class date, title, url, pageNumber, totalPages are filled in.",
    )
    footer_template: Style | None = Field(default=None, description="Likewise.")
    prefer_css_page_size: bool = Field(
        default=False,
        validation_alias=AliasChoices("preferCssPageSize", "preferCSSPageSize"),
        description="The page's own @page size comes first.",
    )
    outline: bool = Field(default=False, description="With the headings as bookmarks.")
    tagged: bool = Field(default=False, description="Accessible (tagged) PDF.")
    filename: Named = None

    @field_validator("width", "height")
    @classmethod
    def _one_size(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.data.get("format"):
            raise ValueError("format says the size already; give one of them")
        return value


class RecordVideo(PageAct):
    """Record a video of the page.

    The page is not reopened. It records across navigation, until you stop it, after maxSeconds,
    or when the page closes. The client that began it gets the file."""

    everyday = ()
    gives = False

    command: Literal["start", "stop"] = Field(description="stop answers with the file.")
    max_seconds: int = Field(default=120, ge=1, le=600, description="It ends by itself after this.")
    fps: int = Field(default=10, ge=1, le=25, description="Pictures a second at most.")


class CompareScreenshots(PageAction):
    """Compare a picture with another, or with the page now.

    Tells how many pixels differ and where, with a picture of the differences."""

    everyday = ("current", "fullPage")
    text_key = "observed"

    baseline: str = Field(min_length=1, description="artifactId of a screenshot of yours.")
    current: str | None = Field(
        default=None, min_length=1, description="artifactId of the other; by default the page is captured now."
    )
    selector: Selector | None = Field(default=None, description="When capturing now: only this element.")
    full_page: bool = Field(default=False, description="When capturing now: the whole page.")
    threshold: float = Field(
        default=0.1, ge=0, le=1, description="How much two colours may differ and still count as equal."
    )

    @property
    def needs_no_page(self) -> bool:
        return self.current is not None

    @field_validator("selector", "full_page")
    @classmethod
    def _of_the_page(cls, value: object, info: ValidationInfo) -> object:
        if value and info.data.get("current"):
            raise ValueError("says how to take the page now, and current names a picture: give one of them")
        if value is True and info.data.get("selector"):
            raise ValueError("asks for the whole page, and selector for one element: leave one of them out")
        return value


class Highlight(PageAct):
    """Outline an element with a label, for people to see; without a selector, remove all outlines.

    Screenshots show them too."""

    everyday = ("selector", "label")
    gives = False

    selector: Selector | None = Field(default=None, description="The element; it is scrolled into view.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe to look in.")
    label: str = Field(default="", max_length=200, description="Words beside it.")
    colour: str = Field(default="#d6006c", pattern=r"^[A-Za-z0-9#(),.% ]{1,60}$", description="CSS colour.")
    seconds: float = Field(default=0, ge=0, le=3600, description="How long it stays; 0 is as long as the document.")
    strict: bool = Field(default=True, description="Refuse when several elements match; false takes the first.")
