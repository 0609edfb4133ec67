"""Stand-alone reproducers: scripts that import only torch and exit with 1 while the bug is there."""

from __future__ import annotations

import secrets

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.program.definitions_only import program_text
from eqfuzz.run.configs.named import Config
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer import weights_beside
from eqfuzz.triage.reproducer.comparison import compared_parts
from eqfuzz.triage.reproducer.graph_passes import graph_passes_text
from eqfuzz.triage.reproducer.header import PRELOAD_BESIDE, draws, script_header, without_imports_of_torch
from eqfuzz.triage.reproducer.helpers import TENSORS, modules_in
from eqfuzz.triage.reproducer.outcome import is_watched, outcome_text, raises_text, watched_text
from eqfuzz.triage.reproducer.own_backends import own_backends_text
from eqfuzz.triage.reproducer.own_oracle import oracle_question, oracle_setup
from eqfuzz.triage.reproducer.program_parts import calls_parts, compile_line, program_parts, run_text
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from eqfuzz.triage.reproducer.source_description import SourceDescription
from eqfuzz.triage.reproducer.weights_beside import weights_text


def write_reproducer(
    finding: Finding, config: Config, described: SourceDescription, preload: str | None
) -> ReproducerScript:
    """The script. ``preload`` is the text of the run's preload file; None where it had none."""
    parts = program_parts(finding, described, has_values=False)
    if finding.verdict.oracle:
        parts += oracle_question(finding, config, described.changes)
    elif is_watched(finding):
        parts += [TENSORS, run_text(finding, described), watched_text(finding, config)]
    elif finding.verdict.kind is VerdictKind.COMPILER_CRASH:
        parts += [TENSORS, run_text(finding, described), raises_text(config)]
    else:
        parts += compared_parts(finding, config, described)
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
    model = compile_line(config).replace("torch.compile(", f"compile_{ours}(", 1) if compiled else "make_model()"
    parts = program_parts(finding, described, has_values=True)
    if finding.verdict.kind is VerdictKind.COMPILER_CRASH:
        parts += [
            TENSORS,
            run_text(finding, described),
            outcome_text(),
            f"save_{ours}(type(outcome({model})).__name__)",
        ]
    else:
        parts += [*compared_parts(finding, config, described)[:-1], f"save_{ours}(observe({model}))"]
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
