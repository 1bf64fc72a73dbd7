"""Says of a flow's steps what they do to the site."""

from shared import catalogue
from shared.actions.traits import Effect
from shared.flows import Step


def effects(steps: list[Step]) -> tuple[int, int]:
    """Return the numbers of the first and last step that may send to the site what it must not get twice. It did when
    it was taught, or asked in a dialog and did so then; if none did, as where a page sends all on a websocket, each act
    may that led nowhere."""
    acts = (each for each in enumerate(steps, 1) if not (only_reads(each[1]) or each[1].action == "goto"))
    sending = [each for each in enumerate(steps, 1) if each[1].expect and each[1].expect.requests]
    sending = sending or [each for each in acts if not (each[1].expect and each[1].expect.url)]
    counting = [number for number, step in sending if not step.repeatable] or [len(steps) + 1]
    first = counting[0]
    while 1 < first <= len(steps) and answers(steps[first - 1]):
        first -= 1
    return first, counting[-1]


def only_reads(step: Step) -> bool:
    return catalogue.NAMES[step.action].action.effect is Effect.READS


def answers(step: Step) -> bool:
    return catalogue.NAMES[step.action].action.answers_dialog
