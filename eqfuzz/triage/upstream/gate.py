"""The gate before a report: what makes PyTorch's maintainers and bots close, ignore or return it."""

from __future__ import annotations

import ast
import dataclasses
import sys
from collections.abc import Iterator

from eqfuzz.program.parsing import parse
from eqfuzz.triage.upstream.evidence import RUN_SECONDS, RUNS, UpstreamEvidence
from eqfuzz.triage.upstream.mitigations import FAILS, FALLBACK_RANDOM, PASSES, PRECISION_CASTS

MOST_LINES = 20
"""Lines of a reproducer without its imports that PyTorch's bots ask for at most."""


@dataclasses.dataclass(frozen=True)
class GateWarning:
    """One reason not to report yet: ``what`` was seen, ``why`` it matters to the reader, ``advice`` what to do."""

    check: str
    what: str
    why: str
    advice: str

    def __str__(self) -> str:
        return f"{self.check}: {self.what}; {self.why}; {self.advice}"


@dataclasses.dataclass(frozen=True)
class GateContext:
    """What the evidence does not say."""

    reported: str = ""
    """Where the defect is reported already: an address; empty where that is not known."""
    alike: str = ""
    """The address of the most likely duplicate in the tracker; empty where there is none."""
    reads_private: bool = False
    """Whether the script needs values that are left out of the report."""


def gate(evidence: UpstreamEvidence, context: GateContext = GateContext()) -> list[GateWarning]:
    """The warnings, the gravest first; none where the report can be filed."""
    warnings = [*_of_outcomes(evidence), *_of_explanations(evidence), *_of_values(evidence)]
    return [*warnings, *_of_text(evidence, context), *_of_novelty(context)]


def _of_outcomes(evidence: UpstreamEvidence) -> Iterator[GateWarning]:
    if evidence.failing < RUNS:
        yield GateWarning(
            "flaky" if evidence.failing else "not failing",
            f"it fails in {evidence.failing} of {RUNS} runs",
            "what their bot cannot reproduce is closed",
            "state the ratio and look for the cause, such as threads or uninitialised memory"
            if evidence.failing
            else "do not report it",
        )
    if evidence.seconds > RUN_SECONDS:
        yield GateWarning(
            "slow",
            f"a run takes {evidence.seconds:.0f} s",
            f"their bot stops a reproducer after {RUN_SECONDS:.0f} s",
            "make it smaller with `eqfuzz reduce`",
        )
    if evidence.on_cpu == FAILS:
        yield GateWarning(
            "cuda only",
            "it is written for CUDA, and the CPU shows it too",
            "the CPU is tried first",
            "report it on CPU",
        )
    newest = max((n for n, (_, verdict) in enumerate(evidence.releases) if verdict == FAILS), default=-1)
    fixed = [release for release, verdict in evidence.releases[newest + 1 :] if verdict == PASSES]
    if newest >= 0 and fixed:
        yield GateWarning(
            "fixed",
            f"it passes with torch {fixed[0]}",
            "what a release has fixed is closed",
            "do not report it",
        )


def _of_explanations(evidence: UpstreamEvidence) -> Iterator[GateWarning]:
    if PRECISION_CASTS in evidence.cures:
        yield GateWarning(
            "explained",
            "with emulate_precision_casts it passes",
            "they hold that rounding in low precision is intended",
            "report it only if the difference is larger than rounding explains, and say so",
        )
    if FALLBACK_RANDOM in evidence.cures:
        yield GateWarning(
            "explained",
            "with fallback_random it passes",
            "Inductor draws other random numbers by design",
            "set it in the reproducer, and report only what is left",
        )
    if evidence.traits.draws:
        yield GateWarning(
            "random",
            f"its program draws random numbers ({', '.join(evidence.traits.draws)})",
            "a difference in random numbers is intended",
            "make the drawn tensor an input, unless the draw itself is the defect",
        )


def _of_values(evidence: UpstreamEvidence) -> Iterator[GateWarning]:
    traits = evidence.traits
    edge = "such values are labelled as edge cases of a fuzzer and may be closed"
    if traits.special:
        yield GateWarning("special values", f"inputs have {' and '.join(traits.special)}", edge, "try finite values")
    if traits.limits:
        names = ", ".join(traits.limits)
        yield GateWarning(
            "limits", f"inputs are near the limits of {names}", edge, "try values within the normal range"
        )
    if traits.subnormal:
        names = ", ".join(traits.subnormal)
        yield GateWarning("subnormal", f"inputs are subnormal in {names}", edge, "try values within the normal range")
    if traits.jumps:
        yield GateWarning(
            "jump",
            f"{', '.join(traits.jumps)} jumps when what it gets changes by one rounding",
            "a jump after a rounding error is no defect to them",
            "return what is before the jump, or take other values",
        )
    if traits.ties:
        yield GateWarning(
            "tie",
            f"{', '.join(traits.ties)} chooses one of several equal values",
            "which index is chosen is not defined",
            "take inputs without equal values, or return values instead of indices",
        )
    if traits.error:
        yield GateWarning(
            "not probed",
            f"its program was not looked at: {traits.error}",
            "special values, jumps and ties may be in it",
            "look at its inputs yourself",
        )


def _of_text(evidence: UpstreamEvidence, context: GateContext) -> Iterator[GateWarning]:
    text = evidence.script.text
    lines = line_count(text)
    if lines > MOST_LINES:
        yield GateWarning(
            "long",
            f"{lines} lines without imports",
            f"they ask for {MOST_LINES} at most, and longer ones of fuzzers stay untriaged",
            "make it smaller with `eqfuzz reduce`",
        )
    others = third_party(text)
    if others:
        yield GateWarning(
            "imports",
            f"it imports {', '.join(others)}",
            "their bot stops at packages besides torch",
            "write it with torch alone, unless that package is what is compiled",
        )
    if not evidence.script.has_function:
        yield GateWarning(
            "no test_fn",
            f"it is no `test_fn() -> bool`: {evidence.unconverted}",
            "their bots call such a function",
            "write one by hand",
        )
    elif not evidence.script.backend:
        yield GateWarning(
            "backend",
            "its backend is not read from the environment",
            "their bot tries all backends",
            "check that the backend is one of torch's",
        )
    if context.reads_private:
        yield GateWarning(
            "private",
            "it reads private values from a file beside it",
            "a reproducer is copied from the report, and downloads are removed from it",
            "use --with-values if they may be public, else other values",
        )


def _of_novelty(context: GateContext) -> Iterator[GateWarning]:
    if context.reported:
        yield GateWarning(
            "reported", f"it is a known issue: {context.reported}", "duplicates are closed", "add to it there"
        )
    if context.alike and context.alike != context.reported:
        yield GateWarning(
            "duplicate", f"{context.alike} is much like it", "duplicates are closed", "read that one first"
        )


def line_count(script: str) -> int:
    """Lines of a script without imports, documentation, comments, blank lines and the call of its ``test_fn``."""
    tree = parse(script)
    left_out = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and _is_apart(node)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(script.splitlines(), 1)
    return sum(
        number not in left_out and not line.strip().startswith("#") and bool(line.strip()) for number, line in lines
    )


def third_party(script: str) -> list[str]:
    """Modules besides torch and the standard library that a script imports."""
    names: set[str] = set()
    for node in ast.walk(parse(script)):
        match node:
            case ast.Import(names=aliases):
                names |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=str(module)):
                names.add(module)
            case _:
                pass
    first = {name.split(".")[0] for name in names}
    return sorted(first - {"torch"} - sys.stdlib_module_names)


def _is_apart(node: ast.stmt) -> bool:
    """Whether a statement is no line that is to be understood."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return False
