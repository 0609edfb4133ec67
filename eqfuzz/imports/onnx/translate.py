"""``python -m eqfuzz.imports.onnx.translate REQUEST``: translates one model, in the sandbox.

The answer is a ``TranslationAnswer`` as JSON, in the file that ``eqfuzzSAVED`` names.
"""

from __future__ import annotations

import collections
import sys
from pathlib import Path

from onnx import ModelProto

from eqfuzz.imports.answer import answer_request, stored_weights
from eqfuzz.imports.messages import TranslationAnswer, TranslationRequest
from eqfuzz.imports.onnx import model as models
from eqfuzz.imports.onnx.graph import translate
from eqfuzz.imports.text.literals import Unsupported
from eqfuzz.imports.text.seed_text import SeedOptions, seed_text


def translated(request: TranslationRequest) -> TranslationAnswer:
    """The model of a request as a seed. Raises InvalidModel and Unsupported."""
    model = models.parse(Path(request.model))
    opset = models.opset_of(model)
    names = models.external_names(model)
    files = {name: Path(path) for name, path in request.external}
    if any(name not in files for name in names):
        return TranslationAnswer(external=tuple(names))
    models.load_external(model, files)
    graph = translate(models.prepared(model))
    options = SeedOptions(request.drawn, request.gradients, request.sizes, request.private)
    seed = seed_text(graph, _title(request.name, model), options)
    return TranslationAnswer(
        text=seed.text,
        weights=stored_weights(seed.weights),
        opset=opset,
        producer=" ".join(f"{model.producer_name} {model.producer_version}".split())[:100],
        operators=tuple(sorted(graph.operators.items())),
    )


def _title(name: str, model: ModelProto) -> str:
    counts = collections.Counter(node.op_type for node in model.graph.node)
    most = ", ".join(f"{count} {operator}" for operator, count in counts.most_common(4))
    text = f"{name}: {most}{', …' if len(counts) > 4 else ''}."
    return text.replace("\\", "/").replace('"', "'")


if __name__ == "__main__":
    sys.exit(answer_request(sys.argv[1], translated, (models.InvalidModel, Unsupported)))
