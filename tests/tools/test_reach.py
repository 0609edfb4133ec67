"""The lines that a fault replaces, and the order of programs by them."""

from pathlib import Path

import pytest
import torch

from tools.fault_detection.detection.reach import order_by_new_lines, replaced_by
from tools.fault_detection.fault import read_faults


@pytest.mark.slow
def test_lines_of_replaced_functions_are_determined():
    by_name = {fault.name: fault for fault in read_faults()}
    lowering, pattern, guard = "flip_of_two_dimensions", "bytes_and_back", "guard_of_training"
    replaced = replaced_by([by_name[name] for name in (lowering, pattern, guard)])
    assert sorted(replaced) == [lowering, guard]  # an added pattern replaces nothing
    ((path, lines),) = replaced[lowering].lines.items()
    text = (Path(torch.__file__).parent / path).read_text().splitlines()
    assert text[min(lines) - 1] == "@register_lowering(prims.rev.default)"
    assert list(replaced[guard].lines) == ["_dynamo/guards.py"]


def test_programs_are_ordered_by_additional_lines():
    lines = [frozenset(("ops.py", line) for line in own) for own in ([1], [1, 2], [1, 2, 3], [4], [1, 2, 3])]
    assert order_by_new_lines(lines, [1.0] * 5) == [2, 3, 4, 1, 0]
    assert order_by_new_lines(lines, [1.0, 0.5, 2.0, 1.0, 1.0]) == [1, 3, 4, 2, 0]
    assert order_by_new_lines([frozenset([("ops.py", 1)])] * 3, [1.0] * 3) == [0, 1, 2]
    assert order_by_new_lines([], []) == order_by_new_lines([frozenset()], [1.0])[1:] == []
