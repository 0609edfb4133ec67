"""Whether generated programs run: ``python -m tools.fault_detection.generated --count 2000``.

Each is generated, loaded and called in eager on all of its input sets, backward included, twice; what raises, or gives
another result the second time, is told. Prints how often each operator was used, and how many programs a second were
generated. Exit code 1 where fewer than 99 % run, one has no operator, or an operator is never used.
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

ENOUGH = 0.99


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
    began = time.perf_counter()
    made = [g.generate(seed) for g in generators.values() for seed in range(chosen.start, chosen.start + each)]
    seconds = time.perf_counter() - began
    uses: Counter[str] = Counter()
    for one in made:
        uses.update(set(one.operators))
    failures: dict[str, list[tuple[GeneratedProgram, str]]] = defaultdict(list)
    for one in made:
        error = run(one.source)
        if error:
            failures[error.splitlines()[-1][:100]].append((one, error))
    failed = sum(map(len, failures.values()))
    shown = sorted(failures.items(), key=lambda item: -len(item[1]))
    for message, group in shown[: chosen.show]:
        one, error = group[0]
        print(f"--- {len(group)} x {message}\n{one.source}\n{error}\n")
    names = {name for g in generators.values() for name in g.catalogue.weights}
    unused = sorted(names - set(uses))
    if chosen.least:
        for name, count in sorted(((n, uses[n]) for n in names), key=lambda item: item[1]):
            print(f"{name:60} {count}")
    empty = sum(not one.operators for one in made)
    by_template = Counter(one.template for group in failures.values() for one, _ in group)
    print(f"{len(made)} programs of {len(generators)} templates, {len(made) / seconds:.0f} generated a second")
    print(f"{failed} do not run ({failed / len(made):.2%}) {dict(by_template)}, {empty} have no operator")
    print(f"{len(names)} operators, {len(unused)} never used: {', '.join(unused[:40])}")
    return 1 if failed > (1 - ENOUGH) * len(made) or empty or unused else 0


class _TooLong(Exception):
    pass


def _too_long(*_: Any) -> None:
    raise _TooLong("ran for more than 20 s")


def run(source: str) -> str:
    """Why it does not run in eager, or differs from itself; empty where it does and is the same."""
    signal.signal(signal.SIGALRM, _too_long)
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
    found: list[bytes] = []
    with contextlib.redirect_stdout(io.StringIO()):
        for call in loaded.calls(7):
            torch.manual_seed(0)
            random.seed(0)
            result = model(*call.args, **call.kwargs)
            outputs = [t for t in torch.utils._pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
            differentiable = [t for t in outputs if t.requires_grad]
            if differentiable:
                torch.autograd.backward(differentiable, [torch.ones_like(t) for t in differentiable])
            given = [*call.args, *getattr(model, "parameters", list)()]
            outputs += [t.grad for t in given if isinstance(t, torch.Tensor) and t.grad is not None]
            for tensor in outputs:
                dense = tensor.detach().resolve_conj().resolve_neg().contiguous()
                found.append(
                    dense.flatten().clone(memory_format=torch.contiguous_format).view(torch.uint8).numpy().tobytes()
                )
    return found


if __name__ == "__main__":
    sys.exit(main())
