"""CPU time of rewriting: variants per second at depth 1, probing, and steps of a random walk.

The seeds are held-out files of about sixty lines; every shipped rule is tried at every site of them.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from eqfuzz.program.call import Call
from eqfuzz.program.formats import read_program
from eqfuzz.program.load import Loaded, reseed
from eqfuzz.rewrite import strategy
from eqfuzz.rewrite.derivation import Variant, original
from eqfuzz.rewrite.facts.probe import Facts, Probe, take_facts
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.site import sites_of
from eqfuzz.rewrite.source.syntax import Syntax

SEEDS = Path(__file__).parent.parent / "tests" / "held_out"
NAMES = ("momentum_and_ema.py", "fourier_mixer.py", "lstm_stack.py")
STEPS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="seed files (default: three of sixty lines)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rules = shipped_rules()
    columns = ("seed", "lines", "variants", "variants per CPU-s", "probing s", "walk steps per CPU-s")
    table = Table(*columns, title=f"rewriting with {len(rules):,} rules")
    for path in arguments.paths or [SEEDS / name for name in NAMES]:
        table.add_row(path.stem, *_measured(path))
    Console().print(table)


def _measured(path: Path) -> list[str]:
    program = read_program(path)
    calls = Loaded(program).calls(0)
    rules = shipped_rules()
    sites_of(*_study(original(program), calls), rules)  # parses the rules, which is not measured

    start = time.process_time()
    syntax = Syntax(program.source)
    probe = Probe(program, syntax)
    instance = probe.instance()
    for call in calls:
        copy = call.copy()
        reseed()
        instance(*copy.args, **copy.kwargs)
    facts = probe.facts()
    probed = time.process_time()
    variants = strategy.each(original(program), sites_of(syntax, facts, rules), 0, random.Random(0))
    rewritten = time.process_time()
    (*_,) = strategy.walk(original(program), lambda v: _study(v, calls), rules, STEPS, 1, random.Random(0))
    walked = time.process_time()
    return [
        str(program.source.count("\n")),
        f"{len(variants):,}",
        f"{len(variants) / (rewritten - start):,.0f}",
        f"{probed - start:.3f}",
        f"{STEPS / (walked - rewritten):.0f}",
    ]


def _study(variant: Variant, calls: Sequence[Call]) -> tuple[Syntax, Facts]:
    syntax = Syntax(variant.program.source)
    return syntax, take_facts(variant.program, syntax, calls)


if __name__ == "__main__":
    main()
