"""Reads the owner's rules for acts (policy.toml): which a person confirms, which are refused, which are free."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from browser_service.security.url_rules import UrlRules, url_rule
from browser_service.security.web_address import web_address
from shared.actions.traits import Effect
from shared.catalogue import ACTIONS
from shared.model import Json

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
    """The file cannot be read; the message names it, the rule and the right form."""


class Act(BaseModel):
    """Says what a call is about to do: the facts that rules go by."""

    action: str
    called: str = ""
    """Is another name by which it was called."""
    effect: Effect
    url: str
    loads: bool = False
    """Says that it leads a page to an address that the agent gives, as goto does: a rule on goto is one on that."""
    method: str = ""
    role: str = ""
    words: str = ""

    @property
    def names(self) -> set[str]:
        """Return the names of tools by which rules mean it."""
        return {self.action, self.called, *(["goto"] if self.loads else [])}


class ActRule(BaseModel):
    """Is one rule: it holds for an act that has all of what it names. What it does not name may be anything."""

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
        """Say if the rule goes by what the element is."""
        return bool(self.text or self.roles)

    @property
    def is_of_requests(self) -> bool:
        """Say if the rule holds for requests that pages send by themselves too: no tool and no element decides."""
        return bool(self.methods) and not self.actions and not self.asks_element

    @property
    def is_of_redirects(self) -> bool:
        """Say if the rule holds for the addresses to which goto, or what is like it, is redirected."""
        return bool(self.origins) and not (self.methods or self.asks_element)

    def may_concern(self, act: Act) -> bool:
        """Say if the rule holds for the act, as far as its element does not decide."""
        return (
            act.effect in self.effects
            and (not self.actions or not act.names.isdisjoint(self.actions))
            and (not self.methods or act.method in self.methods)
            and (not self.origins or any(url_rule(each).matches(web_address(act.url)) for each in self.origins))
        )

    def concerns(self, act: Act) -> bool:
        """Say if the rule holds for the act."""
        if not self.may_concern(act):
            return False
        words = _plain(act.words)
        said = not self.text or any(re.search(rf"(?<!\w){re.escape(_plain(word))}(?!\w)", words) for word in self.text)
        return said and (not self.roles or act.role in self.roles)


class ActRules:
    """Holds the rules in their order: the first that holds for an act decides."""

    def __init__(self, rules: Iterable[ActRule] = ()) -> None:
        self.rules = tuple(rules)

    def __bool__(self) -> bool:
        return bool(self.rules)

    @property
    def watches_requests(self) -> bool:
        """Say if rules hold for what pages send by themselves."""
        return any(rule.is_of_requests for rule in self.rules)

    @property
    def request_patterns(self) -> list[Json]:
        """Return Chromium's patterns for all requests that a rule may keep pages from sending, and some others: of a
        rule on what leads a page to an address, the documents, because a redirect leads on."""
        rules = [rule for rule in self.rules if rule.decision != "allow"]
        sends = _patterns(rule for rule in rules if rule.is_of_requests)
        loads: Json = {"resourceType": "Document"}
        return [*sends, *({**each, **loads} for each in _patterns(rule for rule in rules if rule.is_of_redirects))]

    def against_request(self, method: str, url: str) -> ActRule | None:
        """Return the rule that keeps a request of a page from being sent; None if none does."""
        sent = Act(action="", effect=Effect.ACTS, url=url, method=method)
        rule = next((rule for rule in self.rules if rule.is_of_requests and rule.may_concern(sent)), None)
        return rule if rule is not None and rule.decision != "allow" else None

    def asks_element(self, act: Act) -> bool:
        """Say if it depends on the element which rule decides."""
        return any(rule.asks_element and rule.may_concern(act) for rule in self.rules)

    def deciding(self, act: Act) -> ActRule | None:
        """Return the rule that keeps the act from being done; None if none does."""
        rule = next((rule for rule in self.rules if rule.concerns(act)), None)
        return rule if rule is not None and rule.decision != "allow" else None


def _patterns(rules: Iterable[ActRule]) -> list[Json]:
    """Return Chromium's patterns for the origins of rules."""
    found = list(rules)
    if not all(rule.origins for rule in found):
        return [{"urlPattern": "*"}]
    denied = UrlRules(denied=tuple(url_rule(each) for rule in found for each in rule.origins))
    return [{"urlPattern": pattern} for pattern in denied.denied_patterns]


def read_rules(path: Path) -> ActRules:
    """Read the rules of a file; there are none without one. Raises WrongRules."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ActRules()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongRules(f"The rules for acts in {path} cannot be read: {error}.") from error
    try:
        rules = _rules(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise WrongRules(f"The rules for acts in {path} are no TOML: {error}.") from error
    except ValueError as error:
        raise WrongRules(f"The rules for acts in {path}: {_first_line(error)}") from error
    return ActRules(rules)


def _rules(document: Mapping[str, object]) -> list[ActRule]:
    tables = document.get("rule", [])
    if {*document} - {"rule"} or not isinstance(tables, list) or len(tables) > MOST_RULES:
        raise ValueError(f"it has at most {MOST_RULES} rules, each of which begins with [[rule]], and nothing else.")
    rules = [ActRule.model_validate(table) for table in tables]
    names = [rule.name for rule in rules]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two rules have the name {twice!r}.")
    return rules


def _first_line(error: ValueError) -> str:
    """Name the first key that is wrong, and why."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'a rule'}: {first['msg'].removeprefix('Value error, ')}."


def _plain(text: str) -> str:
    """Return a text as people read it: one case, no signs that are not seen, no other forms of the same letters."""
    whole = unicodedata.normalize("NFKC", text)
    return " ".join("".join(sign for sign in whole if unicodedata.category(sign) != "Cf").casefold().split())
