"""The rule library: rule files found by path, and rules chosen by pattern."""

from __future__ import annotations

import fnmatch
import hashlib
import sys
import traceback
import types
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path

from eqfuzz.program import shipped
from eqfuzz.program.suggestions import closest
from eqfuzz.rewrite.rules.equation import Equation
from eqfuzz.rewrite.rules.former_names import former_names
from eqfuzz.rewrite.rules.rule import Rule, RuleError


@cache
def shipped_rules() -> tuple[Rule, ...]:
    """Every rule of the shipped ``rewrites/`` folder, by name. Their equations are parsed when they are first used."""
    return _rules_at(shipped.folder("rewrites"))


def load_rules(path: Path) -> tuple[Rule, ...]:
    """The rules of a Python file, or of every ``*.py`` file below a folder, by name.

    Loading executes the files; raises RuleError with file and line. A file or folder whose name begins with ``_`` or
    ``.`` is skipped.
    """
    rules = _rules_at(path)
    for rule in rules:
        _require_well_formed(rule)
    return rules


@cache
def equation_of(rule: Rule) -> Equation:
    """The rule's equation, parsed once."""
    return Equation(rule)


def place_of(rule: Rule) -> str:
    """``file:line`` of the rule's declaration, the file relative where it lies below the working folder."""
    code = rule.function.__code__
    return f"{shortened(Path(code.co_filename))}:{code.co_firstlineno}"


def shortened(path: Path) -> str:
    """``path`` relative to the working folder where it lies below it."""
    absolute = path.absolute()
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(path)


def select(rules: Sequence[Rule], selection: str) -> tuple[Rule, ...]:
    """The rules that ``selection`` names: comma-separated globs, a leading ``-`` takes away.

    A glob fits a whole name, a family, or the name without its family: ``"shapes/*,-shapes/flip*"``, ``"layout"``,
    ``"flip*"``; former names fit too. A selection that begins with ``-`` starts from all. Raises ValueError with a
    did-you-mean when a pattern fits no rule.
    """
    families = {r.family for r in rules}
    patterns = [p.strip() for p in selection.split(",") if p.strip()]
    chosen = {r.name for r in rules} if not patterns or patterns[0].startswith("-") else set()
    for pattern in patterns:
        takes_away = pattern.startswith("-")
        glob = pattern.removeprefix("-")
        hits = {r.name for r in rules if any(fnmatch.fnmatchcase(name, glob) for name in _all_names(r, families))}
        if not hits:
            raise ValueError(f"no rule fits {glob!r}{_hint(glob, rules)}")
        chosen = chosen - hits if takes_away else chosen | hits
    return tuple(r for r in rules if r.name in chosen)


def one(rules: Sequence[Rule], name: str) -> Rule:
    """The rule called ``name`` now or formerly, with or without its family. Raises ValueError with a did-you-mean."""
    fitting = [r for r in rules if name in (r.name, _bare(r.name))]
    fitting = fitting or [r for r in rules if name in {n for f in former_names(r.name) for n in (f, _bare(f))}]
    if not fitting:
        raise ValueError(f"no rule {name!r}{_hint(name, rules, families_too=False)}")
    if len(fitting) > 1:
        raise ValueError(f"{name!r} is the name of {len(fitting)} rules: {', '.join(r.name for r in fitting)}")
    return fitting[0]


def _bare(name: str) -> str:
    return name.partition("/")[2]


def _all_names(rule: Rule, families: Collection[str]) -> set[str]:
    """What a glob may fit: names now and formerly, whole and bare, and the family; a former one if it is gone."""
    names = (rule.name, *former_names(rule.name))
    former_families = {family for name in names if (family := name.partition("/")[0]) not in families}
    return {*names, *map(_bare, names), rule.family, *former_families}


def _hint(glob: str, rules: Sequence[Rule], *, families_too: bool = True) -> str:
    """``; did you mean 'shapes/*'?`` or nothing. A family that does not exist is corrected first."""
    families = sorted({r.family for r in rules})
    family, slash, rest = glob.partition("/")
    close: str | None = None
    if slash and family not in families:
        corrected = f"{closest(family, families, cutoff=0.6)}/{rest}"
        close = corrected if any(fnmatch.fnmatchcase(r.name, corrected) for r in rules) else None
    if slash and close is None:
        close = closest(glob, [r.name for r in rules if r.family == family] or [r.name for r in rules], cutoff=0.4)
    elif not slash:
        whole = {_bare(r.name): r.name for r in reversed(rules)} | ({f: f for f in families} if families_too else {})
        close = whole.get(closest(glob, whole) or "")
    return f"; did you mean {close!r}?" if close else ""


def _rules_at(path: Path) -> tuple[Rule, ...]:
    files = [path]
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*.py")) if not _is_skipped(file.relative_to(path))]
        if not files:
            raise RuleError(f"{shortened(path)}: no rule files (*.py) in this folder")
    return tuple(sorted((rule for file in files for rule in _rules_of(file)), key=lambda r: r.name))


def _is_skipped(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts)


def _rules_of(path: Path) -> list[Rule]:
    module = _import(path)
    return [
        rule
        for value in vars(module).values()
        for rule in getattr(value, "rules", ())
        if isinstance(rule, Rule) and rule.function.__globals__ is vars(module)
    ]


def _require_well_formed(rule: Rule) -> None:
    """Check an equation's two sides when it is loaded, not at the first match. Raises RuleError."""
    if rule.is_generator:
        return
    try:
        equation_of(rule)
    except RuleError as error:
        raise RuleError(_at(place_of(rule), str(error))) from error


def _import(path: Path) -> types.ModuleType:
    """Execute a rule file, afresh each time and without leaving bytecode beside it. Raises RuleError."""
    path = path.absolute()
    name = f"eqfuzz_rewrites_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    module = types.ModuleType(name)
    module.__file__ = str(path)
    try:
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        sys.modules[name] = module  # dataclasses and inspect look a module up by its name
        exec(code, vars(module))
    except OSError as error:
        if error.filename != str(path):
            raise RuleError(_blame(error, path)) from error
        raise RuleError(f"{shortened(path)}: {error.strerror}") from error
    except (Exception, SystemExit) as error:  # it is the user's code: whatever it raises is reported at its own line
        raise RuleError(_blame(error, path)) from error
    return module


def _blame(error: BaseException, path: Path) -> str:
    """One line on why a rule file does not load, at the file's own line where one is involved."""
    lines: Iterable[int | None] = [
        f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)
    ]
    message = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError):
        message = f"not valid Python: {error.msg}"
        lines = [error.lineno] if error.filename == str(path) else lines
    elif isinstance(error, RuleError):
        message = str(error)
    line = next(iter(reversed(list(lines))), None)
    return _at(f"{shortened(path)}:{line}" if line else shortened(path), " ".join(message.split()))


def _at(place: str, message: str) -> str:
    """``message`` at ``place``, unless it begins with a place in the same file already."""
    file = Path(place.rpartition(":")[0] or place).absolute()
    prefix, _, rest = message.partition(":")
    if Path(prefix) == file:
        return f"{shortened(file)}:{rest}"
    return f"{place}: {message}"
