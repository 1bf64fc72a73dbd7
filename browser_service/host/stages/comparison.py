"""A document compared with what its client was shown of it, and what of the difference a reply tells."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from browse_together.contract.cuts import cut
from browse_together.contract.next_calls import next_call, plain
from browser_service.host.handle.page import BrowserPage
from browser_service.host.reading import news, news_report
from browser_service.host.reading.snapshot import ClientView, State

LOOK_MS: Final = 2_000
_TITLE_CHARACTERS: Final = 100
_RESTLESS: Final = 2
"""If an element changed this often by itself, its changes are not the act's effects."""
_DIGITS: Final = re.compile(r"\d+")


@dataclass(frozen=True)
class Comparison:
    """A document compared with what its client was shown of it."""

    page_id: str
    view: ClientView
    previous: ClientView
    """A copy of the view as it was."""
    news: news.News

    @property
    def title(self) -> str:
        old, new = self.previous.state, self.view.state
        if old is None or new is None or old.title == new.title:
            return ""
        return f"~ title {json.dumps(cut(new.title, _TITLE_CHARACTERS), ensure_ascii=False)}"

    @property
    def is_wordless(self) -> bool:
        """True if no line tells what changed: something may be closing, but still be there."""
        return not (self.news.told or self.news.remade or self.title)

    @property
    def opens_window(self) -> bool:
        """True if a dialog appeared."""
        return any(
            each.nodes and each.nodes[0].role in news.WINDOWS and each.lines[0][0] == "+" for each in self.news.told
        )

    def leave_out(self, given: Sequence[str], refs: frozenset[str]) -> bool:
        """Drop the changes of fields that show what acts gave them, because the acts' replies said so. `refs` are the
        fields to which this act gave something. Returns whether there were any."""
        told = self.news.told
        expected = [e for e in told if e.is_field_value and (any(map(e.has, given)) or e.is_given_unseen(refs))]
        if len(expected) > len(given):
            return False
        told[:] = [each for each in told if each not in expected]
        return bool(expected)

    def note_restless(self) -> None:
        """Note which elements changed without an act."""
        self.view.restless.update(ref for change in self.news.told if (ref := _ref_of(change)))

    def leave_out_restless(self) -> bool:
        """Drop the changes of elements that change again and again by themselves, and announce nothing. Returns whether
        there were any."""
        told, restless = self.news.told, self.view.restless
        kept = [each for each in told if each.announced or restless[_ref_of(each)] < _RESTLESS]
        left_out, told[:] = len(kept) < len(told), kept
        return left_out

    def is_field_value(self) -> bool:
        return not self.title and len(self.news.told) == 1 and self.news.told[0].is_field_value

    def fits(self, limit: int) -> bool:
        """Return whether all changes can be described within the limit."""
        return not news_report.report(self.news, self.view.tree, limit, None).omitted

    def lines(self, limit: int, acted_on: str | None = None) -> str:
        """Describe the changes, and note that the client was shown them."""
        report = news_report.report(self.news, self.view.tree, limit, acted_on)
        self.view.add_refs(report.nodes)
        if self.previous.snapshot is self.previous.tree and not (report.omitted or self.news.remade):
            self.view.snapshot = self.view.tree
        changes = f"change{'s' * (report.omitted > 1)}"
        rest = plain(next_call("snapshot", page_id=self.page_id, since=True))
        more = f"{report.omitted} more {changes}: {rest}" if report.omitted else ""
        return "\n".join(filter(None, [self.title, report.text, more]))


def _ref_of(change: news.Change) -> str:
    """Return the ref of a changed element; of words without one, the line, in which a clock changes but the digits."""
    return (change.nodes[0].ref or _DIGITS.sub("0", change.lines[0])) if change.nodes else ""


async def compare(page: BrowserPage, known: State | None) -> Comparison | None:
    """Look at the page, and compare; None if this client has not seen the document before."""
    last = page.looks.view
    previous = last and ClientView(last.document, tree=last.tree, snapshot=last.snapshot, state=last.state)
    view = await page.looks.refresh_view(LOOK_MS, known=known)
    if previous is None or view is not last:
        return None
    return Comparison(page.page_id, view, previous, news.news(previous.tree, view.tree))
