"""What a configuration has to pass."""

import pytest

from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.run.configs.named import BUILT_IN
from eqfuzz.run.jobs.cell_judge import _checks_under


@pytest.mark.parametrize(
    ("name", "left_out"), [("inductor", set()), ("export", {"strides"}), ("onnxruntime", {"strides", "aliasing"})]
)
def test_strides_and_memory_are_compared_where_the_results_have_them(name, left_out):
    assert set(DEFAULT_CHECKS) - set(_checks_under(BUILT_IN[name], DEFAULT_CHECKS)) == left_out
