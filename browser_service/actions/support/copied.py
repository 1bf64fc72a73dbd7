"""Says what a key pastes: what its client copied. The browser's own clipboard may have what others copied."""

from typing import Final

from browse_together.contract.actions import editing, interaction
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.next_calls import next_call
from browser_service.host.handle.page import BrowserPage

_WHERE: Final = ("selector", "frame", "strict", "timeout")


def pasted(page: BrowserPage, action: interaction.Press) -> editing.Paste:
    """Return the paste that a key stands for. Raises ValidationFailed if the client copied nothing."""
    copied = page.session.clipboards.of(page.call.client_id)
    if copied is None:
        raise ValidationFailed(
            "There is nothing to paste: you copied nothing in this session by Control+c, Control+x or a page's button, "
            "and what others copied is not yours.",
            hint=f"Give the text: {next_call('paste', text='...')}.",
            details=field_details("key"),
        )
    return editing.Paste(text=copied.text, html=copied.html, **action.model_dump(include={*_WHERE}))
