"""The parts of a reproducer that make the calls and the model, and run them."""

from __future__ import annotations

import inspect
import re
import textwrap

from eqfuzz.oracle.compare.verdict import Evidence
from eqfuzz.oracle.observe.readability import unreadable
from eqfuzz.program.literal import REMAKE, UNPACK
from eqfuzz.program.load import STATE_SEED
from eqfuzz.program.restoring import RESTORING
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.script_files import READ_VALUES
from eqfuzz.triage.reproducer.source_description import SourceDescription


def program_parts(finding: Finding, described: SourceDescription, *, has_values: bool) -> list[str]:
    """Code that makes the calls and the model, and a helper where calls change more than their arguments.

    ``has_values``: also the values of a private program.
    """
    program = finding.transformed
    if finding.original.private and not has_values:
        parts = ["# Inputs are private: a file beside this script has the function that makes them", READ_VALUES]
    else:
        parts = ["# Inputs: (args, kwargs) of each call, made anew each time", *calls_parts(described)]
    build = [f"torch.manual_seed({STATE_SEED})", f"model = {program.construct}"]
    if described.globals or described.functions:
        parts += _restoring(described, build)
    if described.state is not None:
        build.append(f"model.load_state_dict({described.state})")
    if finding.device != "cpu" and program.is_module:
        build.append(f"model = model.to({finding.device!r})")
    build.append("return model")
    parts.append("def make_model():\n" + textwrap.indent("\n".join(build), "    "))
    if described.invocation.startswith("call(") and not finding.verdict.oracle:
        parts.append(_changes(described))
    return parts


def calls_parts(described: SourceDescription) -> list[str]:
    """The function that makes the calls, after those that it needs."""
    helpers = [UNPACK] if described.packs else []
    helpers += [REMAKE] if "remake(" in described.calls else []
    return [*helpers, "def make_calls():\n" + textwrap.indent(described.calls, "    ")]


def _restoring(described: SourceDescription, build: list[str]) -> list[str]:
    """Code that saves the globals that a program may change; code that restores them is added to ``build``."""
    lines = ["# What the program may change besides: put back for each run, in place"]
    for name, names in (("GLOBALS", described.globals), ("HOLDERS", described.functions)):
        lines.append(f"{name} = ({''.join(f'{n!r}, ' for n in names)})")
    lines += [
        "BEFORE = {name: globals()[name] for name in GLOBALS + HOLDERS if name in globals()}",
        "KEPT = {}",
        "for thing in BEFORE.values():",
        "    keep(thing, KEPT, __name__)",
    ]
    build[:0] = [
        "for name in GLOBALS:",
        "    globals().pop(name, None)",
        "globals().update(BEFORE)",
        "put_back(KEPT)",
    ]
    return [RESTORING, "\n".join(lines)]


def _changes(described: SourceDescription) -> str:
    """``call(model, number, args, kwargs)`` for a sequence in which more than the arguments changes."""
    lines = ["def call(model, number, args, kwargs):", '    """One call, in the state that it is to be made in."""']
    if any(before for _, before, _ in described.changes):
        lines.append("    compiled, model = model, getattr(model, '_orig_mod', model)")
    for number, (label, before, _) in enumerate(described.changes):
        if before:
            lines += [f"    if number == {number}:  # {label}", textwrap.indent(before.strip("\n"), " " * 8)]
    if any(before for _, before, _ in described.changes):
        lines.append("    model = compiled")
    for number, (label, _, within) in enumerate(described.changes):
        if within:
            lines += [f"    if number == {number}:  # {label}", f"        with {within}:"]
            lines.append("            return model(*args, **kwargs)")
    return "\n".join([*lines, "    return model(*args, **kwargs)"])


def compile_line(config: Config) -> str:
    arguments = "".join(f", {k}={v!r}" for k, v in config.arguments().items())
    return f"torch.compile(make_model(){arguments})"


def seeding(finding: Finding) -> str:
    """Statements that seed the random generators before call ``number``."""
    evidence = finding.verdict.evidence or Evidence()
    text = f"{finding.transformed.source}\n{evidence.path}"
    seed = f"{STATE_SEED} + number"
    lines = [f"torch.manual_seed({seed})"]
    if re.search(r"\brandom\b", text):
        lines.append(f"random.seed({seed})")
    if re.search(r"\b(numpy|np)\.random\b", text):
        lines.append(f"numpy.random.seed({seed})")
    return "\n".join(lines)


def run_text(finding: Finding, described: SourceDescription) -> str:
    ends = "    torch.cuda.synchronize()\n" if finding.device == "cuda" else ""
    return f'''{inspect.getsource(unreadable)}

def run(model):
    """The program on every input set, with the backward pass where there is one; all that it leaves is read."""
    for number, (args, kwargs) in enumerate(make_calls()):
{textwrap.indent(seeding(finding), " " * 8)}
        output = {described.invocation}
        for tensor in tensors([output, args, kwargs]):
            assert not unreadable(tensor), unreadable(tensor)
        leaves = [t for t in tensors(output) if t.requires_grad and (t.grad_fn or t._base is None)]
        if leaves:
            torch.autograd.backward(leaves, [torch.ones_like(t) for t in leaves])
{ends}'''
