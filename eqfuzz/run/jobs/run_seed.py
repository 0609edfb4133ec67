"""The job ``run``: a seed, its variants, and all their cells."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

from eqfuzz.oracle.observe.observer import has_drawn
from eqfuzz.program.call import Call
from eqfuzz.rewrite import strategy
from eqfuzz.rewrite.derivation import Variant
from eqfuzz.rewrite.facts.probe import Facts
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.rewrite.rules.user_rules import rules_for_children
from eqfuzz.rewrite.site import Site, sites_of
from eqfuzz.rewrite.source.syntax import Syntax
from eqfuzz.run.configs.named import GUARDS, OWN_RANDOM
from eqfuzz.run.jobs.batch import TOGETHER, BatchedCells
from eqfuzz.run.jobs.cell_judge import CellJudge, CellRunner, SequentialCells, open_cells
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.session import Session, is_large, record_of, study_again
from eqfuzz.run.limits import peak_mb
from eqfuzz.run.messages.job import Emit
from eqfuzz.run.messages.seed_jobs import ProgramRewritten, ResourcesUsed, RunJob


def run_seed(job: RunJob, emit: Emit) -> None:
    """Rewrite the seed, judge all cells, and report each. Raises InvalidSeed."""
    session = Session(job, emit)
    start, calls = session.valid()
    if session.refuses or not has_drawn(start.eager):
        job = dataclasses.replace(job, configs=tuple(config for config in job.configs if config != OWN_RANDOM))
        session.job = job
    sites, variants = derive_variants(session, start, calls) if job.strategy != "none" else ([], [])
    for_all = sum(config.name not in job.original_only for config in job.configs)
    cells = len(job.devices) * (len(job.configs) + len(variants) * for_all)
    listed = [RewriteStep.at(site) for site in sites] if job.list_sites else []
    emit(
        ProgramRewritten(
            sites=len(sites),
            cells=0 if job.dry_run else cells,
            eager_seconds=start.eager.seconds / len(start.eager.calls),
            variants=tuple(map(record_of, variants)),
            listed_sites=tuple(listed),
        )
    )

    judge = CellJudge(
        job,
        session.clock,
        start,
        signals=job.signals,
        traced=job.traced,
        results=job.results,
        graphs_first=job.graphs_first,
    )
    is_alone = is_large(start.eager)  # its cells hold much, and each is worth a verdict of its own before the next
    batches = BatchedCells(job, judge, emit, 1 if is_alone else TOGETHER) if job.in_batches else None
    if is_alone and variants and not job.dry_run:
        judge.measure_start()
    runner: CellRunner = batches if batches is not None else SequentialCells(job, judge, emit)
    if not job.dry_run:
        _add_original(session, runner, start, calls)
    for number, variant in enumerate(variants, 1):
        if number not in job.skip_variants and not job.list_sites:
            subject = session.judge_variant(number, variant, judge, calls)
            if subject is not None and not job.dry_run:
                session.append_steps(subject)
                runner.add(subject, open_cells(job, number))
    runner.finish()
    session.clock.enter("end", 30)
    kernels = dict(batches.counts) if batches is not None else {}
    emit(ResourcesUsed(seconds=session.clock.account(), peak_mb=peak_mb(), kernels=kernels))


def _add_original(session: Session[RunJob], runner: CellRunner, start: LoadedVariant, calls: Sequence[Call]) -> None:
    """Add the original's cells, those of ``GUARDS`` with more steps, if there are more.

    Variants are compared with ``start`` in eager, whose reference is that of ``calls`` alone.
    """
    job = session.job
    stepped, more = (LoadedVariant(0, start.variant, start.loaded, calls, start.eager) for _ in range(2))
    session.take_steps(stepped, calls, job.steps)
    if len(stepped.calls) == len(calls):
        stepped = start
    cells = open_cells(job, 0)
    runner.add(stepped, [place for place in cells if place[1] != GUARDS])
    guards = [place for place in cells if place[1] == GUARDS]
    if guards:
        session.take_steps(more, calls, job.guard_steps)
    if len(more.calls) > len(stepped.calls):
        runner.add(more, guards)


def derive_variants(
    session: Session[RunJob], subject: LoadedVariant, calls: Sequence[Call]
) -> tuple[list[Site], list[Variant]]:
    """The sites of the seed, and the variants that the strategy derives.

    None of a program that refuses its inputs: a rewrite is equal where the program is defined.
    """
    if session.refuses:
        return [], []
    job, start = session.job, subject.variant
    syntax, facts = session.study(subject, calls)
    session.clock.enter("rewrite", 300 + job.depth * job.limits.eager_s)
    rules_by_name = rules_for_children(job.rules_from)
    rules = [rules_by_name[name] for name in job.rules]
    rng = random.Random(f"{job.seed} {job.program.digest}")
    sites = sites_of(syntax, facts, rules)
    if job.strategy == "each":
        return sites, strategy.each(start, sites, job.variants, rng)
    if job.strategy == "all":
        return sites, strategy.every(start, sites, job.variants, rng)

    def study(variant: Variant) -> tuple[Syntax, Facts]:
        return (syntax, facts) if variant is start else study_again(calls, variant)

    return sites, list(strategy.walk(start, study, rules, job.depth, job.variants, rng, job.favoured))
