"""Other devices, places and languages, for one page."""

from typing import Any, Literal

from pydantic import Field

from browse_together.contract.actions.arguments import Part
from browse_together.contract.actions.base import PageAction, WideAct
from browse_together.contract.actions.sessions import Viewport


class Geolocation(Part):
    latitude: float = Field(ge=-90, le=90, description="Degrees.")
    longitude: float = Field(ge=-180, le=180, description="Degrees.")
    accuracy: float = Field(default=10, ge=0, description="Metres.")


class Emulate(WideAct, PageAction):
    """Show one page another device, place, language or network.

    Other pages are unaffected. What you do not name stays. geolocation also grants the page's site that permission,
    which affects others at that site."""

    everyday = ("viewport", "device", "colorScheme")
    loggable_arguments = frozenset({"device", "locale", "timezone"})

    viewport: Viewport | None = Field(default=None, description="Size of the page.")
    device: str | None = Field(default=None, min_length=1, description='Of Playwright\'s list, such as "Pixel 7".')
    color_scheme: Literal["light", "dark", "no-preference"] | None = Field(default=None, description="Colours.")
    media: Literal["screen", "print"] | None = Field(default=None, description="CSS media type.")
    reduced_motion: Literal["reduce", "no-preference"] | None = Field(default=None, description="Motion.")
    forced_colors: Literal["active", "none"] | None = Field(default=None, description="Forced colours.")
    contrast: Literal["more", "no-preference"] | None = Field(default=None, description="Contrast.")
    locale: str | None = Field(
        default=None, pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$", description="Such as de-DE."
    )
    timezone: str | None = Field(default=None, min_length=1, description="Such as Europe/Rome.")
    geolocation: Geolocation | None = Field(default=None, description="Where it is.")
    offline: bool | None = Field(default=None, description="Without network.")
    reset: bool = Field(default=False, description="End what was emulated before.")

    @property
    def affects_origin(self) -> bool:
        return self.geolocation is not None

    @property
    def sends_anywhere(self) -> bool:
        return self.locale is not None or self.geolocation is not None

    def changes(self) -> dict[str, Any]:  # Any: what Playwright's calls take
        """Return what to emulate from now on, by Playwright's names."""
        return {name: value for name, value in self.own_arguments().items() if name not in {"device", "reset"}}
