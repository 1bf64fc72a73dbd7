"""An act under way, and the stages that surround it, one for each concern."""

import time
from dataclasses import dataclass, field
from operator import attrgetter
from typing import ClassVar, Final

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect
from browse_together.contract.model import Json
from browser_service.host.calls import CallRun, Handler
from browser_service.host.pages.handle import BrowserPage
from browser_service.host.tabs.observation import Observation


@dataclass(eq=False)
class Act:
    """What a call or a part of one does on its page."""

    page: BrowserPage
    run: CallRun
    handler: Handler
    action: Action = field(init=False)
    observed: bool = field(init=False)
    """True if its effects are observed. A call that reads, or that only carries others, changes nothing by itself."""
    observation: Observation | None = None
    result: Json = field(default_factory=dict)
    changed: bool = field(init=False)
    """True if it may have changed its page."""
    done: bool = False
    began_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        action = self.action = self.run.action
        self.observed = action.effect is Effect.ACTS and action.needs_open_page and not action.parts()
        self.changed = not action.asked_reply.trial


_MOMENTS: Final = frozenset({"before", "check", "after", "failed", "end"})


class Stage:
    """One concern around an act. `before` and `check` run from the first stage to the last; `after`, `failed` and `end`
    run back.

    Each act gets its own stages, which may keep what they need from one moment to the next.
    """

    needs: ClassVar["attrgetter[object] | None"] = None
    """The part of an act that the stage is for. An act without it has no such stage; None stands for every act."""
    moments: ClassVar[frozenset[str]] = frozenset()
    """The moments at which it does something; it is called at no others."""

    def __init_subclass__(cls) -> None:
        cls.moments |= _MOMENTS & vars(cls).keys()

    def __init__(self, act: Act) -> None:
        self.act, self.page, self.run, self.action = act, act.page, act.run, act.action

    async def before(self) -> None:
        """Prepare, before the act's own time begins."""

    async def check(self) -> None:
        """Check once more, within the act's own time and right before it runs. Raise to prevent it."""

    async def after(self) -> None:
        """Complete `act.result` once the act is done."""

    async def failed(self, error: Exception) -> Exception | None:
        """Return what an error means: the same one, a better one, or None if the act was done all the same."""
        return error

    async def end(self) -> None:
        """Clean up what `before` began, however the act ended."""
