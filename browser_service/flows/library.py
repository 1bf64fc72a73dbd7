"""Saves, lists and runs flows for clients."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Final, cast

from pydantic import JsonValue

from browse_together.contract.actions.activity import GetActivity
from browse_together.contract.actions.flows import ListFlows, MendFlow, RunFlow, SaveFlow
from browse_together.contract.calls import ActivityRecord
from browse_together.contract.errors import (
    BrowseError,
    Cancelled,
    FlowStopped,
    Forbidden,
    ValidationFailed,
    field_details,
)
from browse_together.contract.flow_places import is_place
from browse_together.contract.flows import MAIN, VERSION, Flow, Step, parse, selectors_of
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import one_line, quoted
from browse_together.contract.timestamps import iso
from browser_service.flows import saving
from browser_service.flows.files import FlowFiles, written
from browser_service.flows.running import Check, Ports, Run, StoppedRuns, check, go, replaced
from browser_service.observability.activity import Activity
from browser_service.observability.search import row_filter
from browser_service.security.auth import Identity

_MOST_RECORDS: Final = 1_000
_MOST_PAGES: Final = 20


@dataclass(eq=False)
class FlowLibrary:
    files: FlowFiles
    activity: Activity
    stopped: StoppedRuns = field(default_factory=StoppedRuns)

    async def save(self, caller: Identity, asked: SaveFlow) -> Json:
        """Make a flow of a stretch of the record, and write it. Raises ValidationFailed and Forbidden."""
        if caller.operator and not (asked.page_id or asked.calls):
            raise ValidationFailed("Say what was done where: pageId, or calls.", details=field_details("pageId"))
        if not asked.replace and self.files.path(asked.flow).exists():
            raise ValidationFailed(
                f"There is a flow {asked.flow!r} already.",
                hint="Take another name, or overwrite it if it is yours: "
                f"{next_call('save_flow', ..., name=asked.flow, replace=True)}.",
                details=field_details("name"),
            )
        records = await self._records(caller, asked)
        made = await asyncio.to_thread(saving.draft, records)
        if records[0].time < (since := iso(self.activity.reads_since)):
            made.left_out.append(f"what was read before {since}, because reads from before are not remembered")
        if unknown := asked.values.keys() - made.parameters.keys():
            raise ValidationFailed(
                f"values.{min(unknown)}: no step has such a parameter.",
                hint=f"They are: {', '.join(made.parameters) or 'none'}.",
                details=field_details(f"values.{min(unknown)}"),
            )
        for name, value in cast("Json", asked.wire_body().get("values", {})).items():
            made.parameters[name].default = value  # type: ignore[assignment] # validated below
        data = {
            "version": VERSION,
            "name": asked.flow,
            "description": asked.about,
            "owner": "" if caller.operator else caller.client_id,
            "saved_by": caller.label,
            "parameters": {name: each.model_dump() for name, each in made.parameters.items()},
            "steps": [each.model_dump() for each in made.steps],
        }
        flow = parse(data, f"flow {asked.flow}")
        path = await asyncio.to_thread(self.files.write, flow, caller)
        return _saved(flow, str(path), made.left_out)

    async def _records(self, caller: Identity, asked: SaveFlow) -> list[ActivityRecord]:
        """Return the records of the stretch, oldest first: of a page also those of the windows that it opened."""
        query: Json = {"since": asked.since}
        query |= {"until": asked.until} if asked.until else {}
        query |= {} if caller.operator else {"client": "me"}
        now, pages, records = datetime.now().astimezone(), [asked.page_id], list[ActivityRecord]()
        for page_id in pages:
            of_page: Json = {"pageId": page_id} if page_id else {}
            search = row_filter(GetActivity.model_validate({**query, **of_page}), caller.client_id, now)
            found = await self.activity.stretch(search, caller.client_id, _MOST_RECORDS, all_rows=caller.operator)
            records += [each for each in found if not each.via]
            popups = {popup for each in found for popup in each.popups or [] if page_id} - {*pages}
            if len(pages) + len(popups) > _MOST_PAGES:
                raise ValidationFailed(
                    f"{asked.page_id} opened more than {_MOST_PAGES - 1} windows in that stretch.",
                    hint="Save a shorter one.",
                    details=field_details("since"),
                )
            pages += sorted(popups)
        records.sort(key=attrgetter("id"))
        if asked.calls is None:
            return records
        kept = [each for each in records if each.call_id in asked.calls]
        if missing := {*asked.calls} - {each.call_id for each in kept}:
            raise ValidationFailed(
                f"calls: {min(missing)} is no call of yours since {asked.since} that is recorded.",
                hint=f"See them: {next_call('get_activity', client='me', format='records')}.",
                details=field_details("calls"),
            )
        return kept

    async def _read(self, name: str) -> Flow:
        return await asyncio.to_thread(self.files.load, name)

    async def listed(self, caller: Identity, asked: ListFlows, may: Check) -> Json:
        """Describe the flows that a caller's token allows, or give one's file. Raises Forbidden for another's."""
        allowed = partial(_check_each, may=may) if caller.limits.narrow else None
        if asked.flow is not None:
            flow = await self._read(asked.flow)
            if allowed:
                await asyncio.to_thread(allowed, flow)
            return {"flows": written(flow)}
        found, others = await asyncio.to_thread(self._described, allowed)
        lines = [*map(_line, found), *([f"{others} more are beyond what your token allows."] if others else [])]
        if not lines:
            return {"flows": f"No flow is saved yet: {next_call('save_flow', name='...')}.", "list": []}
        return {"flows": "\n".join(lines), "list": [*found]}

    def _described(self, allowed: Callable[[Flow], None] | None) -> tuple[list[Json], int]:
        """Describe the flows that are allowed. Return also how many are not."""
        found = self.files.described()
        kept = found if allowed is None else [each for each in found if self.files.allows(str(each["name"]), allowed)]
        return kept, len(found) - len(kept)

    async def run(self, caller: Identity, asked: RunFlow, ports: Ports) -> Json:
        """Run a flow from its beginning. Whatever can be refused is, before the first act."""
        flow = await self._read(asked.flow)
        run = Run(flow, flow.values_for(cast("Json", asked.wire_body().get("values", {}))), heal=asked.heal)
        await asyncio.to_thread(check, flow, run.values, ports.check)  # a long one takes a second
        if asked.page_id:
            run.pages[MAIN] = asked.page_id
        if asked.dry_run:
            if asked.page_id:
                ports.check_page(asked.page_id)
            steps = "; ".join(f"{number} {_step(step)}" for number, step in enumerate(flow.steps, 1))
            return {"observed": f"flow {flow.name} could begin; nothing was done: {steps}"}
        return await self._go(caller, run, ports, {})

    async def mend(self, caller: Identity, asked: MendFlow, ports: Ports) -> Json:
        """Go on with a run that stopped, and keep the given element in the flow. Raises StateNotFound, FlowStopped."""
        run = self.stopped.take(caller.client_id, asked.flow)
        at, number = run.at, asked.step or run.at + 1
        try:
            place = _mended(run, number, asked.selector)
        except ValidationFailed:
            self.stopped.put(caller.client_id, run)
            raise
        given = {place: asked.selector} if asked.selector else {}
        run.at = number - 1
        try:
            result = await self._go(caller, run, ports, given)
        except FlowStopped as error:
            if run.at >= number and given:
                error.message += f" {await self._keep(caller, run, number, given)}"
            raise
        if given:
            result["observed"] = f"{result['observed']}; {await self._keep(caller, run, number, given)}"
        skipped = number - 1 - at
        return result | ({"skipped": skipped} if skipped > 0 else {})

    async def _go(self, caller: Identity, run: Run, ports: Ports, given: Mapping[str, str]) -> Json:
        began = time.monotonic()
        try:
            await go(run, given, ports)
        except (FlowStopped, Cancelled):
            self.stopped.put(caller.client_id, run)
            raise
        seconds, healed = time.monotonic() - began, [f"healed: {each}" for each in run.healed]
        done = f"flow {run.flow.name} is done: {len(run.flow.steps)} steps in {seconds:.1f} s, on {run.page_id}"
        outputs: Json = {"outputs": run.outputs} if run.outputs else {}
        return {"observed": "; ".join([done, *healed]), "pageId": run.page_id, **outputs}

    async def _keep(self, caller: Identity, run: Run, number: int, mended: Mapping[str, str]) -> str:
        """Put a mended step's element into the flow's file, as the record has it. Says what became of it."""
        ((place, given),) = mended.items()
        search = row_filter(GetActivity(), caller.client_id, datetime.now().astimezone())
        via = f"flow {run.flow.name}, step {number}"
        records = await self.activity.stretch(search, caller.client_id, _MOST_RECORDS)
        found = [each.targets.get(given) for each in records if each.via == via and each.targets]
        again = next(filter(None, reversed(found)), None)
        if not again:
            return f"step {number} of the file stays as it was: nothing that lasts is known of {given}"
        try:
            flow = await self._read(run.flow.name)
        except BrowseError as error:
            return f"the file is not mended: {error.message}"
        if flow.steps[number - 1 : number] != [run.flow.steps[number - 1]]:
            return f"step {number} of the file stays as it was: it was changed meanwhile"
        step = flow.steps[number - 1]
        step.arguments.update(
            cast("Json", replaced(step.arguments, {place: [*sorted(dict.fromkeys(again), key=is_place)]}))
        )
        try:
            await asyncio.to_thread(self.files.write, flow, caller)
        except Forbidden as error:
            way = f"browse-together flow edit {flow.name}"
            return f"the file is not mended: {error.message} The account's person may put {again[0]} there: {way}"
        run.flow.steps[number - 1] = step
        return f"step {number} of the file is mended: {again[0]}"


def _mended(run: Run, number: int, selector: str | None) -> str:
    """Return the place of the element that the selector mends; "" without one. Raises ValidationFailed."""
    flow = run.flow
    if number > len(flow.steps):
        raise ValidationFailed(f"The flow {flow.name} has {len(flow.steps)} steps.", details=field_details("step"))
    if selector is None:
        return ""
    places = [*selectors_of(flow.steps[number - 1].arguments)]
    if number == run.at + 1 and run.missing in places:
        return run.missing
    if len(places) != 1:
        after = next_call("mend_flow", name=flow.name, step=number + 1)
        raise ValidationFailed(
            f"Step {number} names {len(places) or 'no'} elements, so that one selector does not mend it.",
            hint=f"Do it yourself{f', then go on: {after}' if number < len(flow.steps) else ': it is the last'}.",
            details=field_details("selector"),
        )
    return places[0]


def _check_each(flow: Flow, *, may: Check) -> None:
    """Raise Forbidden for a flow with a step that a caller may not do, whatever values a run is given."""
    values = {name: cast("JsonValue", each.default or "-") for name, each in flow.parameters.items()}
    for step in flow.steps:
        try:
            check(flow.model_copy(update={"steps": [step]}), values, may)
        except Forbidden:
            raise
        except BrowseError:
            continue  # a run says what is wrong with it


def _saved(flow: Flow, path: str, left_out: list[str]) -> Json:
    outputs = [_named(step.output) for step in flow.steps if step.output]
    parts = [
        f"flow {flow.name} is saved: {len(flow.steps)} steps, in {path}",
        f"parameters: {', '.join(flow.parameters)}" if flow.parameters else "",
        f"outputs: {', '.join(outputs)}" if outputs else "",
        f"left out: {'; '.join(dict.fromkeys(left_out))}" if left_out else "",
    ]
    values = dict.fromkeys(flow.parameters, "...")
    run = next_call("run_flow", name=flow.name, **({"values": values} if values else {}))
    observed = "; ".join([*filter(None, parts), f"again: {run}"])
    return {"observed": observed, "path": path, "parameters": [*flow.parameters], "steps": len(flow.steps)}


def _line(flow: Json) -> str:
    if problem := flow.get("problem"):
        return f"- {one_line(str(flow['name']))}: cannot be run: {one_line(str(problem))}"
    needs, outputs = (", ".join(map(_named, cast("list[str]", flow[key]))) for key in ("needs", "outputs"))
    by = f"by {quoted(str(flow['savedBy']))}" if flow["savedBy"] else ""
    about = quoted(str(flow["description"])) if flow["description"] else ""
    notes = [f"needs {needs}" if needs else "", f"gives {outputs}" if outputs else "", by, about]
    return f"- {flow['name']} ({flow['steps']} steps): {'; '.join(filter(None, notes))}".removesuffix(": ")


def _named(word: str) -> str:
    """Return a name in a flow: quoted, unless it is one word."""
    return word if word.isidentifier() else quoted(word)


def _step(step: Step) -> str:
    first = next((str(each[0]) for each in step.arguments.values() if isinstance(each, list) and each), "")
    return f"{step.action} {one_line(str(first or step.arguments.get('url', '')))}".strip()
