"""The header of a reproducer: docstring, imports and compiler options."""

from __future__ import annotations

import re
import textwrap

from eqfuzz.errors import one_line
from eqfuzz.run.configs.named import Config
from eqfuzz.run.processes.startup import IMPRECISE_ON_CUDA
from eqfuzz.triage.findings.finding import Finding

_RANDOM = re.compile(
    r"\b(rand\w*|dropout\w*|Dropout\w*|bernoulli_?|multinomial|normal_?|uniform_|poisson|exponential_|cauchy_|geometric_"
    r"|log_normal_|random_?|shuffle|rrelu|RReLU|gumbel_softmax)\b"
)
"""Names of functions that draw random numbers; a false match only adds a line to the script."""

PRELOAD_BESIDE = """\
# Settings of the run, when they lie beside this script.
preload = pathlib.Path(__file__).with_name("preload.py")
if preload.exists():
    exec(compile(preload.read_text(), str(preload), "exec"), {"__name__": "eqfuzz_preload", "__file__": str(preload)})
"""


def script_header(
    finding: Finding, config: Config, future: list[str], preload: str, modules: set[str], *, draws: bool = False
) -> str:
    """The docstring, the imports and the compiler options of a script.

    ``preload`` are statements that set up torch as the run had it. ``draws``: its program draws random numbers.
    """
    lines = [_docstring(finding, config), *future, "", *(f"import {m}" for m in sorted(modules)), "", "import torch"]
    if config.dynamo:
        lines.append("import torch._dynamo.config")
    if config.inductor or draws:
        lines.append("import torch._inductor.config")
    if finding.device == "cuda":
        lines += ["", "# Full precision, in eager too", *(f"{setting} = False" for setting in IMPRECISE_ON_CUDA)]
    if preload:
        lines += ["", preload.strip("\n")]
    if config.dynamo or config.inductor or draws or config.threads > 1:
        lines.append("")
    if config.threads > 1:
        lines.append(f"torch.set_num_threads({config.threads})")
    draws = draws and "fallback_random" not in config.inductor
    if draws:
        lines.append("torch._inductor.config.fallback_random = True  # compiled programs draw the same random numbers")
    lines += [f"torch._dynamo.config.{key} = {value!r}" for key, value in config.dynamo.items()]
    lines += [f"torch._inductor.config.{key} = {value!r}" for key, value in config.inductor.items()]
    return "\n".join(lines)


def draws(program: str) -> bool:
    """Whether the text names a function that draws random numbers."""
    return bool(_RANDOM.search(program))


def without_imports_of_torch(text: str) -> tuple[str, list[str]]:
    """The program without ``import torch``, which the script has, and its ``__future__`` imports, which go first."""
    lines = text.splitlines()
    future = [line for line in lines if line.startswith("from __future__ import")]
    remaining = [line for line in lines if line.rstrip() != "import torch" and line not in future]
    return "\n".join(remaining).strip("\n"), future


def _docstring(finding: Finding, config: Config) -> str:
    arguments = ", ".join(f"{k}={v!r}" for k, v in config.arguments().items())
    release = finding.environment.release
    threads = f" with {config.threads} threads" if config.threads > 1 else ""
    place = f"{finding.device}{threads}"
    lines = [
        f"{finding.verdict.kind} under torch.compile({arguments}) on {place}: eqfuzz finding {finding.id}.",
        "",
        *textwrap.wrap(finding.verdict.in_words, 110),
        "",
        "Exit status: 1 while the bug is there, 0 once it is fixed, anything else when this script itself fails.",
        f"Seen with torch {release.in_full() or '?'}, Python {finding.environment.python or '?'}.",
    ]
    name = finding.original.name if finding.reduced is None else f"reduced from {finding.original.name}"
    if finding.derivation:
        right = ", compiles correctly" if finding.original_is_right else ""
        lines += ["", f"The original, {name}{right}; this is what it was rewritten to:"]
        lines += [
            f"  line {step.line}: {one_line(step.before)}  ->  {one_line(step.after)}  [{step.rule}]"
            for step in finding.derivation
        ]
    else:
        lines += ["", f"The program is {name}."]
    if finding.graph_steps:
        lines += ["", "The compiler's graphs are rewritten on their way, as custom passes may do:"]
        lines += [f"  {step}" for step in finding.graph_steps]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""'
