"""The owner's rules for acts (policy.toml): which need a person's yes, which are refused, which are free."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from browse_together.contract.actions.traits import Effect
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.model import Json, first_fault
from browser_service.security.url_rules import UrlRules, url_rule
from browser_service.security.web_address import web_address

MOST_RULES: Final = 200
_ACTS: Final = (Effect.ACTS, Effect.DESTROYS)


def _known_action(name: str) -> str:
    if name not in ACTIONS:
        raise ValueError(f"there is no tool {name!r}")
    return name


def _known_url(text: str) -> str:
    url_rule(text)
    return text


Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,47}$")]


class WrongRules(ValueError):
    """The file cannot be read. The message names it, the rule and the right form."""


class Act(BaseModel):
    """What a call is about to do, as far as rules look at it."""

    action: str
    called: str = ""
    """Alias under which the action was called."""
    effect: Effect
    url: str
    loads: bool = False
    """Whether the act takes a page to an address that the agent chose; rules about goto then apply."""
    method: str = ""
    role: str = ""
    words: str = ""

    @property
    def names(self) -> set[str]:
        """Return the tool names by which rules can mean this act."""
        return {self.action, self.called, *(["goto"] if self.loads else [])}


class ActRule(BaseModel):
    """One rule. It covers acts that match all of its conditions; an empty condition matches anything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    decision: Literal["confirm", "refuse", "allow"] = "confirm"
    origins: tuple[Annotated[str, AfterValidator(_known_url)], ...] = ()
    actions: tuple[Annotated[str, AfterValidator(_known_action)], ...] = ()
    effects: tuple[Effect, ...] = _ACTS
    methods: tuple[Annotated[str, StringConstraints(pattern=r"^[A-Za-z]+$", to_upper=True)], ...] = ()
    text: tuple[Word, ...] = Field(default=(), description="Words of the element that is clicked, such as Pay.")
    roles: tuple[Word, ...] = ()

    @property
    def asks_element(self) -> bool:
        """Return whether the rule depends on the element that is acted on."""
        return bool(self.text or self.roles)

    @property
    def is_of_requests(self) -> bool:
        """Return whether the rule also covers requests that pages send by themselves: it names methods, but no tool and
        no element."""
        return bool(self.methods) and not self.actions and not self.asks_element

    @property
    def is_of_redirects(self) -> bool:
        """Return whether the rule also covers the addresses to which navigations are redirected."""
        return bool(self.origins) and not (self.methods or self.asks_element)

    def may_concern(self, act: Act) -> bool:
        """Return whether the rule covers the act, leaving the element aside."""
        return (
            act.effect in self.effects
            and (not self.actions or not act.names.isdisjoint(self.actions))
            and (not self.methods or act.method in self.methods)
            and (not self.origins or any(url_rule(each).matches(web_address(act.url)) for each in self.origins))
        )

    def concerns(self, act: Act) -> bool:
        if not self.may_concern(act):
            return False
        words = _plain(act.words)
        said = not self.text or any(re.search(rf"(?<!\w){re.escape(_plain(word))}(?!\w)", words) for word in self.text)
        return said and (not self.roles or act.role in self.roles)


class ActRules:
    """The rules in order. The first that covers an act decides."""

    def __init__(self, rules: Iterable[ActRule] = ()) -> None:
        self.rules = tuple(rules)

    def __bool__(self) -> bool:
        return bool(self.rules)

    @property
    def watches_requests(self) -> bool:
        """Return whether any rule covers requests that pages send by themselves."""
        return any(rule.is_of_requests for rule in self.rules)

    @property
    def request_patterns(self) -> list[Json]:
        """Return Chromium patterns that match every request which a rule may block, and some others. For rules about
        navigations these are documents, because redirects lead on to further addresses."""
        rules = [rule for rule in self.rules if rule.decision != "allow"]
        sends = _patterns(rule for rule in rules if rule.is_of_requests)
        loads: Json = {"resourceType": "Document"}
        return [*sends, *({**each, **loads} for each in _patterns(rule for rule in rules if rule.is_of_redirects))]

    def against_request(self, method: str, url: str) -> ActRule | None:
        """Return the rule that blocks a request by a page, or None."""
        sent = Act(action="", effect=Effect.ACTS, url=url, method=method)
        rule = next((rule for rule in self.rules if rule.is_of_requests and rule.may_concern(sent)), None)
        return rule if rule is not None and rule.decision != "allow" else None

    def asks_element(self, act: Act) -> bool:
        """Return whether a rule that depends on the element may decide about the act."""
        return any(rule.asks_element and rule.may_concern(act) for rule in self.rules)

    def deciding(self, act: Act) -> ActRule | None:
        """Return the rule that blocks the act or needs a person's yes, or None."""
        rule = next((rule for rule in self.rules if rule.concerns(act)), None)
        return rule if rule is not None and rule.decision != "allow" else None


def _patterns(rules: Iterable[ActRule]) -> list[Json]:
    """Return Chromium patterns for the rules' origins."""
    found = list(rules)
    if not all(rule.origins for rule in found):
        return [{"urlPattern": "*"}]
    denied = UrlRules(denied=tuple(url_rule(each) for rule in found for each in rule.origins))
    return [{"urlPattern": pattern} for pattern in denied.denied_patterns]


def read_rules(path: Path) -> ActRules:
    """Read the rules from a file; no file means no rules. Raises WrongRules."""
    try:
        return ActRules(_rules(tomllib.loads(path.read_text(encoding="utf-8"))))
    except FileNotFoundError:
        return ActRules()
    except tomllib.TOMLDecodeError as error:
        raise WrongRules(f"The rules for acts in {path} are no TOML: {error}.") from error
    except (OSError, ValueError) as error:
        raise WrongRules(f"The rules for acts in {path}: {error}") from error


def _rules(document: Mapping[str, object]) -> list[ActRule]:
    tables = document.get("rule", [])
    if {*document} - {"rule"} or not isinstance(tables, list) or len(tables) > MOST_RULES:
        raise ValueError(f"it has at most {MOST_RULES} rules, each of which begins with [[rule]], and nothing else.")
    rules = [_rule(number, table) for number, table in enumerate(tables, 1)]
    names = [rule.name for rule in rules]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two rules have the name {twice!r}.")
    return rules


def _rule(number: int, table: object) -> ActRule:
    """Read a rule. Raises ValueError that says which rule it is, which key is wrong, and why."""
    try:
        return ActRule.model_validate(table)
    except ValidationError as error:
        name = table.get("name") if isinstance(table, dict) else None
        key, why = first_fault(error)
        is_known = key.partition(".")[0] in ActRule.model_fields
        keys = "" if is_known else f" A rule has {', '.join(ActRule.model_fields)}."
        raise ValueError(f"rule {number}{f' ({name!r})' if name else ''}, {key or 'whole'}: {why}.{keys}") from None


def _plain(text: str) -> str:
    """Return a text in one case, without invisible characters, and with compatibility forms of letters replaced."""
    whole = unicodedata.normalize("NFKC", text)
    return " ".join("".join(sign for sign in whole if unicodedata.category(sign) != "Cf").casefold().split())
