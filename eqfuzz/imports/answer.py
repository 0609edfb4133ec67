"""The end of a process that reads a model in the sandbox: its answer."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from eqfuzz.errors import error_line
from eqfuzz.imports.messages import StoredWeight, TranslationAnswer, TranslationRequest
from eqfuzz.imports.text.literals import Unsupported
from eqfuzz.imports.text.program_text import Constant
from eqfuzz.run.messages.codec import decoder_of, encode
from eqfuzz.run.sandbox.init_process import SAVED, SAVED_BYTES


def answer_request(
    text: str,
    translate: Callable[[TranslationRequest], TranslationAnswer],
    problems: tuple[type[Exception], ...],
) -> int:
    """Write the answer to the request in ``text``; exceptions of types ``problems`` say why there is none."""
    request = decoder_of(TranslationRequest).decode(text.encode())
    try:
        answer = translate(request)
    except problems as error:
        answer = TranslationAnswer(problem=str(error))
    except MemoryError:
        answer = TranslationAnswer(problem="reading it takes more memory than is allowed")
    except Exception as error:  # of the libraries that read a model of unknown origin
        answer = TranslationAnswer(problem=f"reading it raises {error_line(error)}")
    Path(os.environ[SAVED]).write_bytes(encode(answer))
    return 0


def stored_weights(constants: Sequence[Constant]) -> tuple[StoredWeight, ...]:
    """The weights of a seed for an answer. Raises Unsupported where they are too large for one."""
    size = sum(constant.array.nbytes for constant in constants)
    if size > SAVED_BYTES * 3 // 5:
        raise Unsupported(f"{size / 2**20:.0f} MiB of weights, of which 38 can be stored: draw them with --drawn")
    return tuple(
        StoredWeight(
            name=constant.name,
            dtype=constant.dtype,
            shape=constant.array.shape,
            data=base64.b64encode(constant.content).decode(),
        )
        for constant in constants
    )
