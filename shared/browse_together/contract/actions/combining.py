"""Several actions in one call."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator, model_validator

from browse_together.contract.actions.arguments import LONG_TEXT, Part, SecretRef, Selector, Several
from browse_together.contract.actions.base import (
    MOST_PARTS,
    Action,
    Carried,
    PageAct,
    PageAction,
    from_parts,
    strongest_effect,
)
from browse_together.contract.actions.traits import Aim, Batching, Effect, Unaddressed, computed


def _batching(action: "Batch") -> Batching:
    separate = needs_separate_calls(action.steps, action.page_id, action.session_id)
    return Batching.SEPARATE_CALLS if separate else Batching.ONE_TURN


def is_separate_call(action: type[Action] | Action) -> bool:
    """Return whether an action cannot run in the turn of another one: it is for another page, or for its page's owner,
    or ends what that turn waits for."""
    is_elsewhere = action.unaddressed in {Unaddressed.ANOTHER_PAGE, Unaddressed.OWN_PAGE}
    return is_elsewhere or bool(action.claim) or action.answers_dialog


class Batch(PageAction):
    """Do several actions in one call; it stops at the first that fails.

    On one page, in one turn. Cheaper than single calls if you need not look in between. A failure tells what was
    done before it."""

    effect = from_parts(Effect.DESTROYS, strongest_effect)
    part_fields = ("steps",)
    batching = computed(Batching.ONE_TURN, _batching)
    text_key = "steps"

    steps: Annotated[
        list[Carried],
        Field(
            strict=True,
            min_length=1,
            max_length=MOST_PARTS,
            description='Each {"action": "click", "selector": "#buy"}: any tool but batch and request_human.',
        ),
    ]
    timeout: int = Field(default=60_000, ge=1, le=120_000, description="Milliseconds for all steps together.")

    @field_validator("steps")
    @classmethod
    def _reply_as_asked(cls, steps: list[Action], info: ValidationInfo) -> list[Action]:
        """Give its own `reply` to the steps without one; `full` to the last act, for one snapshot at the end."""
        reply = info.data.get("reply")
        acts = [number for number, step in enumerate(steps) if step.effect is not Effect.READS]
        asked = {"none": acts, "effects": acts, "full": acts[-1:]}.get(str(reply), [])
        return [
            step.model_copy(update={"reply": reply})
            if number in asked and isinstance(step, PageAction) and "reply" not in step.model_fields_set
            else step
            for number, step in enumerate(steps)
        ]

    @model_validator(mode="after")
    def _expects_of_one_page(self) -> "Batch":
        if self.batching is Batching.SEPARATE_CALLS and (self.if_revision is not None or self.expect_url is not None):
            raise ValueError("its steps are not all of one page: give ifRevision and expectUrl with their step")
        return self


def needs_separate_calls(steps: Iterable[Action], page_id: str | None, session_id: str | None) -> bool:
    """Return whether the actions are of several pages, or one of them cannot run in the turn of another call."""
    pages, sessions = {page_id}, {session_id}
    for step in steps:
        if not isinstance(step, PageAction) or is_separate_call(step) or step.parts():
            return True
        if step.session_id is not None and step.page_id is None and step.for_session() is not None:
            return True
        pages.add(step.page_id)
        sessions.add(step.session_id)
    return len(pages - {None}) > 1 or len(sessions - {None}) > 1


Value = Annotated[str, Field(max_length=LONG_TEXT)]


class FormField(Part):
    selector: Selector = Field(description="Ref, CSS, role=... or //xpath; of radio buttons, all of the group.")
    value: Value | bool | int | float | Several[str] | SecretRef = Field(
        description='Text, {"secret": NAME}; true or false for a checkbox; an option\'s value or label, or a list.'
    )


class FillForm(PageAct):
    """Fill many fields at once: also checkboxes, selects, sliders and tags.

    The kind of each field is detected. The reply names fields that hold something else than you gave."""

    everyday = ("submit",)
    loggable_arguments = frozenset({"submit"})

    fields: Annotated[
        list[FormField],
        Field(min_length=1, max_length=100, description='Value: text, {"secret": NAME}, true or false, or a list.'),
    ]
    submit: Selector | None = Field(default=None, description="Button to click then.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe to look in.")
    timeout: int = Field(default=30_000, ge=1, le=120_000, description="Milliseconds for all of it.")

    @property
    def given_texts(self) -> tuple[str, ...]:
        values = (each.value for each in self.fields)
        return tuple("" if isinstance(value, bool) else str(value) for value in values)

    @property
    def aim(self) -> Aim:
        return super().aim._replace(
            fields=(*(each.selector for each in self.fields), *((self.submit,) if self.submit else ()))
        )


class Refill(PageAct):
    """Refill what you had filled in but not sent when the page was lost.

    As the notice offers. Secrets are not kept; the reply names them, so that you can give them again."""

    timeout: int = Field(default=30_000, ge=1, le=120_000, description="Milliseconds for all of it.")
