"""The check of one model: each use of it, and rewritten variants, compiled and compared with eager."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

from eqfuzz.commands.models.check_clock import CheckClock
from eqfuzz.commands.models.check_log import DIFFERS, NOT_TRIED, CheckLog
from eqfuzz.commands.models.plain_programs import PlainFinding, plain_finding
from eqfuzz.commands.models.submodule_search import SubmoduleSearch, submodules_of
from eqfuzz.commands.models.target import CheckedModel
from eqfuzz.errors import UsageError
from eqfuzz.events.event import Handler
from eqfuzz.events.model_check import ModelCheckStarted, ModelCheckSummary, UseChecked
from eqfuzz.events.run import Summary
from eqfuzz.imports.model_uses import DYNAMIC, FORWARD, TRAINING, ModelUse
from eqfuzz.mutate.run import check_folders, run
from eqfuzz.mutate.settings import RewriteSettings, Settings
from eqfuzz.oracle.compare.checks import AFTERWARDS
from eqfuzz.triage.findings.versions import versions

PROGRAMS = "programs"
MODELS = "models"
"""Folder for seeds of the models of other tools."""

_LEFT_OUT = ("integers", "audit", "draws")
"""Weights that are integers are no model's, and a wrong submodule says more than an operator's audit."""


def check_settings(settings: Settings, variants: int) -> Settings:
    """Settings of a check with so many rewritten ``variants``, in the first configuration and with dynamic sizes."""
    config = settings.configs[0]
    dynamic = config.model_copy(update={"name": f"{config.name}-dynamic", "dynamic": True})
    return dataclasses.replace(
        settings,
        rewriting=RewriteSettings(strategy="random" if variants else "none", variants=variants),
        checks=tuple(name for name in settings.checks if name not in _LEFT_OUT),
        seed_configs={DYNAMIC: dynamic},
    )


def check_model(model: CheckedModel, settings: Settings, handler: Handler) -> ModelCheckSummary:
    """Check a model; the last event is returned. ``settings`` have no paths.

    The variants are those of forward and backward. Ctrl-C and the time limit end it early: what was not tried is named.
    Raises InvalidSeed, UsageError, RunnerFailed.
    """
    began = time.monotonic()
    check_folders(settings)
    folder = settings.out / PROGRAMS
    uses = [use.on("cuda") if settings.compiling.uses_cuda else use for use in model.uses]
    try:
        model.write_weights(folder)
        files = {use: model.write(use, folder / f"{model.name}-{use.name}.py") for use in uses}
    except OSError as error:
        raise UsageError(f"--out: {folder}: {error.strerror}") from None
    handler(
        ModelCheckStarted(
            model=model.title,
            definitions=model.definitions,
            modules=list(model.modules),
            uses=[use.title for use in files],
            variants=settings.rewriting.variants,
            out=str(settings.out),
            versions=versions(),
        )
    )
    check = _ModelCheck(model, files, settings, handler)
    try:
        check.run()
    except KeyboardInterrupt:
        check.is_interrupted = True  # between two runs
    checked = check.checked()
    summary = ModelCheckSummary(
        model=model.title,
        uses=checked,
        findings=sum(one.outcome == DIFFERS for one in checked),
        errors=[error for summary in check.summaries for error in summary.errors],
        interrupted=check.is_interrupted,
        out_of_time=check.is_out_of_time and any(one.outcome == NOT_TRIED for one in checked),
        seconds=round(time.monotonic() - began, 3),
        out=str(settings.out),
    )
    handler(summary)
    return summary


class _ModelCheck:
    """The check of a model whose uses are in ``files``."""

    def __init__(self, model: CheckedModel, files: dict[ModelUse, Path], settings: Settings, handler: Handler) -> None:
        self.summaries: list[Summary] = []
        self.is_interrupted = False
        self._model = model
        self._files = files
        self._settings = settings
        self._log = CheckLog(handler)
        self._clock = CheckClock(settings.time)
        self._submodule = ""
        self._plain: tuple[ModelUse, PlainFinding | str] | None = None
        """The use that was made smaller, and what came of it."""

    @property
    def is_out_of_time(self) -> bool:
        return self._clock.is_over or any(summary.out_of_time for summary in self.summaries)

    def run(self) -> None:
        """Compare every use, and make the first difference smaller. Raises KeyboardInterrupt, RunnerFailed."""
        first = [use for use in (FORWARD, TRAINING) if use in self._files]  # what matters most, side by side
        unrewritten = frozenset(path for use, path in self._files.items() if use != FORWARD)
        self._run(*first, unrewritten=unrewritten)
        is_different = self._checked(FORWARD).outcome == DIFFERS
        if is_different:
            self._reduce_forward()
        if not self._clock.is_over:
            # Where forward differs the place of its fault is known, and that of the others most likely the same.
            checks = tuple(name for name in self._settings.checks if not (is_different and name in AFTERWARDS))
            plain = RewriteSettings(strategy="none", variants=0)
            self._run(*(use for use in self._files if use not in first), rewriting=plain, checks=checks)
        different = [use for use in self._files if self._checked(use).outcome == DIFFERS]
        if different and self._plain is None:
            self._reduce(different[0], self._files[different[0]])

    def checked(self) -> list[UseChecked]:
        """What came of each use, the variants last."""
        checked = [self._checked(use) for use in self._files]
        checked[0] = dataclasses.replace(checked[0], submodule=self._submodule)
        if self._plain is not None:
            use, plain = self._plain
            number = list(self._files).index(use)
            checked[number] = dataclasses.replace(checked[number], **_fields_of(plain))
        if self._settings.rewriting.variants:
            checked.append(self._log.checked(f"variants of {FORWARD.title}", self._files[FORWARD], variants=True))
        return checked

    def _run(self, *uses: ModelUse, **changes: Any) -> None:
        paths = tuple(self._files[use] for use in uses)
        self._note(run(self._clock.settings(self._settings, paths=paths, **changes), self._log.handle))

    def _note(self, *summaries: Summary) -> None:
        self.summaries += summaries
        if any(summary.interrupted for summary in summaries):
            raise KeyboardInterrupt

    def _checked(self, use: ModelUse) -> UseChecked:
        return self._log.checked(use.title, self._files[use], variants=False)

    def _reduce_forward(self) -> None:
        part, folder = FORWARD, self._settings.out / PROGRAMS
        if self._model.has_submodules and not self._clock.is_over:
            names = submodules_of(self._files[FORWARD], self._settings)
            kind = self._checked(FORWARD).kind
            search = SubmoduleSearch(self._model, names, kind, self._settings, folder, self._log, self._clock.half())
            self._submodule = search.run()
            self._note(*search.summaries)
            part = ModelUse.of_submodule(self._submodule) if self._submodule else FORWARD
        self._reduce(FORWARD, folder / f"{self._model.name}-{part.name}.py")

    def _reduce(self, use: ModelUse, seed: Path) -> None:
        if not self._clock.is_over:
            configs = tuple(self._settings.seed_configs[name] for name in use.configs) or self._settings.configs
            settings = dataclasses.replace(self._settings, configs=configs)
            self._plain = use, plain_finding(seed, self._checked(use).kind, settings, self._clock)


def _fields_of(plain: PlainFinding | str) -> dict[str, str]:
    """The fields of a use about its short program."""
    if isinstance(plain, str):
        return {"unreduced": plain}
    return {"reduced": plain.finding.id, "program": plain.finding.transformed.source, "unreduced": plain.problem}
