"""What the pages of both clients have in common."""

from browse_together.results import Answer, PageInfo


class Handle:
    """A page by its pageId, whether it is open or not."""

    def __init__(self, page_id: str, session_id: str | None, info: PageInfo | None) -> None:
        self.page_id, self.session_id, self.info = page_id, session_id, info
        """The page as the last reply told of it; None before the first one."""

    @property
    def url(self) -> str:
        """The page's URL after the last call; empty before the first one."""
        return self.info.url if self.info else ""

    @property
    def title(self) -> str:
        """The title of the page's document after the last call."""
        return self.info.title if self.info else ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.page_id!r} {self.url}>"

    def _note(self, answer: Answer) -> Answer:
        if answer.page is not None and answer.page.page_id == self.page_id:
            self.info = answer.page
        return answer

    def _address(self) -> dict[str, object]:
        return {"page_id": self.page_id, "session_id": self.session_id}
