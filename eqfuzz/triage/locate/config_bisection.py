"""``eqfuzz config bisect``: the fewest configuration values that turn a finding on, or off."""

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
    """These values were tried together: ``kind`` is what they show, ``holds`` whether that is what was looked for."""

    values: tuple[OptionValue, ...]
    kind: str
    holds: bool


@dataclasses.dataclass(frozen=True)
class ConfigBisection:
    """None of ``values`` can be left out; ``of`` counts those that the search began with, ``kind`` is what is shown."""

    id: str
    turns: Literal["on", "off"]
    kind: str
    values: tuple[OptionValue, ...]
    of: int


class NotBisected(Exception):
    """There is no answer; ``str()`` says in one line why."""


def bisect(
    finding: Finding, folder: Path, out: Path, attempts: Attempts, report: Callable[[ConfigTrial], None]
) -> ConfigBisection:
    """The values that turn it on, of those it was found under; where stock settings show it, values that turn it off.

    ``folder`` is the finding's own. All is judged on torch's stock path, each subset in a process of its own. Raises
    NotBisected and RunnerFailed.
    """
    environment = Environment(out.resolve(), preload_in(folder))
    config, job = config_of(finding), job_about(CompareJob, finding)
    with pool_for(finding, environment) as pool:
        search = _Search(pool, job, finding, config, report)
        if search.shows_it(()):
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

    def shows_it(self, values: tuple[OptionValue, ...]) -> bool:
        """Whether they show what the finding shows."""
        return self._try(values, lambda verdict: verdict.symptom == self.finding.verdict.symptom)

    def agrees(self, values: tuple[OptionValue, ...]) -> bool:
        """Whether compiled equals eager with them."""
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
        raise NotBisected("stock settings do not show it any more, and it was found under no others")
    if not search.shows_it(search.values):
        raise NotBisected("the values that it was found under do not show it any more")
    left = ddmin(search.values, search.shows_it) if len(search.values) > 1 else search.values
    return ConfigBisection(finding.id, "on", str(finding.verdict.kind), left, len(search.values))


def _off(search: _Search, attempts: Attempts) -> ConfigBisection:
    for config in randomly(attempts.options, attempts.count, attempts.p, attempts.seed):
        values = tuple(_value(option, value) for option, value in values_of(config).items())
        if search.agrees(values):
            left = ddmin(values, search.agrees) if len(values) > 1 else values
            return ConfigBisection(search.finding.id, "off", str(VerdictKind.AGREE), left, len(values))
    tried = f"stock settings show it, and none of {attempts.count} random configurations agrees"
    raise NotBisected(f"{tried}; try --attempts, --p, --seed or --only")


def _value(option: Option, value: Any) -> OptionValue:
    return OptionValue(option.module, option.name, value, default_of(option))
