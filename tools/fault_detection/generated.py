"""Run generated programs in eager: ``python -m tools.fault_detection.generated --count 2000``.

Each program is called twice on all of its input sets, backward included. Prints programs that raise or give other
results the second time, operators that were never used, and the rate of generating. Exit code 1 where fewer than 99 %
run, a program has no operator, or an operator is never used.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import signal
import sys
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from eqfuzz.generate.dag.generate import GeneratedProgram, ProgramGenerator
from eqfuzz.generate.dag.template import shipped_templates

REQUIRED_SHARE = 0.99


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fault_detection.generated", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="programs of all templates together")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--templates", nargs="+", default=[])
    parser.add_argument("--only", nargs="+", default=[], help="operators")
    parser.add_argument("--show", type=int, default=8, help="failing programs that are printed")
    parser.add_argument("--least", action="store_true", help="print the operators used least")
    chosen = parser.parse_args(arguments)
    templates = {n: t for n, t in shipped_templates().items() if not chosen.templates or n in chosen.templates}
    generators = {name: ProgramGenerator(template, only=chosen.only) for name, template in templates.items()}
    each = -(-chosen.count // len(generators))
    start = time.perf_counter()
    programs = [g.generate(seed) for g in generators.values() for seed in range(chosen.start, chosen.start + each)]
    seconds = time.perf_counter() - start
    uses: Counter[str] = Counter()
    for program in programs:
        uses.update(set(program.operators))
    failures: dict[str, list[tuple[GeneratedProgram, str]]] = defaultdict(list)
    for program in programs:
        error = eager_error(program.source)
        if error:
            failures[error.splitlines()[-1][:100]].append((program, error))
    failed = sum(map(len, failures.values()))
    groups = sorted(failures.items(), key=lambda item: -len(item[1]))
    for message, group in groups[: chosen.show]:
        program, error = group[0]
        print(f"--- {len(group)} x {message}\n{program.source}\n{error}\n")
    names = {name for g in generators.values() for name in g.catalogue.weights}
    unused = sorted(names - set(uses))
    if chosen.least:
        for name, count in sorted(((n, uses[n]) for n in names), key=lambda item: item[1]):
            print(f"{name:60} {count}")
    empty = sum(not program.operators for program in programs)
    by_template = Counter(program.template for group in failures.values() for program, _ in group)
    print(f"{len(programs)} programs of {len(generators)} templates, {len(programs) / seconds:.0f} generated a second")
    print(f"{failed} do not run ({failed / len(programs):.2%}) {dict(by_template)}, {empty} have no operator")
    print(f"{len(names)} operators, {len(unused)} never used: {', '.join(unused[:40])}")
    return 1 if failed > (1 - REQUIRED_SHARE) * len(programs) or empty or unused else 0


class _Timeout(Exception):
    pass


def _raise_timeout(*_: Any) -> None:
    raise _Timeout("ran for more than 20 s")


def eager_error(source: str) -> str:
    """Why the program does not run in eager, or differs between two runs; empty where neither is the case."""
    signal.signal(signal.SIGALRM, _raise_timeout)
    signal.alarm(20)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first, second = _results(source), _results(source)
    except Exception:
        return traceback.format_exc(limit=-2)
    finally:
        signal.alarm(0)
    return "" if first == second else "differs from itself"


def _results(source: str) -> list[bytes]:
    import torch

    from eqfuzz.program.formats import recognise
    from eqfuzz.program.load import Loaded

    loaded = Loaded(recognise(source, "generated"))
    model = loaded.instance()
    results: list[bytes] = []
    with contextlib.redirect_stdout(io.StringIO()):
        for call in loaded.calls(7):
            torch.manual_seed(0)
            random.seed(0)
            result = model(*call.args, **call.kwargs)
            outputs = [t for t in torch.utils._pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
            differentiable = [t for t in outputs if t.requires_grad]
            if differentiable:
                torch.autograd.backward(differentiable, [torch.ones_like(t) for t in differentiable])
            inputs = [*call.args, *getattr(model, "parameters", list)()]
            outputs += [t.grad for t in inputs if isinstance(t, torch.Tensor) and t.grad is not None]
            for tensor in outputs:
                dense = tensor.detach().resolve_conj().resolve_neg().contiguous()
                results.append(
                    dense.flatten().clone(memory_format=torch.contiguous_format).view(torch.uint8).numpy().tobytes()
                )
    return results


if __name__ == "__main__":
    sys.exit(main())
