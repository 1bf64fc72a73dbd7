"""Tests the stages around an act: in which order they have their turns, and what they make of a failure."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from browse_together.contract import catalogue
from browse_together.contract.errors import ElementNotFound, ValidationFailed
from browse_together.contract.model import Json
from browser_service.host.pages.handle import BrowserPage
from browser_service.host.stages import order
from browser_service.host.stages.act import Act, Stage
from browser_service.waits import Cancel

pytestmark = pytest.mark.anyio

said: list[str] = []


class Outer(Stage):
    async def before(self) -> None:
        said.append("outer before")

    async def after(self) -> None:
        said.append(f"outer after {self.act.result}")

    async def failed(self, error: Exception) -> Exception | None:
        said.append(f"outer failed {type(error).__name__}")
        return error

    async def end(self) -> None:
        said.append("outer end")


class Inner(Stage):
    async def before(self) -> None:
        said.append("inner before")

    async def check(self) -> None:
        said.append("inner check")

    async def after(self) -> None:
        self.act.result |= {"after": "inner"}

    async def failed(self, error: Exception) -> Exception | None:
        if isinstance(error, TimeoutError):
            self.act.result = {"observed": "done all the same"}
            return None
        return ElementNotFound("gone") if isinstance(error, ValidationFailed) else error

    async def end(self) -> None:
        said.append("inner end")


class Ending(Outer):
    async def end(self) -> None:
        raise OSError("it cannot end")


class Refusing(Inner):
    async def before(self) -> None:
        raise ValidationFailed("not so")


def act(failure: Exception | None = None) -> Act:
    async def handler(*_: object) -> Json:
        if failure is not None:
            raise failure
        said.append("act")
        return {}

    action = catalogue.parse({"action": "click", "selector": "#b"})
    run: Any = SimpleNamespace(action=action, cancel=Cancel())  # Any: what an act needs of a call
    return Act(cast("BrowserPage", None), run, handler)


@pytest.fixture(autouse=True)
def _stages(monkeypatch: pytest.MonkeyPatch) -> None:
    said.clear()
    monkeypatch.setattr(order, "OF_ACTS", (Outer, Inner))


async def test_stages_begin_from_the_outside_and_end_from_the_inside() -> None:
    done = act()
    assert await order.perform(done) == {"after": "inner"}
    before, after = ["outer before", "inner before"], ["outer after {'after': 'inner'}", "inner end", "outer end"]
    assert said == [*before, "inner check", "act", *after]
    assert done.done


async def test_a_failure_means_what_the_innermost_stage_that_knows_it_says() -> None:
    failing = act(ValidationFailed("x"))
    with pytest.raises(ElementNotFound):
        await order.perform(failing)
    assert said[-3:] == ["outer failed ElementNotFound", "inner end", "outer end"]
    assert not failing.done


async def test_an_act_that_was_done_all_the_same_goes_on_to_its_reply() -> None:
    result = await order.perform(act(TimeoutError()))
    assert result == {"observed": "done all the same", "after": "inner"}
    assert "outer failed TimeoutError" not in said


async def test_only_stages_that_have_begun_are_asked_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "OF_ACTS", (Outer, Refusing, Inner))
    with pytest.raises(ElementNotFound):
        await order.perform(act())
    assert said == ["outer before", "outer failed ElementNotFound", "inner end", "outer end"]


async def test_a_stage_that_fails_at_its_end_keeps_no_other_from_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "OF_ACTS", (Outer, Ending, Inner))
    with pytest.raises(OSError, match="it cannot end"):
        await order.perform(act())
    assert said[-2:] == ["inner end", "outer end"]
