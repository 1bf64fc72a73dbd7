"""Says what a key pastes: what its client copied. The browser's own clipboard may have what others copied."""

from typing import Final

from browse_together.contract.actions import editing, interaction
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.next_calls import next_call
from browser_service.host.handle.page import BrowserPage
from browser_service.security.urls import origin_of

_WHERE: Final = ("selector", "frame", "strict", "timeout")


def pasted(page: BrowserPage, action: interaction.Press) -> editing.Paste:
    """Return the paste that a key stands for. Raises ValidationFailed if the client copied nothing."""
    copied = page.session.clipboards.of(page.call.client_id)
    if copied is None:
        raise ValidationFailed(
            "There is nothing to paste: you copied nothing in this session by Control+c or Control+x, and what others "
            "copied is not yours.",
            hint=f"Give the text: {next_call('paste', text='...')}.{_way_to_clipboard(page)}",
            details=field_details("key"),
        )
    return editing.Paste(text=copied.text, html=copied.html, **action.model_dump(include={*_WHERE}))


def _way_to_clipboard(page: BrowserPage) -> str:
    """Return the calls that read what a page's own button copied. No hook takes it from the page: it would stand in the
    page's own world at each click, where the page sees it. A person's clipboard is theirs."""
    origin = origin_of(page.tab.url)
    if origin is None or page.session.attached:
        return ""
    grant = next_call("grant_permissions", permissions=["clipboard-read"], origin=origin)
    read = next_call("evaluate_script", expression="navigator.clipboard.readText()")
    return f" What the page's own button copied: {grant}, then {read}. All pages share that clipboard."
