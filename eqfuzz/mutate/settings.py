"""What a bounded campaign is asked to do."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.run.configs.named import DEFAULT_CONFIG, GUARD_STEPS, Config
from eqfuzz.triage.findings.known_issues import SHIPPED


@dataclasses.dataclass(frozen=True)
class Settings:
    """The options of ``eqfuzz mutate``; ``seed`` alone decides every random choice.

    ``time`` is a wall budget in seconds (None: until all seeds are done); ``variants`` and ``depth`` are per seed and
    per derivation; ``rules`` a selection as in ``library.select``, ``rules_from`` the user's own rule files;
    random derivations draw rules of the ``favoured`` families more often. With
    ``dry_run`` nothing is compiled; with ``diff`` too, sites and variants are told and no variant runs. ``checks`` are
    names from ``eqfuzz.oracle.compare.checks``; ``steps`` counts the guarded changes drawn for each original,
    ``guard_steps`` those of its cell without kernels (0: no such cell); ``own_random`` gives originals that draw a cell
    with other random numbers (``OF_ORIGINALS`` in ``eqfuzz.run.configs.named``). ``input_sets`` limits how many a seed
    gives (0: no limit). Variants that hold in eager are written to ``keep_variants``.
    ``judged`` names cells of originals, as seed file and configuration, that are not run (again). What the
    configuration ``baseline`` shows as well is its finding, not one of each configuration that has it too. Findings of
    the ``known_issues`` files are counted apart. With ``signals`` cells tell their features, with ``traced`` the lines
    of the compiler that ran are told too. What an original shows and ``met`` has (see ``Cell.symptom``) is no finding
    again: it was confirmed before. In the share ``threaded`` of the seeds the original is compiled once more, for
    several threads. ``untrusted``: every seed runs in the sandbox, not only those that say so;
    ``unsafe``: where there can be no sandbox such seeds run without.
    """

    paths: tuple[Path, ...]
    out: Path
    seed: int = 0
    strategy: str = "each"
    depth: int = 4
    variants: int = 5
    rules: str = ""
    devices: tuple[str, ...] = ("cpu",)
    configs: tuple[Config, ...] = (DEFAULT_CONFIG,)
    jobs: int = 1
    time: float | None = None
    preload: Path | None = None
    runner: str = "fast"
    compile_seconds: float = 90.0
    dry_run: bool = False
    rules_from: tuple[Path, ...] = ()
    favoured: tuple[str, ...] = ()
    diff: bool = False
    checks: tuple[str, ...] = DEFAULT_CHECKS
    steps: int = 1
    guard_steps: int = GUARD_STEPS
    own_random: bool = True
    input_sets: int = 0
    keep_variants: Path | None = None
    known_issues: tuple[Path, ...] = (SHIPPED,)
    judged: frozenset[tuple[str, str]] = frozenset()
    baseline: str = ""
    signals: bool = False
    traced: bool = False
    threaded: float = 0.0
    met: frozenset[tuple[str, ...]] = frozenset()
    untrusted: bool = False
    unsafe: bool = False
