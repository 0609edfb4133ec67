"""The user's rule files beside the shipped rules: same form, same checks, errors raised before anything runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import torch

from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.facts.preconditions import Precondition
from eqfuzz.rewrite.proof.example import examples_of
from eqfuzz.rewrite.rules.declarations import shortened
from eqfuzz.rewrite.rules.library import load_rules, shipped_rules
from eqfuzz.rewrite.rules.rule import Rule, RuleError

_SAMPLES = (
    Fact("tensor", dtype=torch.float32, shape=(2, 3), stride=(3, 1), low=1.0, high=2.0, smallest=1.0),
    Fact("tensor", dtype=torch.int64, shape=(2, 3), stride=(3, 1), low=1, high=2, smallest=1),
    Fact("tensor", dtype=torch.bool, shape=(2, 3), stride=(3, 1)),
    Fact("tensor", dtype=torch.complex64, shape=(2, 3), stride=(3, 1)),
    Fact("int", 1),
    Fact("ints", (1, 2), length=2),
)
"""Facts passed to a precondition only to see which names it reads."""


def known_rules(paths: Sequence[Path] = ()) -> tuple[Rule, ...]:
    """The shipped rules and those of the user's files and folders, by name.

    Raises RuleError with a message of one line that names file and line: a file does not load, a rule is not well
    formed, a precondition reads a parameter that does not exist, two rules have one name, or there is no rule at all.
    """
    rules = {r.name: r for r in shipped_rules()}
    for path in dict.fromkeys(p.absolute() for p in paths):
        mine = load_rules(path)
        if not mine:
            raise RuleError(
                f"{shortened(path)}: no rules here: decorate functions with `eqfuzz.rewrite.rules.rule.rule`"
            )
        for rule in mine:
            if rule.name in rules:
                taken = rules[rule.name].place
                raise RuleError(f"{rule.place}: {rule.name} is the name of a rule already ({taken})")
            _require_sound_declaration(rule)
            rules[rule.name] = rule
    return tuple(sorted(rules.values(), key=lambda r: r.name))


@cache
def rules_for_children(paths: tuple[str, ...]) -> dict[str, Rule]:
    """``known_rules`` by name, read once in a process that runs many cases."""
    return {r.name: r for r in known_rules([Path(p) for p in paths])}


def _require_sound_declaration(rule: Rule) -> None:
    try:
        examples = examples_of(rule)
    except RuleError as error:
        raise RuleError(f"{rule.place}: {error}") from error
    except SyntaxError as error:
        raise RuleError(
            f"{rule.place}: the example is not valid Python: {error.msg} (its line {error.lineno})"
        ) from error
    for example in examples:
        for precondition in rule.where:
            for name in _names_read(precondition):
                if name not in example.sorts and name != "result":
                    parameters = ", ".join(example.sorts) or "none"
                    reads = f"precondition {precondition.text!r} reads {name!r}"
                    raise RuleError(f"{rule.place}: {reads}; the parameters: {parameters}")


class _FactRecorder(dict[str, Fact]):
    """Gives the same fact for every name, and records the names."""

    def __init__(self, fact: Fact) -> None:
        super().__init__()
        self.fact = fact
        self.names: list[str] = []

    def __getitem__(self, name: str) -> Fact:
        self.names.append(name)
        return self.fact


def _names_read(precondition: Precondition) -> Iterator[str]:
    for fact in _SAMPLES:
        visit = _FactRecorder(fact)
        # A sample fact may be one that the precondition cannot take; the proof tries it on real ones.
        with contextlib.suppress(Exception):
            precondition.check(visit)
        yield from visit.names
