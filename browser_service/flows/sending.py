"""Says of a flow's steps what they do to the site."""

from browse_together.contract import catalogue
from browse_together.contract.actions.traits import Effect
from browse_together.contract.flows import Step


def effects(steps: list[Step]) -> tuple[int, int]:
    """Return the numbers of the first and last step that may send to the site what it must not get twice; beyond the
    steps if none may. The first did so when it was taught, or asked in a dialog and did so then; if none did, as where
    a page sends all on a websocket, each act may that led nowhere. For the last, such acts count in any case: only what
    is surely over is said to be."""
    counting = [(number, step) for number, step in enumerate(steps, 1) if not step.repeatable]
    sending = [number for number, step in counting if step.expect and step.expect.requests]
    acts = ((number, step) for number, step in counting if not (only_reads(step) or step.action == "goto"))
    silent = [number for number, step in acts if not (step.expect and step.expect.url)]
    ever = any(step.expect and step.expect.requests for step in steps)
    first = next(iter(sending if ever else silent), len(steps) + 1)
    while 1 < first <= len(steps) and answers(steps[first - 1]):
        first -= 1
    return first, max([first, *sending, *silent])


def only_reads(step: Step) -> bool:
    return catalogue.NAMES[step.action].action.effect is Effect.READS


def answers(step: Step) -> bool:
    return catalogue.NAMES[step.action].action.answers_dialog
