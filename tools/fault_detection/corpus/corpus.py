"""Corpus of detection runs: the shipped seeds and variants of them, made once without a fault."""

from __future__ import annotations

import ast
import dataclasses
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from eqfuzz.generate.catalogues.programs import CatalogueProgram
from eqfuzz.mutate.saved_variants import kept_rules
from eqfuzz.program.parsing import parse
from eqfuzz.program.release import this_release
from eqfuzz.program.shipped import folder
from eqfuzz.triage.findings.known_issues import SHIPPED, read_known_issues
from tools.fault_detection.corpus.features import features_of

VARIANTS = 2
"""Variants of each seed, each with all rewrites that can be combined."""

_CHOICE = 4
"""Programs generated for each that is selected: generating costs a thousandth of compiling."""

_DENSE_SHARE, _DENSE_TEMPLATE = 0.6, "catalogue"
"""Share of generated programs from the template whose programs have most results."""

_DECAY = 4
"""Exponent of the value of a repeated feature: 1, 1/16, 1/81."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A program of the corpus: a seed, a variant with the rules that made it, or a ``program`` of a catalogue."""

    path: Path
    rules: tuple[str, ...] = ()
    program: CatalogueProgram | None = dataclasses.field(default=None, compare=False)

    @property
    def features(self) -> frozenset[str]:
        """Its rules, and the features of its text."""
        return features_of(parse(self.path.read_text(encoding="utf-8"))) | set(self.rules)

    @property
    def size(self) -> int:
        """Calls and operators in its text, an estimate of the cost of compiling."""
        nodes = ast.walk(parse(self.path.read_text(encoding="utf-8")))
        return 5 + sum(isinstance(n, ast.Call | ast.BinOp | ast.Compare | ast.UnaryOp | ast.Subscript) for n in nodes)

    @property
    def state(self) -> int:
        """How many numbers, flags and containers are inputs or globals of the program, besides tensors."""
        tree = parse(self.path.read_text(encoding="utf-8"))
        values = [n.value for n in ast.walk(tree) if isinstance(n, ast.Yield | ast.Assign) and n.value is not None]
        return sum(_plain_values(value) for value in values)

    @property
    def has_writes(self) -> bool:
        """Whether a function of the program writes to a parameter."""
        nodes = ast.walk(parse(self.path.read_text(encoding="utf-8")))
        return any(_written_parameters(node) for node in nodes if isinstance(node, ast.FunctionDef))


def _plain_values(node: ast.AST) -> int:
    if isinstance(node, ast.Call | ast.BinOp | ast.Subscript | ast.Lambda):
        return 0
    own = isinstance(node, ast.Constant | ast.Dict | ast.List)
    return own + sum(_plain_values(child) for child in ast.iter_child_nodes(node))


def _written_parameters(function: ast.FunctionDef) -> set[str]:
    """The parameters that are written to by ``x.add_(…)``, ``x += …`` or ``x[…] = …``."""
    written = {name for node in ast.walk(function) for name in _written_names(node)}
    return written & {parameter.arg for parameter in function.args.args}


def _written_names(node: ast.AST) -> list[str]:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            return [name] if method.endswith("_") and not method.endswith("__") else []
        case ast.AugAssign(target=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name))):
            return [name]
        case ast.Assign(targets=targets):
            return [t.value.id for t in targets if isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name)]
        case _:
            return []


def shipped_seeds(within: str = "") -> list[Path]:
    """All shipped seeds whose path below ``seeds/`` begins with ``within``."""
    root = folder("seeds")
    paths = sorted(p for p in root.rglob("*.py") if "__pycache__" not in p.parts)
    return [p for p in paths if str(p.relative_to(root)).startswith(within)]


def detection_seeds(within: str = "") -> list[Path]:
    """Shipped seeds without those that show a known issue, which would hide any other difference."""
    release = this_release()
    issues = [issue for issue in read_known_issues([SHIPPED]) if issue.is_in(release)]
    excluded = {folder("seeds") / name for issue in issues for name in issue.seeds}
    return [path for path in shipped_seeds(within) if path not in excluded]


def generated_seeds(count: int, seed: int, out: Path) -> list[Path]:
    """Generated programs, most of them dense: of ``_CHOICE`` times as many those that cover most features together.

    Raises CalledProcessError.
    """
    dense = round(_DENSE_SHARE * count)
    counts = [(_DENSE_TEMPLATE, dense), ("mixed", count - dense)]
    return [path for template, size in counts for path in _generated(template, size, seed, out / template)]


def _generated(template: str, count: int, seed: int, out: Path) -> list[Path]:
    candidates = _CHOICE * count
    command = [sys.executable, "-m", "eqfuzz", "generate", "dag", "--template", template, "--quiet"]
    command += ["--start", str(seed * candidates), "--count", str(candidates), "--out", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    entries = [Entry(path) for path in sorted((out / "programs").glob("*.py"))]
    return [entry.path for entry in ordered(entries, {}, seed)[:count]]


def with_variants(seeds: Sequence[Path], seed: int, out: Path) -> list[Entry]:
    """The seeds, and their variants written below ``out``. Raises CalledProcessError."""
    saved = out / "variants"
    options = ["--strategy", "all", "--variants", str(VARIANTS), "--seed", str(seed), "--dry-run", "--quiet"]
    command = [sys.executable, "-m", "eqfuzz", "mutate", *map(str, seeds), *options, "--out", str(out / "growing")]
    subprocess.run([*command, "--keep-variants", str(saved)], check=True, stdout=subprocess.DEVNULL)
    variants = [Entry(path, tuple(kept_rules(path))) for path in sorted(saved.glob("*.py"))]
    return [*(Entry(path) for path in seeds), *variants]


def ordered(entries: Sequence[Entry], costs: Mapping[str, float], seed: int) -> list[Entry]:
    """Entries by new features per cost in CPU seconds, seeds before variants; ``seed`` decides ties.

    An unknown cost is estimated from the size. Features of earlier entries count little. Variants come last, since a
    variant costs at least as much as its seed and has mostly the same features.
    """
    left = random.Random(seed).sample(list(entries), len(entries))
    # Sorted, since sums in another order differ in their last digits.
    features = {entry: sorted(entry.features) for entry in left}
    sizes = {entry: entry.size for entry in left}
    measured = [entry for entry in left if str(entry.path) in costs]
    unit = sum(costs[str(e.path)] for e in measured) / sum(sizes[e] for e in measured) if measured else 1.0
    covered: Counter[str] = Counter()

    def score(entry: Entry) -> float:
        gain = sum((1 + covered[name]) ** -_DECAY for name in features[entry])
        return gain / costs.get(str(entry.path), unit * sizes[entry])

    order: list[Entry] = []
    while left:
        best = max((entry for entry in left if not entry.rules), key=score, default=None) or max(left, key=score)
        left.remove(best)
        covered.update(features[best])
        order.append(best)
    return order
