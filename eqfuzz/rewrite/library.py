"""The rule library: rule files found by path, and rules chosen by pattern."""

from __future__ import annotations

import difflib
import fnmatch
import importlib.util
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

from eqfuzz.program import shipped
from eqfuzz.rewrite.equation import Equation
from eqfuzz.rewrite.rule import Rule, RuleError


@cache
def shipped_rules() -> tuple[Rule, ...]:
    """Every rule of the shipped ``rewrites/`` folder, by name."""
    return load_rules(shipped.folder("rewrites"))


def load_rules(folder: Path) -> tuple[Rule, ...]:
    """The rules of every ``*.py`` file in ``folder``, by name. Raises RuleError naming file and line."""
    rules = [r for path in sorted(folder.glob("*.py")) if not path.name.startswith("_") for r in _rules_of(path)]
    return tuple(sorted(rules, key=lambda r: r.name))


@cache
def equation_of(rule: Rule) -> Equation:
    """The rule's equation, parsed once."""
    return Equation(rule)


def select(rules: Sequence[Rule], selection: str) -> tuple[Rule, ...]:
    """The rules that ``selection`` names: comma-separated globs, a leading ``-`` takes away.

    ``"shape/*,-shape/flip*"``; a selection that begins with ``-`` starts from all. Raises ValueError with a
    did-you-mean when a pattern fits no rule.
    """
    patterns = [p.strip() for p in selection.split(",") if p.strip()]
    chosen = {r.name for r in rules} if not patterns or patterns[0].startswith("-") else set()
    for pattern in patterns:
        takes_away = pattern.startswith("-")
        glob = pattern.lstrip("-")
        hits = {r.name for r in rules if fnmatch.fnmatch(r.name, glob) or r.family == glob}
        if not hits:
            names = [r.name for r in rules] + sorted({r.family for r in rules})
            close = difflib.get_close_matches(glob, names, n=1, cutoff=0.4)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"no rule fits {glob!r}{hint}")
        chosen = chosen - hits if takes_away else chosen | hits
    return tuple(r for r in rules if r.name in chosen)


def _rules_of(path: Path) -> list[Rule]:
    module = _import(path)
    found: list[Rule] = []
    for value in vars(module).values():
        for made in getattr(value, "rules", ()):
            if isinstance(made, Rule):
                if not made.is_generator:
                    equation_of(made)  # a malformed equation is told at load, not at the first match
                found.append(made)
    return found


def _import(path: Path) -> ModuleType:
    name = f"eqfuzz_rewrites_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RuleError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
