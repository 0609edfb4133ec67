"""The rule library: rules loaded from their files, by path."""

from __future__ import annotations

import hashlib
import sys
import traceback
import types
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from eqfuzz.errors import error_line, one_line
from eqfuzz.program import shipped
from eqfuzz.rewrite.rules.declarations import rule_files, shortened
from eqfuzz.rewrite.rules.equation import Equation
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


def _rules_at(path: Path) -> tuple[Rule, ...]:
    files = rule_files(path)
    if not files:
        raise RuleError(f"{shortened(path)}: no rule files (*.py) in this folder")
    return tuple(sorted((rule for file in files for rule in _rules_of(file)), key=lambda r: r.name))


def _rules_of(path: Path) -> list[Rule]:
    module = import_rules(path)
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
        raise RuleError(_at(rule.place, str(error))) from error


def import_rules(path: Path) -> types.ModuleType:
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
    message = error_line(error)
    if isinstance(error, SyntaxError):
        message = f"not valid Python: {error.msg}"
        lines = [error.lineno] if error.filename == str(path) else lines
    elif isinstance(error, RuleError):
        message = str(error)
    line = next(iter(reversed(list(lines))), None)
    return _at(f"{shortened(path)}:{line}" if line else shortened(path), one_line(message))


def _at(place: str, message: str) -> str:
    """``message`` at ``place``, unless it begins with a place in the same file already."""
    file = Path(place.rpartition(":")[0] or place).absolute()
    prefix, _, rest = message.partition(":")
    if Path(prefix) == file:
        return f"{shortened(file)}:{rest}"
    return f"{place}: {message}"
