"""``python -m eqfuzz.imports.onnx.translate REQUEST``: translates one model, in the sandbox.

The answer is a ``TranslationAnswer`` as JSON, in the file that ``eqfuzzSAVED`` names.
"""

from __future__ import annotations

import base64
import collections
import os
import sys
from pathlib import Path

from onnx import ModelProto

from eqfuzz.errors import error_line
from eqfuzz.imports.messages import StoredWeight, TranslationAnswer, TranslationRequest
from eqfuzz.imports.onnx import model as models
from eqfuzz.imports.onnx.graph import translate
from eqfuzz.imports.text.literals import Unsupported
from eqfuzz.imports.text.seed_text import SeedOptions, seed_text
from eqfuzz.run.messages.codec import decoder_of, encode
from eqfuzz.run.sandbox.init_process import SAVED, SAVED_BYTES


def main(arguments: list[str]) -> int:
    """Answer the request in the first argument."""
    request = decoder_of(TranslationRequest).decode(arguments[0].encode())
    try:
        answer = _answer(request)
    except models.InvalidModel as error:
        answer = TranslationAnswer(problem=str(error))
    except Unsupported as error:
        answer = TranslationAnswer(problem=str(error))
    except MemoryError:
        answer = TranslationAnswer(problem="reading it takes more memory than is allowed")
    except Exception as error:  # of the libraries that read a model of unknown origin
        answer = TranslationAnswer(problem=f"reading it raises {error_line(error)}")
    Path(os.environ[SAVED]).write_bytes(encode(answer))
    return 0


def _answer(request: TranslationRequest) -> TranslationAnswer:
    model = models.parse(Path(request.model))
    opset = models.opset_of(model)
    names = models.external_names(model)
    files = {name: Path(path) for name, path in request.external}
    if any(name not in files for name in names):
        return TranslationAnswer(external=tuple(names))
    models.load_external(model, files)
    graph = translate(models.prepared(model))
    options = SeedOptions(request.drawn, request.gradients, request.sizes)
    seed = seed_text(graph, _title(request.name, model), options)
    size = sum(c.array.nbytes for c in seed.weights)
    if size > SAVED_BYTES * 3 // 5:
        raise Unsupported(f"{size / 2**20:.0f} MiB of weights, of which 38 can be stored: draw them with --drawn")
    return TranslationAnswer(
        text=seed.text,
        weights=tuple(
            StoredWeight(
                name=c.name,
                dtype=c.dtype,
                shape=c.array.shape,
                data=base64.b64encode(c.array.tobytes()).decode(),
            )
            for c in seed.weights
        ),
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
    sys.exit(main(sys.argv[1:]))
