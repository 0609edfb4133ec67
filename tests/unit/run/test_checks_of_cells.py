"""What a configuration has to pass."""

import pytest

from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.run.configs.named import BUILT_IN
from eqfuzz.run.jobs.cell_judge import _checks_under


@pytest.mark.parametrize(("name", "compared"), [("inductor", True), ("export", False), ("onnxruntime", False)])
def test_strides_are_compared_where_the_graph_promises_them(name, compared):
    checks = _checks_under(BUILT_IN[name], DEFAULT_CHECKS)
    assert ("strides" in checks) is compared
    assert set(DEFAULT_CHECKS) - set(checks) <= {"strides"}
