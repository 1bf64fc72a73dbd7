"""The settings of a page that calls made (routes, headers, init scripts, emulation), for each new tab of it."""

import json

from typing_extensions import TypedDict

from browse_together.contract.model import Json
from browser_service.host.network.routes import PageNetwork, Rule, RuleJson
from browser_service.host.network.traffic import Traffic
from browser_service.host.record.emulation import Emulated, Emulation
from browser_service.host.record.init_scripts import InitScripts
from browser_service.host.record.record import PageRecord
from browser_service.host.tabs.tab import Tab

_SHOWN = 200


class SettingsJson(TypedDict):
    rules: list[RuleJson]
    headers: dict[str, str]
    init_scripts: dict[str, str]
    emulation: Emulated


class PageSettings:
    """The settings that a client made for a page while holding it. They end when the page passes to another client."""

    def __init__(self, record: PageRecord) -> None:
        self._record = record
        self.network = PageNetwork(Traffic(self), record)
        self.emulation = Emulation(record)
        self.init_scripts = InitScripts(record)

    @property
    def traffic_owner(self) -> str:
        """Return whose the traffic is. It is nobody's while a person has the page, or while another client's settings
        are sent along, because neither is for an agent."""
        return "" if self._record.person is not None or self.network.foreign else self._record.holder_id

    @property
    def traffic_private_to(self) -> str:
        return self._record.holder_id if self._record.private else ""

    async def attach(self, tab: Tab, *, came_by_itself: bool) -> None:
        """Apply the settings to a new tab."""
        await self.init_scripts.attach(tab.page)
        await self.emulation.attach(tab)
        self.network.offline = self.emulation.offline
        await self.network.attach(tab.page, tab.events, came_by_itself=came_by_itself)

    def inherit(self, opener: "PageSettings") -> None:
        self.network.inherit(opener.network)
        self.emulation.inherit(opener.emulation)
        self.init_scripts.inherit(opener.init_scripts)

    @property
    def foreign(self) -> bool:
        """True if a client other than the present holder made some of them."""
        return self.network.foreign or self.emulation.foreign or self.init_scripts.foreign

    def set_owner(self, client_id: str) -> None:
        self.network.owner = self.emulation.owner = self.init_scripts.owner = client_id

    async def clear(self, tab: Tab) -> None:
        await self.init_scripts.remove(None)
        await self.network.clear(tab.page)
        await self.emulation.clear(tab)
        await self.network.set_offline(tab.page, offline=False)

    def summaries(self) -> list[str]:
        """Describe each setting in words."""
        routes = len(self.network.rules)
        return [
            *([f"{routes} route{'s' * (routes > 1)}"] if routes else []),
            *([f"headers {', '.join(self.network.headers)}"] if self.network.headers else []),
            *([f"init scripts {', '.join(self.init_scripts.texts)}"] if self.init_scripts.texts else []),
            *([f"emulation {json.dumps(self.emulation.describe())[:_SHOWN]}"] if self.emulation.settings else []),
        ]

    def to_json(self) -> Json:
        """Return the settings, for `restore`."""
        return {
            "rules": [rule.to_json() for rule in self.network.rules],
            "headers": {**self.network.headers},
            "init_scripts": {**self.init_scripts.texts},
            "emulation": {**self.emulation.settings},
        }

    def restore(self, state: SettingsJson, owner: str) -> None:
        """Set what `to_json` returned, as settings of the client `owner`. Raises ValidationFailed for a pattern that is
        none, and then sets nothing."""
        rules = [Rule.from_json(rule) for rule in state["rules"]]
        self.set_owner(owner)
        self.network.rules, self.network.headers = rules, state["headers"]
        self.emulation.settings = {**state["emulation"]}
        self.init_scripts.texts = state["init_scripts"]
