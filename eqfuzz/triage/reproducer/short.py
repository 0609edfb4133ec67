"""Short reproducers, as a person would write them: a function, its inputs, and two lines that differ.

They exist for functions that are called once, have a wrong output and inputs with a short form.
"""

from __future__ import annotations

import ast
import math

from eqfuzz.oracle.compare.verdict import Evidence, VerdictKind
from eqfuzz.program.definitions_only import program_text
from eqfuzz.program.parsing import parse
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.comparison import number
from eqfuzz.triage.reproducer.header import PRELOAD_BESIDE, draws, script_header, without_imports_of_torch
from eqfuzz.triage.reproducer.source_description import SourceDescription

_SHORT = 1500
"""How many characters of inputs are still readable."""


def short_reproducer(finding: Finding, config: Config, described: SourceDescription, preload: str | None) -> str | None:
    """The script's text; None where the finding is not as simple."""
    evidence = finding.verdict.evidence or Evidence()
    inputs = _inputs(described) if not finding.original.private else None
    program, future = without_imports_of_torch(program_text(finding.transformed))
    simple = (
        finding.verdict.kind in (VerdictKind.WRONG_RESULT, VerdictKind.COMPILER_CRASH)
        and not finding.verdict.oracle
        and not finding.transformed.is_module
        and evidence.call == 0
        and not draws(program)
        and not (described.globals or described.functions)
        and (finding.verdict.kind is VerdictKind.COMPILER_CRASH or _is_plain_element(evidence))
    )
    if inputs is None or not simple:
        return None
    modules = {
        "sys",
        *(["collections"] if "collections." in inputs else []),
        *(["pathlib"] if preload is not None else []),
    }
    head = script_header(finding, config, future, PRELOAD_BESIDE if preload is not None else "", modules)
    name = finding.transformed.construct
    arguments = "".join(f", {k}={v!r}" for k, v in config.arguments().items())
    lines = [
        head,
        "",
        "",
        program,
        "",
        "",
        "def inputs():",
        *(f"    {line}" if line else "" for line in inputs.splitlines()),
        "",
        "",
        *_ending(
            finding,
            evidence,
            f"{name}(*inputs())",
            f"torch.compile({name}{arguments})(*inputs())",
            perhaps_arrays="numpy" in program,
        ),
    ]
    return "\n".join(lines) + "\n"


def _is_plain_element(evidence: Evidence) -> bool:
    """Whether the wrong element is a real number of an output tensor."""
    numbers = [evidence.eager, evidence.compiled, evidence.allowed]
    numbers += [evidence.reference] if evidence.reference is not None else []
    plain = all(isinstance(n, bool | int | float) and math.isfinite(n) for n in numbers)
    return plain and evidence.index is not None and evidence.path.startswith("output")


def _inputs(described: SourceDescription) -> str | None:
    """The body of a function that returns the arguments; None where there is more than one plain call of few values."""
    if described.packs or "remake(" in described.calls or described.state is not None or len(described.calls) > _SHORT:
        return None
    if len(described.changes) > 1 or described.invocation.startswith("call("):
        return None
    tree = parse(described.calls)
    calls = tree.body[-1].value if tree.body and isinstance(tree.body[-1], ast.Return) else None
    match calls:
        case ast.List(elts=[ast.Tuple(elts=[ast.Tuple() as arguments, ast.Dict(keys=[])])]):
            before = [ast.unparse(statement) for statement in tree.body[:-1]]
            return "\n".join([*before, f"return {ast.unparse(arguments)}"])
        case _:
            return None


def _ending(finding: Finding, evidence: Evidence, eager: str, compiled: str, *, perhaps_arrays: bool) -> list[str]:
    if finding.verdict.kind is VerdictKind.COMPILER_CRASH:
        return [
            eager,
            'print("eager:    returns", flush=True)',
            "try:",
            f"    {compiled}",
            "except Exception as error:",
            '    print("compiled: raises", type(error).__name__, error)',
            "    sys.exit(1)",
            'print("compiled: returns")',
        ]
    leaf = evidence.path.removeprefix("output")
    if not evidence.allowed or evidence.reference is None:
        is_float = isinstance(evidence.eager, float)
        if is_float and perhaps_arrays:
            same = "((compiled == eager) | (compiled != compiled) & (eager != eager)).all()"
        elif is_float:
            same = "torch.allclose(compiled, eager, rtol=0, atol=0, equal_nan=True)"
        elif perhaps_arrays:
            same = "(compiled == eager).all()"
        else:
            same = "compiled.equal(eager)"
        return [
            f"eager = {eager}{leaf}",
            'print("eager:   ", eager, flush=True)',
            f"compiled = {compiled}{leaf}",
            'print("compiled:", compiled)',
            f"sys.exit(not {same})",
        ]
    element = f"[{', '.join(map(str, evidence.index or ()))}].item()" if evidence.index else ".item()"
    return [
        "# The worst element, what a float64 run gives there, and how far from that rounding may lead",
        f"reference, allowed = {number(evidence.reference)}, {number(evidence.allowed)}",
        'print("reference:", reference, " allowed difference:", allowed)',
        f"eager = {eager}{leaf}{element}",
        'print("eager:    ", eager, " difference:", abs(eager - reference), flush=True)',
        f"compiled = {compiled}{leaf}{element}",
        'print("compiled: ", compiled, " difference:", abs(compiled - reference))',
        "sys.exit(not abs(compiled - reference) <= max(allowed, 3 * abs(eager - reference)))",
    ]
