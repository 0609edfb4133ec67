"""Each translation of an operator agrees with ONNX's own cases: all attributes, results of onnx.reference."""

from __future__ import annotations

import collections
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("onnx", reason="the package onnx is missing: pip install 'eqfuzz[onnx]'")

import onnx
from onnx import numpy_helper

from eqfuzz.imports.onnx.dtypes import torch_name
from eqfuzz.imports.onnx.model import OLDEST_OPSET
from eqfuzz.imports.onnx.registry import translations
from eqfuzz.imports.text.literals import Unsupported
from tests.unit.imports.running import array_of, module_of, require_close, results, translated

pytestmark = pytest.mark.slow

_WITHOUT_CASES = {"Constant", "GlobalLpPool", "Scatter", "Upsample"}
"""Operators for which ONNX has none."""

_DIFFERENT = {
    "test_reduce_max_empty_set": "torch refuses the extreme of nothing",
    "test_reduce_max_empty_set_bool": "torch refuses the extreme of nothing",
    "test_reduce_min_empty_set": "torch refuses the extreme of nothing",
}
_NOT_TRANSLATED = {
    "dilations",
    "dilations or ceil_mode",
    "peepholes",
    "blocks of scales",
    "places under uneven padding or in column-major order",
    "training mode, whose results are random",
    "coordinates tf_crop_and_resize",
    "the policy not_larger",
    "the policy not_smaller",
}
"""Reasons that a case may give for not being translated, besides element types that torch lacks."""


def _cases() -> dict[str, list[Any]]:
    """The cases with one node, by operator."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = collect_testcases(None)
    cases: dict[str, list[Any]] = collections.defaultdict(list)
    for case in every:
        if case.model is not None and len(case.model.graph.node) == 1 and _is_readable(case.model):
            opset = case.model.opset_import[0]
            opset.version = max(opset.version, OLDEST_OPSET)  # nothing changed before it for operators with cases
            cases[case.model.graph.node[0].op_type].append(case)
    return cases


def _is_readable(model: onnx.ModelProto) -> bool:
    """Whether all its values are tensors of element types that torch computes with."""
    node = model.graph.node[0]
    values = [value.type for value in (*model.graph.input, *model.graph.output)]
    if not all(kind.HasField("tensor_type") for kind in values):
        return False
    types = [kind.tensor_type.elem_type for kind in values]
    types += [attribute.i for attribute in node.attribute if attribute.name in ("to", "output_dtype")]
    try:
        return all(not torch_name(kind).startswith("uint") or kind == 2 for kind in types)
    except (Unsupported, TypeError):
        return False


_BY_OPERATOR = _cases()


def _with_constants(case: Any) -> Any:
    """The case with all inputs but the first as constants, as models have axes, sizes and scales."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    inputs, outputs = case.data_sets[0]
    for info, value in list(zip(model.graph.input, inputs, strict=False))[1:]:
        model.graph.initializer.append(numpy_helper.from_array(array_of(value), info.name))
    del model.graph.input[1:]
    return SimpleNamespace(name=case.name, model=model, data_sets=[(inputs[:1], outputs)])


def _tolerance(model: onnx.ModelProto) -> float:
    kinds = {onnx.TensorProto.BFLOAT16: 2e-2, onnx.TensorProto.FLOAT16: 2e-3}
    return max((kinds.get(value.type.tensor_type.elem_type, 1e-4) for value in model.graph.input), default=1e-4)


def _check(case: Any) -> None:
    module = module_of(translated(case.model))
    for inputs, outputs in case.data_sets:
        actual = results(module, [array_of(value) for value in inputs])
        assert len(actual) == len(outputs)
        for one, expected in zip(actual, outputs, strict=True):
            require_close(one, array_of(expected), _tolerance(case.model))


@pytest.mark.parametrize("operator", sorted(translations().keys() & _BY_OPERATOR.keys()))
def test_translation_agrees_with_the_cases_of_onnx(operator: str) -> None:
    ran = 0
    for case in _BY_OPERATOR[operator]:
        if case.name in _DIFFERENT:
            continue
        try:
            try:
                _check(case)
            except Unsupported as error:
                if "model computes" not in str(error):
                    raise
                _check(_with_constants(case))
        except Unsupported as error:
            reason = str(error).rpartition("): ")[2]
            assert reason in _NOT_TRANSLATED, f"{case.name}: {error}"
            continue
        except AssertionError as error:
            raise AssertionError(f"{case.name}: {error}") from None
        ran += 1
    assert ran, "no case of it is translated"


def test_few_operators_have_no_case() -> None:
    assert translations().keys() - _BY_OPERATOR.keys() <= _WITHOUT_CASES
