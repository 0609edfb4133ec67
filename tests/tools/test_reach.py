"""What a fault replaces is read off torch's modules before and after it is planted."""

from pathlib import Path

import pytest
import torch

from tools.fault_detection.fault import read_faults
from tools.fault_detection.reach import furthest_first, replaced_by


@pytest.mark.slow
def test_functions_that_faults_replace_are_found_by_their_lines():
    by_name = {fault.name: fault for fault in read_faults()}
    lowering, pattern, guard = "flip_of_two_dimensions", "bytes_and_back", "guard_of_training"
    found = replaced_by([by_name[name] for name in (lowering, pattern, guard)])
    assert sorted(found) == [lowering, guard]  # a pattern that is added replaces nothing
    ((path, lines),) = found[lowering].lines.items()
    text = (Path(torch.__file__).parent / path).read_text().splitlines()
    assert text[min(lines) - 1] == "@register_lowering(prims.rev.default)"
    assert list(found[guard].lines) == ["_dynamo/guards.py"]


def test_programs_that_run_most_that_is_new_come_first():
    lines = [frozenset(("ops.py", line) for line in own) for own in ([1], [1, 2], [1, 2, 3], [4], [1, 2, 3])]
    assert furthest_first(lines) == [2, 3, 4, 1, 0]
    assert furthest_first([frozenset([("ops.py", 1)])] * 3) == [0, 1, 2]
    assert furthest_first([]) == furthest_first([frozenset()])[1:] == []
