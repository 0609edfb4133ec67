"""The text of a seed from a translated graph, and the tensors that do not stand in it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

import numpy as np

from eqfuzz.imports.text.literals import Unsupported, number_text, sequence
from eqfuzz.imports.text.program_text import LITERAL_ELEMENTS, Constant, ProgramText

_WIDTH = 120
_SPREAD = 8
"""Number of elements of which a private text gives the spread."""
_DEFAULT_SIZES = (2, 6, 5, 7, 3, 4)
"""Values of the symbols that stand for sizes, in the order of their appearance."""


@dataclasses.dataclass(frozen=True)
class Input:
    """An input of a model: the name in the text, the element type, and each size as a number or a symbol."""

    name: str
    dtype: str
    sizes: tuple[int | str, ...]
    classes: int | None
    """For indices: how many rows the table has that they choose from."""


@dataclasses.dataclass(frozen=True)
class TranslatedGraph:
    """The text of a graph's body, and what it needs. ``functions`` are the texts of those that it calls.

    ``size_sets``: sizes by their text for each set of inputs; None: they are chosen here.
    """

    program: ProgramText
    inputs: tuple[Input, ...]
    results: tuple[str, ...]
    operators: dict[str, int]
    functions: tuple[str, ...] = ()
    size_sets: tuple[Mapping[str, int], ...] | None = None


@dataclasses.dataclass(frozen=True)
class SeedOptions:
    """How a seed is written. ``drawn``: weights are drawn in the text instead of stored beside it.

    ``gradients``: floating-point weights are parameters. ``sizes`` are values of symbolic sizes. ``private``: the text
    has no weight as it is, not even a small one; of floating-point ones it has the spread.
    """

    drawn: bool = False
    gradients: bool = False
    sizes: tuple[tuple[str, int], ...] = ()
    private: bool = False


@dataclasses.dataclass(frozen=True)
class TranslatedSeed:
    """The text without its header, and the tensors that it reads as ``weights[name]``."""

    text: str
    weights: tuple[Constant, ...]


def seed_text(graph: TranslatedGraph, title: str, options: SeedOptions) -> TranslatedSeed:
    """Write a seed; ``title`` is the first line of its docstring. Raises Unsupported where integers are private."""
    constants = [*graph.program.constants.values()]
    if options.private:
        _require_no_integers(constants)
    stored = [c for c in constants if c.array.size > LITERAL_ELEMENTS and not (options.drawn and _can_be_drawn(c))]
    lines = [f'"""{title}"""', "", "import torch"]
    body = [
        "class Program(nn.Module):",
        *([] if not constants else ["    def __init__(self):", "        super().__init__()"]),
        *(f"        {_definition(c, c in stored, options)}" for c in constants),
        *([] if not constants else [""]),
        f"    def forward({', '.join(['self', *(i.name for i in graph.inputs)])}):",
        *(f"        {statement}" for statement in graph.program.statements),
        f"        return {', '.join(graph.results)}",
    ]
    hook = ["def inputs(rng):", *(f"    yield {text}" for text in _input_sets(graph, options))]
    parts = [*graph.functions, "\n".join(body), "\n".join(hook)]
    rest = "\n\n\n".join(parts) + "\n"
    if re.search(r"\bF\.", rest):
        lines.append("import torch.nn.functional as F")
    lines.append("from torch import nn")
    return TranslatedSeed("\n".join(lines) + "\n\n\n" + rest, tuple(stored))


def _definition(constant: Constant, stored: bool, options: SeedOptions) -> str:
    if stored:
        tensor = f'weights["{constant.name}"]'
    elif constant.array.size > LITERAL_ELEMENTS or (
        options.private and constant.array.size and _can_be_drawn(constant)
    ):
        tensor = _drawn(constant) if constant.array.size >= _SPREAD or not options.private else _drawn_anyhow(constant)
    else:
        tensor = _literal(constant)
    can_learn = constant.array.dtype.kind == "f" and constant.array.size > 1 and not constant.is_buffer
    if options.gradients and can_learn:
        return f"self.{constant.name} = nn.Parameter({tensor})"
    return f'self.register_buffer("{constant.name}", {tensor})'


def _require_no_integers(constants: Sequence[Constant]) -> None:
    """Raises Unsupported for weights that cannot be drawn, unless all elements are equal."""
    for constant in constants:
        if not _can_be_drawn(constant) and constant.array.size and (constant.array != constant.array.flat[0]).any():
            raise Unsupported(f"the values of {constant.name!r}, which are private and cannot be drawn")


def _literal(constant: Constant) -> str:
    array = constant.array
    if array.size == 0:
        return f"torch.empty({sequence(list(array.shape))}, dtype=torch.{constant.dtype})"
    values = array.tolist() if array.dtype.kind in "biuc" else _shortest(array).tolist()
    text = re.sub(r"(?<![\w.])(-?)(inf|nan)(?![\w])", r'\1float("\2")', repr(values))
    inferred = {"float32": "float32", "int64": "int64", "bool": "bool"}.get(constant.dtype)
    return f"torch.tensor({text})" if inferred else f"torch.tensor({text}, dtype=torch.{constant.dtype})"


def _shortest(array: np.ndarray) -> np.ndarray:
    """The doubles with the shortest decimals that round to the elements."""
    return np.array([float(str(element)) for element in array.reshape(-1)], np.float64).reshape(array.shape)


def _can_be_drawn(constant: Constant) -> bool:
    """Integers are places or masks, whose values matter."""
    return constant.array.dtype.kind == "f" and bool(np.isfinite(constant.array.astype(np.float64)).all())


def _drawn(constant: Constant) -> str:
    """Random values of the same shape and spread; of one sign where all are, such as variances."""
    values = constant.array.astype(np.float64)
    sizes = ", ".join(map(str, values.shape)) or "()"
    low, high = float(values.min()), float(values.max())
    if low >= 0:
        text = (
            f"torch.rand({sizes}) * {_short(high - low)} + {_short(low)}"
            if high > low
            else f"torch.full({tuple(values.shape)}, {_short(low)})"
        )
    else:
        mean = float(values.mean())
        text = f"torch.randn({sizes}) * {_short(float(values.std()))}"
        text += f" + {_short(mean)}" if abs(mean) > 1e-3 * (high - low) else ""
    return text if constant.dtype == "float32" else f"({text}).to(torch.{constant.dtype})"


def _drawn_anyhow(constant: Constant) -> str:
    """Random values of the same shape and sign: the spread of a few would give them away."""
    sizes = ", ".join(map(str, constant.array.shape)) or "()"
    text = f"torch.rand({sizes}) + 0.5" if (constant.array >= 0).all() else f"torch.randn({sizes})"
    return text if constant.dtype == "float32" else f"({text}).to(torch.{constant.dtype})"


def _short(value: float) -> str:
    return number_text(float(f"{value:.3g}"))


def _input_sets(graph: TranslatedGraph, options: SeedOptions) -> list[str]:
    """One set, and a second one of other sizes where some are symbols."""
    if graph.size_sets is not None:
        return [_input_set(graph.inputs, sizes) for sizes in graph.size_sets]
    inputs = graph.inputs
    symbols = list(dict.fromkeys(size for one in inputs for size in one.sizes if isinstance(size, str)))
    chosen = dict(options.sizes)
    defaults = {symbol: _DEFAULT_SIZES[number % len(_DEFAULT_SIZES)] for number, symbol in enumerate(symbols)}
    first = {symbol: chosen.get(symbol, defaults[symbol]) for symbol in symbols}
    sets = [first]
    if symbols:
        sets.append({symbol: size if symbol in chosen else size + 1 for symbol, size in first.items()})
    unique = [one for number, one in enumerate(sets) if one not in sets[:number]]
    return [_input_set(inputs, sizes) for sizes in unique]


def _input_set(inputs: tuple[Input, ...], sizes: Mapping[str, int]) -> str:
    texts = [_drawn_input(one, [str(sizes[s]) if isinstance(s, str) else str(s) for s in one.sizes]) for one in inputs]
    if not texts:
        return "()"
    line = ", ".join(texts)
    if len(line) + 10 <= _WIDTH:
        return line
    return "(\n" + "".join(f"        {text},\n" for text in texts) + "    )"


def _drawn_input(one: Input, sizes: list[str]) -> str:
    shape = ", ".join(sizes)
    if one.dtype == "bool":
        return f"rng.booleans({shape})"
    keyword = "" if one.dtype in ("float32", "int64") else f"dtype=torch.{one.dtype}"
    if one.dtype.startswith(("int", "uint")):
        dtype = "" if one.dtype == "int64" else keyword
        arguments = ["0", str(one.classes or 2), shape, dtype]
        return f"rng.integers({', '.join(a for a in arguments if a)})"
    dtype = "" if one.dtype == "float32" else keyword
    return f"rng.normal({', '.join(a for a in (shape, dtype) if a)})"
