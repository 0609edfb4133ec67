"""What a child process is asked to do: one seed with its variants and all their cells."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.program.program import Program
from eqfuzz.rewrite.derivation import RewriteStep
from eqfuzz.run.configs.named import GUARDS, Config


@dataclasses.dataclass(frozen=True)
class Case:
    """What a child is asked to do; travels as JSON.

    ``skip`` names compiled cells ``(variant, device, config)`` that are judged already, ``skip_variants`` variants
    whose eager run killed an earlier child, ``no_reference`` variants whose reference did, ``no_sequence`` those whose
    further calls did. ``rules_from`` are absolute paths of the user's own rules. Random derivations
    draw rules of the ``favoured`` families more often.

    Variants are not compiled under the configurations named ``original_only``.

    ``checks`` are the names of the oracles asked, and of the call sequences made (``CALLS``); ``steps`` is how many
    changes that a guard must notice are drawn for the original. Of the seed's input sets the first ``input_sets`` are
    used (0: all).

    Under ``GUARDS`` there are ``guard_steps`` instead.

    ``in_batches``: compiled cells run in processes of their own that share the C++ compiler, see ``batch``; else all in
    the one that runs the case, one after the other, as torch does it.

    ``signals`` asks for the features of each compiled cell, see ``signals``; ``traced`` for the lines of the compiler
    that ran while cells were compiled, see ``lines``.

    ``dry_run`` compiles nothing; with ``list_sites`` the sites are told too and no variant runs at all. ``job`` is
    ``run``; ``describe``: only write the first ``described`` calls (0: all) of the program, or of the variant whose
    source is ``transformed``, as source; ``explain``: only say where ``rules`` apply and why not;
    ``audit``: only judge each operator of those calls alone; ``compare``: only judge those calls under ``configs``;
    ``bisect``: only find the part of the compiler that the first configuration's verdict on them comes from; ``same``:
    only say what PyTorch's own accuracy check finds there.
    With ``steps_taken`` these jobs are about what the program becomes by them, and ``transformed`` does not count.
    """

    program: Program
    seed: int
    rules: tuple[str, ...]
    strategy: str
    depth: int
    variants: int
    devices: tuple[str, ...]
    configs: tuple[Config, ...]
    load_seconds: float
    eager_seconds: float
    compile_seconds: float
    original_only: tuple[str, ...] = ()
    in_batches: bool = False
    dry_run: bool = False
    skip: tuple[tuple[int, str, str], ...] = ()
    skip_variants: tuple[int, ...] = ()
    no_reference: tuple[int, ...] = ()
    no_sequence: tuple[int, ...] = ()
    checks: tuple[str, ...] = DEFAULT_CHECKS
    steps: int = 1
    guard_steps: int = 0
    input_sets: int = 0
    rules_from: tuple[str, ...] = ()
    favoured: tuple[str, ...] = ()
    list_sites: bool = False
    signals: bool = False
    traced: bool = False
    transformed: str = ""
    described: int = 0
    steps_taken: tuple[RewriteStep, ...] = ()
    job: Literal["run", "describe", "explain", "audit", "compare", "bisect", "same"] = "run"

    def steps_under(self, config: str) -> int:
        """How many changes that a guard must notice are drawn for the original's cell under ``config``."""
        return self.guard_steps if config == GUARDS.name else self.steps

    def to_json(self) -> dict[str, Any]:
        shallow = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {
            **shallow,
            "program": self.program.to_json(),
            "configs": [c.model_dump() for c in self.configs],
            "steps_taken": [dataclasses.asdict(step) for step in self.steps_taken],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Case:
        lists = {k: tuple(v) for k, v in data.items() if isinstance(v, list)}
        return cls(
            **{
                **data,
                **lists,
                "program": Program.from_json(data["program"]),
                "configs": tuple(Config(**c) for c in data["configs"]),
                "steps_taken": tuple(RewriteStep(**step) for step in data["steps_taken"]),
                "skip": tuple((v, d, c) for v, d, c in data["skip"]),
            }
        )
