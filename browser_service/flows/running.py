"""Runs a flow: each step is a call of the same client, under all rules, and its effect is compared with what it was.

It is longer than 300 lines because a step is one story, from its selectors to its effect and the nearest elements.
"""

import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

from pydantic import JsonValue

from browse_together.contract import catalogue, flows
from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Scope
from browse_together.contract.cuts import shortened
from browse_together.contract.errors import (
    AmbiguousSelector,
    BrowseError,
    BrowserCrashed,
    Cancelled,
    ElementGone,
    ElementNotFound,
    ElementNotInteractable,
    FlowStopped,
    StaleRevision,
    StateNotFound,
    TimedOut,
    UnknownOutcome,
    ValidationFailed,
    field_details,
)
from browse_together.contract.flow_places import is_place
from browse_together.contract.flows import MAIN, Flow, Request, Step, selectors_of
from browse_together.contract.model import Json, weight
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import one_line, quoted
from browse_together.contract.similarity import nearest
from browser_service.flows.healing import ROLE, Meant
from browser_service.flows.sending import answers, effects, only_reads
from browser_service.rules.bounded import Bounded

_SHOWS_MS: Final = 5_000
_FIRST_MS: Final = 15_000
"""Longer than an agent's act may take: nobody waits to look what is wrong."""
_OTHERS_MS: Final = 1_000
_LOADS_MS: Final = 15_000
_AT_REST_S: Final = 0.1
"""A page that has loaded says so at once."""
_MISSING: Final = frozenset({ElementNotFound.code, ElementGone.code, StaleRevision.code})
_UNSURE: Final = frozenset({UnknownOutcome.code, TimedOut.code, BrowserCrashed.code})
_LOG: Final[Json] = {"action": "get_network_log", "format": "records", "limit": 500}
_ANY: Final = "html"
_NEAREST: Final = 5
_MOST_STOPPED: Final = 200
_MOST_BYTES: Final = 64_000_000
_KEPT_S: Final = 3_600.0
_MOST_OUTPUT: Final = 200_000
_SAID: Final = 300


class Seen(NamedTuple):
    """What a step's call replied: its result, and the page afterwards."""

    result: Json
    page_id: str
    url: str


Perform = Callable[[Json, str], Awaitable[Seen]]
"""Runs a call of the client; the text says which step of which flow it is. Raises the call's error."""
Check = Callable[[Action], None]
"""Raises if the client may not make a call."""


@dataclass(frozen=True)
class Ports:
    """What a run needs of the service."""

    perform: Perform
    check: Check
    check_page: Callable[[str], None]
    """Raises if another client has a page now."""
    check_going: Callable[[], None]
    """Raises if the run is to stop."""
    note: Callable[[str], Awaitable[None]]
    """Writes down how far a run has come with what it does to the site: BEGUN, ENDED."""


@dataclass(eq=False)
class Run:
    """A run of a flow: its position, values and results."""

    flow: Flow
    values: Json
    heal: bool = False
    at: int = 0
    """The number of steps that are done."""
    pages: dict[str, str] = field(default_factory=dict)
    windows: list[str] = field(default_factory=list)
    """The windows that opened, named by the flow or not."""
    outputs: Json = field(default_factory=dict)
    healed: list[str] = field(default_factory=list)
    missing: str = ""
    """The place in its step's arguments of the element that was not found, such as `fields.0.selector`."""
    passed: set[int] = field(default_factory=set)
    """The steps that are done; a mended run may skip some, or go back."""
    since: int = 0
    """The number of the last request that its first page had sent before."""
    expected: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many steps expect a request, by page and request."""
    sends: bool = False
    """True from the first step on that sends something to the site."""

    @property
    def page_id(self) -> str:
        return self.pages.get(MAIN, "")


class StoppedRuns:
    """The runs that stopped at a step, by client and flow, until they go on or an hour is over."""

    def __init__(self) -> None:
        self._runs = Bounded[tuple[str, str], Run](
            _MOST_STOPPED,
            weigh=lambda run: weight(run.values) + weight(run.outputs),
            most_weight=_MOST_BYTES,
            ttl_s=_KEPT_S,
        )

    def put(self, client_id: str, run: Run) -> None:
        self._runs[client_id, run.flow.name] = run

    def take(self, client_id: str, name: str) -> Run:
        """Return the client's run of a flow that stopped. Raises StateNotFound."""
        run = self._runs.pop((client_id, name), None)
        if run is None:
            raise StateNotFound(
                f"No run of yours of the flow {name!r} is waiting to go on.",
                hint=f"Run it: {next_call('run_flow', ..., name=name)}.",
                details=field_details("name"),
            )
        return run


def check(flow: Flow, values: Json, may: Check = lambda _: None) -> None:
    """Raise for a step that no client could do, or that this one may not, so that nothing is done of a flow that cannot
    end. The arguments of steps are checked for which there are all values."""
    for number, step in enumerate(flow.steps, 1):
        try:
            named = catalogue.NAMES.get(step.action)
            if named is None or named.action.scope is not Scope.PAGE:
                near = ", ".join(nearest(step.action, catalogue.NAMES, most=3))
                raise ValidationFailed(
                    f"{step.action!r} is no action on a page.",
                    hint=f"There are: {near}." if near else None,
                    details=field_details("action"),
                )
            if {*flows.placeholders(step.arguments)} - values.keys():
                continue
            choices = selectors_of(step.arguments)
            for number_of in range(max(map(len, choices.values()), default=1)):
                given = {
                    place: each[min(number_of, len(each) - 1)] if each else _ANY for place, each in choices.items()
                }
                body = cast("Json", flows.filled(replaced(step.arguments, given), values))
                may(catalogue.parse({"action": step.action, **body}))
        except BrowseError as error:
            error.message = f"Step {number} of flow {flow.name}: {error.message}"
            raise


def replaced(value: JsonValue, selectors: Mapping[str, JsonValue], path: str = "") -> JsonValue:
    """Return arguments with others in place of lists of selectors, by the place of the list."""
    if path in selectors:
        return selectors[path]
    within = f"{path}." if path else ""
    if isinstance(value, dict):
        return {name: replaced(each, selectors, f"{within}{name}") for name, each in value.items()}
    if isinstance(value, list):
        return [replaced(each, selectors, f"{within}{number}") for number, each in enumerate(value)]
    return value


def tried(selectors: list[str]) -> list[str]:
    """Return the selectors of an element that a run tries. A mere place in the document counts only if there is nothing
    else, because another element may be there by now; role and name alone only if they were enough before."""
    named = [each for each in selectors if not is_place(each)]
    return [each for each in named if each is named[0] or not ROLE.fullmatch(each)] or selectors


async def go(run: Run, given: Mapping[str, str], ports: Ports) -> None:
    """Take a run to its end, from the step where it is. `given` has elements of that step, by their place. Raises
    FlowStopped."""
    if run.page_id and not run.at:
        with suppress(BrowseError):  # the first step says what is wrong with the page
            log = await ports.perform({**_LOG, "pageId": run.page_id, "limit": 1}, f"flow {run.flow.name}")
            run.expected.clear()
            run.since = max((int(str(each["number"])) for each in _requests(log)), default=0)
    first_effect, last_effect = effects(run.flow.steps)
    for number, step in enumerate(run.flow.steps[run.at :], run.at + 1):
        try:
            ports.check_going()
        except Cancelled as error:
            error.message = f"Flow {run.flow.name} was cancelled before step {number}. {_left(run)}"
            raise
        if number >= first_effect and not run.sends:
            await ports.note(flows.BEGUN)
            run.sends = True
        await _StepRun(ports.perform, run, number, step).do(given)
        if number == last_effect and run.sends:
            await ports.note(flows.ENDED)
        run.passed.add(number)
        run.at, given = number, {}
    others = [page_id for name, page_id in run.pages.items() if name != MAIN]
    for page_id in dict.fromkeys([*run.windows, *others]):
        with suppress(BrowseError):  # most windows close by themselves
            await ports.perform({"action": "close_page", "pageId": page_id}, f"flow {run.flow.name}, its end")


class _StepRun:
    def __init__(self, perform: Perform, run: Run, number: int, step: Step) -> None:
        self._run, self._number, self._step = run, number, step
        self._via, self._call = f"flow {run.flow.name}, step {number}", perform
        self._choices = {place: tried(each) for place, each in selectors_of(step.arguments).items()}

    async def do(self, given: Mapping[str, str]) -> None:
        """Do the step, and compare its effect. Raises FlowStopped."""
        run, step = self._run, self._step
        run.missing = next((place for place, each in self._choices.items() if not (each or place in given)), "")
        if run.missing:
            raise self._stopped("nothing that lasts is known of its element", [])
        try:
            seen = await self._found_once_loaded(given)
        except BrowseError as error:
            seen = await self._healed(error)
        run.missing = ""
        opened = [str(each) for each in cast("list[JsonValue]", seen.result.get("popups") or [])]
        run.windows += opened
        run.pages |= {step.page: run.pages.get(step.page, seen.page_id), **dict(zip(step.opens, opened, strict=False))}
        if step.output:
            run.outputs[step.output] = _output(step, seen.result)
        if seen.result.get("suspended") and not any(map(answers, run.flow.steps[self._number : self._number + 1])):
            run.at = self._number
            raise self._stopped(str(seen.result["observed"]), [])
        if problem := await self._difference(seen):
            run.at = self._number
            run.passed.add(self._number)
            said = shortened(str(seen.result.get("observed", "")), _SAID)
            raise self._stopped(f"it was done, and {problem}{said and f' ({said})'}", [])

    async def _perform(self, body: Json) -> Seen:
        return await self._call(body, self._via)

    async def _found_once_loaded(self, given: Mapping[str, str]) -> Seen:
        """Make the call, and once more if the page was still loading when it did not have the element."""
        try:
            return await self._first_found(given)
        except BrowseError as error:
            if not (_is_not_yet_there(error) and await self._was_loading()):
                raise
        return await self._first_found(given)

    async def _first_found(self, given: Mapping[str, str]) -> Seen:
        """Make the call with the given selectors, and the first of the others that find their elements."""
        chosen: dict[str, int] = {}
        while True:
            selectors = {place: given.get(place) or each[chosen.get(place, 0)] for place, each in self._choices.items()}
            try:
                return await self._perform(self._body(selectors, again=bool(chosen)))
            except BrowseError as error:
                self._run.missing = place = self._place_missing(error, selectors)
                chosen[place] = chosen.get(place, 0) + 1
                if not place or place in given or chosen[place] == len(self._choices[place]):
                    raise

    def _body(self, selectors: Mapping[str, str], *, again: bool) -> Json:
        step = self._step
        body = cast("Json", flows.filled(replaced(step.arguments, selectors), self._run.values))
        if selectors and "timeout" not in body:
            body["timeout"] = _OTHERS_MS if again else _FIRST_MS
        if not (step.expect and step.expect.shows) or step.expect.url:
            body.setdefault("reply", "effects")
        return {"action": step.action, **body, **self._page()}

    def _place_missing(self, error: BrowseError, selectors: Mapping[str, str]) -> str:
        """Return the place of the element that a selector did not find; "" if that is not what is wrong."""
        if error.body().code not in _MISSING:
            return ""
        missing = error.details.get("selector")
        values = self._run.values
        found = (place for place, each in selectors.items() if flows.filled(each, values, "selector") == missing)
        return next(iter(selectors), "") if len(selectors) == 1 else next(found, "")

    def _page(self) -> Json:
        """Return the address of the step: its page, or a new one."""
        run, name = self._run, self._step.page
        if name in run.pages:
            return {"pageId": run.pages[name]}
        if self._step.action == "goto":
            return {}
        raise ValidationFailed(f"No step before this one opened {quoted(name)}.", details=field_details("page"))

    async def _difference(self, seen: Seen) -> str:
        """Say how the effect differs from what is expected; "" if it does not."""
        expect = self._step.expect
        page: Json = {"pageId": self._run.pages[self._step.page]}
        missing = [name for name in self._step.opens if name not in self._run.pages]
        if missing or expect is None:
            return f"it opened no {', no '.join(map(quoted, missing))}" if missing else ""
        sent = cast("list[Json]", seen.result.get("requests") or [])  # as acts report them
        files = cast("list[Json]", seen.result.get("downloads") or [])  # as acts report them
        for request in expect.requests:
            if not await self._is_sent(request, sent, page):
                return f"{_words(request)} was expected; it sent {_acts(sent)}"
        if missing_files := _without(expect.files, files):
            return missing_files
        if expect.url and not flows.fits(expect.url, seen.url):
            waiting: Json = {"action": "wait_for_url", "url": expect.url, "waitUntil": "commit", "timeout": _SHOWS_MS}
            if not await self._comes({**waiting, **page}):
                return f"it led to {shortened(seen.url, 200)} and not to {one_line(expect.url)}"
        for words in expect.shows:
            waiting = {"action": "wait_for_selector", "selector": flows.message(words), "timeout": _SHOWS_MS, **page}
            if not flows.says(str(seen.result.get("changes", "")), words) and not await self._comes(waiting):
                return f"the page does not show {words!r}"
        return ""

    async def _is_sent(self, request: Request, sent: list[Json], page: Json) -> bool:
        """Return whether a request was sent: by this step, earlier in the run and for no other step, or late, as by a
        page that waits until nobody types."""
        key = (self._step.page, request.model_dump_json())
        self._run.expected[key] += 1
        if any(_is(request, each) for each in sent):
            return True
        if any(request.matches_call(each.get("method"), urlsplit(str(each.get("url"))).path) for each in sent):
            return False  # it was answered otherwise
        status, since = f"{request.status // 100}xx", self._run.since if self._step.page == MAIN else 0
        with suppress(BrowseError):
            log = await self._perform({**_LOG, "method": request.method, "status": status, "since": since, **page})
            if sum(_is(request, each) for each in _requests(log)) >= self._run.expected[key]:
                return True
        named = f"{request.method} {request.path.replace('*', '**')}"
        return await self._comes({"action": "expect", "request": named, "status": status, "timeout": _SHOWS_MS, **page})

    async def _was_loading(self) -> bool:
        """Wait until the step's page has loaded. Returns whether it had not."""
        page_id, began = self._run.pages.get(self._step.page), time.monotonic()
        waiting: Json = {"action": "wait_for_load", "state": "networkidle", "timeout": _LOADS_MS}
        has_loaded = page_id is not None and await self._is_there({**waiting, "pageId": page_id})
        return has_loaded and time.monotonic() - began >= _AT_REST_S

    async def _comes(self, waiting: Json) -> bool:
        """Wait for an effect, and once more if the page was still loading when it did not come."""
        return await self._is_there(waiting) or (await self._was_loading() and await self._is_there(waiting))

    async def _is_there(self, waiting: Json) -> bool:
        try:
            await self._perform(waiting)
        except BrowseError:
            return False
        return True

    async def _healed(self, error: BrowseError) -> Seen:
        """Do the step with what its element has become, if the run may do that. Raises FlowStopped, with the elements
        that come nearest."""
        code = error.body().code
        meant = Meant(self._selectors, self._find)
        found = await meant.nearest() if code in _MISSING | {AmbiguousSelector.code} else []
        ref, why = "", ""
        if self._run.heal and len(self._choices) == 1 and code in _MISSING | {AmbiguousSelector.code}:
            ref, why = await meant.healed(found)
        if ref:
            try:
                seen = await self._first_found(dict.fromkeys(self._choices, ref))
            except BrowseError as failure:
                raise self._stopped(failure.message, found, failure) from None
            self._run.healed.append(f"step {self._number} {why}")
            return seen
        raise self._stopped(error.message, found, error) from None

    @property
    def _selectors(self) -> list[str]:
        """Return the selectors of the element that was not found, or of all."""
        places = selectors_of(self._step.arguments)
        return places.get(self._run.missing) or [each for selectors in places.values() for each in selectors]

    async def _find(self, query: Json) -> list[Json]:
        if not (page_id := self._run.pages.get(self._step.page)):
            return []
        seen = await self._perform({"action": "find", **query, "pageId": page_id})
        return cast("list[Json]", seen.result.get("matches") or [])  # as `find` gives them

    def _stopped(self, why: str, found: list[Json], error: BrowseError | None = None) -> FlowStopped:
        code = error.body().code if error else ""
        run, steps = self._run, self._run.flow.steps
        near = "; ".join(map(_shown, found[:_NEAREST]))
        text = f"Flow {run.flow.name} stopped at step {self._number} of {len(steps)}, {self.words}: {why}"
        left = _left(run)
        unsure = error and code in _UNSURE and not (only_reads(self._step) or _is_not_yet_there(error))
        if unsure:
            left = f"It is not known whether step {self._number} was done; look first. Those after it are not."
        text = " ".join([text.rstrip(".") + ".", *([f"Nearest: {near}."] if near else []), left])
        ref = found[0].get("ref") if len(found) == 1 else "..."  # of several, whoever looks knows which
        one: Json = {"selector": ref} if found and (run.missing or len(self._choices) == 1) else {}
        mend = next_call("mend_flow", name=run.flow.name, step=run.at + 1, **one)
        go_on = f"Go on: {mend}." if run.at < len(steps) else "It was the last step."
        if unsure:
            after = next_call("mend_flow", name=run.flow.name, step=self._number + 1)
            was = f" If it was, go on after it: {after}." if self._number < len(steps) else ""
            go_on = f"If it was not done: {mend}.{was}"
        page = f"Page {run.page_id} is as it is. " if run.page_id else ""
        context: Json = {"flow": run.flow.name, "step": self._number, "done": run.at, "code": code}
        context |= {"pageId": run.page_id, "candidates": [*found[:_NEAREST]], "outputs": run.outputs}
        context |= {"effectsBegun": run.sends, "onlyReadsLeft": all(map(only_reads, steps[self._number - 1 :]))}
        return FlowStopped(text, hint=f"{page}{go_on}", details={"context": context})

    @property
    def words(self) -> str:
        """Return the step's call in few words."""
        first = (next(iter(self._choices.values()), None) or [""])[0] or self._step.arguments.get("url", "")
        return f"{self._step.action} {one_line(str(first), 160)}".rstrip()


def _is_not_yet_there(error: BrowseError) -> bool:
    """Return whether nothing was done, for want of the element within the time."""
    code, context = error.body().code, error.details.get("context")
    known = context if isinstance(context, dict) else {}
    in_time = code == ElementNotInteractable.code and "timeout" in known
    return in_time or code in _MISSING or ("notBegun" in known and not known.get("filled"))


def _requests(log: Seen) -> list[Json]:
    return cast("list[Json]", log.result.get("requests") or [])  # as the log has them


def _left(run: Run) -> str:
    """Say which steps are done."""
    done = sorted(run.passed)
    if len(done) == len(run.flow.steps):
        return "No step is left."
    if done != [*range(1, len(done) + 1)]:
        return f"Done are steps {', '.join(map(str, done))}; the others are not."
    first = "Step 1 is" if len(done) == 1 else f"Steps 1 to {len(done)} are"
    return f"{first} done, the others are not." if done else "No step is done."


def _shown(found: Json) -> str:
    where = f" ({found['in']})" if found.get("in") else ""
    return f"{found.get('role')} {json.dumps(found.get('name'), ensure_ascii=False)} {found.get('ref')}{where}"


def _is(request: Request, sent: Json) -> bool:
    return request.matches(sent.get("method"), urlsplit(str(sent.get("url"))).path, sent.get("status"))


def _words(request: Request) -> str:
    return one_line(f"{request.method} {request.path} {request.status}")


def _acts(sent: list[Json]) -> str:
    told = [
        f"{each.get('method')} {urlsplit(str(each.get('url'))).path} {each.get('status') or 'no answer'}"
        for each in sent
    ]
    return shortened("; ".join(each for each in told if not each.startswith("GET ")) or "nothing", 200)


def _without(expected: list[str], files: list[Json]) -> str:
    """Say that files did not come, of which a step began the given ones; "" if as many came as are expected."""
    came = [each for each in files if each.get("state") in {"running", "finished"}]
    if len(came) >= len(expected):
        return ""
    failed = "; ".join(one_line(f"{each.get('name')}: {each.get('reason')}") for each in files if each not in came)
    names = ", ".join(map(quoted, expected))
    return f"it downloaded {len(came) or 'no file'} of {names}{failed and f' ({failed})'}"


def _output(step: Step, result: Json) -> JsonValue:
    """Return what a step has read, cut to what a reply can have."""
    kind = catalogue.NAMES[step.action].action
    value: JsonValue = result.get("matches", result.get("gave" if kind.calls_page_tool else kind.text_key, result))
    return value if len(json.dumps(value)) <= _MOST_OUTPUT else shortened(json.dumps(value), _MOST_OUTPUT)
