"""The columns of the recall table. Imports nothing, since reports read it without torch."""

JUDGE = "eqfuzz"
COLUMNS = (JUDGE, "assert_close", "same, fp64", "NNSmith", "WhiteFox", "PolyJuice", "TorchFuzz")
"""eqfuzz, then the oracles of other tools (``eqfuzz.oracle.calibration.baseline_oracles``)."""
