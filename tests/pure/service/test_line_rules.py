"""Tests the rules of lines and turns, in whatever order things happen: who is served next, and that everybody's
position is right."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from browse_together.contract.calls import Call
from browse_together.contract.errors import Cancelled
from browse_together.contract.events import CallMoved
from browser_service.rules.turns import Line, PageQueue, Ticket, Turn

CLIENTS = st.sampled_from("abcd")
SEQS = st.integers(0, 20)


class SomeLine(RuleBasedStateMachine):
    """A line where clients come, go and are served. Each believes the position that it was told last."""

    @initialize()
    def begin(self) -> None:
        self.line = Line[Ticket](self.told, lambda: "others")
        self.positions: dict[str, int] = {}
        self.count = 0

    def told(self, moved: CallMoved) -> None:
        assert self.positions.get(moved.call_id) != moved.position, "told what it knew"
        self.positions[moved.call_id] = moved.position

    @rule(client=CLIENTS, seq=SEQS)
    def join(self, client: str, seq: int) -> None:
        self.count += 1
        self.line.join(Ticket(f"{client}{self.count}", client, seq=seq))

    @rule(which=st.integers(0, 9))
    def leave(self, which: int) -> None:
        if which < len(self.line):
            place = [*self.line][which]
            assert self.line.leave(place)
            assert not self.line.leave(place)
            self.positions.pop(place.call_id, None)

    @rule()
    def serve(self) -> None:
        if place := self.line.first():
            assert place.seq == min(other.seq for other in self.line), "not the earliest call"
            self.line.serve(place)
            assert place.granted
            self.positions.pop(place.call_id, None)

    @invariant()
    def all_know_where_they_stand(self) -> None:
        self.line.tell()
        assert self.positions == {place.call_id: n for n, place in enumerate(self.line, 1)}


TestLine: Any = SomeLine.TestCase  # Any: hypothesis makes the class
TestLine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@given(st.lists(SEQS, max_size=12), st.sets(st.integers(0, 11)))
def test_a_page_has_one_turn_at_a_time_in_the_fronts_order_whoever_is_cancelled(
    seqs: list[int], cancelled: set[int]
) -> None:
    queue = PageQueue(lambda _: None)
    turns = [queue.enter(_call(number, seq), "goto") for number, seq in enumerate(seqs)]
    assert [turn.granted for turn in turns] == [number == 0 for number in range(len(turns))]
    gone = {number for number in cancelled if queue.cancel(f"call-{number}")}
    assert gone == {number for number in cancelled if 0 < number < len(turns)}
    served: list[Turn] = []
    while queue.current is not None:
        served.append(queue.current)
        queue.leave(queue.current)
    assert served[1:] == sorted((t for n, t in enumerate(turns) if n and n not in gone), key=lambda turn: turn.call.seq)
    assert all(isinstance(turns[number].refusal, Cancelled) and not turns[number].granted for number in gone)
    assert not queue.busy


def _call(number: int, seq: int) -> Call:
    return Call(call_id=f"call-{number}", seq=seq, client_id="c", body={"action": "goto"})
