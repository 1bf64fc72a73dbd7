"""What a benchmark found: two numbers of the same run, the figure made of them, and whether it meets its target."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from rich import box
from rich.markup import escape
from rich.table import Table

Judged = Literal["difference", "ratio", "percent"]

_SHOWN: Final = {"difference": "{:+.1f}", "ratio": "{:.2f} x", "percent": "{:.0f} %"}


class Skipped(Exception):
    """Raised when a benchmark cannot run on this machine. The message says why."""


@dataclass(frozen=True)
class Target:
    """A bound for the figure that the two numbers make."""

    bound: float
    at_least: bool = False

    def met_by(self, figure: float) -> bool:
        return figure >= self.bound if self.at_least else figure <= self.bound


@dataclass(frozen=True)
class Figure:
    """A comparison of `ours` with `theirs`, each a median in `unit`. Without a target it only informs."""

    name: str
    ours: float
    theirs: float
    unit: str
    judged: Judged
    target: Target | None = None

    @property
    def value(self) -> float:
        if self.judged == "difference":
            return self.ours - self.theirs
        return self.ours / self.theirs * (100 if self.judged == "percent" else 1)

    @property
    def met(self) -> bool | None:
        return self.target.met_by(self.value) if self.target else None

    def shown(self, value: float) -> str:
        unit = f" {self.unit}" if self.judged == "difference" else ""
        return _SHOWN[self.judged].format(value) + unit


@dataclass(frozen=True)
class Report:
    """The figures and notes of one benchmark."""

    benchmark: str
    peer: str
    figures: Sequence[Figure] = ()
    notes: Sequence[str] = ()
    problem: str = ""
    """Why there are no figures."""
    failed: bool = False


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def table(reports: Iterable[Report]) -> Table:
    """Draw a table that can be pasted into the README."""
    drawn = Table(box=box.MARKDOWN)
    for heading in ("figure", "ours", "peer's", "result", "target", "met"):
        drawn.add_column(heading, justify="left" if heading == "figure" else "right")
    for report in reports:
        drawn.add_row(f"[bold]{report.benchmark}[/bold], beside {report.peer}")
        if report.problem:
            drawn.add_row(f"[yellow]{escape(report.problem)}[/yellow]")
        for figure in report.figures:
            drawn.add_row(*_cells(figure))
    return drawn


def _cells(figure: Figure) -> list[str]:
    target, met = "", ""
    if figure.target:
        sign = "≥" if figure.target.at_least else "≤"
        target = f"{sign} {figure.shown(figure.target.bound)}"
        met = "[green]yes[/green]" if figure.met else "[bold red]no[/bold red]"
    numbers = [f"{value:.1f} {figure.unit}" for value in (figure.ours, figure.theirs)]
    return [figure.name, *numbers, figure.shown(figure.value), target, met]
