"""Writes generated programs to a folder, and compares them in eager and compiled."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from eqfuzz.commands.artifacts import ARTIFACTS, note_status, write_artifacts
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.generate import GenerationEnded, GenerationSummary, ProgramGenerated, ProgramsRun
from eqfuzz.events.run import FindingReported, SeedDone, Summary
from eqfuzz.generate.dag.generate import GeneratedProgram, Mixture, ProgramGenerator
from eqfuzz.generate.dag.step_timer import StepTimer
from eqfuzz.generate.dag.template import templates_named
from eqfuzz.mutate.outcomes import SeedOutcome, SeedOutcomes
from eqfuzz.mutate.run import run
from eqfuzz.mutate.settings import RewriteSettings, Settings
from eqfuzz.run.configs.named import BUILT_IN, choose, open_to_seeds
from eqfuzz.triage.findings.finding import Finding


class ProgramSource(Protocol):
    """`eqfuzz.generate.dag.generate.ProgramGenerator`, or several of them."""

    def generate(self, seed: int) -> GeneratedProgram: ...

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all operators that it may use."""
        ...

    @property
    def configs(self) -> tuple[str, ...]:
        """Names of the compile configurations that all its programs are for; empty: there are none such."""
        ...


def generate_programs(
    source: ProgramSource,
    template: str,
    seeds: range,
    out: Path,
    handler: Handler,
    *,
    artifacts: bool,
    runs: bool,
) -> GenerationEnded:
    """Write the programs of ``seeds`` to ``out``/programs and return the last event.

    Ctrl-C ends it early. With ``artifacts`` their graphs are written too; ``runs``: the programs will be run. Raises
    OSError.
    """
    began = time.monotonic()
    uses: Counter[str] = Counter()
    count = 0
    interrupted = False
    folder = out / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for number, seed in enumerate(seeds):
            program = source.generate(seed)
            timer = StepTimer(program.timings)
            file = folder / f"{program.name}.py"
            with timer.step("write"):
                file.write_text(program.source, encoding="utf-8")
            if artifacts:
                with timer.step("artifacts"):
                    write_artifacts(program, out / ARTIFACTS / program.name)
            uses.update(program.operators)
            count += 1
            operators = list(program.operators)
            handler(
                ProgramGenerated(
                    number=number,
                    seed=seed,
                    template=program.template,
                    file=str(file),
                    operators=operators,
                    seconds=round(sum(program.timings.values()), 6),
                    timings={step: round(seconds, 6) for step, seconds in timer.seconds.items()},
                )
            )
    except KeyboardInterrupt:
        interrupted = True
    event = (GenerationEnded if runs and not interrupted else GenerationSummary)(
        start=seeds.start,
        count=len(seeds),
        template=template,
        programs=count,
        operators=dict(uses.most_common()),
        unused=sorted(set(source.names) - set(uses)),
        interrupted=interrupted,
        seconds=round(time.monotonic() - began, 3),
        out=str(out),
    )
    handler(event)
    return event


def run_programs(
    programs: Sequence[ProgramGenerated], source: ProgramSource, template: str, settings: Settings, handler: Handler
) -> Summary:
    """Run ``programs`` as `eqfuzz.mutate.run.run` does; before its summary comes a `ProgramsRun`.

    Where a program has artifacts, its outcome is noted in their summary.
    """
    outcomes = SeedOutcomes()

    def handle(event: Event) -> None:
        outcomes.count_event(event)
        match event:
            case SeedDone(index=index):
                note_status(settings.out / ARTIFACTS / Path(programs[index].file).stem, outcomes.by_index[index])
            case Summary():
                handler(_programs_run(programs, source, template, outcomes.by_index))
            case _:
                pass
        handler(event)

    paths = tuple(Path(program.file) for program in programs)
    return run(dataclasses.replace(settings, paths=paths), handle)


@dataclasses.dataclass(frozen=True)
class ComparedProgram:
    """A program that was compared in eager and compiled; ``findings`` include known issues."""

    program: GeneratedProgram
    outcome: SeedOutcome
    findings: tuple[Finding, ...]
    summary: Summary


def generate_and_compare(
    seed: int,
    template: str = "default",
    *,
    max_depth: int | None = None,
    configs: Sequence[str] = (),
    out: Path = Path("eqfuzz-out"),
) -> ComparedProgram:
    """Generate the program of ``seed`` and compare it in eager and compiled; everything is written below ``out``.

    ``template`` is a name, the path of a file, or ``mixed``; ``configs`` are names of compile configurations (default:
    those of the template). Raises InvalidTemplate, NothingGenerated, ValueError for an unknown configuration, OSError,
    and RunnerFailed when no process that imports torch can be started.
    """
    templates = templates_named(template)
    generators = {name: ProgramGenerator(one, depth=max_depth) for name, one in templates.items()}
    source = Mixture(generators) if len(generators) > 1 else next(iter(generators.values()))
    program = source.generate(seed)
    events: list[Event] = []
    generate_programs(source, template, range(seed, seed + 1), out, events.append, artifacts=False, runs=True)
    programs = [event for event in events if isinstance(event, ProgramGenerated)]
    settings = Settings(
        out=out,
        seed=seed,
        rewriting=RewriteSettings(strategy="none", variants=0),
        configs=choose(configs, BUILT_IN),
        seed_configs=open_to_seeds(configs, BUILT_IN),
    )
    outcomes = SeedOutcomes()
    findings: list[Finding] = []

    def handle(event: Event) -> None:
        outcomes.count_event(event)
        if isinstance(event, FindingReported):
            findings.append(event.finding)

    summary = run_programs(programs, source, template, settings, handle)
    outcome = outcomes.by_index.get(0, SeedOutcome.UNDECIDED)  # interrupted, or an internal error of the summary
    return ComparedProgram(program, outcome, tuple(findings), summary)


def _programs_run(
    programs: Sequence[ProgramGenerated],
    source: ProgramSource,
    template: str,
    outcomes: Mapping[int, SeedOutcome],
) -> ProgramsRun:
    valid = [programs[index] for index, one in sorted(outcomes.items()) if one is not SeedOutcome.INVALID]
    uses = Counter(name for program in valid for name in program.operators)
    seeds = {
        str(outcome): sorted(programs[index].seed for index, one in outcomes.items() if one is outcome)
        for outcome in SeedOutcome
    }
    return ProgramsRun(
        template=template,
        outcomes={outcome: members for outcome, members in seeds.items() if members},
        operators=dict(uses.most_common()),
        unused=sorted(set(source.names) - set(uses)),
    )


def seeds_of(seed: int | None, start: int, count: int) -> range:
    """The one seed, or ``count`` from ``start`` on."""
    return range(seed, seed + 1) if seed is not None else range(start, start + count)
