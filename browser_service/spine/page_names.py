"""Says which names of pages a call needs while it runs: of a page that it may open, take or hand over."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from browse_together.contract.actions.traits import may_answer
from browse_together.contract.calls import ClientRef, Notice, Outcome
from browse_together.contract.catalogue import ACTIONS
from browser_service.clients.presence import Clients
from browser_service.rules.quotas import Quotas
from browser_service.sessions.directory import Directory
from browser_service.spine.call import FrontCall, Go
from browser_service.spine.policy import Policy

_HANDS_OVER: Final = frozenset(kind for kind in ACTIONS.values() if may_answer(kind, "recipient"))


@dataclass(eq=False)
class PageNames:
    """The names of pages that calls need, and the pages that their clients may have."""

    directory: Directory
    clients: Clients
    quotas: Quotas
    policy: Policy

    def needed(self, call: FrontCall) -> Iterator[tuple[str, str]]:
        """Yield each page's name with the client for which a call needs it. Raises what refuses a client one page
        more."""
        page_id, _, is_new = call.address
        if type(call.action) in _HANDS_OVER and (name := call.action.recipient) is not None:
            call.recipient = recipient = self._find(call, name)
            if page_id is not None:
                self.policy.check_recipient(call.caller, recipient, page_id)
                yield page_id, recipient.client_id
        if page_id is None:
            return
        if is_new:
            opening = self.directory.reserved_by(call.client_id) - {page_id}
            self.quotas.check_pages(self.directory.held_by(call.client_id), opening)
        # perhaps the call takes it only after waiting in line for it
        takes = call.caller.limits.pages is not None and self.policy.takes_page(
            call.caller, call.action, self.directory.get(page_id)
        )
        if is_new or takes:
            yield page_id, call.client_id

    def _find(self, call: FrontCall, name: str) -> ClientRef:
        """Return the client of this name, or of the page with this name. Raises Forbidden if it may not use the page's
        session."""
        page = self.directory.get(name)
        if page is not None and page.holder_id is not None:
            recipient = ClientRef(client_id=page.holder_id, label=page.holder_label)
        else:
            recipient = self.clients.find(name, besides=call.client_id)
        if call.address.session_id:
            self.directory.sessions.check_recipient(call.address.session_id, recipient)
        return recipient

    async def another(self, call: FrontCall, go: Go) -> Outcome:
        """Give notice of a call that opened another page than the one that it named, which was open already."""
        outcome, named = await go(call), call.action.addressed.page
        if named and outcome.page is not None and outcome.page.page_id != named:
            text = f"{named} is open already, and yours: this is another page, {outcome.page.page_id}."
            self.clients.notify(call.client_id, Notice(text=text, page_id=outcome.page.page_id))
        return outcome
