"""The end of a reproducer of what a program gives: one leaf of eager beside that of compiled."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, Literal

from eqfuzz.oracle.compare.observation_diff import NOTHING
from eqfuzz.oracle.compare.verdict import Evidence, VerdictKind
from eqfuzz.oracle.observe.leaves import STRUCTURE
from eqfuzz.oracle.observe.readability import unreadable
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.helpers import COTANGENT, SHARED, TENSORS, TEXTS
from eqfuzz.triage.reproducer.program_parts import compile_line, seeding
from eqfuzz.triage.reproducer.source_description import SourceDescription

Comparison = Literal["metadata", "element", "exact"]


def comparison_of(finding: Finding) -> Comparison:
    """What the reproducer compares where it is not watched, nor asks a user's oracle."""
    evidence = finding.verdict.evidence or Evidence()
    leaf = _leaf(evidence)
    as_it_is = leaf.startswith(("shared(", "structure(")) or leaf.endswith((".is_leaf", ".device"))
    if finding.verdict.kind is VerdictKind.WRONG_METADATA and not as_it_is:
        return "metadata"
    if evidence.allowed and evidence.index is not None and evidence.reference is not None:
        return "element"
    return "exact"


def _leaf(evidence: Evidence) -> str:
    path = evidence.path or "output"
    return path.removeprefix("second ").removeprefix("gradient of ").removesuffix(" after the call")


def compared_parts(finding: Finding, config: Config, described: SourceDescription) -> list[str]:
    evidence = finding.verdict.evidence or Evidence()
    path, leaf = evidence.path or "output", _leaf(evidence)
    comparison = comparison_of(finding)
    gradient = "gradient of " in path
    parts = [TENSORS, COTANGENT] if gradient else []
    if leaf.startswith("shared("):
        parts.append(SHARED)
    if leaf.startswith("structure("):
        parts.append(f"MODULE_PREFIX = __name__  # of the classes of the program\n\n\n{STRUCTURE}")
    observing = _observing(leaf, described.invocation, gradient, comparison, path)
    parts.append(
        f"def observe(model):\n"
        f'    """{path} of call {evidence.call}."""\n'
        f"    seen = None\n"
        f"    for number, (args, kwargs) in enumerate(make_calls()[: {evidence.call + 1}]):\n"
        f"{textwrap.indent(seeding(finding), ' ' * 8)}\n"
        f"{textwrap.indent(observing, ' ' * 8)}\n"
        f"    return seen"
    )
    if comparison == "metadata":
        parts += [inspect.getsource(unreadable), _metadata(config)]
    elif comparison == "element":
        parts.append(_element(config, evidence))
    else:
        parts.append(_exact(config, shows_values=not finding.original.private))
    return parts


def _observing(leaf: str, invocation: str, gradient: bool, comparison: Comparison, path: str) -> str:
    """Statements that make one call and put what is compared into ``seen``."""
    if leaf in TEXTS:
        return TEXTS[leaf].format(invocation=invocation)
    lines = [f"output = {invocation}"]
    if gradient:
        lines = [
            f"wrt = {leaf}",
            *lines,
            "outputs = [t for t in tensors(output) if t.requires_grad and (t.grad_fn or t._base is None)]",
            "along = [cotangent(t) for t in outputs]",
        ]
        if path.startswith("second "):
            # Of every input at once: that is what the second pass goes through.
            lines += [
                "given = [t for t in [*tensors(args), *tensors(kwargs)] if t.requires_grad and t.is_leaf]",
                "given += [p for p in model.parameters()] if isinstance(model, torch.nn.Module) else []",
                "found = torch.autograd.grad(outputs, given, along, allow_unused=True, create_graph=True)",
                "outputs = [g for g in found if g is not None and g.requires_grad]",
                "along = [cotangent(t) for t in outputs]",
            ]
        lines.append("seen = torch.autograd.grad(outputs, [wrt], along, allow_unused=True)[0] if outputs else None")
    elif leaf.startswith("structure("):
        # One side may have nothing of that name.
        lines += ["try:", f"    seen = {leaf}", "except (AttributeError, KeyError):", f'    seen = "{NOTHING}"']
    elif comparison == "metadata":
        lines.append(f"seen = {leaf}")
    else:
        lines += [f"seen = {leaf}", "seen = copy.deepcopy(seen.detach() if isinstance(seen, torch.Tensor) else seen)"]
    return "\n".join(lines)


def _metadata(config: Config) -> str:
    return f'''
def metadata(value):
    """What must be equal besides values; strides count only where a size is above 1."""
    if not isinstance(value, torch.Tensor):
        return type(value), getattr(value, "dtype", None), getattr(value, "shape", None)
    if unreadable(value):
        return type(value), f"cannot be read: {{unreadable(value)}}"
    strided = value.layout is torch.strided and value.numel() > 0
    strides = [step for size, step in zip(value.shape, value.stride()) if size > 1] if strided else []
    return value.dtype, tuple(value.shape), strides, value.device.type, value.requires_grad


eager = metadata(observe(make_model()))
print("eager:   ", eager, flush=True)
compiled = metadata(observe({compile_line(config)}))
print("compiled:", compiled)
sys.exit(eager != compiled)
'''


_PRINTED = """\
eager = observe(make_model())
print("eager:   ", eager, flush=True)
compiled = observe(COMPILED)
print("compiled:", compiled)
sys.exit(not same(eager, compiled))
"""

_UNPRINTED = """\
equal = same(observe(make_model()), observe(COMPILED))
print("eager and compiled are equal" if equal else "eager and compiled differ")
sys.exit(not equal)
"""


def _exact(config: Config, *, shows_values: bool) -> str:
    """The comparison of whole values; of private ones only whether they are equal is printed."""
    end = _PRINTED if shows_values else _UNPRINTED
    return f'''
def same(a, b):
    """Equal in value; NaN equals NaN."""
    if not (hasattr(a, "shape") and hasattr(b, "shape")):
        return type(a) is type(b) and (a == b or a != a and b != b)
    if a.shape != b.shape:
        return False
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        a, b = (t.to_dense() if t.layout is not torch.strided else t for t in (a, b))
        a, b = (t.float() if t.is_floating_point() and t.element_size() == 1 else t for t in (a, b))
    return bool(((a == b) | ((a != a) & (b != b))).all())


{end.replace("COMPILED", compile_line(config))}'''


def _element(config: Config, evidence: Evidence) -> str:
    index = "".join(f"{i}, " for i in evidence.index or ())
    return f"""
# The worst element. The reference was computed in float64; rounding explains a difference up to `allowed`.
index = ({index})
reference = {number(evidence.reference)}
allowed = {number(evidence.allowed)}


def element(value):
    if isinstance(value, torch.Tensor) and value.layout is not torch.strided:
        value = value.to_dense()
    return value[index].item() if hasattr(value, "shape") else value


print("reference:", reference, " allowed difference:", allowed)
eager = element(observe(make_model()))
print("eager:    ", eager, " difference:", abs(eager - reference), flush=True)
compiled = element(observe({compile_line(config)}))
print("compiled: ", compiled, " difference:", abs(compiled - reference))
agrees = compiled == reference or (compiled != compiled and reference != reference)
close = abs(compiled - reference) <= allowed or abs(compiled - reference) <= 3 * abs(eager - reference)
sys.exit(not (agrees or close))
"""


def number(value: Any) -> str:
    """A number of the evidence as source."""
    if isinstance(value, str):
        return f"complex({value!r})" if "j" in value else f"float({value!r})"
    return repr(value) if value == value and abs(value) != float("inf") else f'float("{value}")'
