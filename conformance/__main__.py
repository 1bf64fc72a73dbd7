"""Tests the gateway and the wall with programs by others, and exits 1 if one of them finds a fault. `make conformance`
runs it."""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Final

from conformance import trials, wall
from conformance.gateways import NotServing, serving
from conformance.packages import NotInstalled, install
from conformance.trials import Outcome, Trial
from examples.processes import Ended

_AT_A_TIME: Final = 2
"""How many clients run at once; each starts a gateway."""


async def try_all(data_dir: Path) -> list[Outcome]:
    async with serving(data_dir) as tried:
        alone = [_show(await trials.run(trial)) for trial in trials.suites(tried)]
        turns = asyncio.Semaphore(_AT_A_TIME)

        async def in_turn(trial: Trial) -> Outcome:
            async with turns:
                return _show(await trials.run(trial))

        alone.append(_show(await wall.looked_at(tried, data_dir)))
        together = map(in_turn, [*trials.clients(tried), *trials.inspections(tried)])
        return [*alone, *await asyncio.gather(*together)]


def _show(outcome: Outcome) -> Outcome:
    """Print a line about a trial, and its whole output if something is wrong."""
    if outcome.problem:
        print(outcome.output)
    end = outcome.problem or outcome.summary or "done"
    print(f"{'✗' if outcome.problem else '✓'} {outcome.trial.name}: {end} ({outcome.seconds:.1f} s)", flush=True)
    return outcome


def main() -> None:
    try:
        install()
        with tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as data_dir:
            outcomes = asyncio.run(try_all(Path(data_dir)))
    except (NotInstalled, NotServing, Ended, TimeoutError) as error:
        sys.exit(f"conformance: {str(error) or 'the start took too long'}")
    if any(outcome.problem for outcome in outcomes):
        sys.exit(
            "conformance: see above; what cannot pass is listed, with the reason, in conformance/expected_failures.yaml"
        )


if __name__ == "__main__":
    main()
