"""An act under way."""

import time
from dataclasses import dataclass, field

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect
from browse_together.contract.model import Json
from browser_service.host.calls import CallRun, Handler
from browser_service.host.handle.page import BrowserPage
from browser_service.host.tabs.observation import Observation
from browser_service.host.tabs.presses import Sent


@dataclass(eq=False)
class Act:
    """What a call or a part of one does on its page."""

    page: BrowserPage
    run: CallRun
    handler: Handler
    action: Action = field(init=False)
    observed: bool = field(init=False)
    """True if its effects are observed. A call that reads, or that only carries others, changes nothing by itself."""
    observation: Observation = field(default_factory=Observation)
    """What is observed of it, from its beginning to its reply; nothing of an act that is not observed."""
    result: Json = field(default_factory=dict)
    changed: bool = field(init=False)
    """True if it may have changed its page."""
    begun: bool = False
    """True once its handler runs: before, nothing has happened."""
    sends: Sent = field(default_factory=Sent)
    done: bool = False
    end_seen: bool = True
    """False if it had begun when its time was over, so that nobody knows whether it came to its end."""
    began_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        action = self.action = self.run.action
        self.observed = action.effect is Effect.ACTS and action.needs_open_page and not action.parts()
        self.changed = not action.asked_reply.trial
