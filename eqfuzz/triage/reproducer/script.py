"""Stand-alone reproducers: scripts that import only torch and exit with 1 while the bug is there."""

from __future__ import annotations

import dataclasses
import inspect
import re
import secrets
import textwrap
from typing import TYPE_CHECKING, Any, Literal

from eqfuzz.oracle.compare.observation_diff import NOTHING
from eqfuzz.oracle.compare.verdict import Evidence, VerdictKind
from eqfuzz.oracle.observe.leaves import STRUCTURE
from eqfuzz.oracle.observe.readability import unreadable
from eqfuzz.program.definitions_only import program_text
from eqfuzz.program.literal import REMAKE, UNPACK
from eqfuzz.program.load import STATE_SEED
from eqfuzz.program.restoring import RESTORING
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer import weights_beside
from eqfuzz.triage.reproducer.graph_passes import graph_passes_text
from eqfuzz.triage.reproducer.header import PRELOAD_BESIDE, draws, script_header, without_imports_of_torch
from eqfuzz.triage.reproducer.helpers import COTANGENT, SHARED, TENSORS, TEXTS, modules_in
from eqfuzz.triage.reproducer.own_backends import own_backends_text
from eqfuzz.triage.reproducer.own_oracle import oracle_question, oracle_setup
from eqfuzz.triage.reproducer.script_files import READ_VALUES, ReproducerScript
from eqfuzz.triage.reproducer.weights_beside import weights_text

if TYPE_CHECKING:  # it needs torch, which showing findings does not
    from eqfuzz.run.messages.finding_jobs import CallsDescribed

WATCHED = (VerdictKind.PROCESS_CRASH, VerdictKind.HANG, VerdictKind.OUT_OF_MEMORY, VerdictKind.EXCEPTION_MISMATCH)
"""Kinds whose script runs the program in a child; an exception with one thread may abort the process with two."""

MEMORY_BYTES = 16 << 30
"""The limit on the address space in reproducers of exhausted memory, in bytes."""


@dataclasses.dataclass(frozen=True)
class SourceDescription:
    """A program's inputs and state as Python source, made in a child: ``calls`` is a function body.

    ``changes`` are ``(label, before, within)`` of each call (see ``Call``), ``globals`` the names of the plain globals
    that the program may change or make, ``functions`` those of its functions and classes that hold on to what a call
    may change.
    """

    calls: str
    state: str | None
    packs: bool
    changes: tuple[tuple[str, str, str], ...] = ()
    globals: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    @classmethod
    def of(cls, answer: CallsDescribed) -> SourceDescription:
        """From a child's answer."""
        return cls(answer.calls, answer.state, answer.packs, answer.changes, answer.globals, answer.functions)

    @property
    def invocation(self) -> str:
        """The expression that makes call ``number``."""
        changed = any(before or within for _, before, within in self.changes)
        return "call(model, number, args, kwargs)" if changed else "model(*args, **kwargs)"


def is_watched(finding: Finding) -> bool:
    """Whether its script runs the program in a child."""
    return finding.verdict.kind in WATCHED and not finding.verdict.oracle


def write_reproducer(
    finding: Finding, config: Config, described: SourceDescription, preload: str | None
) -> ReproducerScript:
    """The script. ``preload`` is the text of the run's preload file; None where it had none."""
    parts = _inputs(finding, described, has_values=False)
    if finding.verdict.oracle:
        parts += oracle_question(finding, config, described.changes)
    elif is_watched(finding):
        parts += [TENSORS, _run(finding, described), _watch(finding, config)]
    elif finding.verdict.kind is VerdictKind.COMPILER_CRASH:
        parts += [TENSORS, _run(finding, described), _raises(config)]
    else:
        parts += _compares(finding, config, described)
    values = "\n\n".join(part.strip("\n") for part in calls_parts(described)) + "\n" if finding.original.private else ""
    return ReproducerScript(_whole(finding, config, parts, preload, values=values), values)


def write_saving_script(
    finding: Finding, config: Config, described: SourceDescription, preload: str | None, *, compiled: bool
) -> str:
    """A script that runs the program in eager or ``compiled`` and saves what the reproducer compares.

    It is for untrusted programs, see ``saved_values``; not where ``is_watched``, nor for a user's oracle.
    """
    # Names that the program cannot know, and so not replace.
    ours = secrets.token_hex(8)
    model = _compile_line(config).replace("torch.compile(", f"compile_{ours}(", 1) if compiled else "make_model()"
    parts = _inputs(finding, described, has_values=True)
    if finding.verdict.kind is VerdictKind.COMPILER_CRASH:
        parts += [TENSORS, _run(finding, described), _outcome(), f"save_{ours}(type(outcome({model})).__name__)"]
    else:
        parts += [*_compares(finding, config, described)[:-1], f"save_{ours}(observe({model}))"]
    first = f"from eqfuzz.triage.reproducer.saved_values import save as save_{ours}\n\ncompile_{ours} = torch.compile"
    return _whole(finding, config, parts, preload, first)


def _whole(
    finding: Finding, config: Config, parts: list[str], preload: str | None, first: str = "", values: str = ""
) -> str:
    """The script that begins with ``first``, the program, and these parts; it imports what ``values`` need too."""
    program, future = without_imports_of_torch(program_text(finding.transformed))
    modules = modules_in("\n".join([*parts, values])) | ({"pathlib"} if values else set())
    if finding.verdict.oracle:
        setup = oracle_setup(finding.verdict.oracle, preload or "")
    else:
        setup, modules = (PRELOAD_BESIDE, modules | {"pathlib"}) if preload is not None else ("", modules)
    weights = weights_text(finding.transformed)
    modules |= weights_beside.MODULES if weights else frozenset()
    head = script_header(finding, config, future, setup, modules, draws=draws(program))
    graphs = graph_passes_text(config.graph) if config.graph else ""
    backends = own_backends_text(config.backend) if config.is_exporting else ""
    whole = [head, *(part for part in (graphs, backends, first, weights) if part), f"# The program\n{program}", *parts]
    return "\n\n\n".join(part.strip("\n") for part in whole) + "\n"


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


def _inputs(finding: Finding, described: SourceDescription, *, has_values: bool) -> list[str]:
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


def _compile_line(config: Config) -> str:
    arguments = "".join(f", {k}={v!r}" for k, v in config.arguments().items())
    return f"torch.compile(make_model(){arguments})"


def _outcome() -> str:
    return '''
def outcome(model):
    """What running the program raises, or None."""
    try:
        run(model)
    except Exception as error:
        return error
    return None
'''


def _raises(config: Config) -> str:
    return f"""{_outcome()}

def words(error):
    return "returns" if error is None else f"raises {{type(error).__name__}}: {{error}}"


eager = outcome(make_model())
print("eager:   ", words(eager), flush=True)
compiled = outcome({_compile_line(config)})
print("compiled:", words(compiled))
sys.exit((eager is None) != (compiled is None))
"""


def time_limit(finding: Finding) -> int:
    """Wall seconds that a script allows the program's process."""
    return round(5 + 1.5 * finding.environment.compile_seconds)


def _watch(finding: Finding, config: Config) -> str:
    """Crashes, hangs, exhausted memory and exceptions happen in a child of the script."""
    raises = finding.verdict.kind is VerdictKind.EXCEPTION_MISMATCH
    stream = "PIPE" if raises else "DEVNULL"  # a program that floods its output must not flood the script's memory
    seconds = time_limit(finding)
    exhausts = finding.verdict.kind is VerdictKind.OUT_OF_MEMORY
    limit = f"resource.setrlimit(resource.RLIMIT_AS, ({MEMORY_BYTES}, {MEMORY_BYTES}))\n" if exhausts else ""
    return f'''
{limit}REACHED_THE_END = 42  # 0 may also come from an exit in the middle

if sys.argv[1:] in (["eager"], ["compiled"]):
    run(make_model() if sys.argv[1:] == ["eager"] else {_compile_line(config)})
    sys.exit(REACHED_THE_END)


def ends(mode):
    """How a fresh process that runs the program ends, and whether it ends well."""
    command = [sys.executable, __file__, mode]
    try:
        child = subprocess.run(
            command, timeout={seconds}, stdout=subprocess.DEVNULL, stderr=subprocess.{stream}, text=True
        )
    except subprocess.TimeoutExpired:
        return "does not end within {seconds} s", False
    if child.returncode == REACHED_THE_END:
        return "reaches the end", True
    last = (child.stderr or "").strip().splitlines()[-1:]
    if child.returncode < 0:
        return " ".join([f"is killed by signal {{-child.returncode}}", *last]), False
    return " ".join([f"exits early with status {{child.returncode}}", *last]), False


eager, eager_well = ends("eager")
print("eager:   ", eager)
compiled, compiled_well = ends("compiled")
print("compiled:", compiled)
sys.exit({"eager_well != compiled_well" if raises else "eager_well and not compiled_well"})
'''


def _compares(finding: Finding, config: Config, described: SourceDescription) -> list[str]:
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
        f"{textwrap.indent(_seeding(finding), ' ' * 8)}\n"
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


def _seeding(finding: Finding) -> str:
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
compiled = metadata(observe({_compile_line(config)}))
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


{end.replace("COMPILED", _compile_line(config))}'''


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
compiled = element(observe({_compile_line(config)}))
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


def _run(finding: Finding, described: SourceDescription) -> str:
    ends = "    torch.cuda.synchronize()\n" if finding.device == "cuda" else ""
    return f'''{inspect.getsource(unreadable)}

def run(model):
    """The program on every input set, with the backward pass where there is one; all that it leaves is read."""
    for number, (args, kwargs) in enumerate(make_calls()):
{textwrap.indent(_seeding(finding), " " * 8)}
        output = {described.invocation}
        for tensor in tensors([output, args, kwargs]):
            assert not unreadable(tensor), unreadable(tensor)
        leaves = [t for t in tensors(output) if t.requires_grad and (t.grad_fn or t._base is None)]
        if leaves:
            torch.autograd.backward(leaves, [torch.ones_like(t) for t in leaves])
{ends}'''
