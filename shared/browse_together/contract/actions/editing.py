"""The focus, and what is put where it is."""

from pydantic import Field

from browse_together.contract.actions.arguments import LONG_TEXT, Selector
from browse_together.contract.actions.base import ElementAction, PageAct


class Focus(ElementAction):
    """Give an element the keyboard's focus, without clicking it."""

    everyday = ()
    gives = False


class Blur(ElementAction):
    """Take the focus from an element, as leaving a field does.

    The page then runs its checks or saves."""

    everyday = ()
    gives = False


class Paste(PageAct):
    """Paste text into an element, or where the focus is.

    Also as HTML. No clipboard is read or changed. The reply tells what the page made of it."""

    everyday = ("selector",)

    text: str = Field(max_length=LONG_TEXT, description="What to paste.")
    html: str | None = Field(
        default=None, max_length=LONG_TEXT, description="The same as HTML, for editors that take it."
    )
    selector: Selector | None = Field(default=None, description="Element to focus first.")
    frame: Selector | None = Field(default=None, description="Selector of its iframe.")
    strict: bool = Field(default=True, description="false takes the first of several.")
