"""The smallest submodule of a model that differs by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.commands.models.check_clock import CheckClock
from eqfuzz.commands.models.check_log import DIFFERS, CheckLog
from eqfuzz.commands.models.target import CheckedModel
from eqfuzz.commands.seeds.each_seed import answer_alone
from eqfuzz.events.run import Summary
from eqfuzz.imports.model_uses import ModelUse
from eqfuzz.mutate.run import run
from eqfuzz.mutate.settings import OracleSettings, RewriteSettings, Settings
from eqfuzz.oracle.compare.checks import ORACLES
from eqfuzz.run.messages.structure_jobs import StructureJob

_SECONDS = 300.0
_MODEL = "model."
"""What the names of submodules begin with in a program."""


def submodules_of(path: Path, settings: Settings) -> tuple[str, ...]:
    """Dotted names of the submodules that a call of the model runs; empty where the program cannot be run."""
    environment = settings.environment()
    answer = answer_alone(path, lambda program: StructureJob(program=program, seed=settings.seed), environment)
    names = () if isinstance(answer, str) else answer.structure.submodules
    return tuple(name.removeprefix(_MODEL) for name in names if name.startswith(_MODEL))


class SubmoduleSearch:
    """Descends from the model to the smallest submodule that differs by itself: at each level the first that does.

    ``kind`` is the kind of the difference, ``folder`` that of the programs.
    """

    def __init__(
        self,
        model: CheckedModel,
        names: Sequence[str],
        kind: str,
        settings: Settings,
        folder: Path,
        log: CheckLog,
        clock: CheckClock,
    ) -> None:
        self.summaries: list[Summary] = []
        self._model = model
        self._names = names
        self._kind = kind
        self._settings = dataclasses.replace(
            settings,
            rewriting=RewriteSettings(strategy="none", variants=0),
            judging=OracleSettings(steps=0, input_sets=1),
            checks=ORACLES,
            guard_steps=0,
            own_random=False,
        )
        self._folder = folder
        self._log = log
        self._clock = clock

    def run(self) -> str:
        """Its name; empty where no submodule differs, or the time ran out before one did."""
        smallest = ""
        while children := self._children(smallest):
            different = self._first_different(children)
            if not different:
                break
            smallest = different
        return smallest

    def _children(self, parent: str) -> list[str]:
        """The outermost submodules that ran inside ``parent``."""
        inside = [name for name in self._names if not parent or name.startswith(f"{parent}.")]
        return [name for name in inside if not any(name.startswith(f"{other}.") for other in inside)]

    def _first_different(self, names: Sequence[str]) -> str:
        for name in names:
            if self._clock.is_over:
                break
            use = ModelUse.of_submodule(name)
            path = self._model.write(use, self._folder / f"{self._model.name}-{use.name}.py")
            limited = self._clock.settings(self._settings, paths=(path,), longest=_SECONDS)
            summary = run(limited, self._log.note)
            self.summaries.append(summary)
            if summary.interrupted:
                break
            checked = self._log.checked(use.title, path, variants=False)
            if checked.outcome == DIFFERS and checked.kind == self._kind:
                return name
        return ""
