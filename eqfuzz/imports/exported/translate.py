"""``python -m eqfuzz.imports.exported.translate REQUEST``: translates one program, in the sandbox.

The answer is a ``TranslationAnswer`` as JSON, in the file that ``eqfuzzSAVED`` names.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

from eqfuzz.errors import error_line
from eqfuzz.imports.answer import answer_request, stored_weights
from eqfuzz.imports.exported.equal_form import SEED
from eqfuzz.imports.exported.graph import translate
from eqfuzz.imports.exported.inputs import ExportedInputs, inputs_of
from eqfuzz.imports.exported.program_file import InvalidFile, module_of, read_program
from eqfuzz.imports.exported.values import same
from eqfuzz.imports.messages import TranslationAnswer, TranslationRequest
from eqfuzz.imports.text.literals import Unsupported
from eqfuzz.imports.text.seed_text import SeedOptions, TranslatedSeed, seed_text
from eqfuzz.torch_internals.trees import tree_leaves, tree_unflatten


def translated(request: TranslationRequest) -> TranslationAnswer:
    """The program of a request as a seed. Raises InvalidFile and Unsupported."""
    torch.set_num_threads(1)
    program = read_program(Path(request.model), request.inputs)
    inputs = _runnable(program, inputs_of(program, request.sizes))
    with torch.no_grad():
        graph = translate(program, inputs)
    options = SeedOptions(request.drawn, request.gradients, request.sizes, request.private)
    title = _title(request.name, graph.operators)
    _require_same(program, inputs, seed_text(graph, title, SeedOptions()))
    seed = seed_text(graph, title, options)
    return TranslationAnswer(
        text=seed.text,
        weights=stored_weights(seed.weights),
        producer=f"torch {torch.__version__}",
        operators=tuple(sorted(graph.operators.items())),
    )


def _runnable(program: ExportedProgram, inputs: ExportedInputs) -> ExportedInputs:
    """The inputs without sets of sizes that the program refuses. Raises Unsupported where none is left."""
    sets, refused = [], ""
    for number, sizes in enumerate(inputs.size_sets):
        try:
            _outputs(program, inputs, number)
        except Exception as error:  # of a program of unknown origin
            refused = error_line(error)
        else:
            sets.append(sizes)
    if not sets:
        raise Unsupported(f"it raises for drawn inputs: {refused}")
    return dataclasses.replace(inputs, size_sets=tuple(sets))


def _outputs(program: ExportedProgram, inputs: ExportedInputs, number: int) -> list[Any]:
    module = module_of(program)
    spec = program.call_spec.in_spec
    values = inputs.values(number)
    args, kwargs = (values, {}) if spec is None else tree_unflatten(values, spec)
    torch.manual_seed(SEED)
    with torch.no_grad():
        return [leaf for leaf in tree_leaves(module(*args, **kwargs)) if leaf is not None]


def _require_same(program: ExportedProgram, inputs: ExportedInputs, seed: TranslatedSeed) -> None:
    """Raises Unsupported where the seed computes something else than the program."""
    weights = {c.name: torch.from_numpy(c.array).to(getattr(torch, c.dtype)) for c in seed.weights}
    for number in range(len(inputs.size_sets)):
        names: dict[str, Any] = {"weights": {name: tensor.clone() for name, tensor in weights.items()}}
        exec(compile(seed.text, "<seed>", "exec"), names)  # the text that was made here
        values = [v for v, one in zip(inputs.values(number), inputs.inputs, strict=True) if one is not None]
        module = names["Program"]()
        torch.manual_seed(SEED)
        with torch.no_grad():
            computed = module(*values)
        computed = list(computed) if isinstance(computed, tuple) else [computed]
        expected = _outputs(program, inputs, number)
        for place, (one, other) in enumerate(zip(computed, expected, strict=True)):
            if not same(one, other):
                raise Unsupported(f"its translation computes another result {place} than the exported program")


def _title(name: str, operators: dict[str, int]) -> str:
    most = sorted(operators.items(), key=lambda item: (-item[1], item[0]))
    words = ", ".join(f"{count} {operator.rpartition('.')[2]}" for operator, count in most[:4])
    return f"{name}: {words}{', …' if len(most) > 4 else ''}.".replace("\\", "/").replace('"', "'")


if __name__ == "__main__":
    sys.exit(answer_request(sys.argv[1], translated, (InvalidFile, Unsupported)))
