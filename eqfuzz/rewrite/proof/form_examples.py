"""Example programs for rules about forms of calls: one for each operator of a simple signature, from torch's tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache

from eqfuzz.rewrite.calls.operators import (
    REQUIRED,
    Parameter,
    Signature,
    TorchOperator,
    canonical,
    functions,
    operator_at,
    out_arguments,
)

_BACKENDS = ("mkldnn_", "quantized_", "fbgemm_", "cudnn_", "miopen_", "q_per_", "sparse_", "native_")
"""Prefixes of operators of one backend or layout, which take no plain tensors."""

_LEFT_OUT = frozenset(
    """
    int_repr dequantize q_scale q_zero_point batch_norm_stats hspmm smm sspaddmm
    indices_copy values_copy crow_indices_copy col_indices_copy ccol_indices_copy row_indices_copy
    lu_unpack lu_solve linalg_lu_solve linalg_ldl_solve ormqr orgqr linalg_householder_product
    linalg_eig linalg_eigvals linalg_eigh linalg_eigvalsh linalg_svd linalg_svdvals linalg_lstsq linalg_pinv pinverse
    linalg_matrix_rank linalg_cond linalg_qr qr svd geqrf cholesky linalg_cholesky linalg_cholesky_ex
    empty_like
    addbmm addmv baddbmm bilinear conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d embedding
    embedding_bag index_add index_copy index_fill index_select scatter scatter_add masked_fill quantile nanquantile
    view_as_complex_copy linalg_tensorsolve cholesky_solve masked_scatter
    repeat_interleave triangular_solve linalg_tensorinv
    slice_inverse
    median nanmedian
    """.split()
)
"""By line: operators of other layouts; those that trust their operands (pivots out of range crash the process); those
whose library complains about NaN on the terminal; one whose result is whatever was in memory; operators whose operands
the sampler rarely finds (indices, channels); one whose gradient raises of a 0-d tensor; two that
read memory never written in eager where the dimension is expanded."""


_BARE = frozenset({("clamp", ("x",)), ("sort", ("[x, y]",))})
"""Calls that torch refuses: a clamp without bounds, and a TorchScript sort of lists."""


@dataclasses.dataclass(frozen=True)
class CallExample:
    """One way to call an operator with simple arguments.

    ``arguments`` are source texts in the order of ``names``; ``program`` is the parameter list of a program around it.
    """

    operator: TorchOperator
    signature: Signature
    names: tuple[str, ...]
    arguments: tuple[str, ...]
    sorts: tuple[str, ...]

    def function(self) -> str:
        return self._program(f"{self._path()}({', '.join(self.arguments)})")

    def method(self) -> str:
        place = self.names.index("input")
        rest = [a for i, a in enumerate(self.arguments) if i != place]
        return self._program(f"{self.arguments[place]}.{self.operator.method}({', '.join(rest)})")

    def by_keyword(self) -> str:
        pairs = zip(self.names[1:], self.arguments[1:], strict=True)
        return self._program(f"{self._path()}({', '.join([self.arguments[0], *(f'{n}={a}' for n, a in pairs)])})")

    def function_of_sum(self) -> str:
        """The first operand is a sum of itself and one."""
        return self._program(f"{self._path()}({', '.join(['x + 1', *self.arguments[1:]])})")

    def _path(self) -> str:
        return self.operator.path.replace("torch.nn.functional.", "F.")

    def _program(self, expression: str) -> str:
        return f"def program({', '.join(self.sorts)}):\n    return {expression}\n"


@cache
def samples() -> tuple[CallExample, ...]:
    """A sample of every overload whose parameters are tensors, numbers and dimensions, and that draws nothing."""
    examples_by_call: dict[tuple[str, tuple[str, ...]], CallExample] = {}
    for path in functions().values():
        operator = operator_at(path)
        if operator is None or canonical(path) != path or _is_special(operator.aten):
            continue
        for signature in operator.signatures:
            example = None if signature.random else _sample(operator, signature)
            if example is not None and (operator.aten, example.arguments) not in _BARE:
                examples_by_call.setdefault((path, example.arguments), example)
    return tuple(examples_by_call.values())


def _is_special(aten: str) -> bool:
    return aten in _LEFT_OUT or aten.startswith(_BACKENDS) or aten.endswith("_")


def examples(form: str, where: Callable[[CallExample], bool] = lambda sample: True) -> list[str]:
    """The programs of all samples that ``where`` admits, in one form (``function``, ``method``, ``by_keyword``)."""
    return [getattr(sample, form)() for sample in samples() if where(sample)]


def has_method(sample: CallExample) -> bool:
    """Whether there is a method, and a tensor to call it on."""
    if not sample.operator.method or "input" not in sample.names:
        return False
    return sample.arguments[sample.names.index("input")] in ("x", "y", "z")


def has_in_place(sample: CallExample) -> bool:
    return has_method(sample) and bool(sample.operator.in_place) and sample.signature.returns == ("Tensor",)


def has_out(sample: CallExample) -> bool:
    """Whether there is an overload with ``out``; that Python knows it is found out later, since it takes a while."""
    passed = frozenset((p.name, p.type) for p in sample.signature.parameters if p.name in sample.names)
    return sample.signature.returns == ("Tensor",) and out_arguments(sample.operator.aten, passed) is not None


def _sample(operator: TorchOperator, signature: Signature) -> CallExample | None:
    tensors = iter(("x", "y", "z"))
    names: list[str] = []
    arguments: list[str] = []
    sorts: list[str] = []
    for parameter in signature.parameters:
        if parameter.default is not REQUIRED:
            continue
        text = None if parameter.keyword_only else _argument(parameter, tensors, sorts)
        if text is None:
            return None
        names.append(parameter.name)
        arguments.append(text)
    return CallExample(operator, signature, tuple(names), tuple(arguments), tuple(sorts)) if "x" in sorts else None


def _argument(parameter: Parameter, tensors: Iterator[str], sorts: list[str]) -> str | None:
    """The text of a required argument, its sort noted; None where it is not simple."""
    match parameter.type:
        case "Tensor":
            name = next(tensors, None)
            sorts += [name] if name is not None else []
            return name
        case "Tensor[]" if "x" not in sorts:
            sorts += ["x", "y"]
            return "[x, y]"
        case "Scalar" | "float":
            name = "kmn"[sum(":" in sort for sort in sorts)]
            sorts.append(f"{name}: {'Number' if parameter.type == 'Scalar' else 'Float'}")
            return name
        case "int" | "int[1]?" | "int[1]" if parameter.name == "dim" and "d: Int" not in sorts:
            sorts.append("d: Int")
            return "d"
        case "int[]" if parameter.name in ("dims", "dim"):
            return "(0,)"
        case _:
            return None
