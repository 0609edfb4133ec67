"""Exceptions as observations: their origin, and their message without addresses and paths."""

from __future__ import annotations

import dis
import re
import traceback
import types
from pathlib import Path

import torch

from eqfuzz.oracle.observe.observation import Raised
from eqfuzz.torch_internals.source_tree import COMPILER_MODULES, OPERATORS_IN_PYTHON

_TORCH = f"{Path(torch.__file__).parent}/"
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_PATH = re.compile(r"(?:/[\w.+-]+){2,}/?")
_OUT_OF_MEMORY = re.compile(r"can't allocate memory|not enough memory|CUDA out of memory", re.IGNORECASE)
_CPP_ERROR = re.compile(r"\berror: (?P<words>.+)")
_UNLIKE_META = re.compile(r"^expected size .*\n(?:.*\n)*?Error in op: (?:torch\.ops\.)?(?P<operator>\S+)")
_FAKED = re.compile(r"Dynamo failed to run FX node with fake tensors: call_\w+ (?P<target>.+?)\(\*")
_FAILED = re.compile(r"\): got (?P<type>\w+)\((?P<quote>['\"])(?P<words>.*?)(?:\\n|(?P=quote)\))")
# The repr of functions: <built-in method cat of type object at 0x7f…>, <function relu at 0x7f…>, <method 'add' of …>.
_REPR = re.compile(r"^<(?:built-in )?(?:method|function) '?(?P<name>[\w.]+)")
_TRACEBACK_LIMIT = 8000
_FRAMES = 3

# Names, not classes: importing Dynamo and Inductor here would cost every eager run a second.
_UNSUPPORTED = {
    "Unsupported",
    "UserError",
    "UncapturedHigherOrderOpError",
    "CondOpArgsMismatchError",
    "UnsafeScriptObjectError",
    "FailOnRecompileLimitHit",
    "RecompileLimitExceeded",
    "MissingOperatorWithoutDecomp",
    "MissingOperatorWithDecomp",
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "UnsupportedFakeTensorException",
    "UnsupportedOperatorException",
    "GuardOnDataDependentSymNode",
    "ConstraintViolationError",
}
_COMPILER = {
    "InternalTorchDynamoError",
    "BackendCompilerFailed",
    "InductorError",
    "LoweringException",
    "SubgraphLoweringException",
    "CppCompileError",
    "CUDACompileError",
    "CppWrapperCodegenError",
    "InvalidCxxCompiler",
    "TritonMissing",
    "ResumePrologueTracingError",
    "UnknownPropertiesDuringBackwardTrace",
}
_DECLINES = re.compile(
    r"does(?: not|n't) (?:yet |currently )?(?:handle|support)|not (?:yet|currently) (?:supported|handled)"
)
# Internal errors of fake-tensor code; its argument checks raise RuntimeError, TypeError, ValueError.
_INTERNAL_ERRORS = (AssertionError, AttributeError, KeyError, NameError, NotImplementedError, RecursionError)


def describe(error: BaseException) -> Raised:
    """The exception as an observation."""
    origin = _origin(error)
    wrapped = error if origin != "program" else _innermost_wrapped(error)
    text = "".join(traceback.format_exception(error))
    return Raised(
        type=type(wrapped).__name__,
        message=_named_by_cause(str(wrapped)),
        origin=origin,
        out_of_memory=any(is_out_of_memory(link) for link in _chain(error)),
        traceback=text[-_TRACEBACK_LIMIT:],
        by_statement=origin == "program" and _raised_by_own_statement(wrapped),
        frames=_frames(error),
    )


def first_line(message: str) -> str:
    """The first informative line, without addresses and file-system paths.

    Lines of wrappers ("backend='inductor' raised:") are skipped. A line that ends in a colon is joined with the next.
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    while len(lines) > 1 and lines[0].endswith("raised:"):
        del lines[0]
    if len(lines) > 1 and lines[0].endswith(":"):
        lines[:2] = [f"{lines[0]} {lines[1]}"]
    return _PATH.sub("<path>", _ADDRESS.sub("0x…", lines[0]))[:500] if lines else ""


def _named_by_cause(text: str) -> str:
    """The first line, with the innermost cause where every exception of this kind has the same first line."""
    return ": ".join(filter(None, (first_line(text), first_line(innermost_cause(text)))))


def innermost_cause(text: str) -> str:
    """The cause of an exception that only wraps another; empty where the message states it already.

    The C++ compiler's first error, the operator whose result differs from its meta kernel's in sizes or strides, or the
    operator that fails on fake tensors, with its error.
    """
    if "C++ compile error" in text:
        error = _CPP_ERROR.search(text)
        return _without_types(error["words"]) if error is not None else ""
    unlike = _UNLIKE_META.search(text)
    if unlike is not None:
        return unlike["operator"]
    faked = _FAKED.search(text)
    if faked is None:
        return ""
    failed = _FAILED.search(text, faked.end())
    operator = _REPR.search(faked["target"])
    name = operator["name"] if operator is not None else faked["target"]
    return name if failed is None else f"{name}: {failed['type']}: {failed['words']}"


def _without_types(words: str) -> str:
    """A C++ error without quotes, template arguments and parameters: the same for every dtype and each compiler."""
    text, before = re.sub(r"[‘’'\"`]|\[(?:with |-W).*", "", words), ""
    while text != before:
        text, before = re.sub(r"<[^<>]*>|\([^()]*\)", "", text), text
    return " ".join(text.split())


def _chain(error: BaseException) -> list[BaseException]:
    """The exception, its causes and its contexts, outermost first."""
    chain: list[BaseException] = []
    queue: list[BaseException | None] = [error]
    while queue:
        link = queue.pop(0)
        if link is None or any(link is seen for seen in chain):
            continue
        chain.append(link)
        inner = getattr(link, "inner_exception", None)
        queue.append(inner if isinstance(inner, BaseException) else None)
        queue.append(link.__cause__)
        queue.append(None if link.__suppress_context__ else link.__context__)
    return chain


def _origin(error: BaseException) -> str:
    chain = _chain(error)
    if any(type(link).__name__ == "UnsupportedGraph" for link in chain):
        return "unsupported"
    if any(_named(link, _UNSUPPORTED) for link in chain):
        # A context is only the exception being handled; the wrappers below have the refusal as their cause.
        outermost_is_compilers = _is_compilers(error) or _named(error, _UNSUPPORTED)
        if outermost_is_compilers:
            return "unsupported"
    if _named(error, _COMPILER):
        return "unsupported" if _declines(chain) else "compiler"
    if type(error).__name__ == "TorchRuntimeError":
        return "compiler" if any(_failed_inside_the_compiler(link) for link in chain[1:]) else "program"
    if _named(error, {"TorchDynamoException"}) or _failed_inside_the_compiler(error):
        return "compiler"
    # AOTAutograd refuses a second backward pass with a plain RuntimeError.
    if _declines([error]) and _raised_in(error, COMPILER_MODULES):
        return "unsupported"
    return "program"


def _declines(chain: list[BaseException]) -> bool:
    """Whether the compiler states that it does not support this; messages of a C++ compiler do not count."""
    if any(_named(link, {"CppCompileError"}) for link in chain):
        return False
    return any(_DECLINES.search(str(link)) for link in chain)


def _named(error: BaseException, names: set[str]) -> bool:
    return any(base.__name__ in names and base.__module__.startswith("torch.") for base in type(error).__mro__)


def _is_compilers(error: BaseException) -> bool:
    return type(error).__module__.startswith(COMPILER_MODULES)


def _failed_inside_the_compiler(error: BaseException) -> bool:
    """Whether it is an internal error of the compiler's own code, not one of an operator's argument checks."""
    if not isinstance(error, _INTERNAL_ERRORS):
        return False
    return _raised_in(error, (*COMPILER_MODULES, *OPERATORS_IN_PYTHON))


def _raised_in(error: BaseException, modules: tuple[str, ...]) -> bool:
    frame = _last_frame(error)
    return frame is not None and str(frame.tb_frame.f_globals.get("__name__", "")).startswith(modules)


def _innermost_wrapped(error: BaseException) -> BaseException:
    """The exception that a TorchRuntimeError wraps, which is the one that eager raises."""
    if type(error).__name__ != "TorchRuntimeError":
        return error
    return error.__cause__ or error


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and _OUT_OF_MEMORY.search(str(error)) is not None


def _last_frame(error: BaseException) -> types.TracebackType | None:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame


def _frames(error: BaseException) -> tuple[str, ...]:
    """The innermost functions of torch in the traceback of the first cause."""
    root, seen = error, [error]
    while root.__cause__ is not None and root.__cause__.__traceback__ is not None:
        root = root.__cause__
        if any(root is link for link in seen):
            break
        seen.append(root)
    frames = [frame.f_code for frame, _ in traceback.walk_tb(root.__traceback__)]
    inside = [(code.co_filename, code.co_qualname) for code in frames if code.co_filename.startswith(_TORCH)]
    modules = [f"{Path(file).relative_to(_TORCH).with_suffix('')}.{name}" for file, name in inside]
    return tuple(name.replace("/", ".") for name in reversed(modules[-_FRAMES:]))


def _raised_by_own_statement(error: BaseException) -> bool:
    """Whether a ``raise`` or ``assert`` in the program's own Python raised it, not an operator."""
    frame = _last_frame(error)
    if frame is None:
        return False
    code = frame.tb_frame.f_code
    if code.co_filename.startswith(_TORCH) or "site-packages" in code.co_filename:
        return False
    # CPython keeps the failing instruction; only a raise statement stands at RAISE_VARARGS.
    return any(step.offset == frame.tb_lasti and step.opname == "RAISE_VARARGS" for step in dis.get_instructions(code))
