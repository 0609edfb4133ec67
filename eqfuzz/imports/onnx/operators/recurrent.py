"""Recurrent layers, as functions that step through time."""

from __future__ import annotations

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import operator
from eqfuzz.imports.text.literals import Unsupported, joined, number_text

_ACTIVATIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_FUNCTIONS = {"Sigmoid": "torch.sigmoid", "Tanh": "torch.tanh", "Relu": "F.relu", "Softsign": "F.softsign"}


@operator("LSTM", "GRU", "RNN")
def recur(node: OnnxNode) -> list[str]:
    kind = node.operator
    directions = ["forward", "reverse"] if node.attribute("direction", "forward") == "bidirectional" else []
    directions = directions or [node.attribute("direction", "forward")]
    if kind == "LSTM" and node.attribute("input_forget", 0):
        raise Unsupported("coupled gates")
    if kind == "LSTM" and node.has(7):
        raise Unsupported("peepholes")
    function = node.function(kind.lower())
    node.function("steps_of")
    x = node.tensor(0)
    if node.attribute("layout", 0):
        x = node.local(f"{x}.transpose(0, 1)", "steps")
    options = [*_options(node, kind, len(directions)), f"lengths={node.tensor(4)}" if node.has(4) else ""]
    results: list[list[str]] = []
    for number, direction in enumerate(directions):
        states = [_state(node, index, number) for index in ((5, 6) if kind == "LSTM" else (5,))]
        bias = f"{node.tensor(3)}[{number}]" if node.has(3) else "None"
        weights = [f"{node.tensor(1)}[{number}]", f"{node.tensor(2)}[{number}]", bias]
        backwards = "reverse=True" if direction == "reverse" else ""
        call = f"{function}({joined([x, *weights, *states, backwards, *options])})"
        results.append(node.program.unpack(kind, 3 if kind == "LSTM" else 2, call))
    return _stacked(node, results)


def _options(node: OnnxNode, kind: str, directions: int) -> list[str]:
    names = [name.decode() if isinstance(name, bytes) else name for name in node.attribute("activations", [])]
    chosen = names[: len(_ACTIVATIONS[kind])] or _ACTIVATIONS[kind]
    if names and names != chosen * directions:
        raise Unsupported("activations that differ between directions")
    options: list[str] = []
    if chosen != _ACTIVATIONS[kind]:
        unknown = [name for name in chosen if name not in _FUNCTIONS]
        if unknown:
            raise Unsupported(f"the activation {unknown[0]}")
        options.append(f"activations=({', '.join(_FUNCTIONS[name] for name in chosen)},)")
    if node.attribute("clip"):
        options.append(f"clip={number_text(node.attribute('clip'))}")
    if kind == "GRU" and node.attribute("linear_before_reset", 0):
        options.append("linear_before_reset=True")
    return options


def _state(node: OnnxNode, index: int, direction: int) -> str:
    if not node.has(index):
        return "None"
    state = node.tensor(index)
    return f"{state}[:, {direction}]" if node.attribute("layout", 0) else f"{state}[{direction}]"


def _stacked(node: OnnxNode, results: list[list[str]]) -> list[str]:
    """The outputs: all steps with the directions as dimension 1, then the last states with them as dimension 0."""
    batch_first = bool(node.attribute("layout", 0))
    texts: list[str] = []
    for number in range(len(results[0])):
        if not node.uses(number):
            texts.append("")
            continue
        names = [result[number] for result in results]
        if batch_first:
            dim = 2 if number == 0 else 1
            stacked = f"torch.stack(({', '.join(names)},), dim={1 if number == 0 else 0})"
            stacked += ".permute(2, 0, 1, 3)" if number == 0 else ".transpose(0, 1)"
        else:
            dim = 1 if number == 0 else 0
            stacked = f"torch.stack(({', '.join(names)}), dim={dim})"
        if len(names) == 1:
            source = names[0]
            if batch_first and number == 0:
                source = f"{source}.transpose(0, 1)"
            stacked = f"{source}.unsqueeze({dim})"
        texts.append(node.local(stacked, "stacked"))
    return texts
