"""Answering what a page asks: alert, confirm, prompt, and whether to leave it."""

from typing import Literal

from pydantic import Field

from browse_together.contract.actions.base import PageAct
from browse_together.contract.actions.traits import Lane, computed


def _accepts(action: "HandleDialog") -> bool:
    return action.accept


class HandleDialog(PageAct):
    """Answer the alert, confirm, prompt or beforeunload dialog of a page.

    Returns the result of the call that waited for the answer, or the next dialog."""

    lane = Lane.BESIDE
    needs_open_page = False
    answers_dialog = True
    unmetered = True
    gives = computed(True, _accepts)  # noqa: FBT003 - the class's value

    accept: bool = Field(description="OK, or leave the page.")
    prompt_text: str | None = Field(default=None, max_length=100_000, description="Answer to a prompt.")
    timeout: int = Field(
        default=30_000, ge=1, le=120_000, description="Milliseconds to wait for the call that the dialog held up."
    )


class SetDialogPolicy(PageAct):
    """Choose how a page's dialogs are answered while you hold it: by you (ask), or at once.

    Also those of its popups. Replies still name each dialog and its answer."""

    lane = Lane.BESIDE
    needs_open_page = False

    policy: Literal["ask", "accept", "dismiss"] = Field(description="`accept` is OK, and leaving the page.")
    prompt_text: str | None = Field(
        default=None, max_length=100_000, description="accept: what prompts are answered; their default value without."
    )

    @property
    def sends_anywhere(self) -> bool:
        return self.prompt_text is not None
