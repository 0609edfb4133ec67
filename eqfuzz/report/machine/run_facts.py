"""What was run and what was not tried, in words: a clean result says something only beside both."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from eqfuzz.events.campaign import CampaignStarted, CampaignSummary
from eqfuzz.events.catalogue import CatalogueStarted, SweepSummary
from eqfuzz.events.model_check import ModelCheckStarted, ModelCheckSummary
from eqfuzz.events.regressions import DiffStarted, DiffSummary
from eqfuzz.events.run import RunStarted, Summary
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.formatting import count, duration, named_versions
from eqfuzz.report.machine.file_location import relative
from eqfuzz.report.machine.run_record import NOT_COMPLETED, RunRecord, Start
from eqfuzz.report.run.invalid_seeds import reason_lines

FOLDERS_SHOWN = 12
PATHS_SHOWN = 8
PROGRAMS_SHOWN = 10

_UNDECIDED = {
    VerdictKind.INCONCLUSIVE: "inconclusive: too few stable elements, or too little time, to decide",
    VerdictKind.UNSUPPORTED: "not supported by the compiler, as it says itself",
    VerdictKind.FLAKY: "flaky: not reproduced in a fresh process",
    VerdictKind.SUSPECT_RULE: "not compiled: original and variant differ in eager",
}


def headline(record: RunRecord) -> str:
    """The result in a few words."""
    new = record.new
    if new:
        buckets = {one.group for one in new}
        number = f"{count(sum(one.seeds for one in new), 'new finding')} in {count(len(buckets), 'bucket')}"
        return number if record.is_complete else f"{number}; the run is not complete"
    if record.all_errors:
        return f"{count(len(record.all_errors), 'internal error')}: the result is not complete"
    if record.start is None:
        return "nothing was run"
    if record.end is None:
        return "the run broke off"
    if record.is_empty:
        return "nothing was compiled"
    return "no new findings" if record.is_complete else "no new findings so far; the run is not complete"


def facts(record: RunRecord) -> dict[str, str]:
    """What was run, in plain text by label."""
    start, end = record.start, record.end
    if start is None:
        return {}
    lines = {"versions": named_versions(start.versions), **_plan(start)}
    tried = [seed for seed in record.seeds if not seed.skipped]
    if tried and not isinstance(start, ModelCheckStarted | CatalogueStarted):
        lines["programs"] = f"{len(tried):,}: {by_folder(seed.seed for seed in tried)}"
    if record.programs is not None:
        numbers = [number for seeds in record.programs.outcomes.values() for number in seeds]
        seeds = f"random seeds {min(numbers)} to {max(numbers)}" if numbers else "none"
        lines["generated programs"] = f"template {record.programs.template}, {seeds}"
    if record.variants:
        lines["variants"] = count(record.variants, "rewritten variant")
    if record.verdicts:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in record.verdicts.most_common())
        lines["compiled cells"] = f"{record.verdicts.total():,}: {kinds}"
        lines["configurations"] = ", ".join(
            f"{config} on {device} ({number:,})" for (config, device), number in record.settings.most_common()
        )
    if isinstance(end, CampaignSummary):
        figures = end.figures
        lines["all calls"] = f"{figures.get('programs', 0):,} programs, {figures.get('cells', 0):,} compiled cells"
    if isinstance(end, SweepSummary):
        lines |= _sweep(end)
    if isinstance(end, DiffSummary):
        lines |= _diff(end)
    if isinstance(end, ModelCheckSummary):
        lines["uses"] = ", ".join(f"{use.title}: {use.outcome}" for use in end.uses)
    if end is not None:
        cpu = f", {duration(end.cpu_seconds)} CPU" if isinstance(end, Summary) else ""
        lines["time"] = f"{duration(end.seconds)} wall{cpu}"
    return lines


def _diff(end: DiffSummary) -> dict[str, str]:
    buckets = ", ".join(f"{number:,} {state}" for state, number in end.states.items()) or "none"
    moves = ", ".join(f"{move}: {number:,}" for move, number in end.outcomes.items()) or "none"
    return {"buckets": buckets, "seeds with another outcome": moves}


def _sweep(end: SweepSummary) -> dict[str, str]:
    outcomes: collections.Counter[str] = collections.Counter()
    for by_outcome in end.outcomes.values():
        outcomes.update(by_outcome)
    kinds = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes.most_common())
    return {
        "samples": f"{end.judged:,} of {end.results:,} judged: {kinds}",
        "columns": ", ".join(sorted(end.outcomes)),
    }


def _plan(start: Start) -> dict[str, str]:
    match start:
        case RunStarted():
            rewriting = f"{start.strategy}, {count(start.rules, 'rule')}" if start.strategy != "none" else "none"
            paths = {"paths": ", ".join(map(relative, start.paths))} if 0 < len(start.paths) <= PATHS_SHOWN else {}
            return {**paths, "rewriting": rewriting, "random seed": str(start.seed)}
        case CampaignStarted():
            resumed = " (resumed)" if start.resumed else ""
            return {
                "campaign": f"{start.campaign}{resumed}",
                "sources": ", ".join(start.sources),
                "random seed": str(start.seed),
            }
        case ModelCheckStarted():
            return {"model": start.model}
        case DiffStarted():
            paths = {"paths": ", ".join(map(relative, start.paths))} if 0 < len(start.paths) <= PATHS_SHOWN else {}
            changed = {
                "first": f"{count(start.first, 'seed')} that run lines of {count(start.changed, 'changed file')}"
            }
            return {
                "base": f"torch {start.base}",
                "head": f"torch {start.head}",
                **paths,
                **(changed if start.changed else {}),
                "configurations": f"{', '.join(start.configs)} on {', '.join(start.devices)}",
                "rewriting": "none",
                "random seed": str(start.seed),
            }
        case CatalogueStarted():
            entries = count(start.operators, "entry", "entries")
            return {
                "catalogue": f"{start.catalogue}: {entries}, {', '.join(start.dtypes)}",
                "random seed": str(start.seed),
            }


def not_tried(record: RunRecord) -> list[str]:
    """What the run says nothing about, a line each."""
    start, end = record.start, record.end
    if start is None:
        return ["the run did not begin"]
    lines: list[str] = []
    if end is None:
        lines.append("what comes after the last result: the run broke off")
    elif end.interrupted:
        lines.append("what comes after the last result: the run was interrupted")
    elif not isinstance(end, CampaignSummary) and end.out_of_time:
        lines.append("what comes after the last result: the time limit ended the run")
    left_out = [seed.seed for seed in record.seeds if seed.skipped == NOT_COMPLETED]
    if left_out:
        lines.append(f"{count(len(left_out), 'program')} not completed: {by_folder(left_out)}")
    if isinstance(end, SweepSummary):
        lines += _left_out_of_sweep(end)
    lines += [f"invalid: {line}" for line in reason_lines(record.invalid_reasons)]
    lines += [f"{count(record.verdicts[k], 'cell')} {words}" for k, words in _UNDECIDED.items() if record.verdicts[k]]
    if record.settings:
        lines += _other_settings(record.settings)
    if isinstance(end, DiffSummary):
        lines += [f"{name}: {reason}" for name, reason in list(end.invalid.items())[:PROGRAMS_SHOWN]]
    if isinstance(start, DiffStarted):
        lines += [f"the device {name}" for name in ("cpu", "cuda") if name not in start.devices]
        lines.append(f"other configurations than {', '.join(start.configs)}")
        if start.untraced:
            lines.append(f"first what has changed: lines of {count(start.untraced, 'seed')} were not known yet")
    if isinstance(start, DiffStarted) or (isinstance(start, RunStarted) and start.strategy == "none"):
        lines.append("rewritten variants")
    return lines


def _left_out_of_sweep(end: SweepSummary) -> list[str]:
    lines = [f"{count(end.results - end.judged, 'sample')} not judged yet"] if end.judged < end.results else []
    return [
        *lines,
        *(f"{count(sum(by.values()), 'sample')} left out: {reason}" for reason, by in end.left_out.items()),
    ]


def _other_settings(settings: Mapping[tuple[str, str], int]) -> list[str]:
    devices = {device for _, device in settings}
    configs = sorted({config for config, _ in settings})
    others = [f"other configurations than {', '.join(configs)}"] if len(configs) <= 3 else []
    return [*(f"the device {name}" for name in ("cpu", "cuda") if name not in devices), *others]


def by_folder(names: Iterable[str]) -> str:
    """``seeds/regressions 3, seeds/handwritten/shapes 2``: number of files by folder."""
    folders = collections.Counter(relative(str(PurePath(name).parent)) for name in names)
    parts = [f"{'here' if folder == '.' else folder} {number:,}" for folder, number in sorted(folders.items())]
    more = f", and {len(parts) - FOLDERS_SHOWN:,} more folders" if len(parts) > FOLDERS_SHOWN else ""
    return ", ".join(parts[:FOLDERS_SHOWN]) + more
