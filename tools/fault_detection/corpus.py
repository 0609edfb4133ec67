"""The programs that every hunt runs: the shipped seeds, and variants of them that are made once, without a fault."""

from __future__ import annotations

import ast
import dataclasses
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from eqfuzz.mutate.saved_variants import kept_rules
from eqfuzz.program.parsing import parse
from eqfuzz.program.release import this_release
from eqfuzz.program.shipped import folder
from eqfuzz.triage.findings.known_issues import SHIPPED, read_known_issues
from tools.fault_detection.features import features_of

VARIANTS = 2
"""Variants of each seed, each with everything rewritten that can be at once."""

_CHOICE = 4
"""Programs generated for each that is taken: to make one costs a thousandth of what compiling it does."""

_DENSE, _DENSEST = 0.6, "catalogue"
"""Share of the generated programs that is of one template, whose programs have most results."""

_FADING = 4
"""To this power what was met ``n`` times is worth less than the first time: 1, 1/16, 1/81."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A program of the corpus: a seed as it is, or a variant with the rules that made it."""

    path: Path
    rules: tuple[str, ...] = ()

    @property
    def features(self) -> frozenset[str]:
        """What running it may meet: its rules, and what `features_of` reads from its text."""
        return features_of(parse(self.path.read_text(encoding="utf-8"))) | set(self.rules)

    @property
    def size(self) -> int:
        """Calls and operators in its text: about what a compile costs."""
        nodes = ast.walk(parse(self.path.read_text(encoding="utf-8")))
        return 5 + sum(isinstance(n, ast.Call | ast.BinOp | ast.Compare | ast.UnaryOp | ast.Subscript) for n in nodes)

    @property
    def state(self) -> int:
        """How many numbers, flags and containers the program is given or keeps, besides tensors."""
        tree = parse(self.path.read_text(encoding="utf-8"))
        given = [n.value for n in ast.walk(tree) if isinstance(n, ast.Yield | ast.Assign) and n.value is not None]
        return sum(_plain_values(value) for value in given)


def _plain_values(node: ast.AST) -> int:
    if isinstance(node, ast.Call | ast.BinOp | ast.Subscript | ast.Lambda):
        return 0
    own = isinstance(node, ast.Constant | ast.Dict | ast.List)
    return own + sum(_plain_values(child) for child in ast.iter_child_nodes(node))


def shipped_seeds(within: str = "") -> list[Path]:
    """All shipped seeds whose path below ``seeds/`` begins with ``within``."""
    root = folder("seeds")
    paths = sorted(p for p in root.rglob("*.py") if "__pycache__" not in p.parts)
    return [p for p in paths if str(p.relative_to(root)).startswith(within)]


def hunted_seeds(within: str = "") -> list[Path]:
    """Shipped seeds without those that show a known issue as they are: what else is in these, hunts would not see."""
    release = this_release()
    shown = [issue for issue in read_known_issues([SHIPPED]) if issue.is_in(release)]
    own = {folder("seeds") / name for issue in shown for name in issue.seeds}
    return [path for path in shipped_seeds(within) if path not in own]


def generated_seeds(count: int, seed: int, out: Path) -> list[Path]:
    """Programs of all templates, most of them dense; of `_CHOICE` times as many those that meet most between them.

    Raises CalledProcessError.
    """
    dense = round(_DENSE * count)
    chosen = [(_DENSEST, dense), ("mixed", count - dense)]
    return [path for template, some in chosen for path in _generated(template, some, seed, out / template)]


def _generated(template: str, count: int, seed: int, out: Path) -> list[Path]:
    made = _CHOICE * count
    command = [sys.executable, "-m", "eqfuzz", "generate", "dag", "--template", template, "--quiet"]
    command += ["--start", str(seed * made), "--count", str(made), "--out", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    entries = [Entry(path) for path in sorted((out / "programs").glob("*.py"))]
    return [entry.path for entry in ordered(entries, {}, seed)[:count]]


def grow(seeds: Sequence[Path], seed: int, out: Path) -> list[Entry]:
    """The seeds, and their variants written below ``out``. Raises CalledProcessError."""
    kept = out / "variants"
    options = ["--strategy", "all", "--variants", str(VARIANTS), "--seed", str(seed), "--dry-run", "--quiet"]
    command = [sys.executable, "-m", "eqfuzz", "mutate", *map(str, seeds), *options, "--out", str(out / "growing")]
    subprocess.run([*command, "--keep-variants", str(kept)], check=True, stdout=subprocess.DEVNULL)
    variants = [Entry(path, tuple(kept_rules(path))) for path in sorted(kept.glob("*.py"))]
    return [*(Entry(path) for path in seeds), *variants]


def ordered(entries: Sequence[Entry], costs: Mapping[str, float], seed: int) -> list[Entry]:
    """Seeds before variants, and those first that meet most new things for their cost in CPU-seconds.

    An unknown cost goes by size. What was met before counts little; ``seed`` decides between equals. A variant costs at
    least its whole seed again, and meets mostly what that has met.
    """
    left = random.Random(seed).sample(list(entries), len(entries))
    # In order: sums in another would differ in their last digits, and decide otherwise.
    features = {entry: sorted(entry.features) for entry in left}
    sizes = {entry: entry.size for entry in left}
    known = [entry for entry in left if str(entry.path) in costs]
    each = sum(costs[str(e.path)] for e in known) / sum(sizes[e] for e in known) if known else 1.0
    met: Counter[str] = Counter()

    def worth(entry: Entry) -> float:
        gain = sum((1 + met[name]) ** -_FADING for name in features[entry])
        return gain / costs.get(str(entry.path), each * sizes[entry])

    order: list[Entry] = []
    while left:
        best = max((entry for entry in left if not entry.rules), key=worth, default=None) or max(left, key=worth)
        left.remove(best)
        met.update(features[best])
        order.append(best)
    return order
