"""The text of a program of many results: a function, or a module where a result calls one."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from eqfuzz.generate.catalogues.text import HELPERS, LIBRARIES, numbered

LONGEST = 110
_PARAMETERS = LONGEST - 20
_IMPORTS = {
    **{name: f"import {name}" for name in LIBRARIES},
    "np": "import numpy as np",
    "torch": "import torch",
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
}


def submodule_name(operator: str, number: int) -> str:
    """The name of the submodule that result ``number`` calls, counted from 1."""
    return f"{operator.lower()}_{number}"


class CatalogueProgramText:
    """Collects results in their order."""

    def __init__(self) -> None:
        self._modules: list[str] = []
        self._body: list[str] = []
        self._parameters: list[str] = []
        self._inputs: list[str] = []
        self._operator = ""
        self._count = 0

    def add(
        self,
        operator: str,
        expression: str,
        inputs: Sequence[tuple[str, str]],
        module: str,
        owner: int | None = None,
        *,
        is_computed: bool = True,
    ) -> None:
        """A result: ``expression`` over ``$x``, code that draws each of these, and what its beginning builds.

        ``owner`` is the number of the earlier result whose tensors it takes instead, from 0. Of a result that is not
        computed there are the tensors alone.
        """
        self._count += 1
        number = self._count if owner is None else owner + 1
        inputs = inputs if owner is None else ()
        if operator != self._operator:
            self._operator = operator
            if is_computed:
                self._body.append(f"# {operator}")
            self._inputs += [f"# {operator}"] if inputs else []
        call = numbered(expression.removeprefix(module), number)
        if module and is_computed:
            attribute = submodule_name(operator, self._count)
            self._modules.append(f"self.{attribute} = {numbered(module, self._count)}")
            call = f"self.{attribute}{call}"
        if is_computed:
            self._body.append(f"{call},")
        self._parameters += [f"{letter}{self._count}" for letter, _ in inputs]
        self._inputs += _on_one_line([f"{code}," for _, code in inputs])

    def source(self, title: str, constants: Sequence[str] = ()) -> str:
        """The text of the seed file; ``constants`` are lines at module level."""
        definition = self._module() if self._modules else self._function("def program(", "")
        yielded = "yield (\n" + textwrap.indent("\n".join(self._inputs), "    ") + "\n)" if self._inputs else "yield ()"
        drawn = "def inputs(rng):\n" + textwrap.indent(yielded, "    ")
        code = f"{definition}\n{drawn}"
        helpers = [text for name, text in HELPERS.items() if re.search(rf"\b{name}\(", code)]
        code = "\n".join([code, *helpers, "torch."])
        imports = "\n".join(line for name, line in _IMPORTS.items() if re.search(rf"\b(?<!\.){name}\.", code))
        parts = [f'"""{title}"""\n\n{imports}', *constants, *helpers, definition, drawn]
        return "\n\n\n".join(parts) + "\n"

    def _function(self, head: str, indent: str) -> str:
        body = textwrap.indent("\n".join(self._body), " " * 8)
        parameters = _wrapped(self._parameters)
        if indent and not parameters.startswith("\n"):
            head += "self, " if parameters else "self"
        elif indent:
            parameters = f"\n    self,{parameters}"
        return textwrap.indent(f"{head}{parameters}):\n    return (\n{body}\n    )", indent)

    def _module(self) -> str:
        lines = textwrap.indent("\n".join(self._modules), " " * 8)
        head = f"class Program(nn.Module):\n    def __init__(self):\n        super().__init__()\n{lines}"
        return f"{head}\n\n{self._function('def forward(', '    ')}"


def _on_one_line(items: Sequence[str]) -> list[str]:
    joined = " ".join(items)
    return [joined] if joined and len(joined) <= LONGEST else list(items)


def _wrapped(names: Sequence[str]) -> str:
    text = ", ".join(names)
    if len(text) <= _PARAMETERS:
        return text
    return "\n" + textwrap.fill(f"{text},", LONGEST, initial_indent="    ", subsequent_indent="    ") + "\n"
