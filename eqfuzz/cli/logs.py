"""Logging to stderr: at DEBUG the time of each step of each seed, one line a step."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eqfuzz.events.event import Event

_log = logging.getLogger("eqfuzz.mutate")


class _Stderr(logging.Handler):
    """Looks ``sys.stderr`` up for each record: a live display replaces it while it draws."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


def start(level: str) -> None:
    """Send the log of eqfuzz (not torch's) at ``level`` and above to stderr."""
    handler = _Stderr()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
    logger = logging.getLogger("eqfuzz")
    logger.handlers = [handler]
    logger.propagate = False
    logger.setLevel(level)


def log_event(event: Event) -> None:
    """Log an event of a run: seeds and findings at INFO, timings at DEBUG."""
    from eqfuzz.events.generate import ProgramGenerated
    from eqfuzz.events.run import FindingReported, SeedDone, SeedInvalid, SeedStarted

    match event:
        case SeedStarted(seed=seed):
            _log.info("%s: started", seed)
        case ProgramGenerated(file=file, timings=timings, operators=operators):
            log_steps(file, timings)
            _log.debug("%s: %d operators", file, len(operators))
        case SeedInvalid(reason=reason):
            _log.info("invalid seed: %s", reason)
        case FindingReported(folder=folder):
            _log.info("finding in %s", folder)
        case SeedDone(seed=seed, seconds=seconds, cpu_seconds=cpu, timings=timings):
            log_steps(seed, timings, "s CPU")
            _log.debug("%s: run in %.3f s, %.3f s CPU", seed, seconds, cpu)
        case _:
            pass


def log_steps(seed: str, timings: Mapping[str, float], unit: str = "s") -> None:
    """Log the seconds of each step at DEBUG."""
    for step, spent in timings.items():
        _log.debug("%s: %s %.4f %s", seed, step, spent, unit)
