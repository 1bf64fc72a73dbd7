"""Flows: what was done once becomes a file, and is done again without a model."""

from typing import Annotated

from pydantic import Field

from browse_together.contract.actions.arguments import MOST_TEXT, CallId, PageId, SecretRef, Selector, Several
from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect, Lane
from browse_together.contract.flows import MOST_PARAMETERS, MOST_STEPS, FlowName

_Text = Annotated[str, Field(max_length=MOST_TEXT)]
Value = _Text | bool | int | float | Several[_Text] | SecretRef
Values = Annotated[
    dict[str, Value],
    Field(max_length=MOST_PARAMETERS, description='By parameter: text, number, true or false, {"secret": NAME}.'),
]
Name = Annotated[FlowName, Field(alias="name", description="Lower case, such as send-invoice.")]


class SaveFlow(Action):
    """Save what you did as a flow, which runs again without a model.

    From the record of your calls: failed tries, looks and dead ends are left out, what you typed becomes parameters,
    what you extracted an output, and what each step caused is checked at each run."""

    everyday = ("since", "pageId", "description")
    effect = Effect.ACTS
    lane = Lane.BESIDE
    text_key = "observed"
    loggable_arguments = frozenset({"name"})

    flow: Name
    about: str = Field(default="", alias="description", max_length=2_000, description="What it is for.")
    since: str = Field(default="30m", description="From when on: how long ago (10m, 2h) or an ISO time.")
    until: str | None = Field(default=None, description="Up to when: likewise.")
    calls: list[CallId] | None = Field(default=None, max_length=MOST_STEPS, description="Only these callIds.")
    page_id: PageId | None = Field(default=None, description="Only what was done on this page.")
    values: Values = Field(default={}, description="Defaults of parameters, by name; see the reply of a first save.")
    replace: bool = Field(default=False, description="Overwrite your flow of this name.")


class RunFlow(Action):
    """Run a saved flow. It stops at the step where the page differs, and says what is nearest.

    Without pageId on a page of its own, which stays open. `list_flows` names the values that it needs."""

    everyday = ("values", "pageId")
    id_fields = ("page_id",)
    effect = Effect.ACTS
    lane = Lane.BESIDE
    lasts = True
    text_key = "observed"
    loggable_arguments = frozenset({"name"})

    flow: Name
    values: Values = Field(default={})
    page_id: PageId | None = Field(default=None, description="A page of yours to do it on.")
    heal: bool = Field(
        default=False,
        description="If an element is not found, take the only one of its role and name, or one in its place that was "
        "renamed.",
    )
    dry_run: bool = Field(default=False, description="Only check that it could begin, and list its steps.")


class MendFlow(Action):
    """Go on with your flow that stopped at a step, with another element for that step.

    The element is kept in the flow, if it is yours and the step succeeds."""

    everyday = ("step", "selector")
    effect = Effect.ACTS
    lane = Lane.BESIDE
    text_key = "observed"
    loggable_arguments = frozenset({"name"})

    flow: Name
    step: int | None = Field(
        default=None, ge=1, le=MOST_STEPS, description="Where to go on; by default where it stopped."
    )
    selector: Selector | None = Field(default=None, description="The step's element now: ref, CSS or role=...")


class ListFlows(Action):
    """List the saved flows and the values that they need; with a name, that flow's file."""

    lane = Lane.BESIDE
    text_key = "flows"

    flow: FlowName | None = Field(default=None, alias="name", description="Show this one's file.")
