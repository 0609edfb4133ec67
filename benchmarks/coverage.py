"""Compiler coverage of generated programs: ``python -m benchmarks.coverage --count 88``, ``make coverage``.

Counts the statements of torch/_dynamo, torch/_inductor and torch/_functorch that run, importing included, with the C
tracer of coverage.py. Every program is compiled and called on all its input sets, backward included, in a process
forked from one that has imported torch; all share one cache folder, which is empty at the start. Programs are those of
the mixed template, or of ``--templates``, compiled alternately under eqfuzz's configurations, or ``--configs``. Prints
the curve, and draws it to ``--plot``.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

PACKAGES = ("_dynamo", "_inductor", "_functorch")
CONFIGS = ("inductor", "inductor-dynamic", "inductor", "inductor-scalar-outputs")
SECONDS = 180
TORCHFUZZ = 57_250
"""Statements after 88 programs of TorchFuzz, where its curve is flat (torch 2.13.0, CPU, counted in the same way)."""

Lines = dict[str, set[int]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--count", type=int, default=88)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--templates", nargs="+", default=[], help="names of templates (default: all, mixed)")
    parser.add_argument("--configs", nargs="+", default=list(CONFIGS))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--plot", type=Path, default=None, metavar="FILE")
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    os.environ["COVERAGE_CORE"] = "ctrace"
    with tempfile.TemporaryDirectory(prefix="eqfuzz-coverage-") as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        coverage = _tracing()
        statements = _Statements()
        reached: Lines = {}
        _merge(reached, _lines(coverage))
        curve = [(0, statements.count(reached))]
        print(f"importing: {curve[0][1]:,} of {statements.total:,} statements", flush=True)
        programs = list(_programs(chosen.templates, chosen.start, chosen.count, chosen.configs))
        start = time.monotonic()
        errors: Counter[str] = Counter()
        for number, (lines, error) in enumerate(_all(programs, chosen.jobs, coverage), 1):
            _merge(reached, lines)
            errors.update([error] if error else [])
            if number in (1, 2, 5, 10, 20, 40, 60, 88) or number % 50 == 0 or number == len(programs):
                curve.append((number, statements.count(reached)))
                share = curve[-1][1] / statements.total
                progress = f"{number:5} programs  {curve[-1][1]:7,} statements  {share:.1%}"
                print(f"{progress}  {time.monotonic() - start:6.0f} s, {sum(errors.values())} raised", flush=True)
    for message, count in errors.most_common(12):
        print(f"  {count:3} x {message}")
    for package in PACKAGES:
        print(f"  torch/{package}: {statements.count(reached, package):,} of {statements.total_of(package):,}")
    if chosen.plot is not None:
        _draw(curve, statements.total, chosen.plot)
    return 0


def _programs(names: Sequence[str], start: int, count: int, configs: Sequence[str]) -> Iterator[tuple[str, str]]:
    from eqfuzz.generate.dag.generate import Mixture, ProgramGenerator
    from eqfuzz.generate.dag.template import shipped_templates

    generators = {n: ProgramGenerator(t) for n, t in shipped_templates().items() if not names or n in names}
    mixture = Mixture(generators)
    for seed in range(start, start + count):
        yield mixture.generate(seed).source, configs[seed % len(configs)]


def _tracing() -> Any:
    """A tracer that starts at the first import of a measured package: `torch._C` cannot be imported under a tracer."""
    import coverage

    packages = [f"torch.{package}" for package in PACKAGES]
    tracer = coverage.Coverage(source_pkgs=packages, data_file=None, config_file=False)

    class StartTracer:
        has_started = False

        @classmethod
        def find_spec(cls, name: str, *_: Any) -> None:
            if not cls.has_started and name.startswith(tuple(packages)):
                cls.has_started = True
                tracer.start()

    sys.meta_path.insert(0, StartTracer)  # type: ignore[arg-type]
    import torch
    import torch._inductor.compile_fx

    torch.set_num_threads(1)
    for module in ("eqfuzz.program.load", "eqfuzz.run.configs.named"):  # once, before the forks
        importlib.import_module(module)
    return tracer


def _lines(tracer: Any) -> Lines:
    data = tracer.get_data()
    return {file: set(data.lines(file) or ()) for file in data.measured_files()}


def _merge(into: Lines, lines: Lines) -> None:
    for file, numbers in lines.items():
        into.setdefault(file, set()).update(numbers)


def _all(programs: Sequence[tuple[str, str]], jobs: int, tracer: Any) -> Iterator[tuple[Lines, str]]:
    """The lines that each program ran, and its error or an empty text, in order of completion."""
    context = multiprocessing.get_context("fork")
    waiting = list(programs)[::-1]
    running: dict[Any, tuple[Any, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            source, config = waiting.pop()
            receiver, sender = context.Pipe(duplex=False)
            child = context.Process(target=_child, args=(source, config, sender, tracer))
            child.start()
            sender.close()
            running[receiver] = child, time.monotonic()
        for receiver in multiprocessing.connection.wait(list(running), timeout=5.0):
            child, _ = running.pop(receiver)
            try:
                yield receiver.recv()
            except EOFError:
                yield {}, "the process crashed or timed out"
            child.join()
        for child, start in running.values():
            if time.monotonic() - start > SECONDS:
                child.kill()


def _child(source: str, config: str, sender: Any, tracer: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    before = {file: frozenset(numbers) for file, numbers in _lines(tracer).items()}
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    error = ""
    try:
        _compile(source, config)
    except Exception as exception:
        error = f"{type(exception).__name__}: {str(exception).splitlines()[0][:90] if str(exception) else ''}"
        with contextlib.suppress(Exception):
            traceback.clear_frames(exception.__traceback__)
    ran = {file: numbers - before.get(file, frozenset()) for file, numbers in _lines(tracer).items()}
    sender.send(({file: numbers for file, numbers in ran.items() if numbers}, error))
    sender.close()
    os._exit(0)


def _compile(source: str, config_name: str) -> None:
    import torch

    from eqfuzz.program.formats import recognise
    from eqfuzz.program.load import Loaded, reseed
    from eqfuzz.run.configs.named import BUILT_IN

    warnings.simplefilter("ignore")
    config = BUILT_IN[config_name]
    loaded = Loaded(recognise(source, "generated"))
    with config.patched():
        compiled = config.compile(loaded.instance())
        for call in loaded.calls(7):
            reseed()
            result = compiled(*call.args, **call.kwargs)
            tensors = [t for t in torch.utils._pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
            outputs = [t for t in tensors if t.requires_grad]
            if outputs:
                torch.autograd.backward(outputs, [torch.ones_like(t) for t in outputs])


class _Statements:
    """The statements of all files of the packages, imported or not, as coverage.py counts them."""

    def __init__(self) -> None:
        import torch
        from coverage.parser import PythonParser

        self._root = Path(torch.__file__).parent
        self._parsers: dict[str, Any] = {}
        for package in PACKAGES:
            for file in sorted((self._root / package).rglob("*.py")):
                parser = PythonParser(filename=str(file))
                parser.parse_source()
                self._parsers[str(file)] = parser
        self.total = sum(len(parser.statements) for parser in self._parsers.values())

    def total_of(self, package: str) -> int:
        return sum(len(parser.statements) for file, parser in self._of(package))

    def count(self, lines: Lines, package: str = "") -> int:
        """The number of statements among ``lines``, of one package or all."""
        return sum(
            len(parser.statements & parser.first_lines(lines[file]))
            for file, parser in self._of(package)
            if file in lines
        )

    def _of(self, package: str) -> Iterable[tuple[str, Any]]:
        folder = str(self._root / package)
        return [(file, parser) for file, parser in self._parsers.items() if file.startswith(folder)]


def _draw(curve: Sequence[tuple[int, int]], total: int, file: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    axes.plot([n for n, _ in curve], [c for _, c in curve], marker="o", label="eqfuzz, mixed template")
    axes.axhline(TORCHFUZZ, linestyle="--", color="grey", label="TorchFuzz after 88 programs")
    axes.set(xlabel="programs", ylabel=f"statements of {total:,}", title="Statements of the compiler that ran")
    axes.legend()
    figure.savefig(file, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
