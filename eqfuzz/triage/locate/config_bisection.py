"""``eqfuzz config bisect``: the fewest option values that turn a finding on or off."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.run.configs.named import Config
from eqfuzz.run.configs.options import SAMPLED_MODULES, Option, default_of
from eqfuzz.run.configs.sampling import randomly, values_of
from eqfuzz.run.environment import Environment
from eqfuzz.run.messages.finding_jobs import CompareJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.confirm.finding_cases import config_of, job_about, pool_for
from eqfuzz.triage.confirm.rerun import trial
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.folder import preload_in
from eqfuzz.triage.reduce.ddmin import ddmin


@dataclasses.dataclass(frozen=True)
class OptionValue:
    """One option set to one value; ``default`` is torch's."""

    module: str
    option: str
    value: Any
    default: Any


@dataclasses.dataclass(frozen=True)
class Attempts:
    """Random configurations that may turn a finding off: ``count``, each option changed with probability ``p``."""

    options: tuple[Option, ...]
    count: int = 20
    p: float = 0.1
    seed: int = 0


@dataclasses.dataclass(frozen=True)
class ConfigTrial:
    """One set of values was run: ``kind`` is its kind of verdict, ``holds`` whether that is the wanted one."""

    values: tuple[OptionValue, ...]
    kind: str
    holds: bool


@dataclasses.dataclass(frozen=True)
class ConfigBisection:
    """A minimal set of ``values`` out of ``of`` values, and the ``kind`` of verdict with them."""

    id: str
    turns: Literal["on", "off"]
    kind: str
    values: tuple[OptionValue, ...]
    of: int


class NotBisected(Exception):
    """There is no result; ``str()`` is one line."""


def bisect(
    finding: Finding, folder: Path, out: Path, attempts: Attempts, report: Callable[[ConfigTrial], None]
) -> ConfigBisection:
    """The values of its configuration that turn a finding on; values that turn it off if stock settings have it.

    ``folder`` is the finding's. Each set of values is judged on torch's stock path, in a process of its own. Raises
    NotBisected and RunnerFailed.
    """
    environment = Environment(out.resolve(), preload_in(folder))
    config, job = config_of(finding), job_about(CompareJob, finding)
    with pool_for(finding, environment) as pool:
        search = _Search(pool, job, finding, config, report)
        if search.reproduces(()):
            return _off(search, attempts)
        return _on(search)


class _Search:
    """Judges the finding's program under sets of values."""

    def __init__(
        self, pool: Pool, job: CompareJob, finding: Finding, config: Config, report: Callable[[ConfigTrial], None]
    ) -> None:
        self.finding = finding
        self.values = tuple(_value(option, value) for option, value in values_of(config).items())
        self._pool = pool
        self._job = job
        self._config = config
        self._report = report

    def reproduces(self, values: tuple[OptionValue, ...]) -> bool:
        """Whether the finding reproduces with these values."""
        return self._try(values, lambda verdict: verdict.symptom == self.finding.verdict.symptom)

    def agrees(self, values: tuple[OptionValue, ...]) -> bool:
        """Whether compiled agrees with eager with these values."""
        return self._try(values, lambda verdict: verdict.kind is VerdictKind.AGREE)

    def _try(self, values: tuple[OptionValue, ...], wanted: Callable[[Verdict], bool]) -> bool:
        by_module: Mapping[str, dict[str, Any]] = {module: {} for module in SAMPLED_MODULES}
        for value in values:
            by_module[value.module][value.option] = value.value
        config = self._config.model_copy(update=dict(by_module))
        verdict = trial(self._pool, dataclasses.replace(self._job, configs=(config,))).shown.get(config.name)
        holds = verdict is not None and wanted(verdict)
        self._report(ConfigTrial(values, str(verdict.kind) if verdict is not None else "not judged", holds))
        return holds


def _on(search: _Search) -> ConfigBisection:
    finding = search.finding
    if not search.values:
        raise NotBisected("it no longer reproduces with stock settings, and it was found with no others")
    if not search.reproduces(search.values):
        raise NotBisected("it no longer reproduces with the values that it was found with")
    left = ddmin(search.values, search.reproduces) if len(search.values) > 1 else search.values
    return ConfigBisection(finding.id, "on", str(finding.verdict.kind), left, len(search.values))


def _off(search: _Search, attempts: Attempts) -> ConfigBisection:
    for config in randomly(attempts.options, attempts.count, attempts.p, attempts.seed):
        values = tuple(_value(option, value) for option, value in values_of(config).items())
        if search.agrees(values):
            left = ddmin(values, search.agrees) if len(values) > 1 else values
            return ConfigBisection(search.finding.id, "off", str(VerdictKind.AGREE), left, len(values))
    tried = f"it reproduces with stock settings, and none of {attempts.count} random configurations agrees"
    raise NotBisected(f"{tried}; try --attempts, --p, --seed or --only")


def _value(option: Option, value: Any) -> OptionValue:
    return OptionValue(option.module, option.name, value, default_of(option))
